//! The stores on a server of their own, where there is one.

use crate::proxy::Proxy;

/// A kind of store, and the variable that names its server.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// The environment variable that holds its address.
    pub variable: &'static str,
    /// How to set it.
    pub hint: &'static str,
}

/// PostgreSQL.
pub const POSTGRES: Kind = Kind {
    name: "PostgreSQL",
    variable: "HALFOPEN_TEST_POSTGRES",
    hint: "to test it: eval \"$(.ci/postgres start FOLDER)\"",
};

/// etcd.
pub const ETCD: Kind =
    Kind { name: "etcd", variable: "HALFOPEN_TEST_ETCD", hint: "to test it: eval \"$(.ci/etcd start FOLDER)\"" };

/// All that there are.
pub const ALL: [Kind; 2] = [POSTGRES, ETCD];

impl Kind {
    /// The address of its server; none where the environment names none. Tests that need one are shown as ignored then.
    pub fn address(self) -> Option<String> {
        let address = std::env::var(self.variable).ok().filter(|address| !address.is_empty());
        if address.is_none() {
            eprintln!("{}: {} is not set, and its tests are ignored; {}", self.name, self.variable, self.hint);
        }
        address
    }
}

/// A proxy before the server at an address, and the address of the store behind it.
pub fn behind_proxy(address: &str) -> (String, Proxy) {
    let server = || {
        let (scheme, rest) = address.split_once("://")?;
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        let (user, server) = authority.rsplit_once('@').map_or(("", authority), |(user, server)| (user, server));
        let at = if user.is_empty() { "" } else { "@" };
        let server = server.split(',').next()?;
        let proxy = Proxy::before_server(server);
        Some((format!("{scheme}://{user}{at}127.0.0.1:{}{rest}", proxy.port()), proxy))
    };
    server().expect("the address of a store names its server")
}
