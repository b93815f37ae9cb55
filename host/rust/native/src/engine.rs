use halfopen_contract::BreakerError;
use halfopen_contract::documents::Policy;
use halfopen_contract::engine::{Engine, Evaluation, Input};
use halfopen_guest::policy::Policy as Rules;
use halfopen_guest::step::step;

use crate::convert::Convert as _;
use crate::ports::RecordPorts;

/// The engine that has the rules linked in.
#[derive(Clone, Debug)]
pub struct NativeEngine {
    default: Rules,
    /// The same as JSON, with all its keys.
    default_json: String,
}

impl NativeEngine {
    /// An engine. The policy is that of every dependency without one of its own.
    ///
    /// # Errors
    /// [`BreakerError::InvalidPolicy`], with all faults.
    pub fn new(default_policy: &Policy) -> Result<Self, BreakerError> {
        let default = Rules::parse(&default_policy.to_string())
            .map_err(|faults| BreakerError::InvalidPolicy(faults.convert()))?;
        Ok(NativeEngine { default, default_json: default.to_json() })
    }
}

impl Engine for NativeEngine {
    fn evaluate(&self, input: &Input<'_>) -> Result<Evaluation, BreakerError> {
        let dependency = &*input.request.dependency;
        let mut ports = RecordPorts::new(input);
        match step(&mut ports, &self.default, dependency, &input.request.operation.clone().convert()) {
            Ok(answer) => Ok(Evaluation { answer: answer.convert(), write: ports.into_write() }),
            Err(error) => Err(BreakerError::refused(dependency, error.convert())),
        }
    }

    fn default_policy(&self) -> &str {
        &self.default_json
    }
}
