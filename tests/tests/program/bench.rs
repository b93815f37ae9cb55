//! A bench for the program: a folder with a store, and an environment without the user's variables.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;

use halfopen::{Breaker, Host, Policy};
use halfopen_tests::breakers::{LONG_MS, address, host, policy, trip};
use halfopen_tests::program::program;
use rustix::process::{Resource, Rlimit, setrlimit};
use tempfile::TempDir;

pub struct Bench {
    folder: TempDir,
}

/// How a run ended.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Bench {
    pub fn new() -> Bench {
        Bench { folder: tempfile::tempdir().unwrap() }
    }

    /// A bench whose store has a record that must not change.
    pub fn with_records() -> Bench {
        let bench = Bench::new();
        trip(&bench.open("pay"));
        bench
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A path in the folder, as text.
    pub fn at(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), content).unwrap();
        self.at(name)
    }

    pub fn store(&self) -> PathBuf {
        self.path("store.db")
    }

    /// The library on the program's store.
    pub fn host(&self) -> Host {
        host(&self.store(), &policy())
    }

    /// A breaker that trips with the first failure and then stays open.
    pub fn open(&self, dependency: &str) -> Breaker {
        let breaker = self.host().breaker(dependency);
        breaker.configure(&policy().open_ms(LONG_MS), "").unwrap();
        breaker
    }

    /// A breaker for which a probe is due.
    pub fn due(&self, dependency: &str, policy: &Policy) -> Breaker {
        let breaker = self.host().breaker(dependency);
        breaker.configure(policy, "").unwrap();
        halfopen_tests::breakers::make_due(&breaker);
        breaker
    }

    pub fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(program());
        self.surround(&mut command);
        command.args(args);
        with_default_signals(&mut command);
        command
    }

    /// Gives a command the folder and the environment of the bench.
    pub fn surround(&self, command: &mut Command) {
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if name.starts_with("HALFOPEN_") || name.starts_with("XDG_") {
                command.env_remove(name);
            }
        }
        command
            .current_dir(self.folder())
            .env("HOME", self.path("home"))
            .env("USER", "tester")
            // Shared by all benches, so that the component is compiled once.
            .env("XDG_CACHE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"))
            .env("HALFOPEN_STORE", address(&self.store()))
            .env("RUST_BACKTRACE", "1")
            .env("COLUMNS", "100")
            .stdin(Stdio::null());
    }

    pub fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Ran {
        ran(&mut self.command(args))
    }

    /// Runs a shell script with the program on its PATH.
    pub fn shell(&self, script: &str) -> Ran {
        let mut shell = Command::new("sh");
        self.surround(&mut shell);
        ran(with_program_on_path(&mut shell).args(["-c", script]))
    }

    /// The transcript of a run.
    pub fn shown(&self, args: &[&str]) -> String {
        let Ran { code, stdout, stderr } = self.run(args);
        self.redacted(&format!("$ halfopen {}\n[{code}]\n{stdout}{stderr}", shown(args)))
    }

    /// The transcript of a run that the program must refuse, checked for what holds of every refusal.
    pub fn refused(&self, args: &[&str]) -> String {
        self.refused_of(&mut self.command(args), &shown(args))
    }

    /// The same for a command.
    pub fn refused_of(&self, command: &mut Command, shown: &str) -> String {
        let before = tree(self.folder());
        let Ran { code, stdout, stderr } = ran(command);
        assert_eq!(stdout, "", "{shown}");
        if stderr.starts_with("error: ") {
            assert_eq!(code, 64, "{shown}: {stderr}");
        } else {
            assert!(stderr.starts_with("halfopen: ") && stderr.ends_with('\n'), "{shown}: {stderr}");
            assert_eq!(stderr.lines().count(), 1, "{shown}: {stderr}");
        }
        assert!(!stderr.contains("bug") && !stderr.contains("panicked"), "{shown}: {stderr}");
        assert!(documented().contains(&code) && code != 0, "{shown}: {code} is not in the help");
        assert_eq!(tree(self.folder()), before, "{shown}: something was changed");
        self.redacted(&format!("$ halfopen {shown}\n[{code}] {stderr}"))
    }

    fn redacted(&self, text: &str) -> String {
        let folder = self.folder().to_str().unwrap();
        text.replace(folder, "[folder]").replace(&"x".repeat(200), "x{200}")
    }
}

