//! The arrows between the modules of a crate run one way: no circle. Between crates the compiler sees to it.

mod graph;
mod modules;

use std::path::Path;

use halfopen_tests::program::root;

/// The crates whose modules are read.
const CRATES: [&str; 12] = [
    "guest",
    "host/rust/contract",
    "host/rust/sqlite",
    "host/rust/postgres",
    "host/rust/etcd",
    "host/rust/native",
    "host/rust/component",
    "host/rust/halfopen",
    "host/rust/replay",
    "host/rust/tenants",
    "host/cli",
    "host/server",
];

fn circles_of(folder: &Path) -> Vec<Vec<String>> {
    let entry = ["src/lib.rs", "src/main.rs"].map(|file| folder.join(file)).into_iter().find(|file| file.exists());
    let entry = entry.unwrap_or_else(|| panic!("{} holds no crate", folder.display()));
    graph::circles(&modules::read(&entry).uses())
}

#[test]
fn no_circle_of_modules_within_a_crate() {
    let mut found = Vec::new();
    for name in CRATES {
        let folder = root().join(name);
        if folder.exists() {
            found.extend(circles_of(&folder).into_iter().map(|circle| format!("{name}: {}", circle.join(" -> "))));
        }
    }
    assert!(found.is_empty(), "circles:\n{}", found.join("\n"));
}

fn of_files(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        let path = folder.path().join("src").join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder is writable");
        std::fs::write(path, text).expect("the folder is writable");
    }
    circles_of(folder.path())
}

#[test]
fn a_circle_through_a_re_export_is_found() {
    let circles = of_files(&[
        ("lib.rs", "mod a; mod b; pub use a::A;"),
        ("a.rs", "use crate::b::{B}; pub struct A(B);"),
        ("b.rs", "pub struct B; fn f() -> crate::A { todo!() }"),
    ]);
    assert_eq!(circles, [["a", "b"]]);
}

#[test]
fn a_child_that_uses_its_parent_which_uses_it_is_found() {
    let circles = of_files(&[
        ("lib.rs", "mod a;"),
        ("a/mod.rs", "mod child; use child::Child; pub struct Parent(Child);"),
        ("a/child.rs", "use super::Parent; pub struct Child; impl Parent { fn f(self) {} }"),
    ]);
    assert_eq!(circles, [["a", "a::child"]]);
}

#[test]
fn declaring_and_re_exporting_a_module_is_no_use_of_it() {
    let circles = of_files(&[
        ("lib.rs", "mod a;"),
        ("a/mod.rs", "mod child; pub use child::Child; pub struct Parent;"),
        ("a/child.rs", "use super::Parent; pub struct Child(Parent); #[cfg(test)] mod tests { use super::*; }"),
    ]);
    assert!(circles.is_empty(), "{circles:?}");
}
