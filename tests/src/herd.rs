//! Herds: many processes with many callers each, on one store, all at the same moment.

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::thread;

use halfopen::{Breaker, Decision, Host, Outcome, Policy, State, TransitionReason};

use crate::breakers::{make_due, policy};
use crate::process::{Process, Role, order, say};

/// A store, and a namespace in it that is the test's own.
#[derive(Clone, Debug)]
pub struct Place {
    /// The address of the store.
    pub address: String,
    /// The namespace.
    pub namespace: String,
    /// For how long its processes may act on what they were told; 0: they ask every time.
    pub fresh_ms: u64,
}

impl Place {
    /// A namespace that nobody else has, at an address.
    pub fn at(address: &str) -> Place {
        let namespace = format!("test {:016x}", fastrand::u64(..));
        Place { address: address.to_owned(), namespace, fresh_ms: 0 }
    }

    /// A host in it. How fresh its looks are, the place says.
    pub fn host(&self, policy: &Policy) -> Host {
        let policy = policy.clone().fresh_ms(self.fresh_ms);
        let builder = Host::builder().address(&self.address).namespace(&self.namespace).default_policy(policy);
        builder.build().unwrap_or_else(|error| panic!("a host at the store of the test: {error}"))
    }

    fn of_words(words: &[String]) -> Place {
        let fresh_ms = words[2].parse().expect("a number of ms");
        Place { address: words[0].clone(), namespace: words[1].clone(), fresh_ms }
    }
}

/// The roles that the processes of a herd play; words: a place, and how many threads.
pub const ROLES: [Role; 3] = [("callers", callers), ("reporters", reporters), ("succeeding", succeeding)];

/// Runs so many threads that wait for the order and then act together, and says what each came to.
fn together(words: &[String], act: impl Fn() -> String + Sync) {
    let many: usize = words[3].parse().expect("the number of threads");
    let start = Barrier::new(many + 1);
    let answers: Vec<String> = thread::scope(|scope| {
        let thread = || {
            start.wait();
            act()
        };
        let threads: Vec<_> = (0..many).map(|_| scope.spawn(thread)).collect();
        say("ready");
        let _go = order();
        start.wait();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| "panicked".to_owned())).collect()
    });
    answers.iter().for_each(say);
}

/// Starts the processes of a herd, lets them act at the same moment, and counts what they came to.
fn herd(role: &str, processes: usize, threads: usize, place: &Place) -> BTreeMap<String, usize> {
    let (fresh_ms, threads) = (place.fresh_ms.to_string(), threads.to_string());
    let words = [place.address.as_str(), place.namespace.as_str(), fresh_ms.as_str(), threads.as_str()];
    let mut herd: Vec<Process> = (0..processes).map(|_| Process::start(role, &words)).collect();
    for process in &mut herd {
        assert_eq!(process.answer(), "ready");
    }
    herd.iter_mut().for_each(|process| process.tell("go"));
    let mut counts = BTreeMap::new();
    for process in &mut herd {
        while let Some(answer) = process.next_answer() {
            *counts.entry(answer).or_default() += 1;
        }
        assert!(process.wait().success());
    }
    counts
}

fn counts(wanted: &[(&str, usize)]) -> BTreeMap<String, usize> {
    wanted.iter().map(|(answer, count)| ((*answer).to_owned(), *count)).collect()
}

fn callers(words: &[String]) {
    let breaker = Place::of_words(words).host(&policy()).breaker("pay");
    together(words, || match breaker.acquire() {
        Ok(Decision::Probe(guard)) => {
            guard.into_permit();
            "probe".to_owned()
        }
        Ok(Decision::Proceed(_)) => "proceed".to_owned(),
        Ok(Decision::Defer(deferral)) => format!("defer {}", deferral.reason),
        Err(error) => format!("error: {error}"),
    });
}

