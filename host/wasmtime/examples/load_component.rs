//! Another component in the embedded one's place, from a file, pinned by its hash.
//!
//! `cargo run --example load_component [FILE [SHA256]]`

use halfopen::{Component, Host};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let component = match args.next() {
        Some(file) => Component::from_file(file)?,
        None => {
            // Without a file: the embedded one, taken out and loaded again.
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
    let host = Host::builder().component(component).build()?;
    println!("payments is {}", host.breaker("payments").inspect()?.state);
    Ok(())
}
