//! Builds a crate of this workspace for WebAssembly, with a cargo of its own.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";

/// Returns the core module of a package, whose folder is `dir`.
pub fn module(dir: &Path, package: &str, features: &[&str], target_dir: &Path) -> Result<Vec<u8>, String> {
    ensure_target()?;
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build
        .current_dir(dir)
        // `rustc` for its `--crate-type`: with several at once there is no link-time optimisation.
        .args(["rustc", "--profile", "guest", "--package", package, "--lib", "--crate-type", "cdylib"])
        .args(["--features", &features.join(",")])
        .args(["--target", TARGET, "--target-dir"])
        .arg(target_dir);
    // Settings of the outer build, for its own target and its own tools, do not hold for the nested one.
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        let outer = name.contains("RUSTFLAGS")
            || name.starts_with("CARGO_FEATURE_")
            || name.starts_with("CARGO_CFG_")
            || name.starts_with("CARGO_PROFILE_");
        if outer {
            build.env_remove(&*name);
        }
    }
    for name in
        ["CARGO_BUILD_TARGET", "CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "RUSTC_WORKSPACE_WRAPPER", "CLIPPY_ARGS"]
    {
        build.env_remove(name);
    }
    let output = build.output().map_err(|error| format!("cannot start cargo for {package}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{package} does not build:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    let file = format!("{}.wasm", package.replace('-', "_"));
    let module = target_dir.join(TARGET).join("guest").join(file);
    fs::read(&module).map_err(|error| format!("cannot read {}: {error}", module.display()))
}

/// Adds the target where it is missing: rustup does not install it by itself everywhere.
fn ensure_target() -> Result<(), String> {
    if has_target()? {
        return Ok(());
    }
    println!(
        "cargo::warning=the target {TARGET} is missing; running `rustup target add {TARGET}`. To avoid this, run it before \
         the build, or build from the published package, which carries the built component"
    );
    let added = Command::new("rustup").args(["target", "add", TARGET]).output();
    let why = match added {
        Ok(output) if output.status.success() && has_target()? => return Ok(()),
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => format!("cannot start rustup: {error}"),
    };
    let toolchain = env::var("RUSTUP_TOOLCHAIN").map(|name| format!(" --toolchain {name}")).unwrap_or_default();
    Err(format!(
        "a component needs the target {TARGET}, and it could not be added ({why}); run: rustup target \
         add{toolchain} {TARGET}"
    ))
}

fn has_target() -> Result<bool, String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()
        .map_err(|error| format!("cannot start rustc: {error}"))?;
    let dir = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    let has_core = fs::read_dir(dir).is_ok_and(|entries| {
        entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("libcore-"))
    });
    Ok(output.status.success() && has_core)
}
