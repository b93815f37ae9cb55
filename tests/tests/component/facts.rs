//! What can be seen from the component's bytes alone.

use wasmparser::{ComponentTypeRef, Parser, Payload};

use halfopen::Component;

/// The names that the component itself imports and exports, those of what is nested in it aside.
fn names() -> (Vec<String>, Vec<String>) {
    let component = Component::embedded();
    let (mut imports, mut exports) = (Vec::new(), Vec::new());
    let mut nested = 0;
    for payload in Parser::new(0).parse_all(component.bytes()) {
        match payload.unwrap() {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => nested += 1,
            Payload::End(_) => nested -= 1,
            Payload::ComponentImportSection(section) if nested == 0 => {
                for import in section {
                    let import = import.unwrap();
                    assert!(matches!(import.ty, ComponentTypeRef::Instance(_)), "{import:?}");
                    imports.push(import.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if nested == 0 => {
                exports.extend(section.into_iter().map(|export| export.unwrap().name.name.to_owned()));
            }
            _ => {}
        }
    }
    imports.sort();
    exports.sort();
    (imports, exports)
}

#[test]
fn it_imports_storage_clock_and_entropy_and_nothing_else() {
    let (imports, exports) = names();
    let of_ours =
        |names: &[&str]| -> Vec<String> { names.iter().map(|name| format!("halfopen:breaker/{name}@0.1.0")).collect() };
    assert_eq!(imports, of_ours(&["clock", "entropy", "storage", "types"]));
    assert_eq!(exports, of_ours(&["breaker", "control", "setup"]));
    // And of those interfaces, these functions.
    let functions = Component::embedded().imports().unwrap();
    let functions: Vec<&str> = functions.iter().filter_map(|name| name.split_once('#')).map(|(_, f)| f).collect();
    assert_eq!(functions, ["now", "next", "commit", "load"]);
}

#[test]
fn it_takes_32_kb_at_most() {
    let size = Component::embedded().bytes().len();
    println!("the component takes {size} bytes");
    assert!(size <= 32_768, "{size} bytes");
}

#[test]
fn nothing_of_the_machine_that_built_it_is_in_it() {
    let component = Component::embedded();
    let text = String::from_utf8_lossy(component.bytes());
    let home = std::env::home_dir().map(|home| home.display().to_string()).filter(|home| home.len() > 1);
    let manifest = env!("CARGO_MANIFEST_DIR").to_owned();
    for place in home.into_iter().chain([manifest]).chain(["/rustc/", ".cargo", "registry", ".rs"].map(str::to_owned)) {
        assert!(!text.contains(&place), "{place} is in it");
    }
}
