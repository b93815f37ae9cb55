use halfopen_contract::BreakerError;
use halfopen_contract::store::{OpenError, StoreError};

use crate::scenario::ScenarioError;

/// Why a scenario was not run to its end. Expectations that do not hold are no error: they are in the
/// [`Summary`](crate::Summary).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The file is not well-formed, or the policy of its first line is invalid.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A `restart` step could not open the store again.
    #[error(transparent)]
    OpenStore(#[from] OpenError),
    /// The host under test could not be opened.
    #[error(transparent)]
    OpenTarget(BreakerError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The function that is shown the answers stopped the run.
    #[error("stopped")]
    Stopped,
}
