//! One decision on a store that many machines share, against the bare round trips that it needs.

use halfopen::store::{self, Key};
use halfopen::{Decision, Host, Outcome};
use halfopen_tests::stores::{self, Kind};

use crate::bare_etcd::BareEtcd;
use crate::bare_postgres::BarePostgres;
use crate::measure::{Effort, in_turn, nanos};
use crate::setting::{self, Result};
use crate::table::{Goal, Row, Rows};

const UNIT: &str = "µs";
const GOAL: Goal = Goal::RatioAtMost(1.15);
const DEPENDENCY: &str = "payments";

/// What anybody would write who keeps a record there: one round trip each, by the client that the store uses.
pub trait Bare: Sized {
    /// What they are, in a few words.
    const HOW: &str;

    /// A record of so many bytes at the same server, apart from those of halfopen.
    fn open(address: &str, record: &[u8]) -> Result<Self>;

    /// Reads it.
    fn read(&mut self) -> Result<()>;

    /// Replaces it, if it is as it was read last, durably.
    fn write(&mut self) -> Result<()>;
}

pub fn postgres(effort: Effort) -> Rows {
    rows::<BarePostgres>(stores::POSTGRES, ["postgres-read", "postgres-write"], effort)
}

pub fn etcd(effort: Effort) -> Rows {
    rows::<BareEtcd>(stores::ETCD, ["etcd-read", "etcd-write"], effort)
}

fn rows<B: Bare>(kind: Kind, names: [&'static str; 2], effort: Effort) -> Rows {
    let Some(address) = kind.address() else {
        let why = format!("{} is not set; {}", kind.variable, kind.hint);
        return Ok(names.map(|name| Row::skipped(name, UNIT, GOAL, why.clone())).into());
    };
    let namespace = format!("benchmark {:016x}", fastrand::u64(..));
    // Of a fixed size, once the window is full.
    let policy = setting::counting().window_calls(100);
    let host = Host::builder().address(&address).namespace(&namespace).default_policy(policy).build()?;
    let measured = measured::<B>(&host, &address, names, effort);
    host.remove_namespace()?;
    measured
}

fn measured<B: Bare>(host: &Host, address: &str, names: [&'static str; 2], effort: Effort) -> Rows {
    let rounds = effort.rounds(200);
    const STEPS: u64 = 20;
    let breaker = host.breaker(DEPENDENCY);
    let permit = setting::admitted(&breaker)?;
    let report = || drop(breaker.report(permit, Outcome::Failure).expect("report"));
    (0..100).for_each(|_| report());
    let key = Key { namespace: host.namespace(), dependency: DEPENDENCY };
    let record = store::open(address)?.load(key)?.data.ok_or("nothing was written")?;
    let mut bare = B::open(address, &record)?;

    let acquire = || match breaker.acquire().expect("acquire") {
        Decision::Proceed(guard) => drop(guard.into_permit()),
        other => panic!("not admitted: {other:?}"),
    };
    let bytes = record.len();
    let note = |what| format!("{what} of {}, a record of {bytes} bytes; n = {rounds} × {STEPS} steps", B::HOW);
    let reads = in_turn(
        rounds,
        &mut [&mut || nanos(STEPS, acquire) / 1e3, &mut || nanos(STEPS, || bare.read().expect("a bare read")) / 1e3],
    );
    let read = Row::against(names[0], UNIT, GOAL, &reads, [0, 1], note("a bare read"));
    let writes = in_turn(
        rounds,
        &mut [&mut || nanos(STEPS, report) / 1e3, &mut || {
            let step = || bare.read().and_then(|()| bare.write()).expect("a bare read and write");
            nanos(STEPS, step) / 1e3
        }],
    );
    let write = Row::against(names[1], UNIT, GOAL, &writes, [0, 1], note("a bare read and a bare write"));
    Ok(vec![read, write])
}
