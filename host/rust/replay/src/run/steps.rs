use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use halfopen_contract::BreakerError;
use halfopen_contract::documents::Inspection;
use halfopen_contract::engine::{Answer, Operation, Request};
use halfopen_contract::types::{Decision, Permit, Receipt};

use super::error::ReplayError;
use super::stage::Stage;
use super::summary::{Failure, StepAnswer};
use crate::expect::{
    Answered, ExpectedControl, ExpectedDecision, ExpectedInspection, ExpectedVerdict, Kind, Refusal, decision_text,
    inspection_text, receipt_text,
};
use crate::scenario::{Action, Control, Settlement, Step};
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
            Action::Settle { settlement, permit, times, expect } => {
                self.settle(step, settlement, permit, *times, *expect)?;
            }
            Action::Inspect { expect } => {
                let answer = self.inspection(step)?;
                for (wanted, got) in ExpectedInspection::differences(expect.as_ref(), &answer) {
                    self.fail(step, wanted, got);
                }
                self.show(step, inspection_text(&answer))?;
            }
            Action::Control { control, expect } => self.control(step, control, *expect)?,
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
            let answer = self.decision(step)?;
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
            self.fail(step, expect.map_or_else(|| AN_ANSWER.to_owned(), |expect| expect.to_string()), got);
        }
        Ok(())
    }

    fn settle(
        &mut self,
        step: &Step,
        settlement: &Settlement,
        name: &str,
        times: u64,
        expect: Option<ExpectedVerdict>,
    ) -> Result<(), ReplayError> {
        let wanted = expect.map_or(AN_ANSWER, ExpectedVerdict::name);
        let key = (Arc::clone(&step.dependency), name.to_owned());
        let Some(permit) = self.permits.get(&key).copied() else {
            let got = format!("no permit {name:?} for {:?}: no acquire has got one", step.dependency);
            self.fail(step, wanted.to_owned(), got.clone());
            return self.show(step, got);
        };
        let mut wrong = None;
        for number in 1..=times {
            let answer = self.receipt(step, settlement.operation(permit))?;
            let text = receipt_text(&answer);
            if wrong.is_none() && !ExpectedVerdict::fits(expect, &answer, number == times) {
                wrong = Some(numbered(&text, number, times));
            }
            self.show(step, text)?;
        }
        if let Some(got) = wrong {
            self.fail(step, wanted.to_owned(), got);
        }
        Ok(())
    }

    fn control(&mut self, step: &Step, control: &Control, expect: ExpectedControl) -> Result<(), ReplayError> {
        let (fits, text) = match control {
            Control::Operation(operation) => {
                let answer = self.receipt(step, operation.clone())?;
                let text = match &answer {
                    Ok(receipt) => format!("ok; {}", receipt.state),
                    Err(refusal) => refusal.text.clone(),
                };
                (expect.fits(&answer), text)
            }
            Control::Restart => {
                // Closed before it is opened again: two hosts at a time would be another scenario.
                self.target = None;
                self.target = Some(self.stage.reopen()?);
                (expect == ExpectedControl::Ok, "ok".to_owned())
            }
        };
        if !fits {
            self.fail(step, expect.name().to_owned(), text.clone());
        }
        self.show(step, text)
    }

    fn decision(&mut self, step: &Step) -> Result<Answered<Decision>, ReplayError> {
        self.call(step, Operation::Acquire { caller: Arc::clone(&step.by) }, |answer| match answer {
            Answer::Decision(decision) => Some(decision),
            _ => None,
        })
    }

    fn receipt(&mut self, step: &Step, operation: Operation) -> Result<Answered<Receipt>, ReplayError> {
        self.call(step, operation, |answer| match answer {
            Answer::Receipt(receipt) => Some(receipt),
            _ => None,
        })
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

/// The expectation of a step that has none: the call is not refused.
const AN_ANSWER: &str = "an answer";

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
