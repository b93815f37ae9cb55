//! What a tenant is told: the contract's words, and nothing of the platform's own.

use crate::breaker::{self, millis};
use crate::error::{BreakerError, StoreError};
use crate::wire::{Admission, Decision, Error, Probe, StorageError};

/// An answer as plain numbers. From here on the tenant is answerable for the permit.
pub(super) fn decision(decision: breaker::Decision) -> Decision {
    match decision {
        breaker::Decision::Proceed(guard) => Decision::Proceed(Admission {
            fresh_for: millis(guard.fresh_for()),
            percent: guard.percent(),
            slower_than: guard.slower_than().map(millis),
            permit: guard.into_permit(),
        }),
        breaker::Decision::Probe(guard) => Decision::Probe(Probe {
            expires_in: guard.expires_in().map_or(0, millis),
            slower_than: guard.slower_than().map(millis),
            permit: guard.into_permit(),
        }),
        breaker::Decision::Defer(deferral) => Decision::Defer(deferral),
    }
}

/// An error, without what is the platform's own affair.
pub(super) fn error(error: BreakerError) -> Error {
    match error {
        BreakerError::InvalidDependency { why, .. } => Error::InvalidDependency(why),
        BreakerError::InvalidPolicy(faults) => Error::InvalidPolicy(faults),
        BreakerError::InvalidArgument(why) => Error::InvalidArgument(why),
        BreakerError::Contended { .. } => Error::Contended,
        BreakerError::NewerVersion { .. } => Error::NewerVersion,
        BreakerError::Store(error) => store(&error),
        BreakerError::Component(_) | BreakerError::Other(_) => {
            Error::Other("the platform's breaker failed; try again later".to_owned())
        }
    }
}

pub(super) fn store(error: &StoreError) -> Error {
    Error::Storage(match error {
        StoreError::Unavailable { .. } => {
            StorageError::Unavailable("the platform's store is not available; try again later".to_owned())
        }
        StoreError::Denied { .. } => StorageError::Denied("the platform's store refuses".to_owned()),
        StoreError::Corrupt { .. } => {
            StorageError::Corrupt("the record is damaged; it can be reset or forgotten".to_owned())
        }
        StoreError::Newer { .. } => {
            StorageError::Other("the platform's store was written by a later release".to_owned())
        }
        StoreError::InDoubt { .. } => {
            StorageError::Other("whether the platform's store did this is not known".to_owned())
        }
        StoreError::Other { .. } => StorageError::Other("the platform's store failed".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ComponentFault;

    #[test]
    fn no_error_tells_a_tenant_what_is_the_platforms_own() {
        const PLACE: &str = "postgres://admin:hunter2@db.internal/tenants";
        let parts = || (PLACE.to_owned(), format!("password for {PLACE} in /etc/secret"));
        let of_store = |make: fn(String, String) -> StoreError| {
            let (place, why) = parts();
            BreakerError::Store(make(place, why))
        };
        let errors = [
            of_store(|place, why| StoreError::Unavailable { place, why }),
            of_store(|place, why| StoreError::Denied { place, why }),
            of_store(|place, why| StoreError::Corrupt { place, why }),
            of_store(|place, why| StoreError::InDoubt { place, why }),
            of_store(|place, why| StoreError::Other { place, why }),
            BreakerError::Store(StoreError::Newer { place: PLACE.to_owned(), found: 2, known: 1 }),
            BreakerError::Component(ComponentFault::Trapped { why: parts().1 }),
            BreakerError::Component(ComponentFault::Exhausted { why: parts().1 }),
            BreakerError::Other(parts().1),
            BreakerError::Contended { dependency: PLACE.to_owned() },
            BreakerError::NewerVersion { dependency: PLACE.to_owned() },
        ];
        for told in errors.map(|original| format!("{:?}", error(original))) {
            for secret in ["postgres", "admin", "hunter2", "internal", "/etc"] {
                assert!(!told.contains(secret), "{told}");
            }
        }
    }

    #[test]
    fn what_a_tenant_did_wrong_it_is_told() {
        let invalid = BreakerError::InvalidDependency { dependency: "x".to_owned(), why: "it is empty".to_owned() };
        assert_eq!(error(invalid), Error::InvalidDependency("it is empty".to_owned()));
        let argument = BreakerError::InvalidArgument("caller: too long".to_owned());
        assert_eq!(error(argument), Error::InvalidArgument("caller: too long".to_owned()));
    }
}
