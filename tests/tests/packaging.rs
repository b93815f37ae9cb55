//! The packaged crate builds outside the workspace, with a toolchain that cannot build for WebAssembly, and works.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

use halfopen::Component;
use halfopen_tests::program::{cargo, root};

const WASM: &str = "wasm32-unknown-unknown";

/// What cargo needs to package the crate.
const PARTS: [&str; 9] = [
    "Cargo.toml",
    "Cargo.lock",
    "README.md",
    "rust-toolchain.toml",
    "wit",
    "guest",
    "host/wasmtime",
    "host/cli",
    "tests",
];

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    output
}

fn line(command: &mut Command) -> String {
    String::from_utf8(run(command).stdout).unwrap().trim().to_owned()
}

fn rustc() -> Command {
    Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

fn fresh(folder: &Path) -> PathBuf {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).unwrap();
    folder.to_owned()
}

/// Packages the crate from a copy of the tree that holds the built component, and unpacks it.
fn package(work: &Path) -> PathBuf {
    let tree = fresh(&work.join("tree"));
    for part in PARTS.iter().filter(|part| root().join(part).exists()) {
        let to = tree.join(part);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        run(Command::new("cp").arg("-RP").arg(root().join(part)).arg(to));
    }
    let component = tree.join("host/wasmtime/component");
    fs::create_dir_all(&component).unwrap();
    fs::write(component.join("halfopen.wasm"), Component::embedded().bytes()).unwrap();
    let target = work.join("packaged");
    let what = ["package", "--quiet", "--package", "halfopen", "--no-verify", "--allow-dirty", "--offline"];
    run(cargo().current_dir(&tree).args(what).arg("--target-dir").arg(&target));
    let file = target.join(format!("package/halfopen-{}.crate", env!("CARGO_PKG_VERSION")));
    let unpacked = fresh(&work.join("unpacked"));
    // With the present as their dates, since cargo goes by those.
    run(Command::new("tar").arg("-xzmf").arg(file).arg("-C").arg(&unpacked));
    unpacked.join(format!("halfopen-{}", env!("CARGO_PKG_VERSION")))
}

/// A compiler with the libraries of this machine and of no other target.
fn rustc_without_wasm(work: &Path) -> PathBuf {
    let usual = PathBuf::from(line(rustc().args(["--print", "sysroot"])));
    let host = line(rustc().args(["--print", "host-tuple"]));
    let own = fresh(&work.join("toolchain"));
    fs::create_dir_all(own.join("lib/rustlib")).unwrap();
    let link = |from: PathBuf| {
        let to = own.join(from.strip_prefix(&usual).unwrap());
        symlink(&from, to).unwrap();
    };
    for entry in fs::read_dir(usual.join("lib")).unwrap().map(|entry| entry.unwrap().path()) {
        if !entry.ends_with("rustlib") {
            link(entry);
        }
    }
    link(usual.join("lib/rustlib").join(host));
    let wrapper = own.join("rustc");
    let real = line(rustc().args(["--print", "sysroot"]));
    let script = format!("#!/bin/sh\nexec '{real}/bin/rustc' --sysroot '{}' \"$@\"\n", own.display());
    fs::write(&wrapper, script).unwrap();
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
    wrapper
}

fn builds_for(rustc: &Path, target: &str, work: &Path) -> bool {
    let source = work.join("nothing.rs");
    fs::write(&source, "#![no_std]\npub fn nothing() {}\n").unwrap();
    let mut compile = Command::new(rustc);
    compile.args(["--crate-type", "rlib", "--target", target, "-o"]).arg(work.join("nothing.rlib")).arg(source);
    compile.output().unwrap().status.success()
}

/// The settings of the workspace's dev profile, so that what was built for it serves here too.
fn dev_profile() -> String {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let sections = manifest.split("\n[").filter(|section| section.starts_with("profile.dev"));
    sections.map(|section| format!("[{section}\n")).collect()
}

/// A crate of somebody else that depends on the package.
fn dependent(work: &Path, package: &Path) -> PathBuf {
    let folder = fresh(&work.join("dependent"));
    fs::create_dir(folder.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"dependent\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nhalfopen = {{ path = {:?} }}\n\n[workspace]\n\n{}",
        package.to_str().unwrap(),
        dev_profile()
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    // The versions that were fetched for this workspace.
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let program = "fn main() {\n    let host = halfopen::Host::open(\"memory\").expect(\"a host\");\n    \
                   println!(\"{:?}\", host.breaker(\"pay\").call(|| Ok::<_, ()>(42)));\n}\n";
    fs::write(folder.join("src/main.rs"), program).unwrap();
    folder
}

#[test]
fn the_packaged_crate_builds_as_a_dependency_where_webassembly_cannot_be_built() {
    let started = Instant::now();
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packaging");
    fs::create_dir_all(&work).unwrap();
    let package = package(&work);
    assert_eq!(fs::read(package.join("component/halfopen.wasm")).unwrap(), Component::embedded().bytes());

    let rustc = rustc_without_wasm(&work);
    let host = line(self::rustc().args(["--print", "host-tuple"]));
    assert!(builds_for(&rustc, &host, &work), "the toolchain builds nothing at all");
    assert!(!builds_for(&rustc, WASM, &work), "the toolchain builds for WebAssembly");

    let dependent = dependent(&work, &package);
    // That of the tests: most of what is needed has been built there.
    let test = std::env::current_exe().unwrap();
    let target = test.ancestors().nth(3).unwrap().to_owned();
    let mut build = cargo();
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_")) {
        if name != "CARGO_HOME" {
            build.env_remove(name);
        }
    }
    run(build
        .current_dir(&dependent)
        .args(["build", "--quiet", "--offline", "--target-dir"])
        .arg(&target)
        .env("RUSTC", &rustc)
        // Whatever could bring the target after all.
        .env("RUSTUP_AUTO_INSTALL", "0"));
    assert_eq!(line(&mut Command::new(target.join("debug/dependent"))), "Ok(42)");
    println!("packaged, built and run in {:.0} s", started.elapsed().as_secs_f64());
}
