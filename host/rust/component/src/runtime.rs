//! The wasmtime engine of this process, and the ticker that stops components which run for too long.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::Thread;
use std::time::Duration;

use wasmtime::{Config, Engine};

use crate::error::ComponentError;

/// The time between two ticks. A limit on a call is rounded up to it.
const TICK: Duration = Duration::from_millis(10);

/// After this number of ticks without a running call the ticker is parked: an idle process stays idle.
const IDLE_TICKS: u32 = 100;

/// A wasmtime engine and its ticker.
pub(crate) struct Runtime {
    pub engine: Engine,
    ticker: Ticker,
}

#[derive(Default)]
struct Ticker {
    running: AtomicUsize,
    parked: AtomicBool,
    thread: OnceLock<Thread>,
}

/// The wasmtime engine of this process, with its ticker.
pub(crate) fn runtime() -> Result<&'static Runtime, ComponentError> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| {
        let engine = Engine::new(&config()).map_err(|error| format!("{error:#}"))?;
        Ok(Runtime { engine, ticker: Ticker::default() })
    });
    let failed = |why: String| ComponentError::Engine { why };
    let runtime = runtime.as_ref().map_err(|why| failed(why.clone()))?;
    static STARTED: OnceLock<Result<(), String>> = OnceLock::new();
    STARTED.get_or_init(|| runtime.start_ticker().map_err(|error| error.to_string())).clone().map_err(failed)?;
    Ok(runtime)
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

impl Runtime {
    fn start_ticker(&'static self) -> std::io::Result<()> {
        let handle = std::thread::Builder::new().name("halfopen-ticker".to_owned()).spawn(|| self.tick())?;
        self.ticker.thread.get_or_init(|| handle.thread().clone());
        Ok(())
    }

    fn tick(&self) {
        let ticker = &self.ticker;
        let mut idle = 0;
        loop {
            std::thread::sleep(TICK);
            self.engine.increment_epoch();
            idle = if ticker.running.load(Ordering::SeqCst) == 0 { idle + 1 } else { 0 };
            if idle >= IDLE_TICKS {
                ticker.parked.store(true, Ordering::SeqCst);
                // A call that starts now is either counted here, or reads `parked` and unparks this thread.
                if ticker.running.load(Ordering::SeqCst) == 0 {
                    std::thread::park();
                }
                ticker.parked.store(false, Ordering::SeqCst);
                idle = 0;
            }
        }
    }

    /// Keeps the ticker awake while a call runs.
    pub fn running(&self) -> Running<'_> {
        self.ticker.running.fetch_add(1, Ordering::SeqCst);
        if self.ticker.parked.load(Ordering::SeqCst)
            && let Some(thread) = self.ticker.thread.get()
        {
            thread.unpark();
        }
        Running(&self.ticker)
    }
}

/// A running call; see [`Runtime::running`].
pub(crate) struct Running<'a>(&'a Ticker);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
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
