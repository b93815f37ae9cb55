use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::net::UnixStream;

use super::message::{Request, Response, receive, send};
use super::serve::serve;
use crate::process::inherited::Mask;
use crate::process::tree;

/// The program's end of a keeper. When it is closed, the keeper kills what still runs.
pub struct Keeper {
    stream: UnixStream,
    /// Whether the command gets a process group of its own. With a terminal it must stay in the foreground group; without
    /// one, signals reach what the command has started too.
    pub(in crate::process) own_group: bool,
}

impl Keeper {
    /// Starts a keeper for a command, which starts later. Called before the program has started a thread.
    pub fn start(command: &[OsString]) -> io::Result<Keeper> {
        // A new process does not have this from its parent: here it is for the orphans of a keeper that was killed.
        tree::adopt_orphans();
        let own_group = File::open("/dev/tty").is_err();
        let (stream, keepers) = UnixStream::pair()?;
        let (program, inherited) = (std::process::id(), Mask::all().swap());
        let forked = tree::fork();
        if let Ok(None) = forked {
            drop(stream);
            serve(keepers, program, command, own_group, inherited);
            std::process::exit(0);
        }
        // The program itself gets signals that its parent had blocked.
        Mask::none().swap();
        forked?;
        drop(keepers);
        match receive(stream.try_clone()?).next() {
            Some(Response::NotStarted(error)) => Err(io::Error::from_raw_os_error(error)),
            Some(_) => Ok(Keeper { stream, own_group }),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// From now on passes on the keeper's messages, and none when it has ended.
    pub(in crate::process) fn listen(&self, pass: impl Fn(Option<Response>) + Send + 'static) -> io::Result<()> {
        let stream = self.stream.try_clone()?;
        std::thread::Builder::new().name("keeper".to_owned()).spawn(move || {
            receive(stream).map(Some).for_each(&pass);
            pass(None);
        })?;
        Ok(())
    }

    /// Starts the command, with these variables set or removed. The file is removed where the program cannot do that.
    pub(in crate::process) fn start_command(
        &self,
        variables: Vec<(String, Option<String>)>,
        file: Option<String>,
    ) -> io::Result<()> {
        send(&self.stream, &Request::Start(variables, file))
    }

    /// Passes a signal on to the command.
    pub(in crate::process) fn forward(&self, signal: i32) {
        // An error means that the keeper is gone, which is an event of its own; so below.
        let _ = send(&self.stream, &Request::Forward(signal));
    }

    /// Sends a signal to the command and all its descendants; from then on the command has ended when all of them have.
    pub(in crate::process) fn end(&self, signal: i32) {
        let _ = send(&self.stream, &Request::End(signal));
    }
}
