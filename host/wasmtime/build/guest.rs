//! Builds the component from the guest's source.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use wasm_encoder::{ComponentSection as _, CustomSection};
use wasmparser::Validator;
use wit_component::{ComponentEncoder, StringEncoding};
use wit_parser::Resolve;

mod exports;

const TARGET: &str = "wasm32-unknown-unknown";

/// Builds the component from a repository, in a target folder of its own. The same sources and the same toolchain make the
/// same bytes, wherever they are.
pub fn component(root: &Path, target_dir: &Path, about: &[(String, String)]) -> Result<Vec<u8>, String> {
    ensure_target()?;
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build
        .current_dir(root.join("guest"))
        // `rustc` for its `--crate-type`: with several at once there is no link-time optimisation.
        .args(["rustc", "--profile", "guest", "--package", "halfopen-guest", "--lib", "--crate-type", "cdylib"])
        .args(["--target", TARGET, "--target-dir"])
        .arg(target_dir);
    // What the outer build sets for its own target and its own tools is none of the guest's business.
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
    let output = build.output().map_err(|error| format!("cannot start cargo for the guest: {error}"))?;
    if !output.status.success() {
        return Err(format!("the guest does not build:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    let module = target_dir.join(TARGET).join("guest/halfopen_guest.wasm");
    let bytes = fs::read(&module).map_err(|error| format!("cannot read {}: {error}", module.display()))?;
    componentize(bytes, &root.join("wit"), about).map_err(|error| format!("the guest makes no component: {error:#}"))
}

fn componentize(mut module: Vec<u8>, wit: &Path, about: &[(String, String)]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut contract = Resolve::default();
    let (package, _) = contract.push_dir(wit)?;
    let world = contract.select_world(&[package], Some("component"))?;
    wit_component::embed_component_metadata(&mut module, &contract, world, StringEncoding::UTF8, false)?;
    // This compares the functions of the module, which are written by hand, with the contract.
    let component = ComponentEncoder::default().module(&module)?.validate(true).encode()?;
    let mut component = exports::without_shims(&component)?;
    for (name, text) in about {
        // Where registries and `wasm-tools metadata show` look for it.
        CustomSection { name: name.into(), data: text.as_bytes().into() }.append_to_component(&mut component);
    }
    Validator::new().validate_all(&component)?;
    Ok(component)
}

/// Sees to it that the guest's target is there, also where rustup does not install it by itself.
fn ensure_target() -> Result<(), String> {
    if has_target()? {
        return Ok(());
    }
    println!("cargo::warning=the target {TARGET} is missing; running `rustup target add {TARGET}`");
    let added = Command::new("rustup").args(["target", "add", TARGET]).output();
    let why = match added {
        Ok(output) if output.status.success() && has_target()? => return Ok(()),
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => format!("cannot start rustup: {error}"),
    };
    let toolchain = env::var("RUSTUP_TOOLCHAIN").map(|name| format!(" --toolchain {name}")).unwrap_or_default();
    Err(format!(
        "the component needs the target {TARGET}, and it could not be added ({why}); run: rustup target \
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
