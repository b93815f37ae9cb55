//! PostgreSQL servers that a test starts and stops.

use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// The variable with the folder of PostgreSQL's programs.
pub const PROGRAMS: &str = "HALFOPEN_TEST_POSTGRES_BIN";

/// A server, stopped when this is dropped.
pub struct Server {
    folder: TempDir,
    pub port: u16,
    settings: String,
}

impl Server {
    /// A new and empty server, with these lines in its configuration file.
    pub fn new(settings: &str) -> Server {
        let server = Server::unborn(settings);
        server.run("initdb", &["-U", "postgres", "--auth=trust", "--no-sync", "-D", &server.data()]);
        server.born()
    }

    /// A hot standby of a primary.
    pub fn standby_of(primary: &Server) -> Server {
        let server = Server::unborn("");
        let source = format!("host=127.0.0.1 port={} user=postgres", primary.port);
        server.run("pg_basebackup", &["-R", "-c", "fast", "-d", &source, "-D", &server.data()]);
        server.born()
    }

    fn unborn(settings: &str) -> Server {
        let folder = tempfile::tempdir().unwrap();
        if let Some((user, group)) = other_user() {
            std::os::unix::fs::chown(folder.path(), Some(user), Some(group)).unwrap();
        }
        Server { folder, port: free_port(), settings: settings.to_owned() }
    }

    fn born(self) -> Server {
        let settings = format!(
            "listen_addresses = '127.0.0.1'\nport = {}\nunix_socket_directories = ''\n{}\n",
            self.port, self.settings
        );
        let file = Path::new(&self.data()).join("postgresql.conf");
        let before = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("{before}\n{settings}")).unwrap();
        self.start();
        self
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn data(&self) -> String {
        self.folder.path().join("data").to_str().unwrap().to_owned()
    }

    pub fn start(&self) {
        let log = self.folder.path().join("log");
        self.run("pg_ctl", &["-D", &self.data(), "-l", log.to_str().unwrap(), "-w", "start"]);
    }

    /// Stops the server: `fast` as an operator does, `immediate` as a crash does.
    pub fn stop(&self, mode: &str) {
        self.run("pg_ctl", &["-D", &self.data(), "-m", mode, "-w", "stop"]);
    }

    /// The address of a store in this server.
    pub fn address(&self, parameters: &str) -> String {
        address_at(self.port, parameters)
    }

    /// The output of SQL.
    pub fn sql(&self, sql: &str) -> String {
        sql_at(&self.address(""), sql)
    }

    fn run(&self, program: &str, words: &[&str]) {
        let mut command = Command::new(programs().join(program));
        command.args(words).current_dir(self.folder.path());
        if let Some((user, group)) = other_user() {
            command.uid(user).gid(group);
        }
        // What pg_ctl starts keeps its output open, so that goes to a file.
        let output = self.folder.path().join("output");
        let file = std::fs::File::create(&output).unwrap();
        let status = command.stdout(file.try_clone().unwrap()).stderr(file).status().unwrap();
        let log = self.folder.path().join("log");
        assert!(
            status.success(),
            "{program} {words:?}: {}\n{}",
            std::fs::read_to_string(output).unwrap_or_default(),
            std::fs::read_to_string(log).unwrap_or_default()
        );
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut command = Command::new(programs().join("pg_ctl"));
        if let Some((user, group)) = other_user() {
            command.uid(user).gid(group);
        }
        let _ = command.args(["-D", &self.data(), "-m", "immediate", "-w", "stop"]).current_dir("/").output();
    }
}

/// A free port below those that the system gives to outgoing connections: the server binds it only later.
fn free_port() -> u16 {
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    std::iter::repeat_with(|| fastrand::u16(10_000..32_000)).find(is_free).expect("a free port")
}

/// Long timeouts: the machine may be busy.
pub const PATIENT: &str = "connect_timeout=30&timeout=30";

/// The address of a store behind a port, with long timeouts by default.
pub fn address_at(port: u16, parameters: &str) -> String {
    format!("postgres://postgres@127.0.0.1:{port}/postgres?{PATIENT}&{parameters}")
}

/// The output of SQL at an address.
pub fn sql_at(address: &str, sql: &str) -> String {
    let base = address.split('?').next().unwrap_or(address);
    let Output { status, stdout, stderr } = Command::new(programs().join("psql"))
        // Also where transactions are read-only by default.
        .env("PGOPTIONS", "-c default_transaction_read_only=off")
        .args([base, "-XqAtc", sql])
        .output()
        .unwrap();
    assert!(status.success(), "{sql}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap().trim_end().to_owned()
}

fn programs() -> PathBuf {
    std::env::var_os(PROGRAMS).expect("it is looked at first").into()
}

/// PostgreSQL refuses to run as root; there it runs as the user that its package makes.
fn other_user() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let id = |of: &str| {
        let output = Command::new("id").args([of, "postgres"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().parse().expect("there is a user postgres")
    };
    Some((id("-u"), id("-g")))
}
