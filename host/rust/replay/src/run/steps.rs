use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use halfopen_contract::BreakerError;
use halfopen_contract::engine::{Operation, Request};
use halfopen_contract::types::Permit;

use super::error::ReplayError;
use super::stage::Stage;
use super::summary::{Failure, StepAnswer};
use crate::answer::Shown;
use crate::expect::{Expected, KINDS};
use crate::scenario::{Action, Step};
use crate::target::Target;

/// Shown each answer; a break stops the run.
type Show<'s> = dyn FnMut(&StepAnswer<'_>) -> ControlFlow<()> + 's;

/// A run through a scenario: does the steps, one by one, and judges the answers.
pub struct Run<'a, 'b, 's> {
    stage: &'a mut Stage<'b>,
    /// None only while a `restart` step opens it again.
    target: Option<Box<dyn Target>>,
    show: &'s mut Show<'s>,
    /// The permits, by dependency and name.
    permits: HashMap<(Arc<str>, String), Permit>,
    failures: Vec<Failure>,
}

impl<'a, 'b, 's> Run<'a, 'b, 's> {
    pub fn new(stage: &'a mut Stage<'b>, show: &'s mut Show<'s>) -> Result<Self, ReplayError> {
        let target = Some(stage.open()?);
        Ok(Run { stage, target, show, permits: HashMap::new(), failures: Vec::new() })
    }

    pub fn finish(mut self) -> Result<Vec<Failure>, ReplayError> {
        let scenario = self.stage.scenario;
        for step in &scenario.steps {
            self.stage.clock.set(step.at);
            self.run(step)?;
            if let Some(state) = &step.state {
                let inspection = self.call(step, &Operation::Inspect)?;
                self.fail(step, state.differences(&inspection));
            }
        }
        Ok(self.failures)
    }

    fn run(&mut self, step: &Step) -> Result<(), ReplayError> {
        match &step.action {
            Action::Acquire(_) => self.repeat(step, &Operation::Acquire { caller: Arc::clone(&step.by) }),
            Action::Operate(operation) => self.repeat(step, operation),
            Action::WithPermit(name, settlement) => {
                match self.permits.get(&(Arc::clone(&step.dependency), name.clone())) {
                    Some(permit) => self.repeat(step, &settlement.operation(*permit)),
                    None => {
                        let got = format!("no permit {name:?} for {:?}: no acquire has got one", step.dependency);
                        self.fail(step, vec![(step.expect.to_string(), got.clone())]);
                        self.show(step, got)
                    }
                }
            }
            Action::Restart => {
                // Closed before it is opened again: two hosts at a time would be another scenario.
                self.target = None;
                self.target = Some(self.stage.reopen()?);
                self.fail(step, step.expect.differences(&Shown::word("ok", "ok".to_owned())));
                self.show(step, "ok".to_owned())
            }
        }
    }

    /// Runs an operation as often as the step says. Each decision is judged; of several receipts, the last and refusals.
    fn repeat(&mut self, step: &Step, operation: &Operation) -> Result<(), ReplayError> {
        let keep_as = if let Action::Acquire(name) = &step.action { Some(name) } else { None };
        let mut counts = KINDS.map(|kind| (kind, 0_u64));
        let mut wrong = Vec::new();
        for number in 1..=step.times {
            let shown = self.call(step, operation)?;
            if let (Some(name), Some(permit)) = (keep_as, shown.permit) {
                self.permits.insert((Arc::clone(&step.dependency), name.clone()), permit);
            }
            counts.iter_mut().filter(|(kind, _)| *kind == shown.word).for_each(|(_, count)| *count += 1);
            if wrong.is_empty() && (keep_as.is_some() || number == step.times || shown.is_refused()) {
                wrong = step.expect.differences(&shown);
                if step.times > 1 {
                    let call = format!(" (call {number} of {})", step.times);
                    wrong.iter_mut().for_each(|(_, got)| got.push_str(&call));
                }
            }
            self.show(step, shown.text)?;
        }
        if wrong.is_empty() && matches!(step.expect, Expected::Counts(_)) {
            let counts = counts.map(|(kind, count)| (kind, count.into()));
            wrong = step.expect.differences(&Shown::fields("counts", counts.into()));
        }
        self.fail(step, wrong);
        Ok(())
    }

    /// Runs an operation: a failed store ends the run, all other errors are for the expectation to judge.
    fn call(&mut self, step: &Step, operation: &Operation) -> Result<Shown, ReplayError> {
        let request = Request { dependency: Arc::clone(&step.dependency), operation: operation.clone() };
        let answer = match &mut self.target {
            Some(target) => target.run(&request),
            None => Err(BreakerError::Other("the host is closed".to_owned())),
        };
        Ok(Shown::of(answer)?)
    }

    fn show(&mut self, step: &Step, text: String) -> Result<(), ReplayError> {
        let Step { line, at, name, dependency, by, .. } = step;
        match (self.show)(&StepAnswer { line: *line, at: *at, dependency, by, step: name, text }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(ReplayError::Stopped),
        }
    }

    fn fail(&mut self, step: &Step, differences: Vec<(String, String)>) {
        let failure = |(wanted, got)| Failure { line: step.line, wanted, got };
        self.failures.extend(differences.into_iter().map(failure));
    }
}
