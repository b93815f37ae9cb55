//! Three members, of which some fail.

use std::time::Instant;

use halfopen::store::{CommitOutcome, Key, Store as _, Write};
use halfopen::{Decision, Outcome, State, StoreError};
use halfopen_tests::breakers::{LONG_MS, make_due, policy, until};

use super::cycle::{self, Herd};
use super::server::Cluster;
use super::{host, store};

const ALL: [usize; 3] = [0, 1, 2];

/// Lets a herd work, does something to whoever leads, twice, and checks that it cost nothing but time.
fn amid_a_herd(strike: impl Fn(&mut Cluster, usize), heal: impl Fn(&mut Cluster, usize)) {
    let Some(mut cluster) = Cluster::of(3) else { return };
    // Each process begins with another member, so that each role is seen by one.
    let orders = [[0, 1, 2], [1, 2, 0], [2, 0, 1]];
    let addresses = orders.map(|order| cluster.address(&order, "herd?timeout=3s"));
    let herd = Herd::start(&addresses);
    herd.go_on(30);
    for _ in 0..2 {
        let leader = cluster.leader();
        let begun = Instant::now();
        strike(&mut cluster, leader);
        herd.go_on(30);
        println!("after {} ms the herd had gone on", begun.elapsed().as_millis());
        heal(&mut cluster, leader);
        herd.go_on(30);
    }
    let lines = herd.stop();
    let history = store(&cluster.address(&ALL, "herd"));
    let key = Key { namespace: "default", dependency: cycle::NAME };
    cycle::check(&lines, &history.history(key, usize::MAX).expect("the history"));
}

pub fn the_leader_killed_amid_a_herd_loses_nothing_acknowledged_and_at_all_times_one_lease_is_live() {
    amid_a_herd(|cluster, leader| cluster.members[leader].kill(), |cluster, leader| cluster.members[leader].start());
}

pub fn the_leader_cut_off_from_the_others_amid_a_herd_loses_nothing_acknowledged_and_at_all_times_one_lease_is_live() {
    amid_a_herd(|cluster, leader| cluster.peers.cut(leader, true), |cluster, leader| cluster.peers.cut(leader, false));
}

pub fn the_leader_frozen_amid_a_herd_loses_nothing_acknowledged_and_at_all_times_one_lease_is_live() {
    amid_a_herd(
        |cluster, leader| cluster.members[leader].freeze(true),
        |cluster, leader| cluster.members[leader].freeze(false),
    );
}

pub fn the_leader_killed_amid_a_probe_leaves_the_lease_with_its_holder() {
    let Some(mut cluster) = Cluster::of(3) else { return };
    let leader = cluster.leader();
    // The leader first, so that it is the one that answered last.
    let mut members = ALL.to_vec();
    members.sort_by_key(|number| *number != leader);
    let address = cluster.address(&members, "probe");
    let (holder, other) = (host(&address, &policy()).breaker("pay"), host(&address, &policy()).breaker("pay"));
    make_due(&holder);
    let Ok(Decision::Probe(guard)) = holder.acquire() else { panic!("a probe was due") };
    cluster.members[leader].kill();
    until("the others answer again", || match other.acquire() {
        Ok(Decision::Defer(_)) => Some(()),
        Ok(decision) => panic!("while the lease was out: {decision:?}"),
        Err(_) => None,
    });
    let receipt = guard.report(Outcome::Success, None).expect("the report is delivered");
    assert!(receipt.is_applied(), "{receipt:?}");
    assert_eq!(other.inspect().expect("an inspection").state, State::Closed);
}

pub fn a_member_that_is_cut_off_serves_nothing_old_and_fails_in_time() {
    let Some(cluster) = Cluster::of(3) else { return };
    let leader = cluster.leader();
    let rest: Vec<usize> = ALL.into_iter().filter(|number| *number != leader).collect();
    let alone = store(&cluster.address(&[leader], "cut?timeout=2s&max_skew=4s"));
    let others = store(&cluster.address(&rest, "cut?max_skew=4s"));
    let key = Key { namespace: "n", dependency: "a" };
    let write = |based_on, data: &'static [u8]| Write {
        key,
        based_on,
        version: based_on + 1,
        data: Some(data),
        transitions: &[],
        history: 1,
    };
    assert_eq!(alone.commit(&[write(0, b"first")]), Ok(vec![CommitOutcome::Committed]));
    cluster.peers.cut(leader, true);
    until("the others have a leader", || {
        (others.commit(&[write(1, b"second")]) == Ok(vec![CommitOutcome::Committed])).then_some(())
    });
    // It still has the old record, and knows nothing of the new leader.
    let error = alone.load(key).expect_err("it has no quorum");
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
    let error = alone.commit(&[write(1, b"lost")]).expect_err("it has no quorum");
    assert!(matches!(error, StoreError::InDoubt { .. } | StoreError::Unavailable { .. }), "{error}");
    cluster.peers.cut(leader, false);
    let now = until("it is back", || alone.load(key).ok());
    assert_eq!((now.version, now.data.as_deref()), (2, Some(&b"second"[..])));
    assert!(matches!(alone.commit(&[write(1, b"late")]).as_deref(), Ok([CommitOutcome::Stale(_)])));
}

pub fn without_a_quorum_there_is_an_error_in_time_and_with_one_all_is_as_it_was() {
    let Some(mut cluster) = Cluster::of(3) else { return };
    let policy = halfopen::Policy { open_ms: LONG_MS, ..policy() };
    let breaker = host(&cluster.address(&ALL, "quorum?timeout=1s"), &policy).breaker("pay");
    halfopen_tests::breakers::trip(&breaker);
    let leader = cluster.leader();
    let down = [leader, (leader + 1) % 3];
    down.iter().for_each(|number| cluster.members[*number].kill());
    for _ in 0..3 {
        let error = breaker.acquire().expect_err("there is no quorum");
        assert!(matches!(&error, halfopen::BreakerError::Store(StoreError::Unavailable { .. })), "{error}");
        breaker.force(halfopen::Mode::Closed, None, "").expect_err("there is no quorum");
    }
    cluster.members[down[0]].start();
    let inspection = until("there is a quorum again", || breaker.inspect().ok());
    assert_eq!((inspection.state, inspection.forced), (State::Open, None));
}

pub fn more_dependencies_at_once_than_one_commit_takes_are_all_written() {
    let Some(cluster) = Cluster::single(&[]) else { return };
    let host = host(&cluster.address(&[0], "many"), &halfopen::Policy { open_ms: LONG_MS, ..policy() });
    let most = store(&cluster.address(&[0], "many")).max_records();
    let names: Vec<String> = (0..3 * most).map(|number| format!("d{number}")).collect();
    std::thread::scope(|scope| {
        for name in &names {
            scope.spawn(|| halfopen_tests::breakers::trip(&host.breaker(name.as_str())));
        }
    });
    assert_eq!(host.list().expect("a list").len(), names.len());
}
