//! The component's bytes follow from the sources and the toolchain alone, so that anybody can check a digest.

use halfopen::Component;
use halfopen_tests::tree;
use wasmparser::{Parser, Payload};

#[path = "../../host/wasmtime/build/guest.rs"]
mod guest;

/// What the component that comes with the crate says of itself: its own custom sections, not those of the modules in it.
fn about() -> Vec<(String, String)> {
    let component = Component::embedded();
    let mut said = Vec::new();
    let mut inside = 0;
    for payload in Parser::new(0).parse_all(component.bytes()) {
        match payload.expect("it can be read") {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => inside += 1,
            Payload::End(_) => inside -= 1,
            Payload::CustomSection(section) if inside == 0 => {
                let text = String::from_utf8(section.data().to_vec()).expect("it is text");
                said.push((section.name().to_owned(), text));
            }
            _ => {}
        }
    }
    said
}

#[test]
fn two_clean_builds_in_two_folders_give_the_bytes_that_the_crate_brings() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in ["one", "a folder of another name"] {
        let tree = folder.path().join(name);
        tree::copy(&tree);
        let built = guest::component(&tree, &tree.join("target"), &about()).expect("it builds");
        assert!(built == Component::embedded().bytes(), "the build in {name:?} gives other bytes");
    }
}

#[test]
fn the_component_says_what_a_registry_shows_of_it() {
    let about = about();
    let said = |key: &str| about.iter().find(|(name, _)| name == key).map(|(_, text)| text.as_str());
    assert_eq!(said("version"), Some(env!("CARGO_PKG_VERSION")));
    assert_eq!(said("licenses"), Some(env!("CARGO_PKG_LICENSE")));
    assert_eq!(said("source"), Some(env!("CARGO_PKG_REPOSITORY")));
    assert!(said("description").is_some_and(|text| text.contains("circuit breaker")));
}
