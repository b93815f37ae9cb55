//! Processes that trip a breaker, probe and close it, over and over, and print each result; and the account of them.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use halfopen::{Decision, Outcome, Policy, Receipt, State, Transition};
use halfopen_tests::process::{Process, order, say};

/// The dependency.
pub const NAME: &str = "pay";

const PROCESSES: usize = 3;
const THREADS: usize = 4;

/// Everything trips, a probe is due at once, and a lease outlasts an election.
pub fn policy() -> Policy {
    Policy::new()
        .consecutive_failures(1)
        .failure_rate_off()
        .open_ms(1)
        .open_max_ms(1)
        .jitter_percent(0)
        .lease_ms(5_000)
        .probe_max_ms(5_000)
        .fresh_ms(0)
}

/// The role, until the order to stop.
pub fn cycle(words: &[String]) {
    let stop = AtomicBool::new(false);
    let host = super::host(&words[0], &policy());
    let breaker = host.breaker(NAME);
    say("ready");
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    match breaker.acquire() {
                        Ok(Decision::Probe(guard)) => {
                            let (token, granted) = (guard.token().expect("a probe has a token"), now());
                            thread::sleep(Duration::from_micros(fastrand::u64(..3_000)));
                            let ended = now();
                            let permit = guard.into_permit();
                            let what = format!("probe {token} {granted} {ended} {}", permit.epoch);
                            tell(&what, breaker.report(permit, Outcome::Success));
                        }
                        Ok(Decision::Proceed(guard)) => {
                            let permit = guard.into_permit();
                            tell(&format!("call {}", permit.epoch), breaker.report(permit, Outcome::Failure));
                        }
                        Ok(Decision::Defer(_)) => thread::sleep(Duration::from_millis(1)),
                        Err(error) => {
                            say(format_args!("error {error}"));
                            thread::sleep(Duration::from_millis(1));
                        }
                    }
                }
            });
        }
        let _stop = order();
        stop.store(true, Ordering::Relaxed);
    });
}

/// Says the result of a report: its verdict, the permit, and the epoch of the permit.
fn tell(what: &str, reported: Result<Receipt, halfopen::BreakerError>) {
    match reported {
        Ok(receipt) if receipt.is_applied() => say(format_args!("applied {what}")),
        Ok(_) => say(format_args!("stale {what}")),
        Err(error) => say(format_args!("error {error}")),
    }
}

/// In microseconds, the same in all processes.
fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_micros()
}

/// A herd at work, and its lines.
pub struct Herd {
    processes: Vec<thread::JoinHandle<Vec<String>>>,
    orders: Vec<std::sync::mpsc::Sender<()>>,
    acknowledged: std::sync::Arc<std::sync::atomic::AtomicUsize>,
}

impl Herd {
    pub fn start(addresses: &[String]) -> Herd {
        let acknowledged = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let (mut processes, mut orders) = (Vec::new(), Vec::new());
        for number in 0..PROCESSES {
            let mut process = Process::start("cycle", &[&addresses[number % addresses.len()]]);
            assert_eq!(process.answer(), "ready");
            let (order, orders_of_it) = std::sync::mpsc::channel();
            let acknowledged = acknowledged.clone();
            orders.push(order);
            processes.push(thread::spawn(move || {
                let mut lines = Vec::new();
                let mut told = false;
                while let Some(line) = process.next_answer() {
                    acknowledged.fetch_add(usize::from(line.starts_with("applied probe")), Ordering::Relaxed);
                    lines.push(line);
                    if !told && orders_of_it.try_recv().is_ok() {
                        told = true;
                        process.tell("stop");
                    }
                }
                assert!(process.wait().success());
                lines
            }));
        }
        Herd { processes, orders, acknowledged }
    }

    /// Waits for this many more acknowledged probes.
    pub fn go_on(&self, many: usize) {
        let before = self.acknowledged.load(Ordering::Relaxed);
        halfopen_tests::breakers::until("the herd goes on", || {
            (self.acknowledged.load(Ordering::Relaxed) >= before + many).then_some(())
        });
    }

    /// Ends the herd, and returns its lines.
    pub fn stop(self) -> Vec<String> {
        self.orders.iter().for_each(|order| order.send(()).expect("it listens"));
        self.processes.into_iter().flat_map(|process| process.join().expect("a herd that ended well")).collect()
    }
}

/// Checks the lines of a herd against each other, and against the history.
pub fn check(lines: &[String], history: &[Transition]) {
    let mut leases: Vec<(u64, u128, u128)> = Vec::new();
    let mut tokens = HashSet::new();
    let kept: HashSet<(State, u64)> = history.iter().map(|kept| (kept.to, kept.epoch)).collect();
    let (mut acknowledged, mut errors) = (0, 0);
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |index: usize| words[index].parse::<u128>().expect("a number");
        match words[..] {
            ["applied", what, .., epoch] => {
                let epoch: u64 = epoch.parse().expect("an epoch");
                // One failure trips, and one success closes.
                let to = if what == "probe" { State::Closed } else { State::Open };
                assert!(kept.contains(&(to, epoch + 1)), "acknowledged, and not in the history: {line}");
                acknowledged += 1;
            }
            ["error", ..] => errors += 1,
            _ => {}
        }
        if let ["applied" | "stale", "probe", ..] = words[..] {
            let (token, granted, ended) = (number(2) as u64, number(3), number(4));
            assert!(tokens.insert(token), "the token {token} was given twice");
            if words[0] == "applied" {
                leases.push((token, granted, ended));
            }
        }
    }
    // A lease whose report counted was live from before it was handed out until after its holder had begun to report.
    leases.sort_unstable_by_key(|(_, granted, _)| *granted);
    for pair in leases.windows(2) {
        let [(first, _, ended), (second, granted, _)] = pair else { continue };
        assert!(granted >= ended, "the leases {first} and {second} were live at the same time");
        assert!(second > first, "the lease {second} was given after {first}");
    }
    for pair in history.windows(2) {
        let [before, after] = pair else { continue };
        assert_eq!(before.to, after.from, "the history has a gap: {before:?}, {after:?}");
        assert!(
            after.epoch == before.epoch + 1 || (after.from == after.to && after.epoch == before.epoch),
            "{after:?}"
        );
    }
    println!("{} probes and {acknowledged} reports acknowledged, {errors} errors", leases.len());
    assert!(!leases.is_empty());
}
