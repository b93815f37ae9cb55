//! The members of a cluster reach each other through proxies, one before each, so that a member can be cut off from
//! the others while its clients still reach it.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// The proxies before the members of a cluster.
pub struct Peers {
    ports: Vec<u16>,
    network: Arc<Network>,
}

#[derive(Default)]
struct Network {
    /// The ids of the members, in hexadecimal, as they call themselves to each other.
    ids: Mutex<Vec<String>>,
    cut: Mutex<HashSet<usize>>,
}

impl Network {
    fn is_cut(&self, to: usize, from: &str) -> bool {
        let cut = self.cut.lock().unwrap();
        cut.contains(&to)
            || self.ids.lock().unwrap().iter().position(|id| id == from).is_some_and(|at| cut.contains(&at))
    }
}

impl Peers {
    /// Proxies before these ports.
    pub fn before(targets: &[u16]) -> Peers {
        let network = Arc::new(Network::default());
        *network.ids.lock().unwrap() = vec![String::new(); targets.len()];
        let proxy = |(number, target): (usize, &u16)| {
            let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
            let port = listener.local_addr().expect("it is bound").port();
            let (network, target) = (network.clone(), *target);
            thread::spawn(move || {
                for client in listener.incoming().flatten() {
                    let network = network.clone();
                    thread::spawn(move || serve(client, target, number, &network));
                }
            });
            port
        };
        let ports = targets.iter().enumerate().map(proxy).collect();
        Peers { ports, network }
    }

    /// The port at which the other members reach a member.
    pub fn port(&self, number: usize) -> u16 {
        self.ports[number]
    }

    /// Sets the id that a member sends.
    pub fn name(&self, number: usize, id: &str) {
        self.network.ids.lock().unwrap()[number] = id.to_owned();
    }

    /// Cuts a member off from the others, both ways, or joins it again.
    pub fn cut(&self, number: usize, off: bool) {
        let mut cut = self.network.cut.lock().unwrap();
        if off {
            cut.insert(number)
        } else {
            cut.remove(&number)
        };
    }
}

/// Carries one connection to a member, for as long as neither end is cut off.
fn serve(mut client: TcpStream, target: u16, to: usize, network: &Network) {
    let Some((head, from)) = head(&mut client) else { return };
    let Ok(mut server) = TcpStream::connect(("127.0.0.1", target)) else { return };
    if network.is_cut(to, &from) || server.write_all(&head).is_err() {
        return;
    }
    thread::scope(|scope| {
        let (Ok(from_client), Ok(from_server)) = (client.try_clone(), server.try_clone()) else { return };
        scope.spawn(|| carry(from_client, &server, &|| network.is_cut(to, &from)));
        carry(from_server, &client, &|| network.is_cut(to, &from));
    });
}

/// The head of the first request on a connection, and its sender.
fn head(client: &mut TcpStream) -> Option<(Vec<u8>, String)> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if client.read(&mut byte).ok()? == 0 || head.len() > 16_384 {
            return None;
        }
        head.push(byte[0]);
    }
    let text = String::from_utf8_lossy(&head).to_lowercase();
    let from = text.lines().find_map(|line| line.strip_prefix("x-server-from:")).unwrap_or_default().trim().to_owned();
    Some((head, from))
}

/// Copies bytes until either end closes or the connection is cut; then both directions end.
fn carry(mut from: TcpStream, mut to: &TcpStream, is_cut: &dyn Fn() -> bool) {
    let _ = from.set_read_timeout(Some(Duration::from_millis(20)));
    let mut bytes = [0; 65_536];
    while !is_cut() {
        match from.read(&mut bytes) {
            Ok(0) => break,
            Ok(read) if to.write_all(&bytes[..read]).is_ok() => {}
            Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {}
            _ => break,
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
