//! Policies as people write them: files in TOML or JSON, and `KEY=VALUE`. They become the JSON of the contract; the engine
//! alone knows the keys, their ranges and their defaults.

mod assignment;
mod document;
mod file;
mod render;
mod shorthand;
#[cfg(test)]
mod tests;

mod unique_keys;

use std::path::{Path, PathBuf};

use halfopen::{Policy, PolicyFault};

pub use self::assignment::changed;
use self::document::Document;
pub use self::render::to_toml;
use crate::exit::{Code, Failure};

/// A policy file that has been read.
pub struct PolicyFile {
    path: PathBuf,
    document: Document,
}

impl PolicyFile {
    /// Reads a file.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = file::read(path)?;
        let document = document::parse(&text).map_err(|why| fault(path, &why))?;
        Ok(PolicyFile { path: path.to_owned(), document })
    }

    /// The policy that the file holds.
    pub fn policy(&self) -> Policy {
        self.document.policy()
    }

    /// The error for faults that the engine has found in the policy.
    pub fn refused(&self, faults: &[PolicyFault]) -> anyhow::Error {
        let mut faults: Vec<&PolicyFault> = faults.iter().collect();
        faults.sort_by_key(|fault| self.document.line(fault));
        let faults: Vec<String> = faults.into_iter().map(|fault| self.document.with_line(fault)).collect();
        fault(&self.path, &faults.join("; "))
    }
}

fn fault(path: &Path, why: &str) -> anyhow::Error {
    Failure::error(Code::Data, format!("policy file {}: {why}", path.display()))
}
