//! The contract against those that were released: whoever built on one of them may rely on it.

use std::fs;
use std::path::{Path, PathBuf};

use halfopen_tests::program::root;
use wit_component::semver_check;
use wit_parser::{Resolve, WorldId};

/// Higher than any that is released: two packages of one version cannot be looked at together.
const PRESENT: &str = "0.1.9999";

/// The versions of which a copy is kept, in order.
fn released() -> Vec<(semver::Version, PathBuf)> {
    let folders = fs::read_dir(root().join("wit/released")).expect("the copies are there");
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

/// All of a package's files as one text, under another version if one is given.
fn text(folder: &Path, renamed: Option<(&str, &str)>) -> String {
    let mut files: Vec<_> = fs::read_dir(folder).expect("it is a folder").flatten().map(|file| file.path()).collect();
    files.retain(|file| file.extension().is_some_and(|kind| kind == "wit"));
    // The one with the package's name comes first.
    files.sort_by_key(|file| !file.ends_with("package.wit"));
    let read = |file: &PathBuf| fs::read_to_string(file).expect("it is text");
    let all: String = files.iter().map(read).collect();
    match renamed {
        Some((from, to)) => all.replace(&format!("@{from};"), &format!("@{to};")),
        None => all,
    }
}

/// The version in force.
fn present() -> String {
    let text = text(&root().join("wit"), None);
    let package = text.lines().find_map(|line| line.strip_prefix("package halfopen:breaker@")).expect("it is named");
    package.trim_end_matches(';').to_owned()
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

/// Whether what was built for the world in `old` runs where `new` is offered.
fn runs_on(old: &str, new: &str, world: &str) -> Result<(), String> {
    let (resolve, old, new) = both(old, new, world);
    semver_check(resolve, old, new).map_err(|error| format!("{error:#}"))
}

fn in_force() -> String {
    text(&root().join("wit"), Some((&present(), PRESENT)))
}

#[test]
fn a_copy_of_the_contract_in_force_is_kept_once_it_is_released() {
    let versions: Vec<String> = released().iter().map(|(version, _)| version.to_string()).collect();
    assert!(!versions.is_empty());
    for (version, folder) in released() {
        let said = text(&folder, None);
        assert!(said.contains(&format!("package halfopen:breaker@{version};")), "wit/released/{version} is of another");
    }
    let present: semver::Version = present().parse().expect("it is a version");
    let last = &released().pop().expect("there is one").0;
    assert!(present >= *last, "wit/ is of {present}, and {last} is released");
}

#[test]
fn what_was_built_for_a_release_of_this_series_runs_on_the_contract_in_force() {
    for (version, folder) in released().iter().filter(|(version, _)| version.major == 0 && version.minor == 1) {
        let old = text(folder, None);
        for world in ["component", "caller"] {
            let result = runs_on(&old, &in_force(), world);
            assert_eq!(result, Ok(()), "a {world} of {version} no longer runs on {}", present());
        }
    }
}

#[test]
fn a_component_of_the_contract_in_force_runs_on_hosts_of_every_release_of_this_series() {
    for (version, folder) in released().iter().filter(|(version, _)| version.major == 0 && version.minor == 1) {
        let result = runs_on(&in_force(), &text(folder, None), "component");
        assert_eq!(result, Ok(()), "a component of {} does not run on a host of {version}", present());
    }
}

#[test]
fn a_change_that_breaks_others_is_noticed() {
    let (version, folder) = released().pop().expect("there is one");
    let old = text(&folder, None);
    let changes = [
        ("a parameter more", "acquire: func(dependency: string, ", "acquire: func(dependency: string, more: u32, "),
        ("a function renamed", "  renew: func(", "  extend: func("),
        ("another type", "took: option<u64>", "took: option<u32>"),
    ];
    for (what, from, to) in changes {
        let new = in_force();
        assert!(new.contains(from), "{what}: {from:?} is not in the contract");
        let new = new.replace(from, to);
        for world in ["component", "caller"] {
            assert!(runs_on(&old, &new, world).is_err(), "{what} since {version} goes unnoticed by a {world}");
        }
    }
}
