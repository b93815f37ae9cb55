//! The five promises, on a real SQLite file, with real processes and threads.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use halfopen::{
    Breaker, CallError, Decision, DeferReason, Host, ManualClock, Outcome, Permit, Policy, State, TransitionReason,
    Verdict,
};
use halfopen_tests::breakers::{LONG_MS, address, host, make_due, number, policy, until};
use halfopen_tests::process::{Process, order, play, say};
use halfopen_tests::{harness, tests};

fn main() -> ExitCode {
    play(&[("claimant", claimant)]);
    harness::run(tests![
        five_simultaneous_lease_requests_give_exactly_one_permission,
        an_expired_lease_lets_a_new_claimant_in,
        a_late_result_of_an_expired_lease_does_not_overwrite_newer_state,
        a_caller_without_a_lease_is_deferred_and_makes_no_network_call,
        a_failed_or_timed_out_probe_reopens_with_backoff_and_jitter,
        a_lost_probe_reopens_with_backoff_where_the_policy_says_so,
    ])
}

/// Asks for a lease on the dependency it is told, says what it got, and reports when it is told an outcome.
fn claimant(words: &[String]) {
    let host = host(Path::new(&words[0]), &policy());
    say("ready");
    let mut held: Option<(Breaker, Permit)> = None;
    while let Some(order) = order() {
        match (order.parse::<Outcome>(), held.take()) {
            (Ok(outcome), Some((breaker, permit))) => match breaker.report(permit, outcome).map(|r| r.verdict) {
                Ok(Verdict::Applied) => say("applied"),
                Ok(Verdict::Stale(reason)) => say(format_args!("stale {reason}")),
                Err(error) => say(format_args!("error {error}")),
            },
            _ => {
                let breaker = host.breaker(order);
                match breaker.acquire() {
                    Ok(Decision::Probe(guard)) => {
                        say(format_args!("probe {}", guard.token().expect("a probe has a token")));
                        held = Some((breaker, guard.into_permit()));
                    }
                    Ok(Decision::Proceed(_)) => say("proceed"),
                    Ok(Decision::Defer(deferral)) => say(format_args!("defer {}", deferral.reason)),
                    Err(error) => say(format_args!("error {error}")),
                }
            }
        }
    }
}

fn claimants(many: usize, file: &Path) -> Vec<Process> {
    let file = file.to_str().expect("tests use plain paths");
    let mut claimants: Vec<Process> = (0..many).map(|_| Process::start("claimant", &[file])).collect();
    for claimant in &mut claimants {
        assert_eq!(claimant.answer(), "ready");
    }
    claimants
}

/// The token of an answer `probe TOKEN`.
fn token(answer: &str) -> u64 {
    let token = answer.strip_prefix("probe ").and_then(|token| token.parse().ok());
    token.unwrap_or_else(|| panic!("wanted a lease, got: {answer}"))
}

/// Asks for a lease until there is one: a claimant that comes again as it is told.
fn claim(breaker: &Breaker) -> Permit {
    until("there is a lease", || match breaker.acquire().expect("an answer") {
        Decision::Probe(guard) => Some(guard.into_permit()),
        Decision::Defer(_) => None,
        Decision::Proceed(_) => panic!("the breaker is closed"),
    })
}

fn with_lease(lease_ms: u64) -> Policy {
    policy().lease_ms(lease_ms)
}

fn five_simultaneous_lease_requests_give_exactly_one_permission() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shared.db");
    let host = host(&file, &policy());

    let mut claimants = claimants(5, &file);
    for round in 0..40 {
        let dependency = format!("of processes {round}");
        make_due(&host.breaker(dependency.as_str()));
        claimants.iter_mut().for_each(|claimant| claimant.tell(&dependency));
        let mut answers: Vec<String> = claimants.iter_mut().map(Process::answer).collect();
        answers.sort();
        assert_eq!(answers[..4], ["defer probing"; 4], "{answers:?}");
        token(&answers[4]);
    }

    for round in 0..40 {
        let breaker = host.breaker(format!("of threads {round}"));
        make_due(&breaker);
        let start = Barrier::new(5);
        let mut answers: Vec<&str> = thread::scope(|scope| {
            let request = || {
                start.wait();
                match breaker.acquire().expect("an answer") {
                    Decision::Probe(guard) => {
                        guard.into_permit();
                        "probe"
                    }
                    Decision::Defer(_) => "defer",
                    Decision::Proceed(_) => "proceed",
                }
            };
            let requests: Vec<_> = (0..5).map(|_| scope.spawn(request)).collect();
            requests.into_iter().map(|request| request.join().unwrap()).collect()
        });
        answers.sort_unstable();
        assert_eq!(answers, ["defer", "defer", "defer", "defer", "probe"]);
    }
}

