//! Measuring alternatives fairly: in turn, round by round, so that what disturbs the machine disturbs all of them.

use std::time::{Duration, Instant};

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// As much as figures need that are worth something.
    Full,
    /// As much as it takes to see that each row can be measured.
    Quick,
}

impl Effort {
    /// So many rounds.
    pub fn rounds(self, full: usize) -> usize {
        self.of(full, 2)
    }

    /// So long.
    pub fn length(self, full: Duration) -> Duration {
        self.of(full, full / 10)
    }

    /// So many things.
    pub fn count(self, full: u32) -> u32 {
        self.of(full, full / 100)
    }

    fn of<T>(self, full: T, quick: T) -> T {
        match self {
            Effort::Full => full,
            Effort::Quick => quick,
        }
    }
}

/// What alternatives came to, round by round.
pub struct Rounds<const N: usize>([Vec<f64>; N]);

impl<const N: usize> Rounds<N> {
    /// The median of one of them.
    pub fn median(&self, of: usize) -> f64 {
        median(self.0[of].clone())
    }

    /// The median over the rounds of what one came to over another: both were disturbed alike.
    pub fn ratio(&self, of: usize, to: usize) -> f64 {
        median(self.paired(of, to).map(|(of, to)| of / to).collect())
    }

    /// The median over the rounds of what one came to beyond another.
    pub fn difference(&self, of: usize, to: usize) -> f64 {
        median(self.paired(of, to).map(|(of, to)| of - to).collect())
    }

    fn paired(&self, of: usize, to: usize) -> impl Iterator<Item = (f64, f64)> {
        self.0[of].iter().copied().zip(self.0[to].iter().copied())
    }
}

/// Measures alternatives in turn, in another order each round. The first tenth of the rounds is warm-up.
pub fn in_turn<const N: usize>(rounds: usize, alternatives: &mut [&mut dyn FnMut() -> f64; N]) -> Rounds<N> {
    let mut measured: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(rounds));
    let warm_up = rounds.div_ceil(10);
    for round in 0..warm_up + rounds {
        for place in 0..N {
            let index = (place + round) % N;
            let value = alternatives[index]();
            if round >= warm_up {
                measured[index].push(value);
            }
        }
    }
    Rounds(measured)
}

/// How many calls take so long, found by trying.
pub fn calls_in(length: Duration, mut call: impl FnMut()) -> u64 {
    let mut calls = 1;
    loop {
        let took = timed(calls, &mut call);
        if took >= length / 2 || calls >= 1 << 30 {
            let scaled = calls as f64 * length.as_secs_f64() / took.as_secs_f64().max(1e-9);
            return (scaled as u64).max(1);
        }
        calls *= 2;
    }
}

/// Nanoseconds a call, over so many calls.
pub fn nanos(calls: u64, mut call: impl FnMut()) -> f64 {
    timed(calls, &mut call).as_nanos() as f64 / calls as f64
}

fn timed(calls: u64, call: &mut impl FnMut()) -> Duration {
    let begun = Instant::now();
    for _ in 0..calls {
        call();
    }
    begun.elapsed()
}

/// How many steps a second threads do, each with a step of its own, for so long.
pub fn per_second<F: FnMut() + Send>(length: Duration, threads: Vec<F>) -> f64 {
    let barrier = std::sync::Barrier::new(threads.len());
    std::thread::scope(|scope| {
        let run = |mut step: F| {
            let barrier = &barrier;
            move || {
                barrier.wait();
                let begun = Instant::now();
                let mut steps = 0u64;
                while begun.elapsed() < length {
                    step();
                    steps += 1;
                }
                steps as f64 / begun.elapsed().as_secs_f64()
            }
        };
        let running: Vec<_> = threads.into_iter().map(|step| scope.spawn(run(step))).collect();
        running.into_iter().map(|thread| thread.join().expect("a measuring thread panicked")).sum()
    })
}

/// The middle one.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
