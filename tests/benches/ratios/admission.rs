//! Admitting and refusing while nothing is wrong with the store: what every call pays.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use halfopen::{Breaker, Policy};

use crate::measure::{Effort, calls_in, in_turn, nanos};
use crate::peers::{self, work};
use crate::setting;
use crate::table::{Goal, Row, Rows};

const ROUNDS: usize = 300;
const BATCH: Duration = Duration::from_millis(1);

fn through_ours(breaker: &Breaker, up: bool) -> bool {
    breaker.call(|| work(up)).is_ok()
}

/// The peers, in the order in which they are measured after ours.
const NAMES: [&str; 3] = ["recloser", "failsafe", "tower-resilience"];

/// Admit and record a success.
pub fn closed_one_thread(effort: Effort) -> Rows {
    one_thread("closed-1t", true, effort)
}

/// Refuse while open.
pub fn refused(effort: Effort) -> Rows {
    one_thread("refused-1t", false, effort)
}

/// The same call through each of them; those that are to refuse are tripped by failures first.
fn one_thread(name: &'static str, up: bool, effort: Effort) -> Rows {
    let folder = setting::folder()?;
    let open_ms = peers::OPEN.as_millis() as u64;
    let policy = Policy::new().open_ms(open_ms).open_max_ms(open_ms).jitter_percent(0);
    let ours = setting::on_file(&folder, policy)?.breaker("payments");
    let (recloser, failsafe, mut tower) = (peers::recloser(), peers::failsafe(), peers::tower()?);
    if !up {
        for _ in 0..300 {
            through_ours(&ours, false);
            peers::through_recloser(&recloser, false);
            peers::through_failsafe(&failsafe, false);
            peers::through_tower(&mut tower, false);
        }
    }
    // From here on the dependency is up: those who refuse do so without asking it.
    let answers = [
        through_ours(&ours, true),
        peers::through_recloser(&recloser, true),
        peers::through_failsafe(&failsafe, true),
        peers::through_tower(&mut tower, true),
    ];
    if answers != [up; 4] {
        return Err(format!("{name}: not all are in the same state: {answers:?}").into());
    }
    let mut of_ours = || {
        black_box(through_ours(&ours, true));
    };
    let mut of_recloser = || {
        black_box(peers::through_recloser(&recloser, true));
    };
    let mut of_failsafe = || {
        black_box(peers::through_failsafe(&failsafe, true));
    };
    let mut of_tower = || {
        black_box(peers::through_tower(&mut tower, true));
    };
    let calls = [
        calls_in(BATCH, &mut of_ours),
        calls_in(BATCH, &mut of_recloser),
        calls_in(BATCH, &mut of_failsafe),
        calls_in(BATCH, &mut of_tower),
    ];
    let rounds = effort.rounds(ROUNDS);
    let measured = in_turn(
        rounds,
        &mut [
            &mut || nanos(calls[0], &mut of_ours),
            &mut || nanos(calls[1], &mut of_recloser),
            &mut || nanos(calls[2], &mut of_failsafe),
            &mut || nanos(calls[3], &mut of_tower),
        ],
    );
    let nanos_of = |index: usize| measured.median(index);
    let fastest = (1..=NAMES.len()).min_by(|a, b| nanos_of(*a).total_cmp(&nanos_of(*b))).unwrap_or(1);
    let all: Vec<String> =
        NAMES.iter().zip(1..).map(|(name, index)| format!("{name} {:.1}", nanos_of(index))).collect();
    let note = format!("{}; {}; n = {rounds} × {} calls", NAMES[fastest - 1], all.join(", "), calls[0]);
    Ok(vec![Row::against(name, "ns", Goal::RatioAtMost(1.0), &measured, [0, fastest], note)])
}

/// Two threads on one breaker, and two threads on two.
pub fn closed_two_threads(effort: Effort) -> Rows {
    let rounds = effort.rounds(100);
    const BATCH: Duration = Duration::from_millis(10);
    let folder = setting::folder()?;
    let host = setting::on_file(&folder, Policy::new())?;
    let (one, other) = (host.breaker("payments"), host.breaker("mail"));
    let calls = calls_in(BATCH, || {
        black_box(through_ours(&one, true));
    });
    let same = one.clone();
    let measured =
        in_turn(rounds, &mut [&mut || two_threads(calls, [&one, &same]), &mut || two_threads(calls, [&one, &other])]);
    let note = format!("two unrelated breakers of ours; n = {rounds} × 2 × {calls} calls");
    Ok(vec![Row::against("closed-2t", "ns", Goal::RatioAtMost(1.1), &measured, [0, 1], note)])
}

fn two_threads(calls: u64, breakers: [&Breaker; 2]) -> f64 {
    let barrier = Barrier::new(2);
    let each = std::thread::scope(|scope| {
        let run = |breaker: &Breaker| {
            barrier.wait();
            let begun = Instant::now();
            for _ in 0..calls {
                black_box(through_ours(breaker, true));
            }
            begun.elapsed().as_nanos() as f64 / calls as f64
        };
        let running = breakers.map(|breaker| scope.spawn(move || run(breaker)));
        running.map(|thread| thread.join().expect("a measuring thread panicked"))
    });
    (each[0] + each[1]) / 2.0
}
