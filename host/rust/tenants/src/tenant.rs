use std::fmt;
use std::sync::Arc;

use halfopen::Host;

use crate::quota::Quota;
use crate::rate::Rate;

/// The dependencies that a tenant's host keeps in memory, at least.
const MIN_IN_MEMORY: usize = 16;

/// The dependencies that a tenant's host keeps in memory, at most.
const MAX_IN_MEMORY: usize = 4_096;

/// One tenant of a platform: its namespace and its limits, which all instances of its plugins share. Clones are cheap, and
/// are the same tenant.
///
/// It costs about a kilobyte, and each of its dependencies another kilobyte; the component and its instances are shared with
/// the host that it was made from. Keep one for each tenant, for as long as it has instances: a second one has limits of its
/// own.
#[derive(Clone)]
pub struct Tenant {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub host: Host,
    pub quota: Quota,
    pub rate: Rate,
}

impl Tenant {
    /// A tenant whose breakers are in a namespace of the host's store. The host's own namespace plays no part.
    pub fn builder(host: &Host, namespace: &str) -> TenantBuilder {
        TenantBuilder {
            host: host.clone(),
            namespace: namespace.to_owned(),
            dependencies: 100,
            per_second: 200,
            burst: 400,
        }
    }

    /// The tenant's breakers for the platform's own use, without the limits.
    pub fn host(&self) -> &Host {
        &self.inner.host
    }
}

impl fmt::Debug for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tenant").field("namespace", &self.host().namespace()).finish_non_exhaustive()
    }
}

/// Makes a [`Tenant`].
#[must_use]
#[derive(Debug)]
pub struct TenantBuilder {
    host: Host,
    namespace: String,
    dependencies: u32,
    per_second: u32,
    burst: u32,
}

impl TenantBuilder {
    /// The number of dependencies that the tenant may have; 0 refuses every new one. Default 100. Those that have a record
    /// already are served whatever the limit.
    pub fn dependencies(mut self, most: u32) -> Self {
        self.dependencies = most;
        self
    }

    /// The number of calls that the tenant may make a second in the long run, all its instances together, and the number of
    /// calls at once after a pause; both at least 1. Default 200 and 400. The time is that of the host's clock.
    pub fn calls(mut self, per_second: u32, burst: u32) -> Self {
        (self.per_second, self.burst) = (per_second, burst);
        self
    }

    /// The tenant. Nothing is read or written for it before its first call.
    pub fn build(self) -> Tenant {
        let capacity = usize::try_from(self.dependencies).unwrap_or(usize::MAX).saturating_mul(2);
        let host = self.host.in_namespace(&self.namespace, capacity.clamp(MIN_IN_MEMORY, MAX_IN_MEMORY));
        let rate = Rate::new(host.clock().clone(), self.per_second, self.burst);
        Tenant { inner: Arc::new(Inner { host, quota: Quota::new(self.dependencies), rate }) }
    }
}