fn an_expired_lease_lets_a_new_claimant_in() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shared.db");
    let breaker = host(&file, &policy()).breaker("pay");
    breaker.configure(&with_lease(1_000), "").unwrap();
    make_due(&breaker);

    let mut first = claimants(1, &file).remove(0);
    let lost = token(&first.ask("pay"));
    first.kill();

    let permit = claim(&breaker);
    assert!(permit.lease > Some(lost), "{permit} follows {lost}");
    let lost_probes = breaker.history(100).unwrap().into_iter().filter(|t| t.reason == TransitionReason::ProbeLost);
    let lost_probes: Vec<(State, State)> = lost_probes.map(|t| (t.from, t.to)).collect();
    assert_eq!(lost_probes, [(State::HalfOpen, State::HalfOpen)]);
    assert!(breaker.report(permit, Outcome::Success).unwrap().is_applied());
    assert_eq!(breaker.inspect().unwrap().state, State::Closed);
}

/// What came after the lease that expired.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Newer {
    Nothing,
    Probing,
    Closed,
    Open,
}

fn a_late_result_of_an_expired_lease_does_not_overwrite_newer_state() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shared.db");
    let host = host(&file, &policy());
    let cases: Vec<(Newer, Outcome)> = [Newer::Nothing, Newer::Probing, Newer::Closed, Newer::Open]
        .into_iter()
        .flat_map(|newer| [Outcome::Success, Outcome::Failure, Outcome::Timeout, Outcome::Ignored].map(|o| (newer, o)))
        .collect();
    let dependencies: Vec<String> = cases.iter().map(|(newer, outcome)| format!("{newer:?} {outcome}")).collect();

    // All leases at once, so that they are waited for together.
    let mut late = claimants(cases.len(), &file);
    for (dependency, claimant) in dependencies.iter().zip(&mut late) {
        let breaker = host.breaker(dependency.as_str());
        breaker.configure(&with_lease(1_000), "").unwrap();
        make_due(&breaker);
        token(&claimant.ask(dependency));
        // A lease keeps its length; the next one is to outlast the test.
        breaker.configure(&policy().open_ms(LONG_MS), "").unwrap();
    }

    for (((newer, outcome), dependency), claimant) in cases.into_iter().zip(&dependencies).zip(&mut late) {
        let breaker = host.breaker(dependency.as_str());
        match newer {
            Newer::Nothing => until("the lease has run out", || breaker.inspect().unwrap().probe_due.then_some(())),
            Newer::Probing => drop(claim(&breaker)),
            Newer::Closed => drop(breaker.report(claim(&breaker), Outcome::Success).unwrap()),
            Newer::Open => drop(breaker.report(claim(&breaker), Outcome::Failure).unwrap()),
        }
        let state = match newer {
            Newer::Nothing | Newer::Probing => State::HalfOpen,
            Newer::Closed => State::Closed,
            Newer::Open => State::Open,
        };
        assert_eq!(breaker.inspect().unwrap().state, state, "{dependency}");
        let before = record(&file, dependency);
        let answer = claimant.ask(outcome);
        assert!(answer.starts_with("stale "), "{dependency}: {answer}");
        assert_eq!(record(&file, dependency), before, "{dependency}: a late {outcome} wrote something");
    }
}

/// The record as the file has it, and how many transitions there are.
fn record(file: &Path, dependency: &str) -> (i64, Vec<u8>, i64) {
    let database = rusqlite::Connection::open(file).unwrap();
    database
        .query_row(
            "SELECT version, data, (SELECT count(*) FROM transition WHERE dependency = ?1) FROM record
             WHERE dependency = ?1",
            [dependency],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .unwrap()
}

/// A server that counts who connects, and answers only while it is let.
struct Server {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    answering: Arc<Mutex<()>>,
}

impl Server {
    fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (connections, answering) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(())));
        let (count, permission) = (connections.clone(), answering.clone());
        thread::spawn(move || {
            for stream in listener.incoming() {
                count.fetch_add(1, Ordering::SeqCst);
                let permission = permission.clone();
                thread::spawn(move || {
                    let _wait = permission.lock();
                    let _ = stream.and_then(|mut stream| stream.write_all(b"ok"));
                });
            }
        });
        Server { address, connections, answering }
    }

    fn call(&self) -> std::io::Result<String> {
        let mut answer = String::new();
        TcpStream::connect(self.address)?.read_to_string(&mut answer)?;
        Ok(answer)
    }

    /// How many have connected so far. Connections are accepted in their order, so a call of the test's own, which is
    /// not counted, shows that there are no earlier ones left.
    fn connections(&self) -> usize {
        assert_eq!(self.call().unwrap(), "ok");
        self.connections.fetch_sub(1, Ordering::SeqCst) - 1
    }
}

