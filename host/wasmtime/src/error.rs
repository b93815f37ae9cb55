//! What can go wrong, one enum an operation.

use std::path::PathBuf;
use std::time::Duration;

use crate::wire::{self, Deferral, PolicyFault};

/// Why a host could not be opened. Nothing was changed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The address of the store names no store of this build.
    #[error(
        "`{address}` is no store address: {why}; give `sqlite:PATH`, a path, `postgres://HOST/DATABASE`, \
         `etcd://HOST:PORT`, or `memory`"
    )]
    Address {
        /// The address as given, without passwords; cut where it is long.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// The store could not be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The component cannot be used.
    #[error(transparent)]
    Component(#[from] ComponentError),
    /// The component failed while it was set up.
    #[error("the component could not be set up: {0}")]
    Setup(ComponentFault),
    /// The default policy has fields out of range: all of them.
    #[error("the default policy is invalid: {}", listed(.0))]
    InvalidPolicy(Vec<PolicyFault>),
}

/// Why a store failed.
///
/// `place` is the store, as the user named it; `why` says what is wrong and, where something can be done, what.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// It cannot be reached, is locked, or is full. Trying again later may help.
    #[error("the store {place} is not available: {why}")]
    Unavailable {
        /// The store.
        place: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// It refuses: read-only, without the rights, or not a place for a store.
    #[error("the store {place} refuses: {why}")]
    Denied {
        /// The store.
        place: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// What it holds is damaged.
    #[error("the store {place} is damaged: {why}")]
    Corrupt {
        /// The store, or the record in it.
        place: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// It was written by a later release. It is left alone.
    #[error(
        "the store {place} has schema {found}, and this release knows up to {known}; update this program, or give \
         another store"
    )]
    Newer {
        /// The store.
        place: String,
        /// The schema it has.
        found: u64,
        /// The latest schema that this release knows.
        known: u64,
    },
    /// Whether it did the last write is not known: the answer was lost, and it could not be asked again in time.
    #[error("the store {place} may or may not have done the last write: {why}")]
    InDoubt {
        /// The store.
        place: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// Something else.
    #[error("the store {place} failed: {why}")]
    Other {
        /// The store.
        place: String,
        /// What is wrong, and what to do.
        why: String,
    },
}

/// Why an operation on a breaker came to nothing. It then changed nothing, but for [`StoreError::InDoubt`], which leaves
/// that open.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BreakerError {
    /// The name of the dependency is empty, longer than 256 bytes, or holds a control character.
    #[error("the dependency name {dependency:?} is invalid: {why}")]
    InvalidDependency {
        /// The name as given; cut where it is long.
        dependency: String,
        /// What is wrong with it.
        why: String,
    },
    /// The policy has fields out of range: all of them.
    #[error("the policy is invalid: {}", listed(.0))]
    InvalidPolicy(Vec<PolicyFault>),
    /// Another argument is out of range.
    #[error("{0}")]
    InvalidArgument(String),
    /// Others wrote the record each time this operation was about to. Try again.
    #[error("the record of {dependency:?} is contended: others wrote it each time; try again")]
    Contended {
        /// The dependency.
        dependency: String,
    },
    /// The record was written by a later release; it is left alone.
    #[error("the record of {dependency:?} was written by a later release; update this program")]
    NewerVersion {
        /// The dependency.
        dependency: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The component failed. It has been replaced; the next operation has a fresh one.
    #[error(transparent)]
    Component(#[from] ComponentFault),
    /// Something else.
    #[error("{0}")]
    Other(String),
}

impl StoreError {
    /// Whether the store is out of reach, or as good as that: trying again later may help.
    pub(crate) fn is_outage(&self) -> bool {
        matches!(self, StoreError::Unavailable { .. } | StoreError::InDoubt { .. })
    }
}

impl BreakerError {
    /// Whether the store is out of reach, so that trying again later may help.
    pub(crate) fn is_outage(&self) -> bool {
        matches!(self, BreakerError::Store(error) if error.is_outage())
    }

    /// Whether what was asked for may be asked for again without being done twice. Not so where a thread panicked while it
    /// was writing, or where the store does not know.
    pub(crate) fn surely_changed_nothing(&self) -> bool {
        !matches!(self, BreakerError::Other(_) | BreakerError::Store(StoreError::InDoubt { .. }))
    }
}

/// What a call through a breaker came to, when it has no value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CallError<E> {
    /// The call was not made.
    #[error("{0}")]
    Deferred(Deferral),
    /// The call ran into the time limit and was cut off. It was reported as a timeout.
    #[error("the call ran into its time limit of {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// The call was made and failed; its own error.
    #[error("{0}")]
    Failed(E),
    /// The breaker could not be asked, and the call was not made.
    #[error(transparent)]
    Breaker(#[from] BreakerError),
}

/// Why there is no list of allowed components.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AllowListError {
    /// The file cannot be read.
    #[error("cannot read the list of allowed components {}: {why}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A line is no digest.
    #[error(
        "line {line} of the list of allowed components begins with `{found}`, which is no SHA-256; give 64 hexadecimal \
         digits, as sha256sum prints them"
    )]
    Malformed {
        /// Which line, from 1.
        line: usize,
        /// What it begins with.
        found: String,
    },
}

