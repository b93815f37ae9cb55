//! Every single operation of SQLite on its files fails once, and once for a while.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use halfopen::store::{Key, MemoryStore, Store as _};
use halfopen::{
    Breaker, BreakerError, Decision, Host, HostBuilder, ManualClock, Mode, Outcome, Permit, State, StoreError,
    Transition,
};
use halfopen_tests::breakers::{address, policy};
use tempfile::TempDir;

use crate::vfs::{Fault, Injector, Lasting, MARK};

const FAULTS: [(Fault, Lasting); 4] = [
    (Fault::Io, Lasting::Once),
    (Fault::Io, Lasting::UntilLifted),
    (Fault::Full, Lasting::Once),
    (Fault::Full, Lasting::UntilLifted),
];

fn folder() -> TempDir {
    tempfile::Builder::new().prefix(MARK).tempdir().unwrap()
}

/// A caller of one breaker, and the permit in its hands.
struct Caller {
    breaker: Breaker,
    permit: Option<Permit>,
}

impl Caller {
    fn new(host: &Host, dependency: &str) -> Caller {
        Caller { breaker: host.breaker(dependency), permit: None }
    }

    fn acquire(&mut self, wanted: &str) -> Result<(), BreakerError> {
        let (got, guard) = match self.breaker.acquire()? {
            Decision::Proceed(guard) => ("proceed", Some(guard)),
            Decision::Probe(guard) => ("probe", Some(guard)),
            Decision::Defer(_) => ("defer", None),
        };
        assert_eq!(got, wanted);
        self.permit = guard.map(|guard| guard.into_permit());
        Ok(())
    }

    fn report(&mut self, outcome: Outcome) -> Result<(), BreakerError> {
        let receipt = self.breaker.report(self.permit.unwrap(), outcome)?;
        assert!(receipt.is_applied(), "{receipt:?}");
        Ok(())
    }
}

type Step = fn(&mut Caller) -> Result<(), BreakerError>;

/// A life of a breaker: everything that writes, and what only reads in between.
const LIFE: &[Step] = &[
    |caller| caller.acquire("proceed"),
    |caller| caller.report(Outcome::Success),
    |caller| caller.report(Outcome::Failure),
    |caller| caller.acquire("probe"),
    |caller| caller.breaker.renew(caller.permit.unwrap()).map(drop),
    |caller| caller.breaker.inspect().map(drop),
    |caller| caller.report(Outcome::Timeout),
    |caller| caller.acquire("probe"),
    |caller| caller.report(Outcome::Success),
    |caller| caller.breaker.configure(&policy().open_ms(2), "").map(drop),
    |caller| caller.breaker.force(Mode::Open, None, "a note").map(drop),
    |caller| caller.acquire("defer"),
    |caller| caller.breaker.reset("").map(drop),
    |caller| caller.breaker.forget("").map(drop),
    |caller| caller.acquire("proceed"),
    |caller| caller.report(Outcome::Failure),
];

type Record = (u64, Option<Vec<u8>>);

/// Takes each step on a host whose files are struck, and after it on one in memory: what one was told is done, and nothing
/// else, is what the other has.
struct Twins {
    injector: Injector,
    file: PathBuf,
    clock: Arc<ManualClock>,
    struck: Host,
    memory: Arc<MemoryStore>,
    safe: Host,
}

impl Twins {
    fn new(folder: &Path) -> Twins {
        let injector = Injector::take();
        let file = folder.join("shared.db");
        let clock = Arc::new(ManualClock::new(1_000_000));
        let memory = Arc::new(MemoryStore::new());
        let with = |builder: HostBuilder| builder.clock(clock.clone()).default_policy(policy()).build().unwrap();
        let struck = with(Host::builder().address(&address(&file)));
        let safe = with(Host::builder().shared_store(memory.clone()));
        Twins { injector, file, clock, struck, memory, safe }
    }

    /// Lives through a life with one fault; whether it struck, and how many steps failed.
    fn live(&self, fault: Fault, lasting: Lasting, after: u64) -> (bool, u64) {
        let dependency = format!("{fault:?} {lasting:?} {after}");
        let (mut struck, mut safe) = (Caller::new(&self.struck, &dependency), Caller::new(&self.safe, &dependency));
        let mut failed = 0;
        self.injector.arm(fault, lasting, after);
        for (number, step) in LIFE.iter().enumerate() {
            let place = format!("{dependency}, step {number}");
            self.clock.advance(Duration::from_millis(2));
            if let Err(error) = step(&mut struck) {
                failed += 1;
                assert!(matches!(error, BreakerError::Store(_)), "{place}: {error:?}");
                self.compare(&dependency, &format!("{place}, failed ({error})"));
                self.injector.lift();
                step(&mut struck).unwrap_or_else(|error| panic!("{place}: the fault is gone, and still: {error}"));
            }
            step(&mut safe).unwrap();
            self.compare(&dependency, &place);
        }
        self.injector.lift();
        (self.injector.struck() > 0, failed)
    }

