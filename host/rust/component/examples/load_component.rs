//! Another component in place of the embedded one, from a file, pinned by its SHA-256.
//!
//! `cargo run -p halfopen-component --example load_component [FILE [SHA256]]`

use halfopen_component::contract::documents::Policy;
use halfopen_component::contract::engine::Engine;
use halfopen_component::{Component, ComponentEngine, Limits};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let component = match args.next() {
        Some(file) => Component::from_file(file)?,
        None => {
            // Without a file: the embedded one, written out and loaded again.
            let file = std::env::temp_dir().join(format!("halfopen-{}.wasm", std::process::id()));
            std::fs::write(&file, Component::embedded().bytes())?;
            let loaded = Component::from_file(&file);
            std::fs::remove_file(&file)?;
            loaded?
        }
    };
    println!("SHA-256 {}", component.sha256());
    for name in component.imports()? {
        println!("imports {name}");
    }
    for name in component.exports()? {
        println!("exports {name}");
    }
    let component = match args.next() {
        Some(hash) => component.pinned(&hash)?,
        None => component.pinned(&Component::embedded().sha256())?,
    };
    // `HostBuilder::component` of crate `halfopen` takes it as well.
    let engine = ComponentEngine::new(&component, Limits::default(), &Policy::new())?;
    println!("default policy {}", engine.default_policy());
    Ok(())
}