/// Why a file or its bytes cannot serve as the component.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ComponentError {
    /// The file cannot be read.
    #[error("cannot read the component {}: {why}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The bytes are no WebAssembly component.
    #[error("{place} is not a WebAssembly component: {why}")]
    NotAComponent {
        /// The file, or "the component" for bytes.
        place: String,
        /// What is wrong with it.
        why: String,
    },
    /// The bytes are a core module, from which a component has yet to be made.
    #[error("{place} is a core WebAssembly module, not a component; make one with `wasm-tools component new`")]
    CoreModule {
        /// The file, or "the component" for bytes.
        place: String,
    },
    /// It imports what no host of this world gives it.
    #[error("{place} imports {}; a component may import the functions of storage, clock and entropy only", imports.join(", "))]
    OtherImports {
        /// The file, or "the component" for bytes.
        place: String,
        /// Those imports that are not in the world.
        imports: Vec<String>,
    },
    /// It is of another world, or of another version of it.
    #[error("{place} is not of the world {wanted}: {why}")]
    OtherWorld {
        /// The file, or "the component" for bytes.
        place: String,
        /// The world that this host runs.
        wanted: String,
        /// What differs.
        why: String,
    },
    /// Its SHA-256 is not the pinned one.
    #[error("{place} has SHA-256 {found}, and {wanted} is pinned; nothing of it was run")]
    OtherHash {
        /// The file, or "the component" for bytes.
        place: String,
        /// The pinned SHA-256, in hexadecimal.
        wanted: String,
        /// The SHA-256 of the bytes, in hexadecimal.
        found: String,
    },
    /// The pin itself is no SHA-256.
    #[error("`{pin}` is no SHA-256; give 64 hexadecimal digits")]
    InvalidPin {
        /// The pin as given.
        pin: String,
    },
    /// Its SHA-256 is not on the list of those that may run.
    #[error("{place} has SHA-256 {found}, which is not on the list of allowed components; nothing of it was run")]
    NotAllowed {
        /// The file, or "the component" for bytes.
        place: String,
        /// The SHA-256 of the bytes, in hexadecimal.
        found: String,
    },
    /// The engine does not run on this machine.
    #[error("the WebAssembly engine does not run here: {why}")]
    Engine {
        /// Why.
        why: String,
    },
}

/// How a component failed while it ran. A host replaces its instance, and the next call works.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ComponentFault {
    /// It trapped.
    #[error("the component trapped: {why}")]
    Trapped {
        /// The trap.
        why: String,
    },
    /// It ran for longer than allowed, and was stopped.
    #[error("the component ran for longer than {} ms and was stopped", limit.as_millis())]
    TimedOut {
        /// The limit.
        limit: Duration,
    },
    /// It wanted more memory than allowed.
    #[error("the component wanted more than {limit} bytes of memory")]
    OutOfMemory {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The system has no more of what an instance needs: open files, for one.
    #[error("the component could not be started: {why}")]
    Exhausted {
        /// What is short, and what to do.
        why: String,
    },
    /// The platform in whose store it ran stopped it: an epoch deadline, or fuel.
    #[error("the component was stopped by its platform: {why}")]
    Stopped {
        /// What stopped it.
        why: String,
    },
    /// It has failed before, or was left in the middle of a call, or something else in its store has trapped: nothing
    /// enters it any more. Only where a platform keeps the instance.
    #[error("the store in which the component runs has failed before, and nothing enters it any more; make another")]
    Spent,
    /// It answered what the contract does not allow.
    #[error("the component broke the contract: {why}")]
    Broken {
        /// What it did.
        why: String,
    },
}

impl ComponentFault {
    /// It refused a default policy as nothing but invalid can be refused.
    pub(crate) fn refused_default_policy(error: &wire::Error) -> Self {
        ComponentFault::Broken { why: format!("it refused the default policy with {error:?}") }
    }
}

/// All faults in one line.
pub(crate) fn listed(faults: &[PolicyFault]) -> String {
    faults.iter().map(PolicyFault::to_string).collect::<Vec<_>>().join("; ")
}
