use super::*;

#[test]
fn a_recovery_counts_the_calls_before_the_first_success() {
    let mut lane = Lane::default();
    assert_eq!(lane.arrive(Role::Call), Some(None));
    lane.health = Health::Down;
    assert_eq!(lane.arrive(Role::Call), None);
    lane.health = Health::Cold { until: None };
    lane.recoveries.push(Recovery::default());
    let answer_at = lane.arrive(Role::Probe);
    assert!(matches!(answer_at, Some(Some(_))));
    // Later calls wait for the answer of the first one.
    assert_eq!([lane.arrive(Role::Call), lane.arrive(Role::Call)], [answer_at; 2]);
    assert_eq!((lane.while_down, lane.in_flight), (1, 5));
    assert_eq!(lane.recoveries, [Recovery { calls: 2, probes: 1 }]);
}

#[test]
fn a_call_over_the_network_carries_its_role() {
    let dependency = Dependency::start().unwrap();
    let [bare, _, shared] = dependency.ports;
    assert!(call(shared, Role::Probe).unwrap());
    dependency.go_down();
    assert!(!call(bare, Role::Call).unwrap());
    dependency.heal();
    assert!(call(shared, Role::Probe).unwrap());
    let [bare, _, shared] = dependency.lanes();
    assert_eq!((bare.while_down, bare.recoveries[0]), (1, Recovery::default()));
    assert_eq!((shared.while_down, shared.in_flight, shared.health), (0, 0, Health::Up));
    assert_eq!(shared.recoveries, [Recovery { calls: 0, probes: 1 }]);
}
