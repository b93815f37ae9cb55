use super::*;
use crate::demo::dependency::Reached;

fn counts(health: Health, in_flight: u64) -> [LaneCounts; 3] {
    Lane::ALL.map(|_| LaneCounts { health, in_flight, while_down: Reached::default(), recoveries: Vec::new() })
}

fn inspection(state: State, next_due: Option<u64>) -> Inspection {
    let json = serde_json::json!({
        "dependency": "x", "at": 1_000, "state": state, "override": null, "probe_due": false, "leases": [],
        "successes": 0, "level": 0, "calls": 0, "failures": 0, "slow": 0, "failures_in_row": 0, "epoch": 0,
        "since": null, "next_due": next_due, "last_failure": null, "last_change": null,
    });
    json.to_string().parse().unwrap()
}

#[test]
fn the_dependency_heals_only_while_no_call_is_under_way() {
    let start = Instant::now();
    let late = start + CALM + DOWN + Duration::from_secs(5);
    let mut script = Script::new(start);
    let up = counts(Health::Up, 0);
    let closed = inspection(State::Closed, None);
    let mut next = |now, counts, breaker| script.next(&Situation { now, counts, breaker });
    assert_eq!(next(start, &up, &closed), Next::Wait);
    assert_eq!(next(start + CALM, &up, &closed), Next::GoDown);
    let (idle, busy) = (counts(Health::Down, 0), counts(Health::Down, 1));
    let far = inspection(State::Open, Some(2_000));
    let near = inspection(State::Open, Some(1_100));
    assert_eq!(next(start + CALM, &idle, &far), Next::Wait, "too early");
    assert_eq!(next(late, &idle, &near), Next::Wait, "a probe is due soon");
    assert_eq!(next(late, &busy, &far), Next::Wait, "a call is under way");
    assert_eq!(next(late, &idle, &closed), Next::Wait, "not tripped yet");
    assert_eq!(next(late, &idle, &far), Next::Heal);
    assert_eq!(next(late, &up, &far), Next::Wait, "not recovered yet");
    assert_eq!(next(late, &up, &closed), Next::Wait);
    assert_eq!(next(late + CALM, &up, &closed), Next::GoDown);
}
