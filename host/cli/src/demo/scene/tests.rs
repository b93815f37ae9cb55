use super::*;

fn counts(health: Health, in_flight: u64) -> PerLane<LaneCounts> {
    let one = LaneCounts {
        health,
        in_flight,
        reached: Reached::default(),
        while_down: Reached::default(),
        recoveries: vec![Reached { calls: 0, probes: 1 }],
    };
    PerLane::each(one)
}

fn inspection(state: State, next_due: Option<u64>) -> Inspection {
    let json = serde_json::json!({
        "dependency": "x", "at": 0, "state": state, "override": null, "probe_due": false, "leases": [], "successes": 0,
        "level": 0, "calls": 0, "failures": 0, "slow": 0, "failures_in_row": 0, "epoch": 0, "since": null,
        "next_due": next_due, "last_failure": null, "last_change": null,
    });
    json.to_string().parse().unwrap()
}

#[test]
fn the_acts_are_counted() {
    let now = Instant::now();
    let of = |act, outages| Script { act, outages }.acts();
    let acts = [
        of(Act::Calm { since: now }, 0),
        of(Act::Down { since: now }, 1),
        of(Act::Recovering, 1),
        of(Act::Calm { since: now }, 1),
        of(Act::Over, OUTAGES),
    ];
    assert_eq!(acts, [0, 1, 2, 3, ACTS]);
}

#[test]
fn the_dependency_heals_only_while_no_call_is_under_way() {
    let start = Instant::now();
    let late = start + CALM + DOWN + Duration::from_secs(5);
    let mut script = Script::new(start);
    let up = counts(Health::Up, 0);
    let closed = inspection(State::Closed, None);
    let at = |now, counts, breaker| Situation { now, clock: 1_000, counts, breaker };
    assert!(matches!(script.next(&at(start, &up, &closed)), Next::Nothing));
    assert!(matches!(script.next(&at(start + CALM, &up, &closed)), Next::Order(Order::Down)));
    let (idle, busy) = (counts(Health::Down, 0), counts(Health::Down, 1));
    let far = inspection(State::Open, Some(2_000));
    let near = inspection(State::Open, Some(1_100));
    assert!(matches!(script.next(&at(start + CALM, &idle, &far)), Next::Nothing), "too early");
    assert!(matches!(script.next(&at(late, &idle, &near)), Next::Nothing), "a probe is due soon");
    assert!(matches!(script.next(&at(late, &busy, &far)), Next::Nothing), "a call is under way");
    assert!(matches!(script.next(&at(late, &idle, &closed)), Next::Nothing), "not tripped yet");
    assert!(matches!(script.next(&at(late, &idle, &far)), Next::Order(Order::Heal)));
    assert!(matches!(script.next(&at(late, &up, &far)), Next::Nothing), "not recovered yet");
    assert!(matches!(script.next(&at(late, &up, &closed)), Next::Nothing));
    assert!(matches!(script.next(&at(late + CALM, &up, &closed)), Next::Order(Order::Down)));
}
