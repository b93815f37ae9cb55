//! A proxy between a store and etcd that loses a request or an answer.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The loss of the next transaction that writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// It does not reach etcd.
    Request,
    /// It is done, and the answer is lost.
    Answer,
    /// It is done, the answer is lost, and so is whatever comes after it.
    AnswerAndAllElse,
}

type Meanwhile = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Plan {
    next: Option<(Loss, Meanwhile)>,
    dead: bool,
}

pub struct Lossy {
    pub port: u16,
    plan: Arc<Mutex<Plan>>,
}

impl Lossy {
    pub fn before(target: u16) -> Lossy {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let plan = Arc::new(Mutex::new(Plan::default()));
        let shared = plan.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let plan = shared.clone();
                thread::spawn(move || serve(client, target, &plan));
            }
        });
        Lossy { port, plan }
    }

    /// Loses that of the next transaction that writes, and does something meanwhile, before the store hears of it.
    pub fn lose(&self, loss: Loss, meanwhile: impl FnOnce() + Send + 'static) {
        self.plan.lock().unwrap().next = Some((loss, Box::new(meanwhile)));
    }

    /// Whether the loss has happened.
    pub fn has_lost(&self) -> bool {
        self.plan.lock().unwrap().next.is_none()
    }
}

/// Carries request after request, a whole one at a time.
fn serve(mut client: TcpStream, target: u16, plan: &Mutex<Plan>) {
    let Ok(mut server) = TcpStream::connect(("127.0.0.1", target)) else { return };
    while let Some(request) = message(&mut client) {
        if plan.lock().unwrap().dead {
            return;
        }
        let text = String::from_utf8_lossy(&request);
        let writes = text.contains("/v3/kv/txn") && text.contains("request_put");
        let next = if writes { plan.lock().unwrap().next.take() } else { None };
        let reaches = !matches!(next, Some((Loss::Request, _)));
        let answer = if reaches && server.write_all(&request).is_ok() { message(&mut server) } else { None };
        if let Some((loss, meanwhile)) = next {
            meanwhile();
            plan.lock().unwrap().dead = loss == Loss::AnswerAndAllElse;
            return;
        }
        if answer.is_none_or(|answer| client.write_all(&answer).is_err()) {
            return;
        }
    }
}

/// One whole message of HTTP: its head, and its body, counted or in chunks.
fn message(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut message = Vec::new();
    read_until(stream, &mut message, b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&message).to_lowercase();
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned());
    if let Some(length) = field("content-length:") {
        let mut body = vec![0; length.parse().ok()?];
        stream.read_exact(&mut body).ok()?;
        message.extend(body);
    } else if field("transfer-encoding:").is_some() {
        read_until(stream, &mut message, b"\r\n0\r\n")?;
        let trailers = message.len() - 2;
        while !message[trailers..].ends_with(b"\r\n\r\n") {
            read_until(stream, &mut message, b"\n")?;
        }
    }
    Some(message)
}

fn read_until(stream: &mut TcpStream, message: &mut Vec<u8>, end: &[u8]) -> Option<()> {
    let mut byte = [0];
    loop {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        message.push(byte[0]);
        if message.ends_with(end) {
            return Some(());
        }
    }
}
