//! A TCP proxy that does to connections what networks do.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It never arrives: the connection is cut before.
    RequestLost,
    /// It arrives and is answered, and the connection is cut before the answer is through.
    AnswerLost,
    /// The connection is cut, and the request arrives after so many milliseconds all the same.
    RequestLate(u64),
}

/// What is to be done to the next request in which some bytes are.
struct Trap {
    needle: Vec<u8>,
    fate: Fate,
    /// Runs once the fate is certain, before the client learns of it.
    meanwhile: Box<dyn FnOnce() + Send>,
}

#[derive(Default)]
struct Shared {
    delay_ms: AtomicU64,
    held: AtomicBool,
    cut: AtomicBool,
    trap: Mutex<Option<Trap>>,
    open: Mutex<Vec<TcpStream>>,
}

impl Shared {
    fn trap_for(&self, bytes: &[u8]) -> Option<Trap> {
        let mut trap = self.trap.lock().unwrap_or_else(PoisonError::into_inner);
        let hit = trap.as_ref().is_some_and(|trap| bytes.windows(trap.needle.len()).any(|part| part == trap.needle));
        if hit { trap.take() } else { None }
    }

    fn delay(&self) {
        thread::sleep(Duration::from_millis(self.delay_ms.load(Ordering::SeqCst)));
        while self.held.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A proxy on a loopback port of its own. It ends with the test.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Proxy {
    /// In front of a port of this machine.
    pub fn before(port: u16) -> Proxy {
        Proxy::before_server(&format!("127.0.0.1:{port}"))
    }

    /// In front of a server, given as `HOST:PORT`.
    pub fn before_server(server: &str) -> Proxy {
        let place: Arc<str> = server.into();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port");
        let address = listener.local_addr().expect("a bound port has an address");
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let shared = Arc::clone(&theirs);
                if shared.cut.load(Ordering::SeqCst) {
                    continue;
                }
                let place = Arc::clone(&place);
                thread::spawn(move || {
                    if let Ok(server) = TcpStream::connect(&*place) {
                        connect(&shared, &client, &server);
                    }
                });
            }
        });
        Proxy { address, shared }
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// From now on everything takes so much longer, each way.
    pub fn delay(&self, delay: Duration) {
        self.shared.delay_ms.store(delay.as_millis() as u64, Ordering::SeqCst);
    }

    /// Keeps back everything, either way, until it is let go.
    pub fn hold(&self) {
        self.shared.held.store(true, Ordering::SeqCst);
    }

    /// Lets go what was kept back.
    pub fn let_go(&self) {
        self.shared.held.store(false, Ordering::SeqCst);
    }

    /// Cuts all connections, and lets no new ones through until it is mended.
    pub fn cut(&self) {
        self.shared.cut.store(true, Ordering::SeqCst);
        self.cut_once();
    }

    /// Cuts all connections that there are.
    pub fn cut_once(&self) {
        for stream in self.shared.open.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Lets connections through again.
    pub fn mend(&self) {
        self.shared.cut.store(false, Ordering::SeqCst);
    }

    /// Decides what happens to the next request that holds these bytes; `meanwhile` runs before the client learns of it.
    pub fn trap(&self, needle: &[u8], fate: Fate, meanwhile: impl FnOnce() + Send + 'static) {
        let trap = Trap { needle: needle.to_vec(), fate, meanwhile: Box::new(meanwhile) };
        *self.shared.trap.lock().unwrap_or_else(PoisonError::into_inner) = Some(trap);
    }

    /// Whether what was set last has happened.
    pub fn is_sprung(&self) -> bool {
        self.shared.trap.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }
}

fn connect(shared: &Arc<Shared>, client: &TcpStream, server: &TcpStream) {
    let _ = client.set_nodelay(true);
    let _ = server.set_nodelay(true);
    let copy = |stream: &TcpStream| stream.try_clone().expect("a socket can be shared");
    shared.open.lock().unwrap_or_else(PoisonError::into_inner).extend([copy(client), copy(server)]);
    // Set while the answer to a trapped request is awaited: it is not let through.
    let trapped: Arc<Mutex<Option<Trap>>> = Arc::default();
    let (to_server, to_client) = ((copy(client), copy(server)), (copy(server), copy(client)));
    let theirs = (Arc::clone(shared), Arc::clone(&trapped));
    let answers = thread::spawn(move || {
        let (mut from, mut to) = to_client;
        let mut buffer = vec![0; 1 << 16];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            theirs.0.delay();
            if let Some(trap) = theirs.1.lock().unwrap_or_else(PoisonError::into_inner).take() {
                (trap.meanwhile)();
                break;
            }
            if to.write_all(&buffer[..read]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    });
    let (mut from, mut to) = to_server;
    let mut buffer = vec![0; 1 << 16];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        shared.delay();
        let bytes = &buffer[..read];
        if let Some(trap) = shared.trap_for(bytes) {
            match trap.fate {
                Fate::RequestLost => {
                    (trap.meanwhile)();
                    break;
                }
                Fate::AnswerLost => *trapped.lock().unwrap_or_else(PoisonError::into_inner) = Some(trap),
                Fate::RequestLate(late) => {
                    (trap.meanwhile)();
                    let _ = from.shutdown(Shutdown::Both);
                    thread::sleep(Duration::from_millis(late));
                    let _ = to.write_all(bytes);
                    // The server is to have read and answered it before it sees the end.
                    let _ = to.shutdown(Shutdown::Write);
                    let _ = answers.join();
                    return;
                }
            }
        }
        if to.write_all(bytes).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
    let _ = answers.join();
}
