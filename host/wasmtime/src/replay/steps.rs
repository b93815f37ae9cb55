//! Takes the steps of a scenario, one by one, and compares what comes of them with what is expected.

use std::collections::HashMap;

use super::expect::{Kind, OfAcquire, OfControl, OfInspect, OfReport};
use super::judge::{compare, fits_acquire, kind, of_acquire, of_inspection, of_receipt, permit};
use super::run::{ReplayError, Surroundings};
use super::scenario::{Action, Control, Report, Step};
use super::target::Taker;
use super::{Answer, Failure};
use crate::op::{self, Call};
use crate::{BreakerError, Inspection, Permit, PolicyFault, Receipt, Verdict};

/// What a call of the component came to: its answer, or how it refused.
pub(super) type Answered<T> = Result<T, Refused>;

/// An answer that is an error of the caller's or of the component's, not of the store.
pub(super) struct Refused {
    pub(super) text: String,
    /// Whether the component said so, rather than failing itself.
    pub(super) by_component: bool,
}

/// Who is shown the answers.
pub(super) type Show<'s> = dyn FnMut(&Answer<'_>) + 's;

/// A run through a scenario.
pub(super) struct Run<'a, 'b, 's> {
    surroundings: &'a mut Surroundings<'b>,
    taker: Option<Taker>,
    show: Option<&'s mut Show<'s>>,
    /// By dependency and name.
    permits: HashMap<(String, String), Permit>,
    failures: Vec<Failure>,
}

impl<'a, 'b, 's> Run<'a, 'b, 's> {
    pub(super) fn new(surroundings: &'a mut Surroundings<'b>, taker: Taker, show: Option<&'s mut Show<'s>>) -> Self {
        Run { surroundings, taker: Some(taker), show, permits: HashMap::new(), failures: Vec::new() }
    }

    pub(super) fn finish(mut self) -> Result<Vec<Failure>, ReplayError> {
        let scenario = self.surroundings.scenario;
        for step in &scenario.steps {
            if self.surroundings.replay.stopped() {
                return Err(ReplayError::Stopped);
            }
            self.surroundings.clock.set(step.at);
            self.take(step)?;
        }
        Ok(self.failures)
    }

    fn take(&mut self, step: &Step) -> Result<(), ReplayError> {
        match &step.action {
            Action::Acquire { keep_as, times, expect } => self.acquire(step, keep_as, *times, *expect)?,
            Action::Report { what, permit, times, expect } => self.report(step, *what, permit, *times, *expect)?,
            Action::Inspect { expect } => self.inspect(step, expect.as_ref())?,
            Action::Control { what, expect } => self.control(step, what, *expect)?,
        }
        let Some(wanted) = step.state else { return Ok(()) };
        let got = match self.look(step)? {
            Ok(inspection) if inspection.state == wanted => return Ok(()),
            Ok(inspection) => format!("state {}", inspection.state),
            Err(refused) => refused.text,
        };
        self.failed(step, format!("state {wanted}"), got);
        Ok(())
    }

    fn acquire(
        &mut self,
        step: &Step,
        keep_as: &str,
        times: u64,
        expect: Option<OfAcquire>,
    ) -> Result<(), ReplayError> {
        let mut counts = [0_u64; 3];
        let mut wrong: Option<String> = None;
        for number in 1..=times {
            let answer = self.speak(step, Call::Acquire { caller: step.by.as_str().into() });
            let answer = answered(answer, |answer| match answer {
                op::Answer::Decision(decision) => Some(decision),
                _ => None,
            })?;
            if let Ok(decision) = &answer {
                counts[kind(decision) as usize] += 1;
                if let Some(permit) = permit(decision) {
                    self.permits.insert((self.dependency(step).to_owned(), keep_as.to_owned()), permit);
                }
            }
            if wrong.is_none() && !fits_acquire(expect, &answer) {
                let which = if times == 1 { String::new() } else { format!(" (call {number} of {times})") };
                wrong = Some(format!("{}{which}", of_acquire(&answer)));
            }
            self.show(step, || of_acquire(&answer));
            if self.surroundings.replay.stopped() {
                return Err(ReplayError::Stopped);
            }
        }
        if let (None, Some(OfAcquire::Counts(wanted))) = (&wrong, expect)
            && !wanted.iter().zip(counts).all(|(wanted, got)| wanted.is_none_or(|wanted| wanted.fits(got)))
        {
            let each: Vec<String> =
                Kind::ALL.iter().zip(counts).map(|(kind, count)| format!("{} {count}", kind.name())).collect();
            wrong = Some(each.join(", "));
        }
        if let Some(got) = wrong {
            self.failed(step, expect.map_or_else(|| "an answer".to_owned(), |expect| expect.to_string()), got);
        }
        Ok(())
    }