pub fn ran(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it writes UTF-8");
    Ran { code: code(output.status), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The exit status as shells give it: 128 + n for a process that signal n killed.
pub fn code(status: ExitStatus) -> i32 {
    status.code().or(status.signal().map(|signal| 128 + signal)).expect("it has ended")
}

/// Starts a command with a limit that it cannot raise.
pub fn limited(command: &mut Command, what: Resource, most: u64) -> &mut Command {
    let limit = Rlimit { current: Some(most), maximum: Some(most) };
    // SAFETY: the closure makes one system call and nothing else.
    unsafe { command.pre_exec(move || setrlimit(what, limit).map_err(Into::into)) }
}

/// Starts a command with a signal ignored, as some daemons do.
pub fn ignoring(command: &mut Command, signal: i32) -> &mut Command {
    let ignore = move || {
        // SAFETY: ignoring a signal is allowed between fork and exec.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
        Ok(())
    };
    // SAFETY: `ignore` does nothing but that.
    unsafe { command.pre_exec(ignore) }
}

/// Sends a signal to a process, or to a group by its negative number.
pub fn kill(target: i32, signal: i32) {
    // SAFETY: kill has no memory-related preconditions.
    unsafe { libc::kill(target, signal) };
}

pub fn pid(child: &Child) -> i32 {
    i32::try_from(child.id()).unwrap()
}

/// The children of a process, by their numbers.
pub fn children(pid: i32) -> Vec<i32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

/// A process and all that descend from it.
pub fn family(pid: i32) -> Vec<i32> {
    std::iter::once(pid).chain(children(pid).into_iter().flat_map(family)).collect()
}

pub fn with_program_on_path(command: &mut Command) -> &mut Command {
    let own = program().parent().unwrap().to_owned();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&others))).unwrap();
    command.env("PATH", path)
}

fn shown(args: &[&str]) -> String {
    let quoted = args.iter().map(|arg| {
        let plain = !arg.is_empty() && arg.chars().all(|c| c.is_ascii_graphic() && !"'\"\\$&|;<>(){}*".contains(c));
        if plain { (*arg).to_owned() } else { format!("{arg:?}") }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// All files below a folder, with a hash of their contents. Empty files that SQLite leaves beside a store are left out.
fn tree(folder: &Path) -> BTreeMap<PathBuf, u64> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(tree(&path));
            found.insert(path, 0);
        } else if !path.to_string_lossy().ends_with("-shm") {
            // Not opened: closing it would end the locks that a test holds.
            let content = fs::read(&path).unwrap();
            if !(path.to_string_lossy().ends_with("-wal") && content.is_empty()) {
                let mut hasher = DefaultHasher::new();
                content.hash(&mut hasher);
                found.insert(path, hasher.finish());
            }
        }
    }
    found
}

/// The exit codes that the help lists.
fn documented() -> &'static BTreeSet<i32> {
    static CODES: OnceLock<BTreeSet<i32>> = OnceLock::new();
    CODES.get_or_init(|| {
        let help = Bench::new().run(&["--help"]).stdout;
        let (_, table) = help.split_once("Exit codes:").expect("the help lists exit codes");
        table.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect()
    })
}

/// Several transcripts in one snapshot.
pub fn all(transcripts: impl IntoIterator<Item = String>) -> String {
    transcripts.into_iter().collect::<Vec<_>>().join("\n")
}

/// Starts a command with the signals of a terminal's foreground, also where the tests run in the background.
pub fn with_default_signals(command: &mut Command) {
    let restore = || {
        for signal in 1..=libc::SIGRTMAX() {
            // SAFETY: setting a signal back to its default is allowed between fork and exec.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: `restore` does nothing but that.
    unsafe { command.pre_exec(restore) };
}