    fn compare(&self, dependency: &str, place: &str) {
        let key = Key { namespace: "default", dependency };
        let snapshot = self.memory.load(key).unwrap();
        let history = self.memory.history(key, usize::MAX).unwrap();
        let history: Vec<Transition> = history.iter().map(|json| json.parse().unwrap()).collect();
        let safe: (Record, Vec<Transition>) = ((snapshot.version, snapshot.data), history);
        let found = self.injector.look(|| {
            let record = record(&self.file, dependency);
            (record, self.struck.breaker(dependency).history(usize::MAX).unwrap())
        });
        assert_eq!(found, safe, "{place}");
    }
}

fn record(file: &Path, dependency: &str) -> Record {
    let database = rusqlite::Connection::open(file).unwrap();
    let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)? as u64, row.get(1)?));
    let found = database.query_row("SELECT version, data FROM record WHERE dependency = ?1", [dependency], row);
    match found {
        Err(rusqlite::Error::QueryReturnedNoRows) => (0, None),
        found => found.unwrap(),
    }
}

pub fn a_commit_that_failed_is_never_reported_as_done_and_one_reported_is_done() {
    let folder = folder();
    let twins = Twins::new(folder.path());
    for (fault, lasting) in FAULTS {
        let (mut lives, mut failed) = (0, 0);
        for after in 0.. {
            let (struck, steps) = twins.live(fault, lasting, after);
            if !struck {
                break;
            }
            (lives, failed) = (lives + 1, failed + steps);
        }
        println!("{fault:?}, {lasting:?}: {lives} operations on files struck, {failed} calls failed");
        assert!(lives > 20 && failed > 20, "hardly anything was struck");
    }
}

pub fn a_file_whose_making_failed_can_be_made_afterwards() {
    let injector = Injector::take();
    for (fault, lasting) in FAULTS {
        let mut lives = 0;
        for after in 0.. {
            let folder = folder();
            let file = folder.path().join("shared.db");
            injector.arm(fault, lasting, after);
            let opened = Host::open(&address(&file));
            if let Err(error) = &opened {
                assert!(matches!(error, halfopen::OpenError::Store(_)), "{error:?}");
            }
            injector.lift();
            drop(opened);
            if injector.struck() == 0 {
                break;
            }
            lives += 1;
            let host = Host::builder().address(&address(&file)).default_policy(policy()).build().unwrap();
            halfopen_tests::breakers::trip(&host.breaker("pay"));
        }
        println!("{fault:?}, {lasting:?}: {lives} operations struck while a file was made");
        assert!(lives > 5, "hardly anything was struck");
    }
}

pub fn of_many_reports_at_once_exactly_the_acknowledged_ones_count() {
    const THREADS: u64 = 8;
    const REPORTS: u64 = 25;
    let folder = folder();
    let injector = Injector::take();
    let counting = policy().consecutive_failures(0).window_ms(86_400_000);
    let file = folder.path().join("shared.db");
    let host = Host::builder().address(&address(&file)).default_policy(counting).build().unwrap();
    let (mut done, mut failed) = (0, 0);
    for round in 0..40_u64 {
        let breaker = host.breaker(format!("round {round}"));
        let Decision::Proceed(guard) = breaker.acquire().unwrap() else { panic!("it is not closed") };
        let permit = guard.into_permit();
        let (fault, lasting) = FAULTS[round as usize % FAULTS.len()];
        injector.arm(fault, lasting, fastrand::u64(..150));
        let report = || breaker.report(permit, Outcome::Failure).map(|receipt| assert!(receipt.is_applied()));
        let acknowledged: u64 = thread::scope(|scope| {
            let reporter = || {
                let mut acknowledged = 0;
                for _ in 0..REPORTS {
                    match report() {
                        Ok(()) => acknowledged += 1,
                        Err(BreakerError::Store(_)) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
                acknowledged
            };
            let reporters: Vec<_> = (0..THREADS).map(|_| scope.spawn(reporter)).collect();
            reporters.into_iter().map(|reporter| reporter.join().unwrap()).sum()
        });
        injector.lift();
        let seen = breaker.inspect().unwrap();
        assert_eq!((seen.state, seen.failures), (State::Closed, acknowledged), "round {round}: {fault:?} {lasting:?}");
        (done, failed) = (done + acknowledged, failed + THREADS * REPORTS - acknowledged);
    }
    println!("{done} reports acknowledged, {failed} failed");
    assert!(done > 0 && failed > 0);
}

/// The words of both kinds of fault reach the user.
pub fn a_full_disk_and_a_failing_one_are_told_apart() {
    let folder = folder();
    let twins = Twins::new(folder.path());
    let breaker = twins.struck.breaker("pay");
    for (fault, words) in [(Fault::Full, "the disk is full"), (Fault::Io, "reading or writing failed")] {
        twins.injector.arm(fault, Lasting::UntilLifted, 0);
        let error = breaker.reset("").unwrap_err();
        let BreakerError::Store(StoreError::Unavailable { place, why }) = &error else { panic!("{error:?}") };
        assert!(why.contains(words), "{why}");
        assert_eq!(Path::new(place), twins.file);
        twins.injector.lift();
        breaker.reset("").unwrap();
    }
}
