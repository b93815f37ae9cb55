use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use halfopen_contract::BreakerError;
use halfopen_contract::documents::Inspection;
use halfopen_contract::engine::{Answer, Operation, Request};
use halfopen_contract::types::{Decision, Permit};

use super::error::ReplayError;
use super::stage::Stage;
use super::summary::{Failure, StepAnswer};
use crate::expect::{
    Answered, ExpectedDecision, ExpectedInspection, ExpectedReceipt, Kind, Refusal, decision_text, inspection_text,
    receipt_text,
};
use crate::scenario::{Action, Operate, Step};
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
        }
        Ok(self.failures)
    }

    fn run(&mut self, step: &Step) -> Result<(), ReplayError> {
        match &step.action {
            Action::Acquire { keep_as, times, expect } => self.acquire(step, keep_as, *times, *expect)?,
            Action::Operate { operate, times, expect } => self.operate(step, operate, *times, *expect)?,
            Action::Inspect { expect } => {
                let answer = self.inspection(step)?;
                for (wanted, got) in ExpectedInspection::differences(expect.as_ref(), &answer) {
                    self.fail(step, wanted, got);
                }
                self.show(step, inspection_text(&answer))?;
            }
            Action::Restart { expect } => {
                // Closed before it is opened again: two hosts at a time would be another scenario.
                self.target = None;
                self.target = Some(self.stage.reopen()?);
                if *expect != ExpectedReceipt::Ok {
                    self.fail(step, expect.name().to_owned(), "ok".to_owned());
                }
                self.show(step, "ok".to_owned())?;
            }
        }
        let Some(wanted) = step.state else { return Ok(()) };
        let got = match self.inspection(step)? {
            Ok(inspection) if inspection.state == wanted => return Ok(()),
            Ok(inspection) => format!("state {}", inspection.state),
            Err(refusal) => refusal.text,
        };
        self.fail(step, format!("state {wanted}"), got);
        Ok(())
    }

    fn acquire(
        &mut self,
        step: &Step,
        keep_as: &str,
        times: u64,
        expect: Option<ExpectedDecision>,
    ) -> Result<(), ReplayError> {
        let mut counts = [0; Kind::ALL.len()];
        let mut wrong: Option<String> = None;
        for number in 1..=times {
            let acquire = Operation::Acquire { caller: Arc::clone(&step.by) };
            let answer = self.call(step, acquire, |answer| match answer {
                Answer::Decision(decision) => Some(decision),
                _ => None,
            })?;
            if let Ok(decision) = &answer {
                counts[Kind::of(decision) as usize] += 1;
                if let Some(permit) = permit(decision) {
                    self.permits.insert((Arc::clone(&step.dependency), keep_as.to_owned()), permit);
                }
            }
            let text = decision_text(&answer);
            if wrong.is_none() && !ExpectedDecision::fits(expect, &answer) {
                wrong = Some(numbered(&text, number, times));
            }
            self.show(step, text)?;
        }
        if wrong.is_none() && !ExpectedDecision::fits_counts(expect, counts) {
            let counts = Kind::ALL.iter().zip(counts).map(|(kind, count)| format!("{} {count}", kind.name()));
            wrong = Some(counts.collect::<Vec<_>>().join(", "));
        }
        if let Some(got) = wrong {
            self.fail(step, expect.map_or_else(|| "ok".to_owned(), |expect| expect.to_string()), got);
        }
        Ok(())
    }

    fn operate(
        &mut self,
        step: &Step,
        operate: &Operate,
        times: u64,
        expect: ExpectedReceipt,
    ) -> Result<(), ReplayError> {
        let operation = match operate {
            Operate::Control(operation) => operation.clone(),
            Operate::WithPermit(name, settlement) => {
                let key = (Arc::clone(&step.dependency), name.clone());
                let Some(permit) = self.permits.get(&key).copied() else {
                    let got = format!("no permit {name:?} for {:?}: no acquire has got one", step.dependency);
                    self.fail(step, expect.name().to_owned(), got.clone());
                    return self.show(step, got);
                };
                settlement.operation(permit)
            }
        };
        let mut wrong = None;
        for number in 1..=times {
            let answer = self.call(step, operation.clone(), |answer| match answer {
                Answer::Receipt(receipt) => Some(receipt),
                _ => None,
            })?;
            let text = receipt_text(&answer);
            if wrong.is_none() && !expect.fits(&answer, number == times) {
                wrong = Some(numbered(&text, number, times));
            }
            self.show(step, text)?;
        }
        if let Some(got) = wrong {
            self.fail(step, expect.name().to_owned(), got);
        }
        Ok(())
    }

    fn inspection(&mut self, step: &Step) -> Result<Answered<Inspection>, ReplayError> {
        let json = self.call(step, Operation::Inspect, |answer| match answer {
            Answer::Inspection(json) => Some(json),
            _ => None,
        })?;
        Ok(json.and_then(|json| json.parse().map_err(|error| Refusal { text: format!("{error}"), by_rules: false })))
    }

    /// Runs an operation: a failed store ends the run, all other errors are for the expectation to judge.
    fn call<T>(
        &mut self,
        step: &Step,
        operation: Operation,
        pick: impl FnOnce(Answer) -> Option<T>,
    ) -> Result<Answered<T>, ReplayError> {
        let request = Request { dependency: Arc::clone(&step.dependency), operation };
        let answer = match &mut self.target {
            Some(target) => target.run(&request),
            None => Err(BreakerError::Other("the host is closed".to_owned())),
        };
        let other_kind = || Refusal { text: "an answer of another kind".to_owned(), by_rules: false };
        Ok(match answer {
            Ok(answer) => pick(answer).ok_or_else(other_kind),
            Err(error) => Err(Refusal::from_error(error)?),
        })
    }

    fn show(&mut self, step: &Step, text: String) -> Result<(), ReplayError> {
        let Step { line, at, name, dependency, by, .. } = step;
        match (self.show)(&StepAnswer { line: *line, at: *at, dependency, by, step: name, text }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(ReplayError::Stopped),
        }
    }

    fn fail(&mut self, step: &Step, wanted: String, got: String) {
        self.failures.push(Failure { line: step.line, wanted, got });
    }
}

/// The permit of an answer. That inside a deferral of a ramp is not kept.
fn permit(decision: &Decision) -> Option<Permit> {
    match decision {
        Decision::Proceed(admission) => Some(admission.permit),
        Decision::Probe(probe) => Some(probe.permit),
        Decision::Defer(_) => None,
    }
}

/// An answer, with the number of its call where there are several.
fn numbered(text: &str, number: u64, times: u64) -> String {
    if times == 1 { text.to_owned() } else { format!("{text} (call {number} of {times})") }
}
