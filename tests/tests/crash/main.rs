//! Processes that share a SQLite file are killed at random moments, round after round. Whatever they were told before is
//! still so afterwards, and those who come next get on.
//!
//! The clock of all of them is a file, which moves on a little in a round and far beyond the lease after it: so what the
//! file must hold after a round does not depend on how fast the machine is.

mod account;
mod clock;
mod hammer;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use halfopen::store::sqlite::{SqliteOptions, SqliteStore, Synchronous};
use halfopen::{Decision, DeferReason, Host, Policy, State};
use halfopen_tests::breakers::LONG_MS;
use halfopen_tests::process::{Process, play};
use halfopen_tests::{harness, tests};

use self::account::Account;
use self::clock::FileClock;
use self::hammer::{Kind, THREADS};

/// Sets the number of rounds, for a longer soak.
const ROUNDS: &str = "HALFOPEN_CRASH_ROUNDS";

const PROCESSES: usize = 3;

fn main() -> ExitCode {
    play(&[("hammer", hammer::hammer)]);
    harness::run(tests![processes_killed_at_any_moment_lose_nothing_acknowledged_and_block_nobody])
}

fn rounds() -> u64 {
    std::env::var(ROUNDS).ok().map_or(210, |rounds| rounds.parse().expect("a number of rounds"))
}

fn processes_killed_at_any_moment_lose_nothing_acknowledged_and_block_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let shared = folder.path().join("shared.db");
    let clock = FileClock::create(&folder.path().join("clock"));
    drop(host(&shared, &clock, Kind::Cycle.policy(0), Synchronous::Full));

    let mut sum = Sum::default();
    let mut left_behind = Vec::new();
    for round in 0..rounds() {
        let kind = if round % 3 == 2 { Kind::Count } else { Kind::Cycle };
        // Now and then in a file that is not there yet, so that its making is struck too.
        let fresh = round % 5 == 4;
        let file = if fresh { folder.path().join(format!("fresh {round}.db")) } else { shared.clone() };
        // Half of the rounds do not wait for the disk, and so get further before they are struck.
        let synchronous = if round % 2 == 0 { Synchronous::Full } else { Synchronous::Normal };
        // Half of them ask every time, and half answer from memory.
        let fresh_ms = if round % 4 < 2 { 0 } else { 250 };
        let dependency = format!("round {round}");
        let round = Round { file, clock: &clock, kind, fresh_ms, synchronous, dependency, fresh };
        let account = round.play();
        round.check(&account);
        sum.add(&account);
        left_behind.push((round.file.clone(), round.dependency.clone(), round.record()));
    }

    for (file, dependency, record) in left_behind {
        assert_eq!(hammer::record(&file, &dependency), record, "{dependency} has changed since its round");
    }
    println!(
        "{} rounds, {} kills; acknowledged: {} leases, {} reports of a probe, {} other reports; counted in memory: {}; in \
         flight when killed: {}",
        rounds(),
        rounds() * PROCESSES as u64,
        sum.leases,
        sum.settled,
        sum.reported,
        sum.counted,
        sum.in_flight
    );
    let Sum { leases, settled, reported, counted, in_flight } = sum;
    assert!([leases, settled, reported, counted, in_flight].iter().all(|n| *n > 0), "nothing was struck: {sum:?}");
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    leases: usize,
    settled: usize,
    reported: usize,
    counted: usize,
    in_flight: usize,
}

impl Sum {
    fn add(&mut self, account: &Account) {
        self.leases += account.tokens().count();
        self.settled += account.settled();
        self.reported += account.reported();
        self.counted += account.counted();
        self.in_flight += account.in_flight();
    }
}

fn host(file: &Path, clock: &FileClock, policy: Policy, synchronous: Synchronous) -> Host {
    let options = SqliteOptions { synchronous, ..SqliteOptions::default() };
    let store = SqliteStore::open_with(file, options).unwrap_or_else(|error| panic!("it does not open: {error}"));
    let builder = Host::builder().store(store).clock(clock.clone()).default_policy(policy);
    builder.history(1_000_000).build().unwrap()
}

struct Round<'a> {
    file: PathBuf,
    clock: &'a FileClock,
    kind: Kind,
    fresh_ms: u64,
    synchronous: Synchronous,
    dependency: String,
    fresh: bool,
}

impl Round<'_> {
    /// Lets processes hammer the file and kills them one by one; what they were told before.
    fn play(&self) -> Account {
        let _moving = self.clock.moving();
        let start = |number: usize| {
            let [file, clock] =
                [self.file.as_path(), self.clock.path()].map(|path| path.to_str().expect("plain paths"));
            let (kind, synchronous) = (self.kind.name(), hammer::name(self.synchronous));
            let (fresh_ms, name) = (self.fresh_ms.to_string(), format!("process {number}"));
            let words = [file, clock, &self.dependency, kind, &fresh_ms, synchronous, &name];
            let mut process = Process::start("hammer", &words);
            if self.fresh {
                process.tell("go");
            }
            process
        };
        let mut processes: Vec<Process> = (0..PROCESSES).map(start).collect();
        if !self.fresh {
            processes.iter_mut().for_each(|process| assert_eq!(process.answer(), "ready"));
            processes.iter_mut().for_each(|process| process.tell("go"));
        }
        let most = if self.fresh { 80_000 } else { 40_000 };
        let lines = thread::scope(|scope| {
            let kill = |mut process: Process| {
                thread::sleep(Duration::from_micros(fastrand::u64(..most)));
                process.kill();
                std::iter::from_fn(|| process.next_answer()).collect::<Vec<_>>()
            };
            let killed: Vec<_> = processes.into_iter().map(|process| scope.spawn(move || kill(process))).collect();
            killed.into_iter().flat_map(|lines| lines.join().unwrap()).collect::<Vec<_>>()
        });
        Account::read(lines.iter().filter(|line| *line != "ready"))
    }

    fn check(&self, account: &Account) {
        let database = rusqlite::Connection::open(&self.file).unwrap();
        let integrity: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(integrity, "ok", "{}", self.dependency);
        drop(database);

        let policy = self.kind.policy(self.fresh_ms);
        let breaker = host(&self.file, self.clock, policy, self.synchronous).breaker(self.dependency.as_str());
        let seen = breaker.inspect().unwrap();
        let history = breaker.history(usize::MAX).unwrap();
        account.check_history(&history, &seen);
        match self.kind {
            Kind::Count => account.check_counts(&seen),
            Kind::Cycle => account.check_leases(&seen),
        }

        if let [lease] = seen.leases.as_slice() {
            let answer = breaker.acquire().unwrap();
            let Decision::Defer(deferral) = answer else { panic!("a second lease beside {lease:?}: {answer:?}") };
            assert_eq!(deferral.reason, DeferReason::Probing);
        }
        // The last lease runs out.
        self.clock.advance(LONG_MS);
        match breaker.acquire().unwrap() {
            Decision::Proceed(_) => assert_eq!(seen.state, State::Closed),
            Decision::Probe(guard) => {
                let token = guard.token().unwrap();
                let before = account.tokens().chain(seen.leases.iter().map(|lease| lease.token)).max();
                assert!(Some(token) > before, "{}: token {token} follows {before:?}", self.dependency);
                assert!(guard.success().unwrap().is_applied());
            }
            Decision::Defer(deferral) => panic!("{}: nobody is let in: {deferral}", self.dependency),
        }
    }

    fn record(&self) -> Option<(i64, Option<Vec<u8>>)> {
        hammer::record(&self.file, &self.dependency)
    }
}

/// How many callers there are in a round.
const CALLERS: usize = PROCESSES * THREADS;
