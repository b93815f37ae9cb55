//! The little HTTP that the demo needs, on std::net.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

/// The time limit of the connection; only a dead peer reaches it.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The header that tells a probe from other calls.
const ROLE: &str = "halfopen-role";

/// The role of a call, as the dependency sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Call,
    Probe,
}

/// Makes one call; returns whether the answer was a success.
pub fn call(port: u16, role: Role) -> io::Result<bool> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let role = match role {
        Role::Call => "call",
        Role::Probe => "probe",
    };
    write!(stream, "GET / HTTP/1.1\r\nhost: localhost\r\n{ROLE}: {role}\r\nconnection: close\r\n\r\n")?;
    let mut answer = String::new();
    BufReader::new(stream.take(4_096)).read_line(&mut answer)?;
    Ok(answer.starts_with("HTTP/1.1 200 "))
}

/// Reads a request, up to the end of its head.
pub fn read_request(stream: &TcpStream) -> io::Result<Role> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let mut role = Role::Call;
    for line in BufReader::new(stream.take(16_384)).lines() {
        let line = line?;
        if line.is_empty() {
            return Ok(role);
        }
        if line.split_once(':').is_some_and(|(name, value)| name == ROLE && value.trim() == "probe") {
            role = Role::Probe;
        }
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}

/// Answers a request.
pub fn answer(mut stream: &TcpStream, success: bool) -> io::Result<()> {
    let status = if success { "200 OK" } else { "503 Service Unavailable" };
    write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
}
