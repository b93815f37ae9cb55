//! The wasmtime engine of this process, and the ticker that stops components which run for too long.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{LazyLock, OnceLock};
use std::thread::Thread;
use std::time::Duration;

use wasmtime::{Config, Engine};

use crate::error::ComponentError;

/// The time between two ticks. A limit on a call is rounded up to it.
const TICK: Duration = Duration::from_millis(10);

/// After this number of ticks without a running call the ticker is parked: an idle process stays idle.
const IDLE_TICKS: u32 = 100;

/// The ticker of this process.
static TICKER: Ticker =
    Ticker { running: AtomicUsize::new(0), parked: AtomicBool::new(false), thread: OnceLock::new() };

struct Ticker {
    running: AtomicUsize,
    parked: AtomicBool,
    thread: OnceLock<Thread>,
}

/// The wasmtime engine of this process. Its ticker runs.
pub(crate) fn engine() -> Result<&'static Engine, ComponentError> {
    static ENGINE: LazyLock<Result<Engine, ComponentError>> = LazyLock::new(|| {
        let failed = |why| ComponentError::Engine { why };
        let engine = Engine::new(&config()).map_err(|error| failed(format!("{error:#}")))?;
        let ticked = engine.clone();
        let ticker = std::thread::Builder::new().name("halfopen-ticker".to_owned()).spawn(move || TICKER.tick(&ticked));
        let ticker = ticker.map_err(|error| failed(error.to_string()))?;
        TICKER.thread.get_or_init(|| ticker.thread().clone());
        Ok(engine)
    });
    ENGINE.as_ref().map_err(Clone::clone)
}

fn config() -> Config {
    let mut config = Config::new();
    config
        // All exports are plain functions: without the machinery for async ones a call takes half the time.
        .concurrency_support(false)
        .epoch_interruption(true)
        // An instance needs little more than a MiB; without this, wasmtime reserves 4 GiB of address space for each.
        .memory_reservation(2 << 20)
        .memory_reservation_for_growth(1 << 20)
        .memory_guard_size(64 << 10)
        // wasmtime would map the data from a file in memory, which a limit on the size of files refuses.
        .memory_init_cow(false)
        .wasm_backtrace_max_frames(None)
        .generate_address_map(false);
    config
}

impl Ticker {
    fn tick(&self, engine: &Engine) {
        let mut idle = 0;
        loop {
            std::thread::sleep(TICK);
            engine.increment_epoch();
            idle = if self.running.load(Ordering::SeqCst) == 0 { idle + 1 } else { 0 };
            if idle >= IDLE_TICKS {
                self.parked.store(true, Ordering::SeqCst);
                // A call that starts now is either counted here, or reads `parked` and unparks this thread.
                if self.running.load(Ordering::SeqCst) == 0 {
                    std::thread::park();
                }
                self.parked.store(false, Ordering::SeqCst);
                idle = 0;
            }
        }
    }
}

/// A running call. It keeps the ticker awake.
pub(crate) struct Running(());

impl Running {
    /// A call that begins now.
    pub fn begin() -> Running {
        TICKER.running.fetch_add(1, Ordering::SeqCst);
        if TICKER.parked.load(Ordering::SeqCst)
            && let Some(thread) = TICKER.thread.get()
        {
            thread.unpark();
        }
        Running(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        TICKER.running.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The number of ticks that last at least this long. Ticks rather than time: none passes while the process is frozen.
pub(crate) fn ticks(limit: Duration) -> u64 {
    let ticks = limit.as_nanos().div_ceil(TICK.as_nanos());
    u64::try_from(ticks).unwrap_or(u64::MAX >> 1).saturating_add(1).min(u64::MAX >> 1)
}

/// The number of instances that a pool keeps: an instance takes two MiB, and more of them than processors get no more done.
pub(crate) fn pool_size() -> usize {
    std::thread::available_parallelism().map_or(4, |n| n.get().max(2) * 2)
}

#[cfg(test)]
mod tests;
