//! The process that is killed: its callers ask and report as fast as they can. They say what they are about to do, and what
//! they were told, before they go on.

use std::path::Path;
use std::thread;
use std::time::Duration;

use halfopen::store::sqlite::Synchronous;
use halfopen::{Breaker, BreakerError, Decision, Outcome, Permit, Policy, Receipt, Recorded};
use halfopen_tests::breakers::policy;
use halfopen_tests::process::{order, say};

use crate::clock::FileClock;

/// How many callers a process has. They share commits.
pub const THREADS: usize = 2;

/// What a round is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// The breaker goes round and round: it trips, is probed, closes.
    Cycle,
    /// It stays closed and counts.
    Count,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Cycle => "cycle",
            Kind::Count => "count",
        }
    }

    pub fn policy(self, fresh_ms: u64) -> Policy {
        let policy = policy().fresh_ms(fresh_ms);
        match self {
            Kind::Cycle => policy.consecutive_failures(3).open_max_ms(4).successes_to_close(2),
            Kind::Count => policy.consecutive_failures(0).window_ms(86_400_000),
        }
    }
}

pub fn name(synchronous: Synchronous) -> &'static str {
    if synchronous == Synchronous::Full { "full" } else { "normal" }
}

/// The record as a file has it.
pub fn record(file: &Path, dependency: &str) -> Option<(i64, Option<Vec<u8>>)> {
    let database = rusqlite::Connection::open(file).unwrap();
    let mut found = database.prepare("SELECT version, data FROM record WHERE dependency = ?1").unwrap();
    let rows = found.query_map([dependency], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).next()
}

/// The role.
pub fn hammer(words: &[String]) {
    let [file, clock, dependency, kind, fresh_ms, synchronous, name] = words else {
        panic!("seven words, not {words:?}")
    };
    let fresh_ms = fresh_ms.parse().expect("a number of ms");
    let kind = if kind == Kind::Count.name() { Kind::Count } else { Kind::Cycle };
    let synchronous =
        if synchronous == self::name(Synchronous::Full) { Synchronous::Full } else { Synchronous::Normal };
    let host = crate::host(Path::new(file), &FileClock::open(Path::new(clock)), kind.policy(fresh_ms), synchronous);
    say("ready");
    let _go = order();
    let callers: Vec<_> = (0..THREADS)
        .map(|number| {
            let name = format!("{name}.{number}");
            let breaker = host.breaker(dependency.as_str()).caller(name.clone());
            thread::spawn(move || Caller { name, breaker }.work())
        })
        .collect();
    callers.into_iter().for_each(|caller| drop(caller.join()));
}

struct Caller {
    name: String,
    breaker: Breaker,
}

impl Caller {
    fn say(&self, words: std::fmt::Arguments<'_>) {
        say(format_args!("{}|{words}", self.name));
    }

    fn work(&self) {
        loop {
            self.say(format_args!("acquiring"));
            match self.breaker.acquire() {
                Ok(Decision::Probe(guard)) => {
                    let permit = guard.into_permit();
                    self.say(format_args!("probe|{permit}"));
                    self.probe(permit);
                }
                Ok(Decision::Proceed(guard)) => {
                    self.say(format_args!("proceed|{}", guard.permit()));
                    let outcome = if fastrand::u8(..10) < 7 { Outcome::Failure } else { Outcome::Success };
                    self.say(format_args!("reporting|{outcome}"));
                    match guard.report(outcome) {
                        Ok(Recorded::Now(receipt)) => self.told("reported", Ok(receipt)),
                        Ok(Recorded::Later | Recorded::Nothing) => self.say(format_args!("counted")),
                        Err(error) => self.told("reported", Err(error)),
                    }
                }
                Ok(Decision::Defer(_)) => {
                    self.say(format_args!("defer"));
                    thread::sleep(Duration::from_micros(fastrand::u64(50..500)));
                }
                Err(error) => self.say(format_args!("error|{error}")),
            }
        }
    }

    fn probe(&self, permit: Permit) {
        if fastrand::u8(..100) < 3 {
            // A caller that falls silent.
            thread::sleep(Duration::from_secs(3_600));
        }
        if fastrand::u8(..100) < 30 {
            self.say(format_args!("renewing|{permit}"));
            self.told("renewed", self.breaker.renew(permit));
        }
        let outcomes = [Outcome::Success, Outcome::Success, Outcome::Failure, Outcome::Timeout, Outcome::Ignored];
        let outcome = outcomes[fastrand::usize(..outcomes.len())];
        self.say(format_args!("settling|{outcome}"));
        self.told("settled", self.breaker.report(permit, outcome));
    }

    fn told(&self, what: &str, answer: Result<Receipt, BreakerError>) {
        match answer {
            Ok(receipt) => self.say(format_args!("{what}|{}", serde_json::to_string(&receipt).unwrap())),
            Err(error) => self.say(format_args!("error|{error}")),
        }
    }
}
