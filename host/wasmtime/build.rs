//! Builds the component that this crate embeds, from the guest in this repository; a packaged crate brings the bytes.

use std::env;
use std::fs;
use std::path::PathBuf;

#[path = "build/guest.rs"]
mod guest;

fn main() -> Result<(), String> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("cargo runs this")?);
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo runs this")?);
    let root = here.join("../..");
    let packaged = here.join("component/halfopen.wasm");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    let component = if root.join("guest/Cargo.toml").is_file() {
        for input in ["guest/src", "guest/build.rs", "guest/Cargo.toml", "wit", "Cargo.toml", "Cargo.lock"] {
            println!("cargo::rerun-if-changed={}", root.join(input).display());
        }
        guest::component(&root, &out.join("guest"), &about()?)?
    } else {
        println!("cargo::rerun-if-changed=component/halfopen.wasm");
        fs::read(&packaged).map_err(|error| {
            format!(
                "neither the guest's source ({}) nor the built component ({}: {error}) is here; build from the \
                 repository, or from a package that carries the component",
                root.join("guest").display(),
                packaged.display()
            )
        })?
    };
    let file = out.join("halfopen.wasm");
    // Unchanged bytes keep their date, so that nothing that embeds them is compiled again.
    if fs::read(&file).ok().as_ref() != Some(&component) {
        fs::write(&file, &component).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    }
    Ok(())
}

/// What the component says of itself to registries and tools.
fn about() -> Result<Vec<(String, String)>, String> {
    let said = [
        ("version", "CARGO_PKG_VERSION"),
        ("description", "CARGO_PKG_DESCRIPTION"),
        ("licenses", "CARGO_PKG_LICENSE"),
        ("source", "CARGO_PKG_REPOSITORY"),
    ];
    said.into_iter()
        .map(|(name, key)| Ok((name.to_owned(), env::var(key).map_err(|_| format!("cargo sets {key}"))?)))
        .collect()
}
