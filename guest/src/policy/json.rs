//! A policy read from JSON, with all its faults, and written as JSON.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hifijson::SliceLexer;
use hifijson::token::Lex as _;
use hifijson::value::{Value, parse_bounded};

use super::reader::{Json, Reader, shown};
use super::types::{BUILT_IN, Policy};
use crate::contract::PolicyFault;

/// The longest text, in bytes.
const LONGEST: usize = 65_536;
/// The deepest nesting: the policy, a table, and one level more for a fault that names its place.
const DEPTH: usize = 16;

impl Policy {
    /// The policy that a JSON text gives; a key left out has the default of [`BUILT_IN`]. Of an invalid text, all faults.
    pub fn parse(text: &str) -> Result<Policy, Vec<PolicyFault>> {
        let value = read(text).map_err(whole_text)?;
        let Value::Object(object) = &value else {
            return Err(whole_text(format!("must be a JSON object, not {}", shown(&value))));
        };
        let mut policy = BUILT_IN;
        let mut reader = Reader::new(object);
        reader.policy(&mut policy);
        reader.check_keys();
        if reader.faults.is_empty() { Ok(policy) } else { Err(reader.faults) }
    }

    /// Whether each field is in its range.
    pub fn is_valid(mut self) -> bool {
        let mut reader = Reader::new(&[]);
        reader.policy(&mut self);
        reader.faults.is_empty()
    }

    /// The policy as JSON, with all its keys.
    pub fn to_json(&self) -> String {
        // Writing to memory fails for no value of this type.
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn whole_text(why: String) -> Vec<PolicyFault> {
    Vec::from([PolicyFault { field: String::new(), why }])
}

fn read(text: &str) -> Result<Json<'_>, String> {
    if text.len() > LONGEST {
        return Err("is longer than 65,536 bytes".into());
    }
    // Editors on Windows write it before the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lexer = SliceLexer::new(text.as_bytes());
    let value = lexer.exactly_one(SliceLexer::ws_peek, |next, lexer| parse_bounded(DEPTH, next, lexer));
    value.map_err(|error| {
        let before = &text.as_bytes()[..text.len() - lexer.as_slice().len()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let column = 1 + before.iter().rev().take_while(|byte| **byte != b'\n').count();
        format!("is not JSON: {error}, at line {line}, column {column}")
    })
}
