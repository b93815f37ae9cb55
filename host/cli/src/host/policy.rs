//! The default policy that `--default-policy` names.

use halfopen::{Policy, PolicyFault};

use crate::args::Global;
use crate::exit::{Code, Failure};
use crate::policy_file::PolicyFile;

/// The default policy: a file, or the built-in one.
pub struct DefaultPolicy(Option<PolicyFile>);

impl DefaultPolicy {
    /// Reads the file, where one is given.
    pub fn of(global: &Global) -> anyhow::Result<Self> {
        global.default_policy.as_deref().map(PolicyFile::read).transpose().map(DefaultPolicy)
    }

    /// The policy.
    pub fn policy(&self) -> Policy {
        self.0.as_ref().map(PolicyFile::policy).unwrap_or_default()
    }

    /// The error for faults that the engine has found in it.
    pub fn refused(&self, faults: &[PolicyFault]) -> anyhow::Error {
        match &self.0 {
            Some(file) => file.refused(faults),
            None => Failure::error(Code::Data, halfopen::list_faults(faults)),
        }
    }
}
