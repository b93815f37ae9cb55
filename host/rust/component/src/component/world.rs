//! The world of a component.

use semver::{Version, VersionReq};
use wasmtime::component::Component as Code;
use wasmtime::component::types::ComponentItem;

use crate::error::ComponentError;

/// The world that this host runs.
const WORLD: &str = "halfopen:breaker/component@0.1.0";

const PACKAGE: &str = "halfopen:breaker/";

/// The versions of the contract that run here, as with Cargo. wasmtime links the imports by that rule as well.
const VERSIONS: &str = "^0.1.0";

/// All that a component may import: the functions, and the types that they speak of.
const IMPORTS: [&str; 5] = ["storage#load", "storage#commit", "clock#now", "entropy#next", "types"];

/// All interfaces that it must export; it may export others.
const EXPORTS: [&str; 3] = ["setup", "breaker", "control"];

/// Checks the names. The types are checked when an instance is linked and made.
pub(crate) fn check(place: &str, code: &Code) -> Result<(), ComponentError> {
    check_names(place, &imports(code), &exports(code))
}

fn check_names(place: &str, imports: &[String], exports: &[String]) -> Result<(), ComponentError> {
    for (verb, name) in imports.iter().map(|name| ("imports", name)).chain(exports.iter().map(|name| ("exports", name)))
    {
        if let Some((interface, version)) = of_our_package(name)
            && !runs_here(version)
        {
            let why = format!("it {verb} {PACKAGE}{interface}@{version}, and this host runs every 0.1.x");
            return Err(other_world(place, why));
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
        return Err(other_world(place, format!("it does not export {}", missing.join(", "))));
    }
    Ok(())
}

/// The error of a component of another world.
pub(crate) fn other_world(place: &str, why: String) -> ComponentError {
    ComponentError::OtherWorld { place: place.to_owned(), wanted: WORLD.to_owned(), why }
}

fn runs_here(version: &str) -> bool {
    let (versions, version) = (VersionReq::parse(VERSIONS), Version::parse(version));
    versions.is_ok_and(|versions| version.is_ok_and(|version| versions.matches(&version)))
}

/// The interface and the version of a name `halfopen:breaker/INTERFACE@VERSION`, with or without `#FUNCTION`.
fn of_our_package(name: &str) -> Option<(&str, &str)> {
    let interface = name.split('#').next().unwrap_or(name);
    let rest = interface.strip_prefix(PACKAGE)?;
    Some(rest.split_once('@').unwrap_or((rest, "")))
}

/// The imports of a component, sorted: `interface#function`, or the interface alone where it has no functions.
pub(crate) fn imports(code: &Code) -> Vec<String> {
    let engine = code.engine();
    let ty = code.component_type();
    names(engine, ty.imports(engine).map(|(name, item)| (name, item.ty)))
}

/// The exports of a component, in the same form.
pub(crate) fn exports(code: &Code) -> Vec<String> {
    let engine = code.engine();
    let ty = code.component_type();
    names(engine, ty.exports(engine).map(|(name, item)| (name, item.ty)))
}

fn names<'a>(engine: &wasmtime::Engine, items: impl Iterator<Item = (&'a str, ComponentItem)>) -> Vec<String> {
    let mut names = Vec::new();
    for (name, item) in items {
        let before = names.len();
        if let ComponentItem::ComponentInstance(instance) = item {
            let functions = instance.exports(engine).filter(|(_, item)| !matches!(item.ty, ComponentItem::Type(_)));
            names.extend(functions.map(|(function, _)| format!("{name}#{function}")));
        }
        if names.len() == before {
            names.push(name.to_owned());
        }
    }
    names.sort();
    names
}

fn may_import(name: &str) -> bool {
    let Some((interface, _)) = of_our_package(name) else { return false };
    match name.split_once('#') {
        Some((_, function)) => IMPORTS.contains(&format!("{interface}#{function}").as_str()),
        None => interface == "types",
    }
}

#[cfg(test)]
mod tests;
