//! Builds the embedded component from the guest in this repository; a packaged crate carries the built bytes.

use std::env;
use std::fs;
use std::path::PathBuf;

#[path = "build/component.rs"]
mod component;

/// The description of the component, as a registry shows it.
const DESCRIPTION: &str = "A circuit breaker for callers that share a dependency and nothing else: one probe at a time, \
                           under a lease that expires.";

fn main() -> Result<(), String> {
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(variable("OUT_DIR")?);
    let root = here.join("../../..");
    let packaged = here.join("halfopen.wasm");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    let component = if root.join("guest/Cargo.toml").is_file() {
        for input in ["guest/src", "guest/Cargo.toml", "wit", "Cargo.toml", "Cargo.lock"] {
            println!("cargo::rerun-if-changed={}", root.join(input).display());
        }
        component::build(&root, &out.join("guest"), &metadata()?)?
    } else {
        println!("cargo::rerun-if-changed=halfopen.wasm");
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
    // Unchanged bytes keep their date: crates that embed them are not compiled again.
    if fs::read(&file).ok().as_ref() != Some(&component) {
        fs::write(&file, &component).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    }
    Ok(())
}

/// The custom sections in which registries and `wasm-tools metadata show` look.
fn metadata() -> Result<Vec<(String, String)>, String> {
    let section = |name: &str, text: String| (name.to_owned(), text);
    Ok(vec![
        section("version", variable("CARGO_PKG_VERSION")?),
        section("description", DESCRIPTION.to_owned()),
        section("licenses", variable("CARGO_PKG_LICENSE")?),
        section("source", variable("CARGO_PKG_REPOSITORY")?),
    ])
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|_| format!("cargo sets {name}, and it is missing"))
}
