//! The messages between the program and its keeper: JSON, one after another.

use std::io::{self, Write as _};
use std::os::unix::net::UnixStream;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A request of the program.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// Start the command, with these variables set or removed. The file is removed where the program cannot do that.
    Start(Vec<(String, Option<String>)>, Option<String>),
    /// Send the command a signal that the program got, unless the command got it from the same sender.
    Forward(i32),
    /// Send a signal to the command and all that it has started: the time limit is over.
    End(i32),
}

/// A message of the keeper. It ends after all but the first.
#[derive(Debug, Serialize, Deserialize)]
pub enum Response {
    /// The keeper waits for requests.
    Ready,
    /// The command was not started; the number of the system's error.
    NotStarted(i32),
    /// The command has ended; its wait status.
    Ended(i32),
}

/// The messages that come, until the other end closes.
pub(super) fn receive<T: DeserializeOwned>(stream: UnixStream) -> impl Iterator<Item = T> {
    serde_json::Deserializer::from_reader(stream).into_iter().map_while(Result::ok)
}

/// Writes a message in one piece.
pub(super) fn send(mut stream: &UnixStream, message: &impl Serialize) -> io::Result<()> {
    stream.write_all(&serde_json::to_vec(message)?)
}
