//! Builds the component from the guest's source.

use std::path::Path;

use wasm_encoder::{ComponentSection as _, CustomSection};
use wit_component::ComponentEncoder;

mod nested;

/// Returns the component, built from a repository in a target folder of its own. The same sources and the same toolchain
/// give the same bytes, in any folder. `metadata`: names and texts of custom sections.
pub fn build(root: &Path, target_dir: &Path, metadata: &[(String, String)]) -> Result<Vec<u8>, String> {
    let module = nested::module(&root.join("guest"), "halfopen-guest", &[], target_dir)?;
    // wit-bindgen has left the world in the module.
    let mut component = ComponentEncoder::default()
        .module(&module)
        .and_then(|encoder| encoder.validate(true).encode())
        .map_err(|error| format!("the guest makes no component: {error:#}"))?;
    for (name, text) in metadata {
        CustomSection { name: name.into(), data: text.as_bytes().into() }.append_to_component(&mut component);
    }
    Ok(component)
}
