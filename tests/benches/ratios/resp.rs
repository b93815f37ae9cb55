//! As much of Redis's protocol as a breaker script needs: one connection, one command at a time.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};

/// A connection.
pub struct Connection {
    reader: BufReader<TcpStream>,
    request: Vec<u8>,
}

/// An answer of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    Text(String),
    Integer(i64),
    Array(Vec<Reply>),
    Nothing,
}

impl Connection {
    /// To a server on this machine.
    pub fn open(port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_nodelay(true)?;
        Ok(Connection { reader: BufReader::new(stream), request: Vec::new() })
    }

    /// Sends a command and waits for its answer.
    pub fn command(&mut self, words: &[&str]) -> io::Result<Reply> {
        self.request.clear();
        write!(self.request, "*{}\r\n", words.len())?;
        for word in words {
            write!(self.request, "${}\r\n{word}\r\n", word.len())?;
        }
        self.reader.get_mut().write_all(&self.request)?;
        self.reply()
    }

    fn reply(&mut self) -> io::Result<Reply> {
        let mut line = String::new();
        self.reader.read_line(&mut line)?;
        let (kind, rest) = line.trim_end().split_at_checked(1).ok_or_else(|| broken("an empty line"))?;
        let number = || rest.parse::<i64>().map_err(|_| broken(&line));
        match kind {
            "+" => Ok(Reply::Text(rest.to_owned())),
            "-" => Err(io::Error::other(format!("redis-server: {rest}"))),
            ":" => Ok(Reply::Integer(number()?)),
            "$" => match usize::try_from(number()?) {
                Ok(length) => {
                    let mut text = vec![0; length + 2];
                    self.reader.read_exact(&mut text)?;
                    text.truncate(length);
                    Ok(Reply::Text(String::from_utf8(text).map_err(|_| broken("text that is not UTF-8"))?))
                }
                Err(_) => Ok(Reply::Nothing),
            },
            "*" => (0..number()?).map(|_| self.reply()).collect::<io::Result<_>>().map(Reply::Array),
            _ => Err(broken(&line)),
        }
    }
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("redis-server answered {what:?}"))
}
