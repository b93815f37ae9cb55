//! How the component is linked.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        // Indices and addresses in as few bytes as they need: a tenth of the code.
        println!("cargo::rustc-link-arg=--compress-relocations");
        println!("cargo::rustc-link-arg=-zstack-size=32768");
    }
}