    fn report(
        &mut self,
        step: &Step,
        what: Report,
        name: &str,
        times: u64,
        expect: Option<OfReport>,
    ) -> Result<(), ReplayError> {
        let wanted = expect.map_or("an answer", OfReport::name);
        let key = (self.dependency(step).to_owned(), name.to_owned());
        let Some(permit) = self.permits.get(&key).copied() else {
            let got = format!("no permit {name:?} for {:?}: no acquire has got one", key.0);
            self.show(step, || got.clone());
            self.failed(step, wanted.to_owned(), got);
            return Ok(());
        };
        let mut wrong = None;
        for number in 1..=times {
            let call = match what {
                Report::Outcome { outcome, took_ms } => Call::Report { permit, outcome, took: took_ms },
                Report::Tally(tally) => Call::ReportTally { permit, tally },
                Report::Renew => Call::Renew { permit },
                Report::Release => Call::Release { permit },
            };
            let answer = receipt(self.speak(step, call))?;
            let fits = match (&answer, expect) {
                (Err(refused), Some(OfReport::Refused)) => refused.by_component,
                (Err(_), _) => false,
                // What is expected speaks of the last.
                (Ok(_), _) if number < times => true,
                (Ok(receipt), Some(OfReport::Applied)) => receipt.verdict == Verdict::Applied,
                (Ok(receipt), Some(OfReport::Stale)) => receipt.verdict != Verdict::Applied,
                (Ok(_), Some(OfReport::Refused)) => false,
                (Ok(_), None) => true,
            };
            if wrong.is_none() && !fits {
                let which = if times == 1 { String::new() } else { format!(" (call {number} of {times})") };
                wrong = Some(format!("{}{which}", of_receipt(&answer)));
            }
            self.show(step, || of_receipt(&answer));
            if self.surroundings.replay.stopped() {
                return Err(ReplayError::Stopped);
            }
        }
        if let Some(got) = wrong {
            self.failed(step, wanted.to_owned(), got);
        }
        Ok(())
    }

    fn inspect(&mut self, step: &Step, expect: Option<&OfInspect>) -> Result<(), ReplayError> {
        let answer = self.look(step)?;
        match (&answer, expect) {
            (Err(refused), Some(OfInspect::Refused)) if refused.by_component => {}
            (Err(refused), _) => self.failed(step, "an inspection".to_owned(), refused.text.clone()),
            (Ok(_), None) => {}
            (Ok(_), Some(OfInspect::Refused)) => self.failed(step, "error".to_owned(), "an inspection".to_owned()),
            (Ok(inspection), Some(OfInspect::Fields(fields))) => {
                for field in fields {
                    let (fits, got) = compare(field, inspection);
                    if !fits {
                        self.failed(step, field.to_string(), got);
                    }
                }
            }
        }
        self.show(step, || of_inspection(&answer));
        Ok(())
    }

