//! The dependency of the demo: a small HTTP server in its own process, with one port for each lane. It goes down and
//! heals on command, and counts what reaches it.
//!
//! It is told what to do on its standard input and answers on its standard output, one line of JSON each. When its
//! standard input ends, so does it.

use std::io::{self, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::http::{self, Role};
use super::lane::{Lane, PerLane};

/// How long it takes to answer a call when all is well or it is down.
const ANSWER: Duration = Duration::from_millis(10);

/// How long its first answer takes after it has healed: caches are cold, connections must be made.
pub const WARM_UP: Duration = Duration::from_millis(500);

/// What it can be told.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Fail every call from now on.
    Down,
    /// Succeed from now on; the first answer takes `WARM_UP`.
    Heal,
    /// Change nothing; tell the counts.
    Look,
}

/// What it says at first.
#[derive(Debug, Deserialize, Serialize)]
pub struct Ports {
    pub ports: PerLane<u16>,
}

/// How it does, for one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    Up,
    Down,
    /// Healed, and nobody has called yet.
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
    /// All of them, whatever they were.
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

/// What reached it in one lane, from one healing to its first success: all that came in between is counted.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Counts {
    pub health: Health,
    pub in_flight: u64,
    pub reached: Reached,
    /// While it was down, over all outages.
    pub while_down: Reached,
    /// Each recovery: from the healing to the first success. The last one may be going on.
    pub recoveries: Vec<Reached>,
}

struct Service {
    counts: Mutex<Counts>,
    warm: Condvar,
    warm_up: Duration,
}

impl Service {
    fn new(warm_up: Duration) -> Self {
        let counts = Counts {
            health: Health::Up,
            in_flight: 0,
            reached: Reached::default(),
            while_down: Reached::default(),
            recoveries: Vec::new(),
        };
        Service { counts: Mutex::new(counts), warm: Condvar::new(), warm_up }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        // A panic while the lock was held left numbers that are whole all the same.
        self.counts.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn obey(&self, order: Order) -> Counts {
        let mut counts = self.counts();
        match order {
            Order::Look => {}
            Order::Down => counts.health = Health::Down,
            Order::Heal => {
                counts.health = Health::Cold;
                counts.recoveries.push(Reached::default());
            }
        }
        counts.clone()
    }

    /// One call, from its arrival to the moment at which it is answered; whether with success.
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

    /// The first call does the warming up, the others wait for it.
    fn warm_up<'a>(&'a self, mut counts: MutexGuard<'a, Counts>, first: bool) -> MutexGuard<'a, Counts> {
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

/// The process.
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
    say(&Ports { ports })?;
    for line in io::stdin().lines() {
        let order: Order = serde_json::from_str(&line?)?;
        let mut all = PerLane::<Option<Counts>>::default();
        for (lane, service) in &services {
            *all.get_mut(*lane) = Some(service.obey(order));
        }
        say(&all)?;
    }
    Ok(())
}

fn say(what: &impl Serialize) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(what)?)?;
    Ok(out.flush()?)
}

fn listen(listener: &TcpListener, service: &Arc<Service>) {
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        let service = Arc::clone(service);
        let small = thread::Builder::new().stack_size(128 * 1024);
        // A thread that cannot be had drops the connection: for the caller a failed call, and not one that was counted.
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
    fn a_recovery_counts_what_comes_before_the_first_success() {
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
        while service.obey(Order::Look).recoveries[0].total() < 3 {
            thread::yield_now();
        }
        service.counts().health = Health::Up;
        service.warm.notify_all();
        for caller in callers {
            assert!(caller.join().unwrap());
        }
        assert!(service.serve(Role::Call));
        let counts = service.obey(Order::Look);
        assert_eq!(counts.health, Health::Up);
        assert_eq!(counts.recoveries, [Reached { calls: 2, probes: 1 }]);
        assert_eq!(counts.while_down, Reached { calls: 1, probes: 0 });
        assert_eq!((counts.reached.total(), counts.in_flight), (6, 0));
    }

    #[test]
    fn calls_over_the_network_carry_their_role() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let service = Arc::new(Service::new(WARM_UP));
        let served = Arc::clone(&service);
        thread::spawn(move || listen(&listener, &served));
        assert!(http::call(port, Role::Probe).unwrap());
        service.obey(Order::Down);
        assert!(!http::call(port, Role::Call).unwrap());
        assert_eq!(service.obey(Order::Look).reached, Reached { calls: 1, probes: 1 });
    }
}
