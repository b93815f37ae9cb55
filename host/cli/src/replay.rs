//! `halfopen replay`: runs replay files.

use std::io::{self, BufWriter, Read as _, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use halfopen::replay::{Replay, ReplayError, Report, Scenario};

use crate::args::{self, Global};
use crate::output::{note, written};
use crate::{exit, open, signals, text};

/// An expectation does not hold.
const FAILED: u8 = 1;

/// A file is not well-formed.
const MALFORMED: u8 = 2;

/// Runs them; answers with the highest exit code of all.
pub fn replay(args: &args::Replay, global: &Global) -> anyhow::Result<u8> {
    let stop = stop_on_signals()?;
    let replay = open::replay(global)?.stop_when(Arc::clone(&stop)).component(open::component(global)?);
    let mut out = BufWriter::new(io::stdout().lock());
    let mut sum = Sum::default();
    for file in &args.files {
        let name = text::escape(&file.to_string_lossy()).into_owned();
        let came_to = written(run(&replay, file, &name, args.quiet, &mut out, &stop))?;
        if matches!(came_to, Err(ReplayError::Stopped)) {
            break;
        }
        // What goes to stderr is to come after the answers that it speaks of.
        written(out.flush())?;
        sum.add(&name, &came_to);
    }
    written(writeln!(out, "{sum}").and_then(|()| out.flush()))?;
    if stop.load(Ordering::Relaxed) {
        note("stopped; what was begun in the store is removed");
        return Ok(INTERRUPTED);
    }
    Ok(sum.code)
}

/// As shells say it of SIGINT.
const INTERRUPTED: u8 = 130;

/// A run that is broken off still removes its namespace.
fn stop_on_signals() -> anyhow::Result<Arc<AtomicBool>> {
    let (sender, receiver) = mpsc::channel();
    signals::end_requests(sender, |_| ())?;
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    std::thread::Builder::new().spawn(move || {
        if receiver.recv().is_ok() {
            flag.store(true, Ordering::Relaxed);
        }
    })?;
    Ok(stop)
}

/// Runs one file. The outer error is that of writing the answers; it stops the run.
fn run(
    replay: &Replay,
    file: &Path,
    name: &str,
    quiet: bool,
    out: &mut impl Write,
    stop: &AtomicBool,
) -> io::Result<Result<Report, ReplayError>> {
    let scenario = match read(file) {
        Ok(scenario) => scenario,
        Err(error) => return Ok(Err(error)),
    };
    if quiet {
        return Ok(replay.run(&scenario));
    }
    writeln!(out, "{name}: {}", text::escape(scenario.name()))?;
    let mut written = Ok(());
    let came_to = replay.run_showing(&scenario, |answer| {
        if written.is_ok() {
            written = writeln!(out, "  {}", text::escape(&answer.to_string()));
            if written.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
        }
    });
    written?;
    Ok(came_to)
}

fn read(file: &Path) -> Result<Scenario, ReplayError> {
    if file != Path::new("-") {
        return Scenario::read(file);
    }
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes).map_err(ReplayError::Unreadable)?;
    Scenario::parse(&bytes)
}

/// What all files came to.
#[derive(Debug, Default)]
struct Sum {
    code: u8,
    hold: usize,
    fail: usize,
    not_run: usize,
}

impl Sum {
    fn add(&mut self, name: &str, came_to: &Result<Report, ReplayError>) {
        let code = match came_to {
            Ok(report) if report.holds() => {
                self.hold += 1;
                0
            }
            Ok(report) => {
                self.fail += 1;
                for failure in &report.failures {
                    note(format_args!("{name}: {failure}"));
                }
                FAILED
            }
            Err(error) => {
                self.not_run += 1;
                note(format_args!("{name}: {error}"));
                exit::of_replay(error).map_or(MALFORMED, |code| code as u8)
            }
        };
        self.code = self.code.max(code);
    }
}

impl std::fmt::Display for Sum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let files = self.hold + self.fail + self.not_run;
        write!(f, "{files} {}: {} hold, {} fail", if files == 1 { "file" } else { "files" }, self.hold, self.fail)?;
        if self.not_run > 0 { write!(f, ", {} could not be run", self.not_run) } else { Ok(()) }
    }
}
