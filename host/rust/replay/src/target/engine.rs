use std::sync::Arc;

use halfopen_contract::BreakerError;
use halfopen_contract::cas::{CasLoop, Records, Step};
use halfopen_contract::engine::{Answer, Engine, Input, Request};
use halfopen_contract::entropy::Entropy;
use halfopen_contract::time::Clock as _;

use super::{Setup, Target};

/// The number of transitions that are kept of a record.
const HISTORY: usize = 100;

/// A bare engine and a store, with the compare-and-set loop between them and no host around.
pub struct EngineTarget {
    engine: Arc<dyn Engine>,
    entropy: Arc<Entropy>,
    setup: Setup,
}

impl EngineTarget {
    /// A target over an engine that was made with the default policy of the setup.
    pub fn new(engine: Arc<dyn Engine>, setup: Setup) -> Self {
        EngineTarget { engine, entropy: Arc::new(Entropy::new(Some(setup.seed))), setup }
    }
}

impl Target for EngineTarget {
    fn run(&mut self, request: &Request) -> Result<Answer, BreakerError> {
        let records = Records { store: &*self.setup.store, namespace: &self.setup.namespace, history: HISTORY };
        let mut cas = CasLoop::new(request);
        let mut step = cas.loaded(records.load(request));
        loop {
            step = match step {
                Step::Load(pause) => {
                    std::thread::sleep(pause);
                    cas.loaded(records.load(request))
                }
                Step::Evaluate(snapshot) => {
                    let now = self.setup.clock.now();
                    let input = Input { request, snapshot: &snapshot, now, entropy: &self.entropy };
                    let evaluation = self.engine.evaluate(&input);
                    cas.evaluated(snapshot, evaluation)
                }
                Step::Commit(pending) => cas.committed(records.commit(request, pending)),
                Step::Done(settled) => return settled.map(|settled| settled.answer),
            };
        }
    }
}
