use std::fmt;

use halfopen_contract::engine::{Answer, Request};
use halfopen_contract::types::Error;

use crate::leases::{Effect, Leases};
use crate::tenant::Tenant;

/// The data of a wasmtime store, as the functions that a platform [offers](crate::offer_to_linker) see it.
pub trait TenantView: Send {
    /// The context of the tenant whose instance is in the store.
    fn tenant(&mut self) -> &mut TenantCtx;
}

/// The [`Tenant`] of one instance of a plugin, and the leases that the instance holds.
///
/// Dropped, it gives back those leases: at once and in the thread that drops it, or, once it has been used through an
/// async linker, on a thread for work that blocks.
pub struct TenantCtx {
    tenant: Tenant,
    leases: Leases,
    is_async: bool,
}

impl Tenant {
    /// The context of one instance of a plugin of this tenant: put it into the data of the instance's wasmtime store.
    pub fn context(&self) -> TenantCtx {
        TenantCtx { tenant: self.clone(), leases: Leases::default(), is_async: false }
    }
}

impl TenantCtx {
    /// The tenant.
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// Counts a call against the tenant's rate.
    pub(crate) fn count(&self) -> Result<(), Error> {
        self.tenant.inner.rate.take()
    }

    pub(crate) fn call(&mut self, request: Request) -> Result<Answer, Error> {
        let effect = Effect::of(&request);
        let answer = self.tenant.call(request);
        self.apply(effect, answer)
    }

    pub(crate) async fn call_async(&mut self, request: Request) -> Result<Answer, Error> {
        self.is_async = true;
        let effect = Effect::of(&request);
        let answer = self.tenant.call_async(request).await;
        self.apply(effect, answer)
    }

    fn apply(&mut self, effect: Effect, answer: Result<Answer, Error>) -> Result<Answer, Error> {
        let now = self.tenant.host().clock().monotonic();
        answer.inspect(|answer| self.leases.apply(effect, answer, now))
    }
}

impl Drop for TenantCtx {
    fn drop(&mut self) {
        self.leases.give_back(&self.tenant, self.is_async);
    }
}

impl fmt::Debug for TenantCtx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TenantCtx").field("tenant", &self.tenant).finish_non_exhaustive()
    }
}
