//! `halfopen replay`: runs replay files.

use std::fmt;
use std::io::{self, BufWriter, Read as _, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use halfopen::{HostBuilder, store};
use halfopen_replay::{Replay, ReplayError, Scenario, ScenarioError, Summary};

use crate::args::{self, EngineChoice, Global};
use crate::exit::{self, Code};
use crate::host;
use crate::process::signals;
use crate::shell::output::{note, written};
use crate::shell::progress::Progress;
use crate::shell::text;

/// The exit code where an expectation does not hold.
const FAILED: u8 = 1;

/// The exit code for a file that is not well-formed.
const MALFORMED: u8 = 2;

/// The exit code after a signal, as shells give it for SIGINT.
const INTERRUPTED: u8 = 130;

/// Runs the files; returns the highest exit code of all.
pub fn replay(args: &args::Replay, global: &Global) -> anyhow::Result<u8> {
    let stop = stop_on_signals()?;
    let replay = open(args.engine, global)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let mut totals = Totals::default();
    for file in &args.files {
        let name = text::escape(&file.to_string_lossy()).into_owned();
        let result = written(run(&replay, file, &name, args.quiet, &mut out, &stop))?;
        if matches!(result, Err(ReplayError::Stopped)) {
            break;
        }
        // The lines on stderr follow the answers that they are about.
        written(out.flush())?;
        totals.add(&name, &result);
    }
    written(writeln!(out, "{totals}").and_then(|()| out.flush()))?;
    if stop.load(Ordering::Relaxed) {
        note("stopped; the records of the run are removed from the store");
        return Ok(INTERRUPTED);
    }
    Ok(totals.code)
}

/// The engine, on the store of `--store` or in memory.
fn open(engine: EngineChoice, global: &Global) -> anyhow::Result<Replay> {
    let replay = match engine {
        EngineChoice::Native => Replay::host(HostBuilder::native),
        EngineChoice::Component => {
            let component = host::component(global)?;
            Replay::host(move |builder| builder.component(component.clone()))
        }
    };
    match global.store.clone().filter(|address| address != "memory") {
        Some(address) => Ok(replay.open_store(move || store::open(&address))?),
        None => Ok(replay),
    }
}

/// A flag that a signal sets. A run that is stopped still removes its namespace.
fn stop_on_signals() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let (sender, _) = mpsc::channel();
    signals::end_requests(sender, move |_| flag.store(true, Ordering::Relaxed))?;
    Ok(stop)
}

/// Runs one file. The outer error is that of writing the answers; it ends the program.
fn run(
    replay: &Replay,
    file: &Path,
    name: &str,
    quiet: bool,
    out: &mut impl Write,
    stop: &AtomicBool,
) -> io::Result<Result<Summary, ReplayError>> {
    let scenario = match read(file) {
        Ok(scenario) => scenario,
        Err(error) => return Ok(Err(error.into())),
    };
    if !quiet {
        writeln!(out, "{name}: {}", text::escape(scenario.name()))?;
    }
    let (mut written, mut steps, progress) = (Ok(()), 0_u64, Progress::new());
    let result = replay.run_showing(&scenario, |answer| {
        steps += 1;
        if quiet {
            progress.at(format_args!("{name}: {steps} steps done"));
        } else {
            written = writeln!(out, "  {}", text::escape(&answer.to_string()));
        }
        match written.is_err() || stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    written?;
    Ok(result)
}

fn read(file: &Path) -> Result<Scenario, ScenarioError> {
    if file != Path::new("-") {
        return Scenario::read(file);
    }
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes)?;
    Scenario::parse(&bytes)
}

/// The results of all files.
#[derive(Debug, Default)]
struct Totals {
    code: u8,
    hold: usize,
    fail: usize,
    not_run: usize,
}

impl Totals {
    fn add(&mut self, name: &str, result: &Result<Summary, ReplayError>) {
        let code = match result {
            Ok(summary) if summary.holds() => {
                self.hold += 1;
                0
            }
            Ok(summary) => {
                self.fail += 1;
                for failure in &summary.failures {
                    note(format_args!("{name}: {failure}"));
                }
                FAILED
            }
            Err(error) => {
                self.not_run += 1;
                note(format_args!("{name}: {error}"));
                code_of(error)
            }
        };
        self.code = self.code.max(code);
    }
}

/// The exit code for a file that could not be run.
fn code_of(error: &ReplayError) -> u8 {
    match error {
        ReplayError::Scenario(ScenarioError::Malformed { .. }) => MALFORMED,
        ReplayError::Scenario(ScenarioError::Unreadable(_)) => Code::NoInput as u8,
        ReplayError::Open(error) => exit::of_open(error) as u8,
        ReplayError::Store(error) => exit::of_store(error) as u8,
        _ => Code::Internal as u8,
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = self.hold + self.fail + self.not_run;
        write!(f, "{files} {}: {} hold, {} fail", if files == 1 { "file" } else { "files" }, self.hold, self.fail)?;
        if self.not_run > 0 { write!(f, ", {} could not be run", self.not_run) } else { Ok(()) }
    }
}
