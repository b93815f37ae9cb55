use std::fmt;

use super::Tenant;
use super::held::{Held, Touches};
use crate::op::{Answer, Op};
use crate::wire::Error;

/// Gives the functions that a platform [offers](super::offer_to_linker) their way from the data of a store to the tenant
/// that the store's instance belongs to.
pub trait TenantView: Send {
    /// The context of the tenant.
    fn tenant(&mut self) -> &mut TenantCtx;
}

/// What one instance of a plugin goes by: its [`Tenant`], and the leases that it holds.
///
/// Dropped, it gives back those leases: at once and in the thread that drops it, or, once it has been used through an
/// async linker, on a thread of its own.
pub struct TenantCtx {
    tenant: Tenant,
    held: Held,
    elsewhere: bool,
}

impl TenantCtx {
    pub(super) fn new(tenant: Tenant) -> Self {
        TenantCtx { tenant, held: Held::default(), elsewhere: false }
    }

    /// The tenant.
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// Counts a call against the tenant's rate.
    pub(super) fn enter(&self) -> Result<(), Error> {
        self.tenant.inner.rate.take()
    }

    pub(super) fn ask(&mut self, op: Op) -> Result<Answer, Error> {
        let touches = Touches::of(&op);
        let answer = self.tenant.ask(op);
        self.note(touches, answer)
    }

    pub(super) async fn ask_async(&mut self, op: Op) -> Result<Answer, Error> {
        self.elsewhere = true;
        let touches = Touches::of(&op);
        let answer = self.tenant.ask_async(op).await;
        self.note(touches, answer)
    }

    fn note(&mut self, touches: Touches, answer: Result<Answer, Error>) -> Result<Answer, Error> {
        let now = self.tenant.host().inner.clock.monotonic();
        answer.inspect(|answer| self.held.note(touches, answer, now))
    }
}

impl Drop for TenantCtx {
    fn drop(&mut self) {
        self.held.give_back(&self.tenant, self.elsewhere);
    }
}

impl fmt::Debug for TenantCtx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TenantCtx").field("tenant", &self.tenant).finish_non_exhaustive()
    }
}
