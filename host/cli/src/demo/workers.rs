//! The worker processes of the demo. Each ends with its standard input, so that none is left when the demo is killed.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::Context as _;

use super::worker::{Counts, TASK_VARIABLE, Task};

/// The worker processes. Dropping them kills them.
pub struct Workers(Vec<Worker>);

struct Worker {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Workers {
    /// Starts the processes, and waits until all are ready.
    pub fn start(number_of_workers: usize, ports: [u16; 3], store: &str) -> anyhow::Result<Self> {
        let mut workers = Workers(Vec::new());
        for number in 1..=number_of_workers {
            workers.0.push(spawn(&Task { ports, store: store.to_owned(), number })?);
        }
        workers.0.iter_mut().try_for_each(|worker| worker.counts().map(drop))?;
        Ok(workers)
    }

    /// Whether all of them still run.
    pub fn all_run(&mut self) -> bool {
        self.0.iter_mut().all(|worker| matches!(worker.child.try_wait(), Ok(None)))
    }

    /// Ends the processes; returns the sum of their counts.
    pub fn end(mut self) -> anyhow::Result<Counts> {
        for worker in &mut self.0 {
            worker.child.stdin = None;
        }
        let mut sum = Counts::default();
        for worker in &mut self.0 {
            let counts = worker.counts()?;
            sum.deferred += counts.deferred;
            sum.errors += counts.errors;
        }
        Ok(sum)
    }
}

fn spawn(task: &Task) -> anyhow::Result<Worker> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("demo").stdin(Stdio::piped()).stdout(Stdio::piped());
    // No variable of the user changes the demo.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("HALFOPEN_")) {
        command.env_remove(name);
    }
    command.env(TASK_VARIABLE, serde_json::to_string(task)?);
    let mut child = command.spawn().context("cannot start a process of the demo")?;
    let output = BufReader::new(child.stdout.take().context("a process without output")?);
    Ok(Worker { child, output })
}

impl Worker {
    /// The next counts that the process writes.
    fn counts(&mut self) -> anyhow::Result<Counts> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        serde_json::from_str(&line).context("a process of the demo ended too early")
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for worker in &mut self.0 {
            let _ = worker.child.kill();
            let _ = worker.child.wait();
        }
    }
}
