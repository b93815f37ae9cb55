//! The component's bytes follow from the sources and the toolchain alone, so a digest can be checked by building.

use halfopen::Component;
use halfopen_tests::tree;
use wasmparser::{Parser, Payload};

#[path = "../../host/rust/component/build/component.rs"]
mod component;

/// The custom sections in which a registry looks.
const NAMES: [&str; 4] = ["version", "description", "licenses", "source"];

/// Those sections of the embedded component itself, without those of the modules in it.
fn metadata() -> Vec<(String, String)> {
    let component = Component::embedded();
    let mut sections = Vec::new();
    let mut inside = 0;
    for payload in Parser::new(0).parse_all(component.bytes()) {
        match payload.expect("it can be read") {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => inside += 1,
            Payload::End(_) => inside -= 1,
            Payload::CustomSection(section) if inside == 0 && NAMES.contains(&section.name()) => {
                let text = String::from_utf8(section.data().to_vec()).expect("it is text");
                sections.push((section.name().to_owned(), text));
            }
            _ => {}
        }
    }
    sections
}

#[test]
fn two_clean_builds_give_the_bytes_that_the_crate_embeds() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in ["one", "a folder of another name"] {
        let tree = folder.path().join(name);
        tree::copy(&tree);
        let built = component::build(&tree, &tree.join("target"), &metadata()).expect("it builds");
        assert!(built == Component::embedded().bytes(), "the build in {name:?} gives other bytes");
    }
}

#[test]
fn the_component_carries_what_a_registry_shows() {
    let metadata = metadata();
    let text = |key: &str| metadata.iter().find(|(name, _)| name == key).map(|(_, text)| text.as_str());
    assert_eq!(text("version"), Some(env!("CARGO_PKG_VERSION")));
    assert_eq!(text("licenses"), Some(env!("CARGO_PKG_LICENSE")));
    assert_eq!(text("source"), Some(env!("CARGO_PKG_REPOSITORY")));
    assert!(text("description").is_some_and(|text| text.contains("circuit breaker")));
}
