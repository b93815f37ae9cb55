//! The dependency of the demo: a small server with one port for each lane. It goes down and heals on command, and counts the
//! calls that reach it. A request is a line with the role, an answer is a line with the result.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;

/// The lanes: the ways in which callers call the dependency.
pub const LANES: [&str; 3] = ["no breaker", "a breaker in each process", "halfopen"];

/// The index of the last lane.
pub const SHARED: usize = 2;

/// The time of an answer while it is up or down.
const ANSWER: Duration = Duration::from_millis(10);

/// The time of its first answer after it has healed: its caches are cold. Other calls wait for that answer.
const WARM_UP: Duration = Duration::from_millis(500);

/// The time limit of a connection; only a dead peer reaches it.
const TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Health {
    #[default]
    Up,
    Down,
    /// Healed, without a success yet; `until` is known from the first call on.
    Cold {
        until: Option<Instant>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Call,
    Probe,
}

/// The calls of a recovery, from the healing to the first success.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    pub calls: u64,
    pub probes: u64,
}

/// One lane of the dependency.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    pub health: Health,
    pub in_flight: u64,
    /// The calls while it was down, over all outages.
    pub while_down: u64,
    /// The last one may not be over.
    pub recoveries: Vec<Recovery>,
}

/// The server.
pub struct Dependency {
    lanes: [Arc<Mutex<Lane>>; 3],
    pub ports: [u16; 3],
}

impl Dependency {
    /// Starts listening.
    pub fn start() -> anyhow::Result<Self> {
        let mut dependency = Dependency { lanes: Default::default(), ports: [0; 3] };
        for (lane, port) in dependency.lanes.iter().zip(&mut dependency.ports) {
            *port = listen(Arc::clone(lane)).context("cannot listen on the loopback interface")?;
        }
        Ok(dependency)
    }

    /// From now on, every call fails.
    pub fn go_down(&self) {
        self.lanes.iter().for_each(|lane| lock(lane).health = Health::Down);
    }

    /// From now on, every call succeeds.
    pub fn heal(&self) {
        for lane in &self.lanes {
            let mut lane = lock(lane);
            lane.health = Health::Cold { until: None };
            lane.recoveries.push(Recovery::default());
        }
    }

    /// The present state of each lane.
    pub fn lanes(&self) -> [Lane; 3] {
        self.lanes.each_ref().map(|lane| lock(lane).clone())
    }
}

/// Makes one call; returns whether it succeeded.
pub fn call(port: u16, role: Role) -> io::Result<bool> {
    let stream = TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), TIMEOUT)?;
    let role = if role == Role::Probe { "probe" } else { "call" };
    Ok(exchange(&stream, |mut stream| writeln!(stream, "{role}"))? == "done\n")
}

/// Writes to a connection, and reads a line from it.
fn exchange(stream: &TcpStream, write: impl FnOnce(&TcpStream) -> io::Result<()>) -> io::Result<String> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    write(stream)?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    Ok(line)
}

/// Serves calls on a port of the loopback interface; returns the port.
fn listen(lane: Arc<Mutex<Lane>>) -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    thread::Builder::new().spawn(move || {
        for stream in listener.incoming().flatten() {
            let lane = Arc::clone(&lane);
            // Without a thread the connection is dropped: for the caller the call has failed, and it is not counted.
            let _ = thread::Builder::new().stack_size(128 * 1024).spawn(move || handle(&stream, &lane));
        }
    })?;
    Ok(port)
}

fn handle(mut stream: &TcpStream, lane: &Mutex<Lane>) -> io::Result<()> {
    let role = if exchange(stream, |_| Ok(()))? == "probe\n" { Role::Probe } else { Role::Call };
    writeln!(stream, "{}", if serve(lane, role) { "done" } else { "failed" })
}

/// Serves one call; returns whether the answer is a success.
fn serve(lane: &Mutex<Lane>, role: Role) -> bool {
    let (arrived, healthy) = (Instant::now(), lock(lane).arrive(role));
    let answer_at = healthy.unwrap_or(None).unwrap_or(arrived + ANSWER);
    thread::sleep(answer_at.saturating_duration_since(Instant::now()));
    let mut lane = lock(lane);
    lane.in_flight -= 1;
    if matches!(lane.health, Health::Cold { until: Some(until) } if until <= Instant::now()) {
        lane.health = Health::Up;
    }
    healthy.is_some()
}

impl Lane {
    /// Counts a call. Returns none where it fails, else the instant of the answer while it is cold.
    fn arrive(&mut self, role: Role) -> Option<Option<Instant>> {
        self.in_flight += 1;
        match &mut self.health {
            Health::Up => Some(None),
            Health::Down => {
                self.while_down += 1;
                None
            }
            Health::Cold { until } => {
                if let Some(recovery) = self.recoveries.last_mut() {
                    match role {
                        Role::Call => recovery.calls += 1,
                        Role::Probe => recovery.probes += 1,
                    }
                }
                Some(Some(*until.get_or_insert_with(|| Instant::now() + WARM_UP)))
            }
        }
    }
}

fn lock(lane: &Mutex<Lane>) -> MutexGuard<'_, Lane> {
    lane.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
