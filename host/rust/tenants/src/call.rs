//! The way of a tenant's call: quota, breaker, errors.

use halfopen::{Breaker, BreakerError};
use halfopen_contract::engine::{Answer, Operation, Request};
use halfopen_contract::types::Error;

use crate::errors;
use crate::quota::Admitted;
use crate::tenant::Tenant;

impl Tenant {
    /// Answers a call. It waits for the store where memory has no answer.
    pub(crate) fn call(&self, request: Request) -> Result<Answer, Error> {
        self.check_quota(&request)?;
        let breaker = self.breaker(&request);
        let answer = breaker.perform(request.operation);
        self.explain(&breaker, answer)
    }

    /// The same for async code: the store is read and written on a thread for work that blocks. A lease whose caller no longer
    /// waits is given back.
    pub(crate) async fn call_async(&self, request: Request) -> Result<Answer, Error> {
        let tenant = self.clone();
        let Operation::Acquire { caller } = &request.operation else {
            return blocking::unblock(move || tenant.call(request)).await;
        };
        if self.inner.quota.check(self.host(), &request.dependency) != Admitted::Yes {
            let request = request.clone();
            blocking::unblock(move || tenant.check_quota(&request)).await?;
        }
        let breaker = self.breaker(&request).caller(&**caller);
        let answer = breaker.acquire_async().await.map(|decision| Answer::Decision(decision.into_plain()));
        self.explain(&breaker, answer)
    }

    /// The breaker of a call. It adds no caller of the platform's own.
    fn breaker(&self, request: &Request) -> Breaker {
        self.host().breaker(&*request.dependency).caller("")
    }

    fn check_quota(&self, request: &Request) -> Result<(), Error> {
        let quota = &self.inner.quota;
        if !makes_a_record(&request.operation) {
            return Ok(());
        }
        match quota.check_store(self.host(), &request.dependency) {
            Ok(Admitted::No) => Err(Error::TooManyDependencies(quota.limit())),
            Ok(Admitted::Yes | Admitted::Unknown) => Ok(()),
            // An acquire makes no record where there is none, and its answer without a store is the host's choice.
            Err(_) if matches!(request.operation, Operation::Acquire { .. }) => Ok(()),
            Err(error) => {
                let (namespace, dependency) = (self.host().namespace(), &*request.dependency);
                tracing::warn!(namespace, dependency, %error, "the store failed");
                Err(errors::store(&error))
            }
        }
    }

    /// The error of a call in the contract's words; the rest is traced.
    fn explain(&self, breaker: &Breaker, answer: Result<Answer, BreakerError>) -> Result<Answer, Error> {
        answer.map_err(|error| {
            let (namespace, dependency) = (self.host().namespace(), breaker.dependency());
            match &error {
                BreakerError::InvalidDependency { .. } => self.inner.quota.remove(dependency),
                BreakerError::Engine(_) | BreakerError::Other(_) => {
                    tracing::warn!(namespace, dependency, %error, "a tenant's call failed");
                }
                _ => {}
            }
            errors::error(error)
        })
    }
}

/// Whether it may make a record, or an entry in memory.
fn makes_a_record(operation: &Operation) -> bool {
    !matches!(operation, Operation::Inspect | Operation::Policy | Operation::Prune { .. })
}
