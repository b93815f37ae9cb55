//! Where the members are. ureq looks a host up anew for every request, on a thread of its own where there is a time limit,
//! also where it has a connection and needs no address.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// What was looked up is good for so long; a member that moves is found again after that.
const GOOD_FOR: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(super) struct Lookup {
    inner: DefaultResolver,
    found: Mutex<HashMap<String, Found>>,
}

#[derive(Debug)]
struct Found {
    addresses: Vec<SocketAddr>,
    at: Instant,
}

impl Lookup {
    fn found(&self) -> MutexGuard<'_, HashMap<String, Found>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listed(&self, addresses: &[SocketAddr]) -> ResolvedSocketAddrs {
        let mut listed = self.empty();
        addresses.iter().for_each(|address| listed.push(*address));
        listed
    }
}

impl Resolver for Lookup {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        // The members' addresses have their ports.
        let member = uri.authority().map_or("", |authority| authority.as_str());
        if let Ok(address) = member.parse() {
            return Ok(self.listed(&[address]));
        }
        if let Some(found) = self.found().get(member).filter(|found| found.at.elapsed() < GOOD_FOR) {
            return Ok(self.listed(&found.addresses));
        }
        let resolved = self.inner.resolve(uri, config, timeout)?;
        let found = Found { addresses: resolved.to_vec(), at: Instant::now() };
        self.found().insert(member.to_owned(), found);
        Ok(resolved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(lookup: &Lookup, member: &str) -> Option<Vec<SocketAddr>> {
        let uri = format!("http://{member}/v3/kv/txn").parse().unwrap();
        let timeout = NextTimeout {
            after: Duration::from_secs(60).into(),
            reason: ureq::Timeout::Resolve,
            per_read: None,
            per_write: None,
        };
        lookup.resolve(&uri, &Config::default(), timeout).ok().map(|addresses| addresses.to_vec())
    }

    #[test]
    fn an_address_is_taken_as_it_is_and_a_name_is_looked_up_once_in_a_while() {
        let lookup = Lookup::default();
        for member in ["127.0.0.1:2379", "[::1]:2379"] {
            assert_eq!(resolve(&lookup, member), Some(vec![member.parse().unwrap()]));
        }
        assert!(lookup.found().is_empty());
        assert!(resolve(&lookup, "localhost:7").unwrap().iter().all(|address| address.ip().is_loopback()));
        assert!(lookup.found().contains_key("localhost:7"));

        // Nobody has this name.
        let name = "etcd.invalid:7";
        let (addresses, now) = (vec!["192.0.2.1:7".parse().unwrap()], Instant::now());
        lookup.found().insert(name.to_owned(), Found { addresses: addresses.clone(), at: now });
        assert_eq!(resolve(&lookup, name), Some(addresses.clone()));
        lookup.found().insert(name.to_owned(), Found { addresses, at: now.checked_sub(GOOD_FOR).unwrap() });
        assert_eq!(resolve(&lookup, name), None);
    }
}
