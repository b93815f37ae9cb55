//! Which world a component is of.

use crate::error::ComponentError;

/// The world that this host runs.
pub(crate) const WORLD: &str = "halfopen:breaker/component@0.1.0";

const PACKAGE: &str = "halfopen:breaker/";

/// What versions of the contract begin with that agree with this one: an interface changes with the number before the last.
const COMPATIBLE: &str = "0.1.";

/// All that a component may import: the functions, and the types that they speak of.
const IMPORTS: [&str; 5] = ["storage#load", "storage#commit", "clock#now", "entropy#next", "types"];

/// All that it must export, besides what it likes.
const EXPORTS: [&str; 3] = ["setup", "breaker", "control"];

/// Checks the names; that the types agree is seen when an instance is prepared.
pub(crate) fn check(place: &str, imports: &[String], exports: &[String]) -> Result<(), ComponentError> {
    let other_world =
        |why: String| ComponentError::OtherWorld { place: place.to_owned(), wanted: WORLD.to_owned(), why };
    for (verb, name) in imports.iter().map(|name| ("imports", name)).chain(exports.iter().map(|name| ("exports", name)))
    {
        if let Some((interface, version)) = of_our_package(name)
            && !is_compatible(version)
        {
            return Err(other_world(format!("it {verb} {PACKAGE}{interface}@{version}")));
        }
    }
    let foreign: Vec<String> = imports.iter().filter(|name| !may_import(name)).cloned().collect();
    if !foreign.is_empty() {
        return Err(ComponentError::OtherImports { place: place.to_owned(), imports: foreign });
    }
    let missing: Vec<&str> = EXPORTS
        .into_iter()
        .filter(|wanted| {
            !exports.iter().any(|name| of_our_package(name).is_some_and(|(interface, _)| interface == *wanted))
        })
        .collect();
    if !missing.is_empty() {
        return Err(other_world(format!("it does not export {}", missing.join(", "))));
    }
    Ok(())
}

/// The interface and the version of a name `halfopen:breaker/INTERFACE@VERSION`, with or without `#FUNCTION`.
fn of_our_package(name: &str) -> Option<(&str, &str)> {
    let interface = name.split('#').next().unwrap_or(name);
    let rest = interface.strip_prefix(PACKAGE)?;
    Some(rest.split_once('@').unwrap_or((rest, "")))
}

/// Only whole releases: what a pre-release means may still change.
fn is_compatible(version: &str) -> bool {
    let last = version.strip_prefix(COMPATIBLE);
    last.is_some_and(|last| !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()))
}

fn may_import(name: &str) -> bool {
    let Some((interface, _)) = of_our_package(name) else { return false };
    match name.split_once('#') {
        Some((_, function)) => IMPORTS.contains(&format!("{interface}#{function}").as_str()),
        None => interface == "types",
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(check("it", &imports, &exports), Ok(()));
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
            assert_eq!(check("it", &imports, &exports), Err(expected));
        }
    }

    #[test]
    fn another_release_of_the_same_contract_is_accepted() {
        let (imports, exports) = ours();
        let of = |names: Vec<String>| names.iter().map(|name| name.replace("@0.1.0", "@0.1.17")).collect::<Vec<_>>();
        assert_eq!(check("it", &of(imports), &of(exports)), Ok(()));
    }

    #[test]
    fn another_version_of_the_world_is_named() {
        for other in ["0.2.0", "1.1.0", "0.1", "0.1.1-rc.1", "0.10.0"] {
            let (imports, mut exports) = ours();
            exports[0] = format!("halfopen:breaker/breaker@{other}#acquire");
            let error = check("it", &imports, &exports).unwrap_err();
            assert!(error.to_string().contains(&format!("breaker@{other}")), "{error}");
        }
    }

    #[test]
    fn a_missing_export_is_named() {
        let (imports, mut exports) = ours();
        exports.remove(1);
        let error = check("it", &imports, &exports).unwrap_err();
        assert!(error.to_string().contains("does not export control"), "{error}");
    }
}
