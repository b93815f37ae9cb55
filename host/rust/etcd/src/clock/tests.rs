use halfopen_contract::time::ManualClock;

use super::*;

const NOW: u64 = 1_700_000_000;

/// The state of a clock that shows `NOW`, where the members are ahead by these seconds.
fn state(members: &[i64]) -> ClockState {
    let now = Arc::new(ManualClock::new(NOW * 1_000));
    let clock = CheckedClock::new(now, Duration::from_secs(4), members.len());
    for (member, ahead) in members.iter().enumerate() {
        clock.observe(member, Sample { sent: 0, received: 0, date: NOW as i64 + ahead });
    }
    clock.state()
}

#[test]
fn most_members_prove_a_clock_and_one_wrong_member_stops_none() {
    for members in [&[0][..], &[0, 0], &[0, 0, 60], &[60, 0, 0], &[0, 0, 0, 60, -60]] {
        assert_eq!(state(members), ClockState::Proven, "{members:?}");
    }
    for members in [&[60][..], &[-60], &[0, 60], &[0, 60, 60], &[0, 60, -60], &[0, 0, 60, 60]] {
        assert!(matches!(state(members), ClockState::Refuted { .. }), "{members:?}");
    }
    assert_eq!(state(&[]), ClockState::Unproven);
}
