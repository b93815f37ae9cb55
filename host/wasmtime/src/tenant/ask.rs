//! A tenant's call, from the door to the breaker.

use std::time::Duration;

use super::Tenant;
use super::names::Room;
use super::told;
use crate::breaker::Breaker;
use crate::elsewhere::Elsewhere;
use crate::error::BreakerError;
use crate::events;
use crate::op::{Answer, Call, Op};
use crate::wire::Error;

impl Tenant {
    /// Answers a call. It waits for the store where that has to be asked.
    pub(super) fn ask(&self, op: Op) -> Result<Answer, Error> {
        self.find_room(&op)?;
        let Op { dependency, call } = op;
        let breaker = self.host().breaker(&*dependency);
        self.told(&breaker, perform(&breaker, call))
    }

    /// Answers a call; what has to wait for the store does so on a thread of its own. A lease that nobody waits for any
    /// more is given back.
    pub(super) async fn ask_async(&self, op: Op) -> Result<Answer, Error> {
        let Call::Acquire { caller } = &op.call else {
            let tenant = self.clone();
            return Elsewhere::run(move || tenant.ask(op)).await;
        };
        let (dependency, caller) = (op.dependency.clone(), caller.clone());
        if self.inner.names.look(self.host(), &dependency) != Room::Is {
            let tenant = self.clone();
            Elsewhere::run(move || tenant.find_room(&op)).await?;
        }
        let breaker = self.host().breaker(&*dependency).caller(&*caller);
        let answer = breaker.acquire_async().await.map(told::decision).map(Answer::Decision);
        self.told(&breaker, answer)
    }

    fn find_room(&self, op: &Op) -> Result<(), Error> {
        let names = &self.inner.names;
        if !makes_a_record(&op.call) {
            return Ok(());
        }
        match names.look_up(self.host(), &op.dependency) {
            Ok(Room::Full) => Err(Error::TooManyDependencies(names.most())),
            Ok(Room::Is | Room::Unknown) => Ok(()),
            // An acquire makes no record where there is none, and it is for the host to say what it does without a store.
            Err(_) if matches!(op.call, Call::Acquire { .. }) => Ok(()),
            Err(error) => {
                events::store_failed(self.host().namespace(), &op.dependency, &error);
                Err(told::store(&error))
            }
        }
    }

    fn told(&self, breaker: &Breaker, answer: Result<Answer, BreakerError>) -> Result<Answer, Error> {
        answer.map_err(|error| {
            events::withheld(self.host().namespace(), breaker.dependency(), &error);
            if matches!(error, BreakerError::InvalidDependency { .. }) {
                self.inner.names.refused(breaker.dependency());
            }
            told::error(error)
        })
    }
}

/// Whether it may bring a record about, or keeps something in memory.
fn makes_a_record(call: &Call) -> bool {
    !matches!(call, Call::Inspect | Call::Policy | Call::Prune { .. })
}

fn perform(breaker: &Breaker, call: Call) -> Result<Answer, BreakerError> {
    match call {
        Call::Acquire { caller } => {
            breaker.clone().caller(&*caller).acquire().map(told::decision).map(Answer::Decision)
        }
        Call::Report { permit, outcome, took } => {
            breaker.report(permit, outcome, took.map(Duration::from_millis)).map(Answer::Receipt)
        }
        Call::ReportTally { permit, tally } => breaker.report_tally(permit, tally).map(Answer::Receipt),
        Call::Renew { permit } => breaker.renew(permit).map(Answer::Receipt),
        Call::Release { permit } => breaker.release(permit).map(Answer::Receipt),
        Call::Inspect => breaker.inspect().map(Answer::Inspection),
        Call::Policy => breaker.policy().map(Answer::Policy),
        Call::Configure { policy } => breaker.configure(&policy).map(Answer::Receipt),
        Call::Force { mode, lasting, note } => {
            breaker.force(mode, lasting.map(Duration::from_millis), &note).map(Answer::Receipt)
        }
        Call::Reset => breaker.reset().map(Answer::Receipt),
        Call::Forget => breaker.forget().map(Answer::Receipt),
        Call::Prune { idle } => breaker.prune(Duration::from_millis(idle)).map(Answer::Pruned),
    }
}
