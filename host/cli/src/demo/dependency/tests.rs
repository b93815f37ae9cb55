use super::*;

#[test]
fn a_recovery_counts_the_calls_before_the_first_success() {
    let service = Arc::new(Service::new(Duration::from_secs(3_600)));
    assert!(service.serve(Role::Call));
    service.go_down();
    assert!(!service.serve(Role::Call));
    service.heal();
    let callers: Vec<_> = (0..3)
        .map(|number| {
            let service = Arc::clone(&service);
            let role = if number == 0 { Role::Probe } else { Role::Call };
            thread::spawn(move || service.serve(role))
        })
        .collect();
    while service.counts().recoveries[0].total() < 3 {
        thread::yield_now();
    }
    service.counts().health = Health::Up;
    service.warm.notify_all();
    for caller in callers {
        assert!(caller.join().unwrap());
    }
    assert!(service.serve(Role::Call));
    let counts = service.counts();
    assert_eq!(counts.health, Health::Up);
    assert_eq!(counts.recoveries, [Reached { calls: 2, probes: 1 }]);
    assert_eq!(counts.while_down, Reached { calls: 1, probes: 0 });
    assert_eq!(counts.in_flight, 0);
}

#[test]
fn a_call_over_the_network_carries_its_role() {
    let dependency = Dependency::start().unwrap();
    let port = dependency.ports[Lane::Shared as usize];
    assert!(http::call(port, Role::Probe).unwrap());
    dependency.go_down();
    assert!(!http::call(port, Role::Call).unwrap());
    assert!(!http::call(port, Role::Probe).unwrap());
    let [bare, _, shared] = dependency.counts();
    assert_eq!((bare.while_down.total(), shared.while_down), (0, Reached { calls: 1, probes: 1 }));
}
