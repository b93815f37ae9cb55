use std::sync::Arc;

use super::names::Names;
use super::rate::Rate;
use super::{Inner, Tenant};
use crate::host::Host;

/// So much is known at least, however few dependencies a tenant may have.
const FEW: usize = 16;

/// Makes a [`Tenant`].
#[must_use]
#[derive(Debug)]
pub struct TenantBuilder {
    host: Host,
    namespace: String,
    dependencies: u32,
    per_second: u32,
    at_once: u32,
}

impl TenantBuilder {
    pub(super) fn new(host: &Host, namespace: &str) -> Self {
        TenantBuilder {
            host: host.clone(),
            namespace: namespace.to_owned(),
            dependencies: 100,
            per_second: 200,
            at_once: 400,
        }
    }

    /// How many dependencies the tenant may have; 0 refuses every new one. Default 100. Those that have a record already
    /// are served whatever the limit.
    pub fn dependencies(mut self, most: u32) -> Self {
        self.dependencies = most;
        self
    }

    /// How many calls the tenant may make a second in the long run, all its instances together, and how many at once
    /// after a pause; both at least 1. Default 200 and 400. The host's clock tells the time.
    pub fn calls(mut self, per_second: u32, at_once: u32) -> Self {
        (self.per_second, self.at_once) = (per_second, at_once);
        self
    }

    /// The tenant. Nothing is read or written for it before its first call.
    pub fn build(self) -> Tenant {
        let known = usize::try_from(self.dependencies).unwrap_or(usize::MAX).saturating_mul(2).max(FEW);
        let host = self.host.in_namespace(&self.namespace, known.min(crate::local::MANY));
        let rate = Rate::new(host.inner.clock.clone(), self.per_second, self.at_once);
        Tenant { inner: Arc::new(Inner { host, names: Names::new(self.dependencies), rate }) }
    }
}
