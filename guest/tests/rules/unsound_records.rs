//! A record with a right checksum that the rules cannot have written is corrupt.

use crate::common::{NO_OPERATOR, QUICK, World};
use halfopen_guest::contract::Mode;
use halfopen_guest::policy::{BUILT_IN, Policy};
use halfopen_guest::record::codec::{DecodeError, checksum, decode, encode};
use halfopen_guest::record::{ClosedMode, LastFailure, Lease, OpenEnd, Override, Record, State, StateKind, Transition};
use halfopen_guest::step::Request;

fn record(world: &World) -> Record {
    decode(world.bytes().expect("a record")).expect("a sound record")
}

fn tripped() -> Record {
    let mut world = World::with(QUICK);
    world.trip();
    record(&world)
}

fn half_open() -> Record {
    let mut world = World::with(Policy { probes: 2, ..QUICK });
    world.trip();
    world.now = 5_000;
    world.probe();
    world.probe();
    record(&world)
}

fn forced(mode: Mode) -> Record {
    let mut world = World::with(QUICK);
    world.force(mode, None);
    record(&world)
}

fn configured() -> Record {
    let mut world = World::with(QUICK);
    world.receipt(Request::Configure { policy: Some(BUILT_IN.to_json()), operator: NO_OPERATOR });
    record(&world)
}

fn assert_corrupt(what: &str, mut record: Record, damage: impl FnOnce(&mut Record)) {
    damage(&mut record);
    assert_eq!(decode(&encode(&record)), Err(DecodeError::Corrupt), "{what}");
}

fn leases(record: &mut Record) -> &mut Vec<Lease> {
    match &mut record.state {
        State::HalfOpen { leases, .. } => leases,
        other => panic!("not half-open: {other:?}"),
    }
}

fn forced_of(record: &mut Record) -> &mut Override {
    match &mut record.state {
        State::Closed { mode: ClosedMode::Forced(forced), .. } | State::Open { end: OpenEnd::Forced(forced), .. } => {
            forced
        }
        other => panic!("not forced: {other:?}"),
    }
}

#[test]
fn a_record_of_the_rules_is_read() {
    for record in [tripped(), half_open(), forced(Mode::Open), forced(Mode::Closed), configured()] {
        assert_eq!(decode(&encode(&record)), Ok(record));
    }
}

#[test]
fn each_field_of_a_record_is_judged() {
    assert_corrupt("never written", tripped(), |r| r.written = None);
    assert_corrupt("settled a token never granted", tripped(), |r| r.settled = Some(r.last_token + 1));
    assert_corrupt("a policy out of range", configured(), |r| r.policy = Some(Policy { probes: 0, ..BUILT_IN }));
    assert_corrupt("a failure of a later epoch", tripped(), |r| last_failure(r).epoch = u64::MAX);
    assert_corrupt("a caller with a control character", tripped(), |r| last_failure(r).caller = "\n".into());
    assert_corrupt("a cause that is too long", tripped(), |r| last_failure(r).cause = "x".repeat(129));
}

fn last_failure(record: &mut Record) -> &mut LastFailure {
    record.last_failure.as_mut().expect("a failure")
}

fn last_change(record: &mut Record) -> &mut Transition {
    record.last_change.as_mut().expect("a change")
}

#[test]
fn the_last_change_fits_the_record() {
    assert_corrupt("no change", tripped(), |r| r.last_change = None);
    assert_corrupt("another epoch", tripped(), |r| last_change(r).epoch += 1);
    assert_corrupt("another state", tripped(), |r| last_change(r).to = StateKind::Closed);
    assert_corrupt("an operator with a control character", tripped(), |r| last_change(r).details.by = "\0".into());
    assert_corrupt("a note that is too long", tripped(), |r| last_change(r).details.note = "x".repeat(129));
    assert_corrupt("a caller with a control character", tripped(), |r| last_change(r).details.caller = "\n".into());
    assert_corrupt("a cause with a control character", tripped(), |r| last_change(r).details.cause = "\n".into());
    assert_corrupt("a change of a record without", configured(), |r| r.last_change = tripped().last_change);
}

#[test]
fn leases_and_overrides_are_judged() {
    assert_corrupt("a token never granted", half_open(), |r| r.last_token -= 1);
    assert_corrupt("tokens out of order", half_open(), |r| leases(r).reverse());
    assert_corrupt("a token twice", half_open(), |r| leases(r)[0].token += 1);
    assert_corrupt("renewed before it was granted", half_open(), |r| leases(r)[0].granted += 1);
    assert_corrupt("a caller that is too long", half_open(), |r| leases(r)[1].caller = "x".repeat(129));
    for mode in [Mode::Open, Mode::Closed] {
        assert_corrupt("a note with a control character", forced(mode), |r| forced_of(r).note = "\n".into());
        assert_corrupt("an operator that is too long", forced(mode), |r| forced_of(r).by = "x".repeat(129));
    }
}

#[test]
fn bytes_behind_the_record_are_corrupt() {
    let bytes = encode(&tripped());
    let mut longer = bytes[..bytes.len() - 8].to_vec();
    longer.push(0);
    let end = checksum(&longer);
    longer.extend_from_slice(&end);
    assert_eq!(decode(&longer), Err(DecodeError::Corrupt));
}

#[test]
fn a_version_that_was_never_written_is_corrupt() {
    let mut body = encode(&tripped());
    body.truncate(body.len() - 8);
    body[0] = 0;
    let end = checksum(&body);
    body.extend_from_slice(&end);
    assert_eq!(decode(&body), Err(DecodeError::Corrupt));
    assert_eq!(decode(&checksum(&[])), Err(DecodeError::Corrupt));
}
