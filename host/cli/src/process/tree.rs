//! The processes that descend from this one.

use std::collections::HashMap;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{WaitOptions, wait};

/// The time that killed processes have to end.
const DYING: Duration = Duration::from_secs(5);

/// Makes a second process that goes on as this one does; returns its number to the first one.
pub fn fork() -> io::Result<Option<i32>> {
    // SAFETY: this process has one thread, so the second one may do all that the first one may.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        pid => Ok(Some(pid)),
    }
}

/// Lets orphans among the descendants become children of this process, so that it finds and reaps them.
pub fn adopt_orphans() {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Sends a signal to a process, or to a group by its negative number. One that has just ended is no error.
pub fn send(pid: i32, signal: i32) {
    // SAFETY: kill has no memory-related preconditions.
    unsafe { libc::kill(pid, signal) };
}

/// A child that has ended, with its status; none while all of them run.
///
/// # Errors
/// There are no children.
pub fn reap() -> io::Result<Option<(i32, ExitStatus)>> {
    loop {
        match wait(WaitOptions::NOHANG) {
            Err(Errno::INTR) => {}
            reaped => {
                let reaped = reaped?;
                return Ok(reaped.map(|(pid, status)| (pid.as_raw_pid(), ExitStatus::from_raw(status.as_raw()))));
            }
        }
    }
}

/// Sends a signal to all descendants; returns whether there are any. Without /proc, none is found.
pub fn signal_descendants(signal: i32) -> bool {
    let descendants = descendants();
    descendants.iter().for_each(|pid| send(*pid, signal));
    !descendants.is_empty()
}

/// Whether a process has a handler for a signal, or has the signal waiting.
pub fn handles(pid: i32, signal: i32) -> bool {
    let status = has_own_proc().then(|| std::fs::read_to_string(format!("/proc/{pid}/status")).ok()).flatten();
    let status = status.unwrap_or_default();
    let sets = status.lines().filter_map(|line| line.split_once(":\t"));
    let sets = sets.filter(|(name, _)| ["SigCgt", "SigPnd", "ShdPnd"].contains(name));
    sets.filter_map(|(_, set)| u64::from_str_radix(set, 16).ok()).any(|set| set >> (signal - 1) & 1 == 1)
}

/// Whether /proc shows this process by its own number. In a namespace of processes without a /proc of its own, the numbers
/// there are those of other processes.
fn has_own_proc() -> bool {
    let shown = std::fs::read_link("/proc/self").ok();
    shown.is_some_and(|shown| shown.to_str() == Some(&std::process::id().to_string()))
}

/// Kills all descendants, with those that they start meanwhile, and reaps them.
pub fn kill_descendants() {
    let started = Instant::now();
    while started.elapsed() < DYING {
        signal_descendants(libc::SIGKILL);
        loop {
            match reap() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn descendants() -> Vec<i32> {
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    if !has_own_proc() {
        return Vec::new();
    }
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if let Some(parent) = stat(&format!("/proc/{pid}/stat"), 4) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = children.remove(&own).unwrap_or_default();
    let mut next = 0;
    while let Some(pid) = found.get(next) {
        found.extend(children.remove(pid).unwrap_or_default());
        next += 1;
    }
    found
}

/// A field of a `stat` file, by its number in proc(5), from the third on.
pub fn stat<T: std::str::FromStr>(path: &str, field: usize) -> Option<T> {
    let text = std::fs::read_to_string(path).ok()?;
    // The second field, a name in parentheses, may hold anything.
    let (_, fields) = text.rsplit_once(") ")?;
    fields.split(' ').nth(field - 3)?.parse().ok()
}
