//! Builds the component from the guest's source.

use std::error::Error;
use std::path::Path;

use wasm_encoder::{ComponentSection as _, CustomSection};
use wasmparser::Validator;
use wit_component::{ComponentEncoder, StringEncoding};
use wit_parser::Resolve;

mod exports;
mod nested;

/// Builds the component from a repository, in a target folder of its own. The same sources and the same toolchain make the
/// same bytes, wherever they are.
pub fn component(root: &Path, target_dir: &Path, about: &[(String, String)]) -> Result<Vec<u8>, String> {
    let bytes = nested::module(&root.join("guest"), "halfopen-guest", &[], target_dir)?;
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
