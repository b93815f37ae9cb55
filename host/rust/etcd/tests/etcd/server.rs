//! etcd processes that a test starts and ends by itself.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::patience::until;
use tempfile::TempDir;

use super::partition::Peers;

/// Names the program.
pub const BINARY: &str = "HALFOPEN_TEST_ETCD_BIN";

/// A free port below those that the system gives to outgoing connections: the server binds it only later.
pub fn free_port() -> u16 {
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    std::iter::repeat_with(|| fastrand::u16(10_000..32_000)).find(is_free).expect("a free port")
}

/// A cluster. Its members end with it.
pub struct Cluster {
    pub members: Vec<Member>,
    pub peers: Peers,
    _folder: TempDir,
}

/// A member, running or not.
pub struct Member {
    pub client_port: u16,
    command: Command,
    child: Option<Child>,
}

impl Cluster {
    /// One member, with these arguments besides.
    pub fn single(arguments: &[&str]) -> Cluster {
        Cluster::start(1, "http", arguments)
    }

    /// This number of members, which reach each other through proxies that can be cut.
    pub fn of(members: usize) -> Cluster {
        Cluster::start(members, "http", &[])
    }

    /// One member that speaks TLS to its clients.
    pub fn secure(arguments: &[&str]) -> Cluster {
        Cluster::start(1, "https", arguments)
    }

    fn start(members: usize, scheme: &str, arguments: &[&str]) -> Cluster {
        let binary = std::env::var(BINARY).expect("tests without the program are ignored");
        let folder = tempfile::tempdir().expect("a folder");
        let peer_ports: Vec<u16> = (0..members).map(|_| free_port()).collect();
        let peers = Peers::before(&peer_ports);
        let advertised = |number: usize| format!("http://127.0.0.1:{}", peers.port(number));
        let all: Vec<String> = (0..members).map(|number| format!("m{number}={}", advertised(number))).collect();
        let member = |number: usize| {
            let client_port = free_port();
            let client = format!("{scheme}://127.0.0.1:{client_port}");
            let mut command = Command::new(&binary);
            command.args(["--name", &format!("m{number}"), "--initial-cluster", &all.join(",")]);
            command.arg("--data-dir").arg(folder.path().join(number.to_string()));
            command.args(["--listen-client-urls", &client, "--advertise-client-urls", &client]);
            command.args(["--listen-peer-urls", &format!("http://127.0.0.1:{}", peer_ports[number])]);
            command.args(["--initial-advertise-peer-urls", &advertised(number)]);
            // A test asks for no more than that acknowledged writes outlive a killed process.
            command.args(["--heartbeat-interval", "100", "--election-timeout", "1000"]).args(arguments);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            Member { client_port, command, child: None }
        };
        let mut cluster = Cluster { members: (0..members).map(member).collect(), peers, _folder: folder };
        cluster.members.iter_mut().for_each(Member::start);
        if scheme == "http" {
            cluster.leader();
            for number in 0..members {
                let id = until("a member tells its id", || cluster.members[number].status()?.0.parse::<u64>().ok());
                cluster.peers.name(number, &format!("{id:x}"));
            }
        } else {
            let port = cluster.members[0].client_port;
            until("etcd listens", || TcpStream::connect(("127.0.0.1", port)).ok());
        }
        cluster
    }

    /// The address of these members, with a prefix and parameters.
    pub fn address(&self, members: &[usize], rest: &str) -> String {
        let hosts = members.iter().map(|number| format!("127.0.0.1:{}", self.members[*number].client_port));
        format!("etcd://{}/{rest}", hosts.collect::<Vec<_>>().join(","))
    }

    /// The number of the member that leads, as a majority sees it.
    pub fn leader(&self) -> usize {
        until("the cluster has a leader", || {
            let all: Vec<Option<(String, String)>> = self.members.iter().map(Member::status).collect();
            let says = |leader: &str| all.iter().flatten().filter(|(_, of)| of == leader).count();
            all.iter().position(|status| {
                status.as_ref().is_some_and(|(id, leader)| id == leader && says(id) > self.members.len() / 2)
            })
        })
    }
}

impl Member {
    pub fn start(&mut self) {
        self.child = Some(self.command.spawn().expect("etcd can be started"));
    }

    /// Kills it, with SIGKILL.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Freezes it, or thaws it.
    pub fn freeze(&self, frozen: bool) {
        let signal = if frozen { rustix::process::Signal::STOP } else { rustix::process::Signal::CONT };
        let child = self.child.as_ref().expect("it runs");
        rustix::process::kill_process(rustix::process::Pid::from_child(child), signal).expect("it can be signalled");
    }

    /// Its own id and its leader's; none where it does not answer.
    fn status(&self) -> Option<(String, String)> {
        self.child.as_ref()?;
        let answer = self.post("/v3/maintenance/status", "{}")?;
        let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
        Some((text(&answer["header"]["member_id"])?, text(&answer["leader"])?))
    }

    /// Posts to it; none where there is no answer.
    pub fn post(&self, path: &str, body: &str) -> Option<serde_json::Value> {
        self.post_as(None, path, body)
    }

    /// The same, with a token.
    pub fn post_as(&self, token: Option<&str>, path: &str, body: &str) -> Option<serde_json::Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.client_port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(3))).ok()?;
        let token = token.map_or(String::new(), |token| format!("Authorization: {token}\r\n"));
        let length = body.len();
        write!(stream, "POST {path} HTTP/1.0\r\nHost: etcd\r\n{token}Content-Length: {length}\r\n\r\n{body}").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Makes two authorities, and certificates of theirs for this machine, in PEM.
pub fn certificates(folder: &Path) {
    let openssl = |arguments: &[&str]| {
        let output =
            Command::new("openssl").current_dir(folder).args(arguments).output().expect("openssl is installed");
        assert!(output.status.success(), "openssl {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    for authority in ["ca", "other"] {
        let files = ["-keyout", &format!("{authority}.key"), "-out", &format!("{authority}.pem")];
        let subject = ["-subj", &format!("/CN={authority}"), "-days", "2"];
        openssl(&[&["req", "-x509"], &new_key[..], &subject, &files].concat());
    }
    std::fs::write(
        folder.join("extensions"),
        "subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\n",
    )
    .expect("a file can be written");
    for (name, authority) in [("server", "ca"), ("client", "ca"), ("stranger", "other")] {
        let (key, request, certificate) = (format!("{name}.key"), format!("{name}.csr"), format!("{name}.pem"));
        let (ca, ca_key) = (format!("{authority}.pem"), format!("{authority}.key"));
        let files = ["-keyout", &key, "-out", &request, "-subj", &format!("/CN={name}")];
        openssl(&[&["req", "-new"], &new_key[..], &files].concat());
        let by = ["-CA", &ca, "-CAkey", &ca_key, "-CAcreateserial", "-days", "2", "-extfile", "extensions"];
        openssl(&[&["x509", "-req", "-in", &request, "-out", &certificate], &by[..]].concat());
    }
}
