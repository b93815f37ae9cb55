//! Three members, of which some fail.

use std::time::Instant;

use halfopen::{Decision, Outcome, State, StoreError, Transition};
use halfopen_contract::store::Key;
use halfopen_tests::breakers::{LONG_MS, make_due, policy, until};

use super::cycle::{self, Herd};
use super::server::Cluster;
use super::{host, store};

const ALL: [usize; 3] = [0, 1, 2];

/// Fails the leader twice while a herd works, and checks the account of the herd.
fn during_a_herd(strike: impl Fn(&mut Cluster, usize), heal: impl Fn(&mut Cluster, usize)) {
    let mut cluster = Cluster::of(3);
    // Each process begins with another member.
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
    let history = history.history(key, usize::MAX).expect("the history");
    let history: Vec<Transition> = history.iter().map(|text| text.parse().expect("a transition")).collect();
    cycle::check(&lines, &history);
}

pub fn a_killed_leader_leaves_one_lease_and_loses_nothing() {
    during_a_herd(|cluster, leader| cluster.members[leader].kill(), |cluster, leader| cluster.members[leader].start());
}

pub fn a_leader_cut_off_leaves_one_lease_and_loses_nothing() {
    during_a_herd(
        |cluster, leader| cluster.peers.cut(leader, true),
        |cluster, leader| cluster.peers.cut(leader, false),
    );
}

pub fn a_frozen_leader_leaves_one_lease_and_loses_nothing() {
    during_a_herd(
        |cluster, leader| cluster.members[leader].freeze(true),
        |cluster, leader| cluster.members[leader].freeze(false),
    );
}

pub fn a_leader_killed_during_a_probe_leaves_the_lease() {
    let mut cluster = Cluster::of(3);
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
    let receipt = guard.report(Outcome::Success).expect("the report is delivered");
    assert!(receipt.is_applied(), "{receipt:?}");
    assert_eq!(other.inspect().expect("an inspection").state, State::Closed);
}

pub fn without_a_quorum_a_breaker_fails_and_keeps_its_state() {
    let mut cluster = Cluster::of(3);
    let policy = policy().open_ms(LONG_MS);
    halfopen_tests::breakers::trip(&host(&cluster.address(&ALL, "quorum?timeout=60s"), &policy).breaker("pay"));
    let breaker = host(&cluster.address(&ALL, "quorum?timeout=1s"), &policy).breaker("pay");
    until("the members serve it", || breaker.inspect().ok());
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

pub fn more_dependencies_than_a_commit_takes_are_all_written() {
    let cluster = Cluster::single(&[]);
    let host = host(&cluster.address(&[0], "many"), &policy().open_ms(LONG_MS));
    let most = store(&cluster.address(&[0], "many")).max_records();
    let names: Vec<String> = (0..3 * most).map(|number| format!("d{number}")).collect();
    std::thread::scope(|scope| {
        for name in &names {
            scope.spawn(|| halfopen_tests::breakers::trip(&host.breaker(name.as_str())));
        }
    });
    assert_eq!(host.list().expect("a list").len(), names.len());
}