fn a_caller_without_a_lease_is_deferred_and_makes_no_network_call() {
    const CALLERS: usize = 40;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shared.db");
    let hosts: Vec<Host> = (0..4).map(|_| host(&file, &policy())).collect();
    let server = Server::start();
    assert_eq!(server.connections(), 0);

    // All callers at once; each tells what it came to.
    let call = |dependency: &'static str, on_deferred: &(dyn Fn(DeferReason) + Sync)| -> usize {
        let start = Barrier::new(CALLERS);
        let called = AtomicUsize::new(0);
        thread::scope(|scope| {
            for caller in 0..CALLERS {
                let breaker = hosts[caller % hosts.len()].breaker(dependency);
                let (start, called, server) = (&start, &called, &server);
                scope.spawn(move || {
                    start.wait();
                    match breaker.call(|| server.call()) {
                        Ok(answer) => {
                            assert_eq!(answer, "ok");
                            called.fetch_add(1, Ordering::SeqCst);
                        }
                        Err(CallError::Deferred(deferral)) => on_deferred(deferral.reason),
                        Err(error) => panic!("{error}"),
                    }
                });
            }
        });
        called.into_inner()
    };

    let open = hosts[0].breaker("open");
    open.configure(&policy().open_ms(LONG_MS), "").unwrap();
    halfopen_tests::breakers::trip(&open);
    let deferred = AtomicUsize::new(0);
    let called = call("open", &|reason| {
        assert_eq!(reason, DeferReason::Open);
        deferred.fetch_add(1, Ordering::SeqCst);
    });
    assert_eq!((called, deferred.into_inner(), server.connections()), (0, CALLERS, 0));

    let due = hosts[0].breaker("due");
    make_due(&due);
    // The probe hangs until everybody else has been deferred.
    let hanging = server.answering.lock().unwrap();
    let (sender, deferrals) = mpsc::channel();
    let called = thread::scope(|scope| {
        let called = scope.spawn(move || call("due", &|reason| sender.send(reason).unwrap()));
        let reasons: Vec<DeferReason> = deferrals.iter().take(CALLERS - 1).collect();
        assert_eq!(reasons, vec![DeferReason::Probing; CALLERS - 1]);
        drop(hanging);
        called.join().unwrap()
    });
    assert_eq!((called, server.connections()), (1, 1));
    assert_eq!(due.inspect().unwrap().state, State::Closed);
}

/// The instant that the tests below begin at.
const BEGIN: u64 = 1_000_000;

/// A host whose time stands still until it is moved on.
fn host_at(file: &Path, clock: &Arc<ManualClock>, policy: &Policy) -> Host {
    Host::builder().address(&address(file)).clock(clock.clone()).default_policy(policy.clone()).build().unwrap()
}

/// How long the open window is that has just begun.
fn window(breaker: &Breaker, clock: &ManualClock) -> u64 {
    let seen = breaker.inspect().unwrap();
    assert_eq!(seen.state, State::Open);
    seen.next_due.unwrap() - halfopen::Clock::now(clock)
}

/// Lets the breaker trip and then fails probe after probe; checks each open window against the policy.
fn check_backoff(breaker: &Breaker, clock: &ManualClock, fail: &dyn Fn(&Breaker)) -> Vec<u64> {
    let policy = breaker.policy().unwrap().policy;
    halfopen_tests::breakers::trip(breaker);
    let mut windows = vec![window(breaker, clock)];
    for _ in 0..5 {
        clock.advance(Duration::from_millis(windows[windows.len() - 1]));
        fail(breaker);
        windows.push(window(breaker, clock));
    }
    for (level, window) in windows.iter().enumerate() {
        let length = (number(&policy, "open_ms") << level).min(number(&policy, "open_max_ms"));
        let longest = length + length * number(&policy, "jitter_percent") / 100;
        assert!((length..=longest).contains(window), "level {level}: {window} is not in {length}..={longest}");
    }
    windows
}

