#[cfg(feature = "component-model")]
use wasmtime::component::{ComponentType, Lift, Lower};

/// Why an exported call failed; it then changed nothing. A host answers [`BreakerError`](crate::BreakerError) instead.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "component-model", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "component-model", component(variant))]
pub enum Error {
    /// The name of the dependency is empty, longer than 256 bytes, or holds a control character.
    #[cfg_attr(feature = "component-model", component(name = "invalid-dependency"))]
    InvalidDependency(String),
    /// The policy has faults: all of them.
    #[cfg_attr(feature = "component-model", component(name = "invalid-policy"))]
    InvalidPolicy(Vec<PolicyFault>),
    /// Another argument is out of range.
    #[cfg_attr(feature = "component-model", component(name = "invalid-argument"))]
    InvalidArgument(String),
    /// Other callers wrote the record each time before this call could.
    #[cfg_attr(feature = "component-model", component(name = "contended"))]
    Contended,
    /// The record was written by a later release; it is left alone.
    #[cfg_attr(feature = "component-model", component(name = "newer-version"))]
    NewerVersion,
    /// The store failed.
    #[cfg_attr(feature = "component-model", component(name = "storage"))]
    Storage(StorageError),
    /// The platform limits how often its tenants may call: come back after this many ms.
    #[cfg_attr(feature = "component-model", component(name = "too-many-calls"))]
    TooManyCalls(u64),
    /// The platform limits a tenant to this many dependencies.
    #[cfg_attr(feature = "component-model", component(name = "too-many-dependencies"))]
    TooManyDependencies(u32),
    /// An error of a later version, or something else.
    #[cfg_attr(feature = "component-model", component(name = "other"))]
    Other(String),
}

/// Why a store failed.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "component-model", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "component-model", component(variant))]
pub enum StorageError {
    /// It cannot be reached, is locked, or is full.
    #[cfg_attr(feature = "component-model", component(name = "unavailable"))]
    Unavailable(String),
    /// It refuses: read-only, or without the rights.
    #[cfg_attr(feature = "component-model", component(name = "denied"))]
    Denied(String),
    /// What it holds is damaged.
    #[cfg_attr(feature = "component-model", component(name = "corrupt"))]
    Corrupt(String),
    /// An error of a later version, or something else.
    #[cfg_attr(feature = "component-model", component(name = "other"))]
    Other(String),
}

/// A fault of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "component-model", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "component-model", component(record))]
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
