//! The addresses of the members. ureq looks a host up for every request, on a thread of its own, also where it has a
//! connection and needs no address.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// A lookup is valid for this time; a member that moved is found again after it.
const VALID: Duration = Duration::from_secs(5);

/// A resolver with a cache.
#[derive(Debug, Default)]
pub(super) struct CachingResolver {
    inner: DefaultResolver,
    cache: Mutex<HashMap<String, (Instant, Vec<SocketAddr>)>>,
}

impl CachingResolver {
    fn cache(&self) -> MutexGuard<'_, HashMap<String, (Instant, Vec<SocketAddr>)>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn resolved(&self, addresses: &[SocketAddr]) -> ResolvedSocketAddrs {
        let mut resolved = self.empty();
        addresses.iter().for_each(|address| resolved.push(*address));
        resolved
    }
}

impl Resolver for CachingResolver {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        // The address of a member always has a port.
        let member = uri.authority().map_or("", |authority| authority.as_str());
        if let Ok(address) = member.parse() {
            return Ok(self.resolved(&[address]));
        }
        if let Some((_, addresses)) = self.cache().get(member).filter(|(at, _)| at.elapsed() < VALID) {
            return Ok(self.resolved(addresses));
        }
        let resolved = self.inner.resolve(uri, config, timeout)?;
        self.cache().insert(member.to_owned(), (Instant::now(), resolved.to_vec()));
        Ok(resolved)
    }
}

#[cfg(test)]
mod tests;
