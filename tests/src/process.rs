//! Processes that tests start: their own binary in another role, which reads orders from its standard input and answers
//! on its standard output, a line each.

use std::fmt::Display;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

const ROLE: &str = "HALFOPEN_TESTS_ROLE";

/// A role: its name, and what plays it, given the arguments of the process.
pub type Role = (&'static str, fn(&[String]));

/// Plays the role that this process was started for, and ends it. Returns where it was started for none, as `cargo test`
/// starts it. The first thing that a `main` does.
pub fn play(roles: &[Role]) {
    let Some(wanted) = std::env::var_os(ROLE) else { return };
    let Some((_, role)) = roles.iter().find(|(name, _)| wanted == *name) else {
        panic!("this binary plays no role {wanted:?}");
    };
    role(&std::env::args().skip(1).collect::<Vec<_>>());
    std::process::exit(0);
}

/// What starts this binary in a role.
pub fn command(role: &str, words: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a test knows its own binary"));
    command.env(ROLE, role).args(words);
    command
}

/// In a role: the next order; none once the test has ended.
pub fn order() -> Option<String> {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line).unwrap_or(0);
    (read > 0).then(|| line.trim_end().to_owned())
}

/// In a role: answers. When this returns, the line is in the test's hands, whatever becomes of this process.
pub fn say(line: impl Display) {
    let line = format!("{line}\n");
    let mut out = std::io::stdout().lock();
    // One write, so that a process that is killed leaves a whole line or none.
    if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
        // The test has ended.
        std::process::exit(0);
    }
}

/// A process in a role. It is killed when this is dropped.
pub struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Process {
    /// Starts this binary in a role.
    pub fn start(role: &str, words: &[&str]) -> Process {
        Process::spawn(&mut command(role, words))
    }

    /// Starts a command that takes orders and answers them.
    pub fn spawn(command: &mut Command) -> Process {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a process can be started");
        let (input, output) = (child.stdin.take(), child.stdout.take().expect("it was asked for"));
        Process { child, input, output: BufReader::new(output) }
    }

    /// Gives an order. That the process has been killed is no error.
    pub fn tell(&mut self, order: impl Display) {
        if let Some(input) = &mut self.input {
            let _ = input.write_all(format!("{order}\n").as_bytes());
        }
    }

    /// The next answer; none where there will not be another.
    pub fn next_answer(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line).expect("answers are text");
        // The last line of a process that was killed may be cut.
        (read > 0 && line.ends_with('\n')).then(|| line.trim_end().to_owned())
    }

    /// The next answer, which must come.
    pub fn answer(&mut self) -> String {
        match self.next_answer() {
            Some(answer) => answer,
            None => panic!("a process ended before it answered: {}", self.wait()),
        }
    }

    /// Gives an order and waits for the answer.
    pub fn ask(&mut self, order: impl Display) -> String {
        self.tell(order);
        self.answer()
    }

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills it, with SIGKILL, and waits until it is gone.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        self.wait();
    }

    /// Ends its input and waits until it has ended by itself.
    pub fn wait(&mut self) -> ExitStatus {
        self.input = None;
        self.child.wait().expect("a process that was started can be waited for")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
