//! The exports of a component of our world, in WAT.

use wit_parser::abi::{AbiVariant, WasmType};
use wit_parser::{Resolve, WorldId, WorldItem};

/// The functions: `INTERFACE#NAME`, and the core type, `(param ..) (result ..)`.
pub fn exports(resolve: &Resolve, world: WorldId) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (key, item) in &resolve.worlds[world].exports {
        let WorldItem::Interface { id, .. } = item else { continue };
        for (name, function) in &resolve.interfaces[*id].functions {
            let signature = resolve.wasm_signature(AbiVariant::GuestExport, function);
            let [params, results] = [&signature.params, &signature.results].map(|types| words(types));
            all.push((
                format!("{}#{name}", resolve.name_world_key(key)),
                format!("(param {params}) (result {results})"),
            ));
        }
    }
    all
}

fn words(types: &[WasmType]) -> String {
    let word = |ty: &WasmType| match ty {
        WasmType::I32 | WasmType::Pointer | WasmType::Length => "i32",
        WasmType::I64 | WasmType::PointerOrI64 => "i64",
        WasmType::F32 => "f32",
        WasmType::F64 => "f64",
    };
    types.iter().map(word).collect::<Vec<_>>().join(" ")
}
