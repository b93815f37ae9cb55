use super::*;

const BOUND: i64 = 500_000;
const NOW: i64 = 1_700_000_000 * SECOND;

/// The monotonic clock began at `NOW`; the member's clock is `offset` off, and each way takes `way`.
fn sample(at: i64, offset: i64, way: i64) -> Sample {
    Sample { sent: at - way, received: at + way, date: (NOW + at + offset).div_euclid(SECOND) }
}

fn wall(at: i64, offset: i64) -> OffsetBounds {
    OffsetBounds { low: NOW + offset, high: NOW + offset + 999, at }
}

#[test]
fn answers_over_a_second_prove_a_clock_within_the_bound() {
    for offset in (-3_000_000..=3_000_000).step_by(100_001) {
        for phase in (0..SECOND).step_by(90_001) {
            let mut bounds = OffsetBounds::of(sample(phase, offset, 1_000));
            for step in 0..=20 {
                let at = phase + step * 60_000;
                bounds = bounds.and(sample(at, offset, 1_000));
                let verdict = bounds.judge(wall(at, 0), BOUND);
                match verdict {
                    Verdict::Within => assert!(offset.abs() <= BOUND, "{offset}"),
                    Verdict::Behind(by) => assert!(offset > BOUND && by <= offset, "{offset} {by}"),
                    Verdict::Ahead(by) => assert!(offset < -BOUND && by <= -offset, "{offset} {by}"),
                    Verdict::Unproven => {}
                }
                if step == 20 && (offset.abs() - BOUND).abs() > 100_000 {
                    assert_ne!(verdict, Verdict::Unproven, "{offset} after a second");
                }
            }
        }
    }
}

#[test]
fn a_step_of_the_clock_shows_without_another_answer() {
    let mut bounds = OffsetBounds::of(sample(0, 0, 1_000));
    for at in (0..SECOND).step_by(50_000) {
        bounds = bounds.and(sample(at, 0, 1_000));
    }
    assert_eq!(bounds.judge(wall(SECOND, 0), BOUND), Verdict::Within);
    assert!(matches!(bounds.judge(wall(SECOND, 2 * SECOND), BOUND), Verdict::Ahead(by) if by > 1_900_000));
    assert!(matches!(bounds.judge(wall(SECOND, -2 * SECOND), BOUND), Verdict::Behind(by) if by > 1_900_000));
}

#[test]
fn a_step_of_the_members_clock_is_noticed() {
    let bounds = OffsetBounds::of(sample(0, 0, 1_000)).and(sample(SECOND, 10 * SECOND, 1_000));
    assert!(matches!(bounds.judge(wall(SECOND, 0), BOUND), Verdict::Behind(_)));
}

#[test]
fn an_old_sample_proves_nothing() {
    let mut bounds = OffsetBounds::of(sample(0, 0, 1_000));
    for at in (0..SECOND).step_by(50_000) {
        bounds = bounds.and(sample(at, 0, 1_000));
    }
    assert_eq!(bounds.judge(wall(3_600 * SECOND, 0), BOUND), Verdict::Unproven);
}
