//! How an etcd store is opened.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::keys::check_prefix;
use crate::clock::{Clock, SystemClock};

/// How an etcd store is opened. [`from_address`](EtcdOptions::from_address) reads it from text.
#[derive(Clone)]
pub struct EtcdOptions {
    /// The members to ask, as `host` or `host:port`, the first first; without a port it is 2379. List all members: each
    /// one listed is one whose failure is survived, and one whose clock is compared.
    pub endpoints: Vec<String>,
    /// TLS; none speaks in the clear.
    pub tls: Option<EtcdTls>,
    /// Who to be; none where etcd knows no users, or knows them by their certificates.
    pub user: Option<EtcdUser>,
    /// What all keys begin with. Default `halfopen`.
    pub prefix: String,
    /// How far the clocks of any two processes may be apart: 20 ms to 1 hour; default 1 s. See [the module](super).
    pub max_skew: Duration,
    /// How long an operation tries, over all members: 100 ms to 10 min; default 5 s. A commit that may or may not have been
    /// done is asked after for as long again.
    pub timeout: Duration,
    /// The machine's clock. Default [`SystemClock`].
    pub clock: Arc<dyn Clock>,
}

impl Default for EtcdOptions {
    fn default() -> Self {
        EtcdOptions {
            endpoints: vec!["localhost:2379".to_owned()],
            tls: None,
            user: None,
            prefix: "halfopen".to_owned(),
            max_skew: Duration::from_secs(1),
            timeout: Duration::from_secs(5),
            clock: Arc::new(SystemClock),
        }
    }
}

impl EtcdOptions {
    /// What is wrong with them; none where nothing is.
    pub(super) fn fault(&self) -> Option<String> {
        if self.endpoints.is_empty() {
            return Some("it names no host; give `etcd://HOST:PORT`".to_owned());
        }
        if let Some(endpoint) = self.endpoints.iter().find(|endpoint| !is_endpoint(endpoint)) {
            return Some(format!("`{endpoint}` is no host and port; write `HOST:PORT`"));
        }
        if let Some(why) = check_prefix(&self.prefix) {
            return Some(why.to_owned());
        }
        let within = |name: &str, given: Duration, least: Duration, most: Duration| {
            (given < least || given > most).then(|| format!("{name} must be {least:?} to {most:?}, and is {given:?}"))
        };
        within("max_skew", self.max_skew, Duration::from_millis(20), Duration::from_secs(3_600))
            .or_else(|| within("timeout", self.timeout, Duration::from_millis(100), Duration::from_secs(600)))
    }
}

impl fmt::Debug for EtcdOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EtcdOptions")
            .field("endpoints", &self.endpoints)
            .field("tls", &self.tls)
            .field("user", &self.user)
            .field("prefix", &self.prefix)
            .field("max_skew", &self.max_skew)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// TLS to etcd, with files in PEM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EtcdTls {
    /// The authorities that may vouch for etcd; none: those of the web.
    pub authorities: Option<PathBuf>,
    /// What to show to etcd, where it asks.
    pub identity: Option<EtcdIdentity>,
}

/// A certificate of one's own, with files in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtcdIdentity {
    /// The certificate, and those between it and the authority.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// A user of etcd. The password is in no message and no `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct EtcdUser {
    pub(super) name: String,
    pub(super) password: String,
}

impl EtcdUser {
    /// A user with this name and password.
    pub fn new(name: impl Into<String>, password: impl Into<String>) -> Self {
        EtcdUser { name: name.into(), password: password.into() }
    }
}

impl fmt::Debug for EtcdUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EtcdUser").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Whether it is a host, and a port where there is one. A host in colons is in brackets.
fn is_endpoint(endpoint: &str) -> bool {
    let is_host_character = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let is_port = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
    if let Some(rest) = endpoint.strip_prefix('[') {
        return rest.split_once(']').is_some_and(|(host, port)| {
            host.parse::<std::net::Ipv6Addr>().is_ok()
                && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
        });
    }
    let (host, port) = endpoint.split_once(':').map_or((endpoint, None), |(host, port)| (host, Some(port)));
    !host.is_empty() && host.chars().all(is_host_character) && port.is_none_or(is_port)
}

/// With the port that etcd has unless told otherwise.
pub(super) fn with_port(endpoint: &str) -> String {
    let has_port = endpoint.rsplit_once(':').is_some_and(|(_, port)| !port.is_empty() && !port.contains(']'));
    if has_port { endpoint.to_owned() } else { format!("{endpoint}:2379") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_may_have_a_port_and_an_address_in_colons_is_in_brackets() {
        for (endpoint, full) in
            [("a", "a:2379"), ("a.b-c:1", "a.b-c:1"), ("[::1]", "[::1]:2379"), ("[::1]:9", "[::1]:9")]
        {
            assert!(is_endpoint(endpoint), "{endpoint}");
            assert_eq!(with_port(endpoint), full);
        }
        for endpoint in ["", ":1", "a:", "a:0", "a:65536", "::1", "[::1", "[::1]x", "[x]:1", "a b", "a/b", "u@a"] {
            assert!(!is_endpoint(endpoint), "{endpoint}");
        }
    }

    #[test]
    fn the_password_is_not_shown() {
        let options = EtcdOptions { user: Some(EtcdUser::new("ann", "hunter2")), ..EtcdOptions::default() };
        let shown = format!("{options:?}");
        assert!(shown.contains("ann") && !shown.contains("hunter2"), "{shown}");
    }
}
