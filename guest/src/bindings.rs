//! The contract, generated from `wit/`.

wit_bindgen::generate!({
    path: "../wit",
    world: "component",
    additional_derives: [PartialEq, serde::Serialize, serde::Deserialize],
    generate_unused_types: true,
    pub_export_macro: true,
});
