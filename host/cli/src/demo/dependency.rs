//! The dependency of the demo: a small HTTP server in its own process, with one port for each lane. It goes down and
//! heals on command, and counts the calls that reach it.
//!
//! It reads orders from its standard input and writes answers to its standard output, one line of JSON each. It ends with
//! its standard input.

use std::io::{self, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::http::{self, Role};
use super::lane::{Lane, PerLane};

/// The time of an answer while it is up or down.
const ANSWER: Duration = Duration::from_millis(10);

/// The time of its first answer after it has healed: its caches are cold.
pub const WARM_UP: Duration = Duration::from_millis(500);

/// An order to the dependency.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// From now on, fail every call.
    Down,
    /// From now on, succeed; the first answer takes `WARM_UP`.
    Heal,
    /// Change nothing; only answer with the counts.
    Count,
}

/// The first line that it writes.
#[derive(Debug, Deserialize, Serialize)]
pub struct Ports {
    pub ports: PerLane<u16>,
}

/// The health of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    Up,
    Down,
    /// Healed, before the first call.
    Cold,
    /// The first call is being answered.
    Warming,
}

/// Calls that reached it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
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
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct LaneCounts {
    pub health: Health,
    pub in_flight: u64,
    pub reached: Reached,
    /// The calls while it was down, over all outages.
    pub while_down: Reached,
    /// The calls of each recovery, from the healing to the first success. The last one may not be over.
    pub recoveries: Vec<Reached>,
}

struct Service {
    counts: Mutex<LaneCounts>,
    warm: Condvar,
    warm_up: Duration,
}

impl Service {
    fn new(warm_up: Duration) -> Self {
        let counts = LaneCounts {
            health: Health::Up,
            in_flight: 0,
            reached: Reached::default(),
            while_down: Reached::default(),
            recoveries: Vec::new(),
        };
        Service { counts: Mutex::new(counts), warm: Condvar::new(), warm_up }
    }

    fn counts(&self) -> MutexGuard<'_, LaneCounts> {
        self.counts.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn obey(&self, order: Order) -> LaneCounts {
        let mut counts = self.counts();
        match order {
            Order::Count => {}
            Order::Down => counts.health = Health::Down,
            Order::Heal => {
                counts.health = Health::Cold;
                counts.recoveries.push(Reached::default());
            }
        }
        counts.clone()
    }

    /// Serves one call; returns whether the answer is a success.
    fn serve(&self, role: Role) -> bool {
        let mut counts = self.counts();
        counts.in_flight += 1;
        counts.reached.count(role);
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

/// Runs the process.
pub fn main() -> anyhow::Result<()> {
    let mut ports = PerLane::<u16>::default();
    let mut services = Vec::new();
    for lane in Lane::ALL {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot listen on the loopback interface")?;
        *ports.get_mut(lane) = listener.local_addr()?.port();
        let service = Arc::new(Service::new(WARM_UP));
        services.push((lane, Arc::clone(&service)));
        thread::Builder::new().spawn(move || listen(&listener, &service))?;
    }
    write(&Ports { ports })?;
    for line in io::stdin().lines() {
        let order: Order = serde_json::from_str(&line?)?;
        let mut all = PerLane::<Option<LaneCounts>>::default();
        for (lane, service) in &services {
            *all.get_mut(*lane) = Some(service.obey(order));
        }
        write(&all)?;
    }
    Ok(())
}

fn write(answer: &impl Serialize) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(answer)?)?;
    Ok(out.flush()?)
}

fn listen(listener: &TcpListener, service: &Arc<Service>) {
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        let service = Arc::clone(service);
        let small = thread::Builder::new().stack_size(128 * 1024);
        // Without a thread the connection is dropped: for the caller the call has failed, and it is not counted.
        let _ = small.spawn(move || handle(&stream, &service));
    }
}

fn handle(stream: &TcpStream, service: &Service) {
    if let Ok(role) = http::read_request(stream) {
        let success = service.serve(role);
        let _ = http::answer(stream, success);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recovery_counts_the_calls_before_the_first_success() {
        let service = Arc::new(Service::new(Duration::from_secs(3_600)));
        assert!(service.serve(Role::Call));
        service.obey(Order::Down);
        assert!(!service.serve(Role::Call));
        service.obey(Order::Heal);
        let callers: Vec<_> = (0..3)
            .map(|number| {
                let service = Arc::clone(&service);
                let role = if number == 0 { Role::Probe } else { Role::Call };
                thread::spawn(move || service.serve(role))
            })
            .collect();
        while service.obey(Order::Count).recoveries[0].total() < 3 {
            thread::yield_now();
        }
        service.counts().health = Health::Up;
        service.warm.notify_all();
        for caller in callers {
            assert!(caller.join().unwrap());
        }
        assert!(service.serve(Role::Call));
        let counts = service.obey(Order::Count);
        assert_eq!(counts.health, Health::Up);
        assert_eq!(counts.recoveries, [Reached { calls: 2, probes: 1 }]);
        assert_eq!(counts.while_down, Reached { calls: 1, probes: 0 });
        assert_eq!((counts.reached.total(), counts.in_flight), (6, 0));
    }

    #[test]
    fn a_call_over_the_network_carries_its_role() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let service = Arc::new(Service::new(WARM_UP));
        let served = Arc::clone(&service);
        thread::spawn(move || listen(&listener, &served));
        assert!(http::call(port, Role::Probe).unwrap());
        service.obey(Order::Down);
        assert!(!http::call(port, Role::Call).unwrap());
        assert_eq!(service.obey(Order::Count).reached, Reached { calls: 1, probes: 1 });
    }
}
