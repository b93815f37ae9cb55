//! The crates as an application gets them: packaged, with the built component, on a toolchain that cannot build one.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use halfopen_tests::program::{cargo, program, root};
use halfopen_tests::tree;

const WASM: &str = "wasm32-unknown-unknown";

fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}\n{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Crate `halfopen`, and the crates that it can depend on.
const CRATES: [&str; 8] = [
    "halfopen",
    "halfopen-component",
    "halfopen-contract",
    "halfopen-etcd",
    "halfopen-guest",
    "halfopen-native",
    "halfopen-postgres",
    "halfopen-sqlite",
];

/// Packages the crates from a copy of the tree that holds the built component, and unpacks them.
fn unpack_packages(into: &Path) {
    let tree = into.join("tree");
    tree::copy(&tree);
    succeed(Command::new(program()).args(["component", "write"]).arg(tree.join("host/rust/component/halfopen.wasm")));
    let target = into.join("package");
    let mut package = cargo();
    package.args(["package", "--no-verify", "--allow-dirty", "--offline", "--quiet", "--target-dir"]).arg(&target);
    for name in CRATES {
        package.args(["--package", name]);
    }
    succeed(package.current_dir(&tree));
    for name in CRATES {
        let file = target.join(format!("package/{}.crate", with_version(name)));
        succeed(Command::new("tar").arg("xzf").arg(file).current_dir(into));
    }
}

fn with_version(name: &str) -> String {
    format!("{name}-{}", env!("CARGO_PKG_VERSION"))
}

/// A manifest that takes the crates from where they were unpacked.
fn manifest(packages: &Path) -> String {
    let path = |name: &str| format!("{name} = {{ path = {:?} }}\n", packages.join(with_version(name)));
    let patches: String = CRATES.iter().map(|name| path(name)).collect();
    format!(
        "[package]\nname = \"user\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\nhalfopen = \"{}\"\n\n\
         [patch.crates-io]\n{patches}\n[workspace]\n\n{}",
        env!("CARGO_PKG_VERSION"),
        dev_profile()
    )
}

/// Where the toolchain is that runs the tests.
fn sysroot() -> PathBuf {
    let found = succeed(Command::new("rustc").args(["--print", "sysroot"]).current_dir(root()));
    PathBuf::from(String::from_utf8(found.stdout).expect("paths are UTF-8").trim())
}

/// A path on which nothing can add the target.
fn path_without_rustup() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).filter(|folder| !folder.join("rustup").exists());
    std::env::join_paths(folders).expect("no folder holds a colon")
}

/// A compiler like the one in use, but without the target for WebAssembly.
fn compiler_without_wasm(into: &Path) -> PathBuf {
    let sysroot = sysroot();
    let bare = into.join("sysroot");
    let link_all = |from: &Path, to: &Path, but: &[&str]| {
        fs::create_dir_all(to).expect("the folder is writable");
        for entry in fs::read_dir(from).expect("the toolchain can be read").flatten() {
            if !but.iter().any(|name| entry.file_name() == *name) {
                symlink(entry.path(), to.join(entry.file_name())).expect("the folder is writable");
            }
        }
    };
    link_all(&sysroot, &bare, &["lib"]);
    link_all(&sysroot.join("lib"), &bare.join("lib"), &["rustlib"]);
    link_all(&sysroot.join("lib/rustlib"), &bare.join("lib/rustlib"), &[WASM]);
    let wrapper = into.join("rustc");
    let script =
        format!("#!/bin/sh\nexec '{}' --sysroot '{}' \"$@\"\n", sysroot.join("bin/rustc").display(), bare.display());
    fs::write(&wrapper, script).expect("the folder is writable");
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).expect("it is ours");
    wrapper
}

/// The settings of the workspace's dev profile, so that what was built for it serves here too.
fn dev_profile() -> String {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("it is there");
    let sections = manifest.split("\n[").filter(|section| section.starts_with("profile.dev"));
    sections.map(|section| format!("[{section}\n")).collect()
}

#[test]
fn packages_build_where_no_component_can_be_built() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    unpack_packages(folder.path());
    let rustc = compiler_without_wasm(folder.path());
    let source = folder.path().join("lib.rs");
    fs::write(&source, "").expect("the folder is writable");
    let refused = Command::new(&rustc)
        .args(["--crate-type", "rlib", "--target", WASM, "--emit", "metadata"])
        .arg("--out-dir")
        .arg(folder.path())
        .arg(&source)
        .output()
        .expect("the compiler can be started");
    assert!(!refused.status.success(), "this toolchain was meant to be unable to build the guest");

    let user = folder.path().join("user");
    fs::create_dir_all(user.join("src")).expect("the folder is writable");
    fs::write(user.join("Cargo.toml"), manifest(folder.path())).expect("the folder is writable");
    fs::write(user.join("src/main.rs"), "fn main() {\n    let host = halfopen::Host::open(\"memory\").expect(\"it opens\");\n    assert!(host.list().expect(\"it lists\").is_empty());\n}\n")
        .expect("the folder is writable");
    fs::copy(root().join("Cargo.lock"), user.join("Cargo.lock")).expect("the folder is writable");
    // The target folder of the tests: most of the dependencies have been built there.
    let test = std::env::current_exe().expect("a test knows its own binary");
    let target = test.ancestors().nth(3).expect("tests are in deps/ of the profile's folder").to_owned();
    succeed(
        Command::new(sysroot().join("bin/cargo"))
            .args(["build", "--offline", "--quiet", "--target-dir"])
            .arg(&target)
            .current_dir(&user)
            .env("RUSTC", &rustc)
            .env("PATH", path_without_rustup()),
    );
    succeed(&mut Command::new(target.join("debug/user")));
}
