//! The processes of the demo, and their folder. Dropping these ends the processes and removes the folder. Each process also
//! ends with its standard input, so that none is left when the demo is killed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use anyhow::{Context as _, bail};

use super::dependency::{LaneCounts, Order, Ports};
use super::lane::PerLane;
use super::worker::WorkerCounts;

/// The time that a process has to end by itself.
const GRACE: Duration = Duration::from_secs(1);

/// A process that ends with its standard input.
struct Process {
    child: Child,
    input: Option<ChildStdin>,
}

impl Process {
    fn start(words: &[&str]) -> anyhow::Result<(Self, BufReader<ChildStdout>)> {
        let program = std::env::current_exe().context("cannot find the program itself")?;
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped());
        // No variable of the user changes the demo.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("HALFOPEN_") {
                command.env_remove(name);
            }
        }
        let mut child = command.spawn().context("cannot start a process of the demo")?;
        let input = child.stdin.take();
        let output = child.stdout.take().context("a process without output")?;
        Ok((Process { child, input }, BufReader::new(output)))
    }

    fn send(&mut self, line: &str) -> io::Result<()> {
        match &mut self.input {
            Some(input) => writeln!(input, "{line}"),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Waits until the given instant for it to end, then kills it.
    fn end(&mut self, until: Instant) {
        while Instant::now() < until {
            if let Ok(Some(_)) = self.child.try_wait() {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The dependency's process.
pub struct Dependency {
    process: Process,
    output: BufReader<ChildStdout>,
    pub ports: PerLane<u16>,
}

impl Dependency {
    /// Starts the process.
    pub fn start() -> anyhow::Result<Self> {
        let (process, mut output) = Process::start(&["demo-dependency"])?;
        let Ports { ports } = serde_json::from_str(&line(&mut output)?)?;
        Ok(Dependency { process, output, ports })
    }

    /// Gives an order; returns the counts.
    pub fn order(&mut self, order: Order) -> anyhow::Result<PerLane<LaneCounts>> {
        self.process.send(&serde_json::to_string(&order)?)?;
        Ok(serde_json::from_str(&line(&mut self.output)?)?)
    }
}

impl Drop for Dependency {
    fn drop(&mut self) {
        self.process.input = None;
        self.process.end(Instant::now() + GRACE);
    }
}

fn line(output: &mut BufReader<ChildStdout>) -> anyhow::Result<String> {
    let mut line = String::new();
    if output.read_line(&mut line)? == 0 {
        bail!("a process of the demo ended before its time");
    }
    Ok(line)
}

/// The workers' processes.
pub struct Workers {
    processes: Vec<Process>,
    counts: Vec<Arc<Mutex<WorkerCounts>>>,
}

impl Workers {
    /// Starts the processes, and waits until all are ready.
    pub fn start(number_of_workers: usize, ports: &PerLane<u16>, store: &Path) -> anyhow::Result<Self> {
        let ports = serde_json::to_string(ports)?;
        let store = store.to_str().context("the folder for temporary files has a path that is not UTF-8")?;
        let mut workers = Workers { processes: Vec::new(), counts: Vec::new() };
        let mut outputs = Vec::new();
        for number in 1..=number_of_workers {
            let words = ["demo-worker", "--ports", &ports, "--file", store, "--number", &number.to_string()];
            let (process, output) = Process::start(&words)?;
            workers.processes.push(process);
            outputs.push(output);
        }
        for mut output in outputs {
            line(&mut output)?;
            let counts = Arc::new(Mutex::new(WorkerCounts::default()));
            workers.counts.push(Arc::clone(&counts));
            thread::Builder::new().spawn(move || {
                for line in output.lines().map_while(Result::ok) {
                    if let Ok(newest) = serde_json::from_str(&line) {
                        *counts.lock().unwrap_or_else(PoisonError::into_inner) = newest;
                    }
                }
            })?;
        }
        Ok(workers)
    }

    /// Lets the callers begin.
    pub fn begin(&mut self) -> io::Result<()> {
        self.processes.iter_mut().try_for_each(|process| process.send("begin"))
    }

    /// The sum of their counts.
    pub fn counts(&self) -> WorkerCounts {
        let mut sum = WorkerCounts::default();
        for counts in &self.counts {
            let counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
            sum.deferred += counts.deferred;
            sum.errors += counts.errors;
        }
        sum
    }

    /// Whether all of them still run.
    pub fn all_run(&mut self) -> bool {
        self.processes.iter_mut().all(|process| matches!(process.child.try_wait(), Ok(None)))
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for process in &mut self.processes {
            process.input = None;
        }
        let until = Instant::now() + GRACE;
        for process in &mut self.processes {
            process.end(until);
        }
    }
}

/// A temporary folder.
pub struct Folder(PathBuf);

impl Folder {
    /// Makes a folder with a random name.
    pub fn new() -> anyhow::Result<Self> {
        let parent = std::env::temp_dir();
        loop {
            let path = parent.join(format!("halfopen-demo-{:016x}", fastrand::u64(..)));
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Folder(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(error).with_context(|| format!("cannot make a folder in {}", parent.display()));
                }
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
