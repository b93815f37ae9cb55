//! The worker processes of the demo, and their folder. Dropping these ends the processes and removes the folder. A process
//! also ends with its standard input, so that none is left when the demo is killed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use anyhow::{Context as _, bail};

use super::worker::{TASK_VARIABLE, Task, WorkerCounts};

/// The time that a process has to end by itself.
const GRACE: Duration = Duration::from_secs(1);

/// The worker processes.
pub struct Workers(Vec<Worker>);

struct Worker {
    child: Child,
    counts: Arc<Mutex<WorkerCounts>>,
}

impl Workers {
    /// Starts the processes, and waits until all are ready.
    pub fn start(number_of_workers: usize, ports: [u16; 3], store: &str) -> anyhow::Result<Self> {
        let mut workers = Workers(Vec::new());
        for number in 1..=number_of_workers {
            let task = Task { ports, store: store.to_owned(), number };
            let child = spawn(&task).context("cannot start a process of the demo")?;
            workers.0.push(Worker { child, counts: Arc::default() });
        }
        for worker in &mut workers.0 {
            worker.follow()?;
        }
        Ok(workers)
    }

    /// Lets the callers begin.
    pub fn begin(&mut self) -> io::Result<()> {
        self.0.iter_mut().try_for_each(|worker| match &mut worker.child.stdin {
            Some(input) => writeln!(input, "begin"),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        })
    }

    /// The sum of their counts.
    pub fn counts(&self) -> WorkerCounts {
        let mut sum = WorkerCounts::default();
        for worker in &self.0 {
            let counts = worker.counts.lock().unwrap_or_else(PoisonError::into_inner);
            sum.deferred += counts.deferred;
            sum.errors += counts.errors;
        }
        sum
    }

    /// Whether all of them still run.
    pub fn all_run(&mut self) -> bool {
        self.0.iter_mut().all(|worker| matches!(worker.child.try_wait(), Ok(None)))
    }
}

fn spawn(task: &Task) -> anyhow::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("demo").stdin(Stdio::piped()).stdout(Stdio::piped());
    // No variable of the user changes the demo.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("HALFOPEN_")) {
        command.env_remove(name);
    }
    Ok(command.env(TASK_VARIABLE, serde_json::to_string(task)?).spawn()?)
}

impl Worker {
    /// Waits until the process is ready, and then reads its counts on a thread.
    fn follow(&mut self) -> anyhow::Result<()> {
        let output = self.child.stdout.take().context("a process without output")?;
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        if lines.next().is_none() {
            bail!("a process of the demo ended too early");
        }
        let counts = Arc::clone(&self.counts);
        thread::Builder::new().spawn(move || {
            for newest in lines.filter_map(|line| serde_json::from_str(&line).ok()) {
                *counts.lock().unwrap_or_else(PoisonError::into_inner) = newest;
            }
        })?;
        Ok(())
    }

    /// Waits until the given instant for the process to end, then kills it.
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

impl Drop for Workers {
    fn drop(&mut self) {
        for worker in &mut self.0 {
            worker.child.stdin = None;
        }
        let until = Instant::now() + GRACE;
        for worker in &mut self.0 {
            worker.end(until);
        }
    }
}

/// A temporary folder.
pub struct Folder(PathBuf);

impl Folder {
    /// Makes a folder with a random name.
    pub fn new() -> anyhow::Result<Self> {
        let parent = std::env::temp_dir();
        let path = parent.join(format!("halfopen-demo-{:016x}", fastrand::u64(..)));
        let made = fs::DirBuilder::new().mode(0o700).create(&path);
        made.with_context(|| format!("cannot make a folder in {}", parent.display()))?;
        Ok(Folder(path))
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
