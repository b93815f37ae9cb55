use super::*;

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn ours() -> (Vec<String>, Vec<String>) {
    let imports = names(&[
        "halfopen:breaker/clock@0.1.0#now",
        "halfopen:breaker/entropy@0.1.0#next",
        "halfopen:breaker/storage@0.1.0#commit",
        "halfopen:breaker/storage@0.1.0#load",
        "halfopen:breaker/types@0.1.0",
    ]);
    let exports = names(&[
        "halfopen:breaker/breaker@0.1.0#acquire",
        "halfopen:breaker/control@0.1.0#inspect",
        "halfopen:breaker/setup@0.1.0#built-in-policy",
    ]);
    (imports, exports)
}

#[test]
fn our_world_is_accepted() {
    let (imports, exports) = ours();
    assert_eq!(check_names("it", &imports, &exports), Ok(()));
}

#[test]
fn any_other_import_is_refused_and_named() {
    for foreign in [
        "wasi:cli/environment@0.2.0#get-environment",
        "halfopen:breaker/storage@0.1.0#drop-all",
        "halfopen:breaker/network@0.1.0#call",
        "host-function",
    ] {
        let (mut imports, exports) = ours();
        imports.push(foreign.to_owned());
        let expected = ComponentError::OtherImports { place: "it".to_owned(), imports: names(&[foreign]) };
        assert_eq!(check_names("it", &imports, &exports), Err(expected));
    }
}

fn of_version(version: &str) -> (Vec<String>, Vec<String>) {
    let (imports, exports) = ours();
    let renamed = |names: Vec<String>| names.iter().map(|name| name.replace("0.1.0", version)).collect();
    (renamed(imports), renamed(exports))
}

#[test]
fn every_version_of_the_series_is_accepted() {
    for version in ["0.1.0", "0.1.1", "0.1.27", "0.1.3+build.5"] {
        let (imports, exports) = of_version(version);
        assert_eq!(check_names("it", &imports, &exports), Ok(()), "{version}");
    }
}

#[test]
fn a_version_of_another_series_is_named_with_what_runs_here() {
    for version in ["0.2.0", "1.1.0", "0.1.1-rc.1", "0.0.1", "1"] {
        let (imports, exports) = of_version(version);
        let error = check_names("it", &imports, &exports).unwrap_err().to_string();
        assert!(error.contains(&format!("clock@{version}")) && error.contains("runs every 0.1.x"), "{error}");
    }
}

#[test]
fn the_world_itself_runs_here() {
    assert!(of_our_package(WORLD).is_some_and(|(_, version)| runs_here(version)));
}

#[test]
fn a_missing_export_is_named() {
    let (imports, mut exports) = ours();
    exports.remove(1);
    let error = check_names("it", &imports, &exports).unwrap_err();
    assert!(error.to_string().contains("does not export control"), "{error}");
}
