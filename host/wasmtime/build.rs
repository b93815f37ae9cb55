//! Builds the component that this crate embeds, from the guest in this repository; a packaged crate brings the bytes.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use wasmparser::Validator;
use wit_component::{ComponentEncoder, StringEncoding};
use wit_parser::Resolve;

#[path = "build/exports.rs"]
mod exports;
#[path = "build/nested.rs"]
mod nested;

fn main() -> Result<(), String> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("cargo runs this")?);
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo runs this")?);
    let guest = here.join("../../guest");
    let packaged = here.join("component/halfopen.wasm");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    let component = if guest.join("Cargo.toml").is_file() {
        from_guest(&guest, &out)?
    } else {
        println!("cargo::rerun-if-changed=component/halfopen.wasm");
        fs::read(&packaged).map_err(|error| {
            format!(
                "neither the guest's source ({}) nor the built component ({}: {error}) is here; build from the \
                 repository, or from a package that carries the component",
                guest.display(),
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

fn from_guest(guest: &Path, out: &Path) -> Result<Vec<u8>, String> {
    let root = guest.join("..");
    for input in ["guest/src", "guest/build.rs", "guest/Cargo.toml", "wit", "Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={}", root.join(input).display());
    }
    let bytes = nested::module(guest, "halfopen-guest", &[], &out.join("guest"))?;
    componentize(bytes, &root.join("wit")).map_err(|error| format!("the guest makes no component: {error:#}"))
}

fn componentize(mut module: Vec<u8>, wit: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut contract = Resolve::default();
    let (package, _) = contract.push_dir(wit)?;
    let world = contract.select_world(&[package], Some("component"))?;
    wit_component::embed_component_metadata(&mut module, &contract, world, StringEncoding::UTF8, false)?;
    // This compares the functions of the module, which are written by hand, with the contract.
    let component = ComponentEncoder::default().module(&module)?.validate(true).encode()?;
    let component = exports::without_shims(&component)?;
    Validator::new().validate_all(&component)?;
    Ok(component)
}
