//! The program `halfopen`, built from the sources that the tests were built from.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The root of the workspace.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are in a folder of the workspace")
}

/// The cargo that runs the tests.
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Where the program is. It is built the first time, with the cargo and the profile of the tests; nearly always it has been
/// before, and that takes a moment.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(build)
}

fn build() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own binary");
    let folder = test.ancestors().nth(2).expect("tests are in deps/ of the profile's folder");
    let name = folder.file_name().and_then(|name| name.to_str()).expect("it has the profile's name");
    let profile = if name == "debug" { "dev" } else { name };
    let above = folder.parent().expect("it is in the target folder");
    let mut cargo = cargo();
    cargo.current_dir(root()).args(["build", "--quiet", "--locked", "--bin", "halfopen", "--profile", profile]);
    // With `--target`, there is a folder of that name in between.
    match above.parent() {
        Some(outer) if !above.join("CACHEDIR.TAG").exists() && outer.join("CACHEDIR.TAG").exists() => {
            cargo.arg("--target-dir").arg(outer).arg("--target").arg(above.file_name().unwrap_or_default())
        }
        _ => cargo.arg("--target-dir").arg(above),
    };
    let output = cargo.output().expect("cargo can be started");
    assert!(output.status.success(), "the program does not build: {}", String::from_utf8_lossy(&output.stderr));
    folder.join("halfopen")
}
