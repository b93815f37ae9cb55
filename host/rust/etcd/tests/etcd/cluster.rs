//! Three members, of which some fail.

use halfopen_contract::store::{CommitOutcome, Key, Store as _, StoreError, Write};

use super::patience::until;
use super::server::Cluster;
use super::{account, store};

const ALL: [usize; 3] = [0, 1, 2];

/// Fails the leader twice, while several stores write.
fn during_work(fail: impl Fn(&mut Cluster, usize), heal: impl Fn(&mut Cluster, usize)) {
    let mut cluster = Cluster::of(3);
    // Each store begins with another member.
    let addresses: Vec<String> =
        (0..6).map(|first| cluster.address(&[0, 1, 2].map(|n| (first + n) % 3), "account?timeout=3s")).collect();
    account::keep(&addresses, |account| {
        for _ in 0..2 {
            let leader = cluster.leader();
            fail(&mut cluster, leader);
            account.go_on();
            heal(&mut cluster, leader);
            account.go_on();
        }
    });
}

pub fn a_killed_leader_loses_no_commit() {
    during_work(|cluster, leader| cluster.members[leader].kill(), |cluster, leader| cluster.members[leader].start());
}

pub fn a_leader_that_is_cut_off_loses_no_commit() {
    during_work(|cluster, leader| cluster.peers.cut(leader, true), |cluster, leader| cluster.peers.cut(leader, false));
}

pub fn a_frozen_leader_loses_no_commit() {
    during_work(
        |cluster, leader| cluster.members[leader].freeze(true),
        |cluster, leader| cluster.members[leader].freeze(false),
    );
}

pub fn a_member_that_is_cut_off_serves_no_old_record() {
    let cluster = Cluster::of(3);
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
    assert_eq!(others.commit(&[write(0, b"first")]), Ok(vec![CommitOutcome::Committed]));
    until("the leader serves it", || alone.load(key).ok());
    cluster.peers.cut(leader, true);
    until("the others have a leader", || {
        // A commit in doubt may have been done.
        let _ = others.commit(&[write(1, b"second")]);
        others.load(key).ok().filter(|found| found.version == 2)
    });
    // It still has the old record, and knows nothing of the new leader.
    let error = alone.load(key).expect_err("it has no quorum");
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
    let error = alone.commit(&[write(1, b"lost")]).expect_err("it has no quorum");
    assert!(matches!(error, StoreError::InDoubt { .. } | StoreError::Unavailable { .. }), "{error}");
    cluster.peers.cut(leader, false);
    let now = until("it is back", || alone.load(key).ok());
    assert_eq!((now.version, now.data.as_deref()), (2, Some(&b"second"[..])));
    let late = until("it takes writes", || alone.commit(&[write(1, b"late")]).ok());
    assert!(matches!(late[..], [CommitOutcome::Stale(_)]), "{late:?}");
}

pub fn without_a_quorum_operations_fail_in_time() {
    let mut cluster = Cluster::of(3);
    let patient = store(&cluster.address(&ALL, "quorum?timeout=60s"));
    let store = store(&cluster.address(&ALL, "quorum?timeout=1s"));
    let key = Key { namespace: "n", dependency: "a" };
    let write = Write { key, based_on: 0, version: 1, data: Some(b"x"), transitions: &[], history: 1 };
    assert_eq!(patient.commit(&[write]), Ok(vec![CommitOutcome::Committed]));
    until("the members serve it", || store.load(key).ok());
    let leader = cluster.leader();
    let down = [leader, (leader + 1) % 3];
    down.iter().for_each(|number| cluster.members[*number].kill());
    for _ in 0..3 {
        let begun = std::time::Instant::now();
        let error = store.load(key).expect_err("there is no quorum");
        assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
        let write = Write { based_on: 1, version: 2, ..write };
        let error = store.commit(&[write]).expect_err("there is no quorum");
        assert!(matches!(error, StoreError::InDoubt { .. } | StoreError::Unavailable { .. }), "{error}");
        assert!(begun.elapsed() < std::time::Duration::from_secs(60), "{:?}", begun.elapsed());
    }
    cluster.members[down[0]].start();
    let found = until("there is a quorum again", || store.load(key).ok());
    assert_eq!(found.data.as_deref(), Some(&b"x"[..]));
}
