use halfopen::OpenError;
use halfopen_contract::store::StoreError;

use crate::scenario::ScenarioError;

/// Why a scenario was not run to its end. Expectations that do not hold are no error: they are in the
/// [`Summary`](crate::Summary).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The file is not well-formed, or the policy of its first line is invalid.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The store or the host under test could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The function that is shown the answers stopped the run.
    #[error("stopped")]
    Stopped,
}
