//! The dependency of the demo: a small HTTP server with one port for each lane. It goes down and heals on command, and
//! counts the calls that reach it.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::http::{self, Role};
use super::lane::Lane;

/// The time of an answer while it is up or down.
const ANSWER: Duration = Duration::from_millis(10);

/// The time of its first answer after it has healed: its caches are cold.
const WARM_UP: Duration = Duration::from_millis(500);

/// The health of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    Up,
    Down,
    /// Healed, before the first call.
    Cold,
    /// The first call is being answered.
    Warming,
}

/// Calls that reached it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    pub calls: u64,
    pub probes: u64,
}

impl Reached {
    /// All calls, in either role.
    pub fn total(self) -> u64 {
        self.calls + self.probes
    }

    fn count(&mut self, role: Role) {
        match role {
            Role::Call => self.calls += 1,
            Role::Probe => self.probes += 1,
        }
    }
}

/// The calls that reached it in one lane.
#[derive(Clone, Debug)]
pub struct LaneCounts {
    pub health: Health,
    pub in_flight: u64,
    /// The calls while it was down, over all outages.
    pub while_down: Reached,
    /// The calls of each recovery, from the healing to the first success. The last one may not be over.
    pub recoveries: Vec<Reached>,
}

/// The server.
pub struct Dependency {
    services: [Arc<Service>; 3],
    pub ports: [u16; 3],
}

impl Dependency {
    /// Starts listening.
    pub fn start() -> anyhow::Result<Self> {
        let services = Lane::ALL.map(|_| Arc::new(Service::new(WARM_UP)));
        let mut ports = [0; 3];
        for (service, port) in services.iter().zip(&mut ports) {
            *port = listen(Arc::clone(service)).context("cannot listen on the loopback interface")?;
        }
        Ok(Dependency { services, ports })
    }

    /// From now on, every call fails.
    pub fn go_down(&self) {
        self.services.iter().for_each(|service| service.go_down());
    }

    /// From now on, every call succeeds; the first answer takes `WARM_UP`.
    pub fn heal(&self) {
        self.services.iter().for_each(|service| service.heal());
    }

    /// The counts of each lane.
    pub fn counts(&self) -> [LaneCounts; 3] {
        self.services.each_ref().map(|service| service.counts().clone())
    }
}

struct Service {
    counts: Mutex<LaneCounts>,
    warm: Condvar,
    warm_up: Duration,
}

impl Service {
    fn new(warm_up: Duration) -> Self {
        let counts =
            LaneCounts { health: Health::Up, in_flight: 0, while_down: Reached::default(), recoveries: Vec::new() };
        Service { counts: Mutex::new(counts), warm: Condvar::new(), warm_up }
    }

    fn counts(&self) -> MutexGuard<'_, LaneCounts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn go_down(&self) {
        self.counts().health = Health::Down;
    }

    fn heal(&self) {
        let mut counts = self.counts();
        counts.health = Health::Cold;
        counts.recoveries.push(Reached::default());
    }

    /// Serves one call; returns whether the answer is a success.
    fn serve(&self, role: Role) -> bool {
        let mut counts = self.counts();
        counts.in_flight += 1;
        let success = match counts.health {
            Health::Down => {
                counts.while_down.count(role);
                false
            }
            Health::Up => true,
            Health::Cold | Health::Warming => {
                if let Some(recovery) = counts.recoveries.last_mut() {
                    recovery.count(role);
                }
                let first = counts.health == Health::Cold;
                counts.health = Health::Warming;
                counts = self.warm_up(counts, first);
                counts.health != Health::Down
            }
        };
        drop(counts);
        thread::sleep(ANSWER);
        self.counts().in_flight -= 1;
        success
    }

    /// The first call takes the time to warm up, and the others wait for it.
    fn warm_up<'a>(&'a self, mut counts: MutexGuard<'a, LaneCounts>, first: bool) -> MutexGuard<'a, LaneCounts> {
        let until = Instant::now() + self.warm_up;
        while counts.health == Health::Warming {
            let left = until.saturating_duration_since(Instant::now());
            if first && left.is_zero() {
                counts.health = Health::Up;
                self.warm.notify_all();
                break;
            }
            counts = match self.warm.wait_timeout(counts, left) {
                Ok((counts, _)) => counts,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        counts
    }
}

/// Serves calls on a port of the loopback interface; returns the port.
fn listen(service: Arc<Service>) -> std::io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    thread::Builder::new().spawn(move || {
        for stream in listener.incoming().flatten() {
            let service = Arc::clone(&service);
            // Without a thread the connection is dropped: for the caller the call has failed, and it is not counted.
            let _ = thread::Builder::new().stack_size(128 * 1024).spawn(move || handle(&stream, &service));
        }
    })?;
    Ok(port)
}

fn handle(stream: &TcpStream, service: &Service) {
    if let Ok(role) = http::read_request(stream) {
        let success = service.serve(role);
        let _ = http::answer(stream, success);
    }
}

#[cfg(test)]
mod tests;
