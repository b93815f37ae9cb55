//! Makes components of our world from bodies of functions, in WAT.

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{Resolve, WorldId};

const WIT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../wit");

mod exports;

/// Hands out memory from 8192 to the end of the first page, again and again.
const REALLOC: &str = "(local $at i32)
    (local.set $at (i32.and (i32.add (global.get $next) (i32.const 15)) (i32.const -16)))
    (if (i32.gt_u (i32.add (local.get $at) (local.get 3)) (i32.const 0x10000))
        (then (local.set $at (i32.const 8192))))
    (global.set $next (i32.add (local.get $at) (local.get 3)))
    (local.get $at)";

/// A component of our world. Without more it answers everything with the first case of its answer, all zero: acquire
/// proceeds, reports are applied.
#[derive(Default)]
pub struct Wat {
    bodies: Vec<(String, String)>,
    realloc: Option<String>,
    more: String,
}

impl Wat {
    /// Gives an exported function another body. It may call
    /// - `$commit`, which commits one byte for the dependency at (0, 1) on the version that `$version` loads;
    /// - `$err`, which writes an error with a text at the place that is returned.
    ///
    /// The global `$hurt` is 0 in a new instance; `$next` is where arguments and what the host answers are put next.
    pub fn body(mut self, export: &str, body: &str) -> Wat {
        self.bodies.push((export.to_owned(), body.to_owned()));
        self
    }

    pub fn realloc(mut self, body: &str) -> Wat {
        self.realloc = Some(body.to_owned());
        self
    }

    /// Adds items to the core module.
    pub fn with(mut self, items: &str) -> Wat {
        self.more.push_str(items);
        self
    }

    pub fn component(&self) -> Vec<u8> {
        let (resolve, world) = world(WIT.as_ref(), |_| {});
        let exports = exports::exports(&resolve, world);
        for (export, _) in &self.bodies {
            assert!(exports.iter().any(|(name, _)| name.ends_with(&format!("#{export}"))), "{export}");
        }
        let functions: String = exports
            .iter()
            .map(|(name, ty)| {
                let own = self.bodies.iter().find(|(export, _)| name.ends_with(&format!("#{export}")));
                let body = own.map_or("i32.const 1024", |(_, body)| body);
                format!("(func (export \"{name}\") {ty} {body})\n")
            })
            .collect();
        let realloc = self.realloc.as_deref().unwrap_or(REALLOC);
        let more = &self.more;
        let module = format!(
            r#"(module
                (import "halfopen:breaker/storage@0.1.0" "load" (func $load (param i32 i32 i32)))
                (import "halfopen:breaker/storage@0.1.0" "commit"
                    (func $import (param i32 i32 i64 i32 i32 i32 i32 i32 i32)))
                (memory (export "memory") 2)
                (global $next (mut i32) (i32.const 8192))
                (global $hurt (mut i32) (i32.const 0))
                (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) {realloc})
                (func $version (param i32 i32) (result i64)
                    (call $load (local.get 0) (local.get 1) (i32.const 4096))
                    (i64.load (i32.const 4104)))
                (func $commit (param i32 i32)
                    (call $import (local.get 0) (local.get 1) (call $version (local.get 0) (local.get 1))
                        (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 4096)))
                (func $err (param i32 i32) (result i32)
                    (i32.store8 (i32.const 2048) (i32.const 1))
                    (i32.store8 (i32.const 2056) (i32.const 0))
                    (i32.store (i32.const 2064) (local.get 0))
                    (i32.store (i32.const 2068) (local.get 1))
                    (i32.const 2048))
                {functions}
                {more})"#
        );
        encode(&module, WIT.as_ref(), |_| {})
    }
}

/// Makes a component of a core module; `edit` may change the contract first.
pub fn encode(module: &str, wit: &std::path::Path, edit: impl FnOnce(&mut Resolve)) -> Vec<u8> {
    let mut module = ::wat::parse_str(module).unwrap();
    let (resolve, world) = world(wit, edit);
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false).unwrap();
    ComponentEncoder::default().module(&module).unwrap().encode().unwrap()
}

fn world(wit: &std::path::Path, edit: impl FnOnce(&mut Resolve)) -> (Resolve, WorldId) {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(wit).unwrap();
    edit(&mut resolve);
    let world = resolve.select_world(&[package], Some("component")).unwrap();
    (resolve, world)
}