    fn control(&mut self, step: &Step, what: &Control, expect: OfControl) -> Result<(), ReplayError> {
        let call = match what {
            Control::Configure(policy) => Call::Configure { policy: policy.clone() },
            Control::Force { mode, lasting_ms } => Call::Force { mode: *mode, lasting: *lasting_ms, note: "".into() },
            Control::Reset => Call::Reset,
            Control::Forget => Call::Forget,
            Control::Restart => {
                // Closed before it is opened again: two hosts at a time would be another thing.
                self.taker = None;
                self.taker = Some(self.surroundings.reopen()?);
                self.show(step, || "ok".to_owned());
                if expect == OfControl::Refused {
                    self.failed(step, "error".to_owned(), "ok".to_owned());
                }
                return Ok(());
            }
        };
        let answer = receipt(self.speak(step, call))?;
        let text = || match &answer {
            Ok(receipt) => format!("ok; {}", receipt.state),
            Err(refused) => refused.text.clone(),
        };
        match (&answer, expect) {
            (Ok(_), OfControl::Done) => {}
            (Err(refused), OfControl::Refused) if refused.by_component => {}
            (_, OfControl::Done) => self.failed(step, "ok".to_owned(), text()),
            (_, OfControl::Refused) => self.failed(step, "error".to_owned(), text()),
        }
        self.show(step, text);
        Ok(())
    }

    fn look(&mut self, step: &Step) -> Result<Answered<Inspection>, ReplayError> {
        answered(self.speak(step, Call::Inspect), |answer| match answer {
            op::Answer::Inspection(inspection) => Some(inspection),
            _ => None,
        })
    }

    fn speak(&mut self, step: &Step, call: Call) -> Result<op::Answer, BreakerError> {
        let dependency = step.dependency.as_deref().unwrap_or(&self.surroundings.scenario.dependency);
        match &mut self.taker {
            Some(taker) => taker.speak(dependency, call),
            // Only if it could not be opened again, which has ended the run.
            None => Err(BreakerError::Other("the host is closed".to_owned())),
        }
    }

    fn dependency<'c>(&'c self, step: &'c Step) -> &'c str {
        step.dependency.as_deref().unwrap_or(&self.surroundings.scenario.dependency)
    }

    fn show(&mut self, step: &Step, text: impl FnOnce() -> String) {
        if let Some(show) = &mut self.show {
            let dependency = step.dependency.as_deref().unwrap_or(&self.surroundings.scenario.dependency);
            let name = step.action.name();
            show(&Answer { line: step.line, at: step.at, dependency, by: &step.by, step: name, text: text() });
        }
    }

    fn failed(&mut self, step: &Step, wanted: String, got: String) {
        self.failures.push(Failure { line: step.line, wanted, got });
    }
}

/// Sorts an answer: what the store did wrong ends the run, all else is for the expectation to judge.
fn answered<T>(
    answer: Result<op::Answer, BreakerError>,
    pick: impl FnOnce(op::Answer) -> Option<T>,
) -> Result<Answered<T>, ReplayError> {
    match answer {
        Ok(answer) => {
            Ok(pick(answer)
                .ok_or_else(|| Refused { text: "an answer of another kind".to_owned(), by_component: false }))
        }
        Err(BreakerError::Store(error)) => Err(error.into()),
        Err(error @ BreakerError::Component(_)) => Ok(Err(Refused { text: error.to_string(), by_component: false })),
        Err(BreakerError::InvalidPolicy(faults)) => {
            let error = BreakerError::InvalidPolicy(in_file_names(faults));
            Ok(Err(Refused { text: format!("error: {error}"), by_component: true }))
        }
        Err(error) => Ok(Err(Refused { text: format!("error: {error}"), by_component: true })),
    }
}

/// Faults with the fields named as the files name them.
pub(super) fn in_file_names(faults: Vec<PolicyFault>) -> Vec<PolicyFault> {
    faults.into_iter().map(PolicyFault::in_file_names).collect()
}

fn receipt(answer: Result<op::Answer, BreakerError>) -> Result<Answered<Receipt>, ReplayError> {
    answered(answer, |answer| match answer {
        op::Answer::Receipt(receipt) => Some(receipt),
        _ => None,
    })
}
