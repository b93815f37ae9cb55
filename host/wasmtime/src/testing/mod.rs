//! What the unit tests share.

mod exports;
mod watched;

use std::path::{Path, PathBuf};

pub(crate) use watched::{Asked, Watched, down};

/// A folder that is removed when it goes out of scope.
pub(crate) struct TempDir(PathBuf);

impl TempDir {
    pub fn new() -> Self {
        let name = format!("halfopen-{}-{:016x}", std::process::id(), fastrand::u64(..));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        TempDir(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A component of our world that answers everything with the first case of its answer, all zero (acquire: proceed); but
/// for those functions that are given a body here, in WAT. It may call `$commit`, which commits one byte on version 0 for
/// the dependency at (0, 1).
pub(crate) fn hostile(bodies: &[(&str, &str)]) -> Vec<u8> {
    let mut resolve = wit_parser::Resolve::default();
    let (package, _) = resolve.push_path(concat!(env!("CARGO_MANIFEST_DIR"), "/wit")).unwrap();
    let world = resolve.select_world(&[package], Some("component")).unwrap();
    let functions: String = exports::exports(&resolve, world)
        .into_iter()
        .map(|(name, ty)| {
            let body =
                bodies.iter().find(|(of, _)| name.ends_with(&format!("#{of}"))).map_or("i32.const 1024", |(_, b)| b);
            format!("(func (export \"{name}\") {ty} {body})\n")
        })
        .collect();
    let module = format!(
        r#"(module
            (import "halfopen:breaker/storage@0.1.0" "commit"
                (func $import (param i32 i32 i64 i32 i32 i32 i32 i32 i32)))
            (memory (export "memory") 2)
            (global $next (mut i32) (i32.const 8192))
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
                (local $at i32)
                (local.set $at (i32.and (i32.add (global.get $next) (i32.const 15)) (i32.const -16)))
                (global.set $next (i32.and (i32.add (local.get $at) (local.get 3)) (i32.const 0xffff)))
                (local.get $at))
            (func $commit (param i32 i32)
                (call $import (local.get 0) (local.get 1) (i64.const 0) (i32.const 1) (i32.const 0) (i32.const 1)
                    (i32.const 0) (i32.const 0) (i32.const 4096)))
            {functions})"#
    );
    let mut module = wat::parse_str(module).unwrap();
    wit_component::embed_component_metadata(&mut module, &resolve, world, wit_component::StringEncoding::UTF8, false)
        .unwrap();
    wit_component::ComponentEncoder::default().module(&module).unwrap().encode().unwrap()
}
