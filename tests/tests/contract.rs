//! The contract within a series: a change that breaks a component or a host is noticed.
//!
//! Once a version is released, `wit/released/` holds a copy of it, and the contract in force is held against each.

use std::fs;
use std::path::{Path, PathBuf};

use halfopen_tests::program::root;
use wit_component::semver_check;
use wit_parser::{Resolve, WorldId};

/// A version above any that is released: two packages of one version cannot be compared.
const PRESENT: &str = "0.1.9999";

/// The released versions that have a copy, in order.
fn released() -> Vec<(semver::Version, PathBuf)> {
    let Ok(folders) = fs::read_dir(root().join("wit/released")) else { return Vec::new() };
    let mut all: Vec<_> = folders
        .map(|folder| folder.expect("it can be read").path())
        .map(|folder| {
            let name = folder.file_name().and_then(|name| name.to_str()).expect("it has a name").to_owned();
            (name.parse().unwrap_or_else(|error| panic!("wit/released/{name}: {error}")), folder)
        })
        .collect();
    all.sort();
    all
}

/// All files of a package as one text.
fn text(folder: &Path) -> String {
    let mut files: Vec<_> = fs::read_dir(folder).expect("it is a folder").flatten().map(|file| file.path()).collect();
    files.retain(|file| file.extension().is_some_and(|kind| kind == "wit"));
    // The one with the package's name comes first.
    files.sort_by_key(|file| !file.ends_with("package.wit"));
    files.iter().map(|file| fs::read_to_string(file).expect("it is text")).collect()
}

/// The contract in force.
fn in_force() -> String {
    text(&root().join("wit"))
}

/// The version of a contract.
fn version(text: &str) -> semver::Version {
    let named = text.lines().find_map(|line| line.strip_prefix("package halfopen:breaker@")).expect("it is named");
    named.trim_end_matches(';').parse().expect("it is a version")
}

/// A contract under the version [`PRESENT`].
fn as_present(text: &str) -> String {
    text.replace(&format!("@{};", version(text)), &format!("@{PRESENT};"))
}

/// A world of one contract and the same of another, together.
fn both(first: &str, second: &str, world: &str) -> (Resolve, WorldId, WorldId) {
    let mut resolve = Resolve::default();
    let mut select = |name: &str, text: &str| {
        let package = resolve.push_str(name, text).unwrap_or_else(|error| panic!("{name}: {error:#}"));
        resolve.select_world(&[package], Some(world)).unwrap_or_else(|error| panic!("{name}: {error:#}"))
    };
    let (first, second) = (select("first.wit", first), select("second.wit", second));
    (resolve, first, second)
}

/// Whether a component that was built for the world in `old` runs where `new` is offered.
fn runs_on(old: &str, new: &str, world: &str) -> Result<(), String> {
    let (resolve, old, new) = both(old, new, world);
    semver_check(resolve, old, new).map_err(|error| format!("{error:#}"))
}

#[test]
fn releases_of_this_series_and_the_contract_run_on_each_other() {
    let present = version(&in_force());
    for (version, folder) in released() {
        assert!(present >= version, "wit/ is of {present}, and {version} is released");
        if (version.major, version.minor) == (present.major, present.minor) {
            let (old, new) = (text(&folder), as_present(&in_force()));
            for world in ["component", "caller"] {
                assert_eq!(runs_on(&old, &new, world), Ok(()), "a {world} of {version} no longer runs on {present}");
            }
            assert_eq!(runs_on(&new, &old, "component"), Ok(()), "a component of {present} runs on no {version}");
        }
    }
}

#[test]
fn a_contract_without_changes_runs_on_itself() {
    for world in ["component", "caller"] {
        assert_eq!(runs_on(&in_force(), &as_present(&in_force()), world), Ok(()));
    }
}

#[test]
fn a_change_of_the_contract_that_breaks_others_is_noticed() {
    let changes = [
        ("a parameter more", "acquire: func(dependency: string, ", "acquire: func(dependency: string, more: u32, "),
        ("a function renamed", "  renew: func(", "  extend: func("),
        ("another type", "took: option<u64>", "took: option<u32>"),
    ];
    for (what, from, to) in changes {
        let new = as_present(&in_force());
        assert!(new.contains(from), "{what}: {from:?} is not in the contract");
        let new = new.replace(from, to);
        for world in ["component", "caller"] {
            assert!(runs_on(&in_force(), &new, world).is_err(), "{what} goes unnoticed by a {world}");
        }
    }
}