fn reporters(words: &[String]) {
    let breaker: Breaker = Place::of_words(words).host(&policy()).breaker("pay");
    let permit = match breaker.acquire() {
        Ok(Decision::Proceed(guard)) => guard.into_permit(),
        other => panic!("{other:?}"),
    };
    together(words, || match breaker.report(permit, Outcome::Failure) {
        Ok(receipt) if receipt.is_applied() && receipt.state == State::Closed => "counted".to_owned(),
        Ok(receipt) if receipt.is_applied() => format!("counted, and it is {}", receipt.state),
        Ok(receipt) => format!("{:?}", receipt.verdict),
        Err(error) => format!("error: {error}"),
    });
}

/// A probe is due, and all ask at once: one probes, and everybody else defers.
pub fn exactly_one_probes(place: &Place, processes: usize, threads: usize) {
    let breaker = place.host(&policy()).breaker("pay");
    make_due(&breaker);

    let wanted = counts(&[("probe", 1), ("defer probing", processes * threads - 1)]);
    assert_eq!(herd("callers", processes, threads, place), wanted);

    let seen = breaker.inspect().unwrap();
    assert_eq!((seen.state, seen.leases.len()), (State::HalfOpen, 1));
    let reasons: Vec<_> = breaker.history(10).unwrap().into_iter().map(|change| change.reason).collect();
    assert_eq!(reasons, [TransitionReason::ConsecutiveFailures, TransitionReason::ProbeDue]);
}

/// How many calls each of those who succeed makes.
const CALLS: u64 = 1_000;

fn succeeding(words: &[String]) {
    let breaker = Place::of_words(words).host(&policy()).breaker("pay");
    together(words, || {
        // The last of them fails, so that what was counted is handed over in many ways.
        let call = |number| if number + 1 < CALLS { Ok(()) } else { Err("down") };
        let made = (0..CALLS).filter(|number| breaker.call(|| call(*number)).is_ok()).count();
        format!("{made} succeeded")
    });
}

/// Never trips; what is reported stays in the window.
fn counting(place: &Place) -> Policy {
    policy().consecutive_failures(0).window_ms(86_400_000).fresh_ms(place.fresh_ms)
}

/// All report a failure at once: each is counted.
pub fn all_failures_are_counted(place: &Place, processes: usize, threads: usize) {
    let breaker = place.host(&policy()).breaker("pay");
    breaker.configure(&counting(place), "").unwrap();

    let all = processes * threads;
    assert_eq!(herd("reporters", processes, threads, place), counts(&[("counted", all)]));

    let seen = breaker.inspect().unwrap();
    let all = all as u64;
    assert_eq!((seen.state, seen.calls, seen.failures, seen.failures_in_row), (State::Closed, all, all, all));
}

/// All report a failure at once, and their number is the threshold: the last one trips, once. Reports that waited together are one tally,
/// and share its receipt.
pub fn the_last_failure_trips_once(place: &Place, processes: usize, threads: usize) {
    let breaker = place.host(&policy()).breaker("pay");
    let all = processes * threads;
    breaker.configure(&counting(place).consecutive_failures(all as u32), "").unwrap();

    let answers = herd("reporters", processes, threads, place);
    let of = |what: &str| answers.get(what).copied().unwrap_or_default();
    assert_eq!(of("counted") + of("counted, and it is open"), all, "{answers:?}");
    assert!(of("counted, and it is open") > 0, "{answers:?}");
    let history = breaker.history(10).unwrap();
    assert_eq!(history.iter().filter(|change| change.to == State::Open).count(), 1, "{history:?}");
}

/// All succeed many times and then fail once: when their processes have ended, everything is counted.
pub fn all_successes_are_counted(place: &Place, processes: usize, threads: usize) {
    let breaker = place.host(&policy()).breaker("pay");
    breaker.configure(&counting(place), "").unwrap();

    let all = processes * threads;
    assert_eq!(herd("succeeding", processes, threads, place), counts(&[("999 succeeded", all)]));

    let seen = breaker.inspect().unwrap();
    assert_eq!((seen.calls, seen.failures), (all as u64 * CALLS, all as u64));
}
