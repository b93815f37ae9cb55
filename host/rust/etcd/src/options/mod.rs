//! The options of the store, and the address that gives them.

mod address;

use std::fmt;
use std::net::Ipv6Addr;
use std::path::PathBuf;
use std::time::Duration;

use halfopen_contract::store::Place;
use ureq::http::uri::Authority;

/// The options of an [`EtcdStore`](crate::EtcdStore).
#[derive(Clone, Debug)]
pub struct EtcdOptions {
    /// The members, as `host` or `host:port`, in the order in which they are tried; without a port it is 2379. List all
    /// members: the store survives the failure of each one listed, and compares its clock with each.
    pub endpoints: Vec<String>,
    /// TLS; none connects in plain text.
    pub tls: Option<EtcdTls>,
    /// The user; none where etcd has no users, or knows them by their certificates.
    pub user: Option<EtcdUser>,
    /// The prefix of all keys. Default `halfopen`.
    pub prefix: String,
    /// The largest difference between the clocks of any two processes: 20 ms to 1 hour; default 1 s. See [the
    /// crate](crate).
    pub max_skew: Duration,
    /// The time for an operation, over all members: 100 ms to 10 min; default 5 s. Only a commit whose acknowledgement
    /// was lost may take up to twice as long.
    pub timeout: Duration,
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
        }
    }
}

impl EtcdOptions {
    /// The name of the store in messages: its address without user and parameters.
    pub(crate) fn place(&self) -> Place {
        let scheme = if self.tls.is_some() { "etcds" } else { "etcd" };
        Place(format!("{scheme}://{}/{}", self.endpoints.join(","), self.prefix))
    }

    /// The mistake in the options; none where there is none.
    pub(crate) fn fault(&self) -> Option<String> {
        if self.endpoints.is_empty() {
            return Some("it names no host; give `etcd://HOST:PORT`".to_owned());
        }
        if let Some(endpoint) = self.endpoints.iter().find(|endpoint| with_port(endpoint).is_none()) {
            return Some(format!("`{endpoint}` is no host and port; write `HOST:PORT`"));
        }
        if self.prefix.split('/').any(str::is_empty) {
            return Some("the prefix has an empty part; write it like `halfopen` or `teams/payments`".to_owned());
        }
        if self.prefix.chars().any(char::is_control) || self.prefix.len() > 256 {
            return Some("the prefix holds a control character, or is longer than 256 bytes".to_owned());
        }
        let outside = |name: &str, given: Duration, least: Duration, most: Duration| {
            (given < least || given > most).then(|| format!("{name} must be {least:?} to {most:?}, and is {given:?}"))
        };
        outside("max_skew", self.max_skew, Duration::from_millis(20), Duration::from_secs(3_600))
            .or_else(|| outside("timeout", self.timeout, Duration::from_millis(100), Duration::from_secs(600)))
    }
}

/// TLS to etcd, with PEM files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EtcdTls {
    /// The authorities that sign etcd's certificates; none trusts those of the web.
    pub authorities: Option<PathBuf>,
    /// The client's own certificate, with those between it and the authority, and its private key, where etcd requires
    /// them.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// A user of etcd. The password is in no message and no `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct EtcdUser {
    /// The name.
    pub name: String,
    /// The password.
    pub password: String,
}

impl fmt::Debug for EtcdUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EtcdUser").field("name", &self.name).finish_non_exhaustive()
    }
}

/// An endpoint with its port, 2379 by default; none where it is no endpoint.
pub(crate) fn with_port(endpoint: &str) -> Option<String> {
    let authority: Authority = endpoint.parse().ok().filter(|_| !endpoint.contains('@'))?;
    let host = authority.host();
    let is_host = match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']')?.parse::<Ipv6Addr>().is_ok(),
        None => !host.is_empty(),
    };
    let port = match authority.port_u16() {
        Some(port @ 1..) => port,
        None if host == endpoint => 2379,
        _ => return None,
    };
    is_host.then(|| format!("{host}:{port}"))
}

#[cfg(test)]
mod tests;
