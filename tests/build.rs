//! Builds the plugin of a tenant that the tests of platforms run.

use std::env;
use std::fs;
use std::path::PathBuf;

use wit_component::ComponentEncoder;

#[path = "../host/rust/component/build/nested.rs"]
mod nested;

/// What becomes of the crate: the name of the file, and its features.
const PLUGINS: [(&str, &[&str]); 2] = [("plugin.wasm", &[]), ("operator.wasm", &["control"])];

fn main() -> Result<(), String> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("cargo runs this")?);
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo runs this")?);
    let tenant = here.join("tenant");
    for input in
        ["build.rs", "tenant", "../wit", "../Cargo.toml", "../Cargo.lock", "../host/rust/component/build/nested.rs"]
    {
        println!("cargo::rerun-if-changed={}", here.join(input).display());
    }
    for (name, features) in PLUGINS {
        let module = nested::module(&tenant, "halfopen-tests-tenant", features, &out.join("tenant"))?;
        // The generator has left the plugin's world in the module.
        let component = ComponentEncoder::default()
            .module(&module)
            .and_then(|encoder| encoder.validate(true).encode())
            .map_err(|error| format!("{name} makes no component: {error:#}"))?;
        fs::write(out.join(name), component).map_err(|error| format!("cannot write {name}: {error}"))?;
    }
    Ok(())
}
