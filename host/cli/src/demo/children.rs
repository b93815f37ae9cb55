//! The processes of the demo, and their folder. All of it is gone when these are dropped; and a process whose standard
//! input ends goes by itself, so that nothing stays behind when the demo is killed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use anyhow::{Context as _, bail};

use super::dependency::{Counts, Order, Ports};
use super::lane::PerLane;
use super::worker::Told;

/// How long a process gets to end by itself.
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
        // The demo is the same wherever it runs.
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

    fn tell(&mut self, line: &str) -> io::Result<()> {
        match &mut self.input {
            Some(input) => writeln!(input, "{line}"),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Ends it, kindly first.
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
    /// Starts it.
    pub fn start() -> anyhow::Result<Self> {
        let (process, mut output) = Process::start(&["demo-dependency"])?;
        let Ports { ports } = serde_json::from_str(&line(&mut output)?)?;
        Ok(Dependency { process, output, ports })
    }

    /// Tells it what to do; its counts.
    pub fn order(&mut self, order: Order) -> anyhow::Result<PerLane<Counts>> {
        self.process.tell(&serde_json::to_string(&order)?)?;
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
    told: Vec<Arc<Mutex<Told>>>,
}

impl Workers {
    /// Starts so many, and waits until all are ready.
    pub fn start(many: usize, ports: &PerLane<u16>, store: &Path) -> anyhow::Result<Self> {
        let ports = serde_json::to_string(ports)?;
        let store = store.to_str().context("the folder for temporary files has a path that is not UTF-8")?;
        let mut workers = Workers { processes: Vec::new(), told: Vec::new() };
        let mut outputs = Vec::new();
        for number in 1..=many {
            let words = ["demo-worker", "--ports", &ports, "--file", store, "--number", &number.to_string()];
            let (process, output) = Process::start(&words)?;
            workers.processes.push(process);
            outputs.push(output);
        }
        for mut output in outputs {
            line(&mut output)?;
            let told = Arc::new(Mutex::new(Told::default()));
            workers.told.push(Arc::clone(&told));
            thread::Builder::new().spawn(move || {
                for line in output.lines().map_while(Result::ok) {
                    if let Ok(news) = serde_json::from_str(&line) {
                        *told.lock().unwrap_or_else(PoisonError::into_inner) = news;
                    }
                }
            })?;
        }
        Ok(workers)
    }

    /// Lets the callers begin.
    pub fn begin(&mut self) -> io::Result<()> {
        self.processes.iter_mut().try_for_each(|process| process.tell("begin"))
    }

    /// What they have told, summed up.
    pub fn told(&self) -> Told {
        let mut sum = Told::default();
        for told in &self.told {
            let told = told.lock().unwrap_or_else(PoisonError::into_inner);
            sum.deferred += told.deferred;
            sum.errors += told.errors;
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

/// A folder of the demo's own.
pub struct Folder(PathBuf);

impl Folder {
    /// Makes it.
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