/// With jitter, those who trip together do not come back together.
fn check_jitter(first_windows: impl Iterator<Item = u64>) {
    let lengths: BTreeSet<u64> = first_windows.collect();
    assert!(lengths.len() > 1, "each of many open windows has the length {lengths:?}");
}

fn jittery() -> Policy {
    policy().open_ms(1_000).open_max_ms(20_000).jitter_percent(50).lease_ms(5_000)
}

fn a_failed_or_timed_out_probe_reopens_with_backoff_and_jitter() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shared.db");
    let clock = Arc::new(ManualClock::new(BEGIN));
    let host = host_at(&file, &clock, &jittery());

    type Fails<'a> = &'a dyn Fn(&Breaker);
    let ways: [(TransitionReason, Fails<'_>); 4] = [
        (TransitionReason::ProbeFailed, &|breaker| {
            assert!(breaker.report(claim(breaker), Outcome::Failure).unwrap().is_applied());
        }),
        (TransitionReason::ProbeTimedOut, &|breaker| {
            assert!(breaker.report(claim(breaker), Outcome::Timeout).unwrap().is_applied());
        }),
        (TransitionReason::ProbeFailed, &|breaker| {
            let answer = breaker.call(|| Err::<(), _>("refused"));
            assert!(matches!(answer, Err(CallError::Failed("refused"))));
        }),
        // A call that never comes back, cut off by the library.
        (TransitionReason::ProbeTimedOut, &|breaker| {
            let breaker = breaker.clone().timeout(Duration::from_millis(1));
            let answer = wait_for(breaker.call_async(std::future::pending::<Result<(), ()>>));
            assert!(matches!(answer, Err(CallError::TimedOut(_))), "{answer:?}");
        }),
    ];
    let mut first_windows = Vec::new();
    for (number, (reason, fail)) in ways.into_iter().enumerate() {
        for time in 0..5 {
            let breaker = host.breaker(format!("way {number}, time {time}"));
            first_windows.push(check_backoff(&breaker, &clock, fail)[0]);
            let last = breaker.history(1).unwrap().remove(0);
            assert_eq!((last.from, last.to, last.reason), (State::HalfOpen, State::Open, reason.clone()));
        }
    }
    check_jitter(first_windows.into_iter());
}

/// Runs a future to its end on this thread.
fn wait_for<F: Future>(future: F) -> F::Output {
    struct Unpark(thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut context = std::task::Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        thread::park();
    }
}

fn a_lost_probe_reopens_with_backoff_where_the_policy_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shared.db");
    let clock = Arc::new(ManualClock::new(BEGIN));
    let reopen = host_at(&file, &clock, &jittery().reopen_on_lost_probe());
    let reprobe = host_at(&file, &clock, &jittery());

    let mut first_windows = Vec::new();
    for time in 0..10 {
        let breaker = reopen.breaker(format!("reopen, time {time}"));
        let lose = |breaker: &Breaker| {
            claim(breaker);
            clock.advance(Duration::from_millis(number(&jittery(), "lease_ms")));
            // The one who finds the lease run out is deferred, and has reopened the breaker.
            let Decision::Defer(deferral) = breaker.acquire().unwrap() else { panic!("it was let in") };
            assert_eq!(deferral.reason, DeferReason::Open);
            assert_eq!(deferral.retry_after, window(breaker, &clock));
        };
        first_windows.push(check_backoff(&breaker, &clock, &lose)[0]);
        let last = breaker.history(2).unwrap();
        assert!(last.iter().any(|t| t.reason == TransitionReason::ProbeLost && t.to == State::Open), "{last:?}");
    }
    check_jitter(first_windows.into_iter());

    // By default the next claimant is let in at once.
    let breaker = reprobe.breaker("reprobe");
    halfopen_tests::breakers::trip(&breaker);
    clock.advance(Duration::from_millis(window(&breaker, &clock)));
    let lost = claim(&breaker);
    clock.advance(Duration::from_millis(number(&jittery(), "lease_ms")));
    let Decision::Probe(next) = breaker.acquire().unwrap() else { panic!("it was not let in") };
    assert!(next.token() > lost.lease);
}
