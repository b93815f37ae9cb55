//! Deferring while another probes: many threads that ask a shared breaker, ours on a file, the peer's in Redis.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use halfopen::{Breaker, Decision, Host, PermitGuard, Policy};
use tempfile::TempDir;

use crate::measure::{Effort, in_turn, per_second};
use crate::resp::{Connection, Reply};
use crate::setting::{self, Result};
use crate::table::{Goal, Row, Rows};

const THREADS: usize = 8;
/// Longer than any run.
const LEASE_MS: u64 = 3_600_000;

pub fn rows(effort: Effort) -> Rows {
    let (rounds, length) = (effort.rounds(25), effort.length(Duration::from_millis(250)));
    let folder = setting::folder()?;
    let (_asking_host, asking, _lease) = half_open(&folder, "asking.db", 0)?;
    let (_fresh_host, fresh, _fresh_lease) = half_open(&folder, "fresh.db", 250)?;
    let mut ask = || per_second(length, vec![|| deferred(&asking); THREADS]);
    let mut ask_fresh = || per_second(length, vec![|| deferred(&fresh); THREADS]);
    const UNIT: &str = "deferrals/s";
    let (least, least_fresh) = (Goal::RatioAtLeast(3.0), Goal::RatioAtLeast(100.0));
    let Some(server) = Server::start()? else {
        eprintln!("no redis-server is installed here: redis and redis-fresh have no peer");
        let measured = in_turn(rounds, &mut [&mut ask, &mut ask_fresh]);
        let alone =
            |name, goal, ours| Row::alone(name, UNIT, goal, ours, "no redis-server is installed here".to_owned());
        let rows = [alone("redis", least, measured.median(0)), alone("redis-fresh", least_fresh, measured.median(1))];
        return Ok(rows.into());
    };
    let mut peers = (0..THREADS).map(|_| Peer::connect(server.port)).collect::<io::Result<Vec<_>>>()?;
    peers[0].half_open()?;
    let mut ask_redis = || {
        let threads = peers.iter_mut().map(|peer| move || peer.deferred().expect("a decision of Redis"));
        per_second(length, threads.collect())
    };
    let measured = in_turn(rounds, &mut [&mut ask, &mut ask_fresh, &mut ask_redis]);
    let row = |name, goal, ours, fresh_ms: u64| {
        let version = &server.version;
        let note = format!("EVALSHA in {version}, {THREADS} threads; fresh_ms = {fresh_ms}; n = {rounds} × {length:?}");
        Row::against(name, UNIT, goal, &measured, [ours, 2], note)
    };
    Ok(vec![row("redis", least, 0, 0), row("redis-fresh", least_fresh, 1, 250)])
}

/// A breaker on a file of its own, half-open, whose lease is taken for as long as the guard lives.
fn half_open(folder: &TempDir, name: &str, fresh_ms: u64) -> Result<(Host, Breaker, PermitGuard)> {
    let store = setting::sqlite(&folder.path().join(name), halfopen::store::sqlite::Synchronous::Full)?;
    let policy = Policy::new().lease_ms(LEASE_MS).probe_max_ms(LEASE_MS).fresh_ms(fresh_ms);
    let host = Host::builder().store(store).default_policy(policy).build()?;
    let breaker = host.breaker("payments");
    setting::open(&breaker)?;
    match breaker.acquire()? {
        Decision::Probe(guard) => Ok((host, breaker, guard)),
        other => Err(format!("no probe was granted: {other:?}").into()),
    }
}

fn deferred(breaker: &Breaker) {
    match breaker.acquire().expect("acquire") {
        Decision::Defer(deferral) => assert!(deferral.retry_after > 0),
        other => panic!("not deferred: {other:?}"),
    }
}

/// A server of the benchmark's own; ended when dropped.
struct Server {
    process: Child,
    port: u16,
    version: String,
    _folder: TempDir,
}

impl Server {
    /// None where it is not installed.
    fn start() -> Result<Option<Server>> {
        let folder = setting::folder()?;
        // Free a moment ago; whoever takes it in between makes the start fail, and is not talked to.
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let started = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--save", "", "--appendonly", "no"])
            .arg("--dir")
            .arg(folder.path())
            .stdout(Stdio::null())
            .spawn();
        let process = match started {
            Ok(process) => process,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("redis-server does not start: {error}").into()),
        };
        let mut server = Server { process, port, version: String::new(), _folder: folder };
        let begun = Instant::now();
        let mut connection = loop {
            match Connection::open(port) {
                Ok(connection) => break connection,
                Err(_) if begun.elapsed() < Duration::from_secs(10) && server.process.try_wait()?.is_none() => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(error) => return Err(format!("redis-server cannot be reached: {error}").into()),
            }
        };
        if let Reply::Text(info) = connection.command(&["INFO", "server"])? {
            let version = info.lines().find_map(|line| line.strip_prefix("redis_version:")).unwrap_or_default();
            server.version = format!("Redis {version}");
        }
        Ok(Some(server))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// One caller of the script.
struct Peer {
    connection: Connection,
    sha: String,
    lease: String,
}

impl Peer {
    fn connect(port: u16) -> io::Result<Self> {
        let mut connection = Connection::open(port)?;
        match connection.command(&["SCRIPT", "LOAD", include_str!("breaker.lua")])? {
            Reply::Text(sha) => Ok(Peer { connection, sha, lease: LEASE_MS.to_string() }),
            other => Err(io::Error::other(format!("SCRIPT LOAD answered {other:?}"))),
        }
    }

    /// Opens the breaker, its window over, and takes the lease.
    fn half_open(&mut self) -> io::Result<()> {
        self.connection.command(&["HSET", "breaker:payments", "state", "open", "until", "1"])?;
        match self.decide()? {
            (2, _) => Ok(()),
            other => Err(io::Error::other(format!("no probe was granted: {other:?}"))),
        }
    }

    fn deferred(&mut self) -> io::Result<()> {
        match self.decide()? {
            (0, retry_after) if retry_after > 0 => Ok(()),
            other => Err(io::Error::other(format!("not deferred: {other:?}"))),
        }
    }

    fn decide(&mut self) -> io::Result<(i64, i64)> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
        let words = ["EVALSHA", &self.sha, "1", "breaker:payments", &now.to_string(), &self.lease];
        match self.connection.command(&words)? {
            Reply::Array(answer) => match answer[..] {
                [Reply::Integer(decision), Reply::Integer(ms)] => Ok((decision, ms)),
                _ => Err(io::Error::other(format!("the script answered {answer:?}"))),
            },
            other => Err(io::Error::other(format!("the script answered {other:?}"))),
        }
    }
}
