//! Facts about the component's bytes.

use std::io::Write as _;
use std::process::{Command, Stdio};

use halfopen::Component;
use wasmparser::{ComponentTypeRef, Parser, Payload};

/// The names of the component's own imports and exports, without those of the components nested in it.
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
    // Of those interfaces, these functions.
    let functions = Component::embedded().imports().unwrap();
    let functions: Vec<&str> = functions.iter().filter_map(|name| name.split_once('#')).map(|(_, f)| f).collect();
    assert_eq!(functions, ["now", "next", "commit", "load"]);
}

#[test]
fn it_has_at_most_128_kb_and_48_kb_gzipped() {
    let component = Component::embedded();
    let mut gzip = Command::new("gzip").arg("-9c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = gzip.stdin.take().unwrap();
    let bytes = component.bytes().to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&bytes).unwrap());
    let gzipped = gzip.wait_with_output().unwrap().stdout.len();
    writer.join().unwrap();
    let size = component.bytes().len();
    println!("the component has {size} bytes, {gzipped} gzipped");
    assert!(size <= 128 << 10 && (1..=48 << 10).contains(&gzipped), "{size} bytes, {gzipped} gzipped");
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
