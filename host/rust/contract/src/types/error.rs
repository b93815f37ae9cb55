#[cfg(feature = "component-model")]
use wasmtime::component::{ComponentType, Lift, Lower};

use super::words::named;

named! {
    variant:
    /// Why an exported call failed; it then changed nothing. A host answers [`BreakerError`](crate::BreakerError) instead.
    #[derive(Clone, Debug, PartialEq)]
    pub enum Error {
        /// The name of the dependency is empty, longer than 256 bytes, or holds a control character.
        InvalidDependency(String) = "invalid-dependency",
        /// The policy has faults: all of them.
        InvalidPolicy(Vec<PolicyFault>) = "invalid-policy",
        /// Another argument is out of range.
        InvalidArgument(String) = "invalid-argument",
        /// Other callers wrote the record each time before this call could.
        Contended = "contended",
        /// The record was written by a later release; it is left alone.
        NewerVersion = "newer-version",
        /// The store failed.
        Storage(StorageError) = "storage",
        /// The platform limits how often its tenants may call: come back after this many ms.
        TooManyCalls(u64) = "too-many-calls",
        /// The platform limits a tenant to this many dependencies.
        TooManyDependencies(u32) = "too-many-dependencies",
        /// An error of a later version, or something else.
        Other(String) = "other",
    }
}

named! {
    variant:
    /// Why a store failed.
    #[derive(Clone, Debug, PartialEq)]
    pub enum StorageError {
        /// It cannot be reached, is locked, or is full.
        Unavailable(String) = "unavailable",
        /// It refuses: read-only, or without the rights.
        Denied(String) = "denied",
        /// What it holds is damaged.
        Corrupt(String) = "corrupt",
        /// An error of a later version, or something else.
        Other(String) = "other",
    }
}

/// A fault of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "component-model", derive(ComponentType, Lift, Lower), component(record))]
pub struct PolicyFault {
    /// The key, with its table: `failure_rate.percent`; empty where the text is no JSON object.
    pub field: String,
    /// What is wrong, with the allowed range.
    pub why: String,
}

impl std::fmt::Display for PolicyFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.field.as_str() {
            "" => f.write_str(&self.why),
            field => write!(f, "`{field}` {}", self.why),
        }
    }
}
