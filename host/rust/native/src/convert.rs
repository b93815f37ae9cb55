//! The types of the contract, as the rules have them and as hosts have them: two crates generate or write the same types.

use std::sync::Arc;

use halfopen_contract::{engine as host_engine, types as host};
use halfopen_guest::contract as guest;
use halfopen_guest::step as guest_step;

/// Converts to the type of the same name in the other crate.
pub trait Convert<T> {
    /// The value of the other type.
    fn convert(self) -> T;
}

/// Types that both crates share.
macro_rules! shared {
    ($($type:ty),*) => { $(impl Convert<$type> for $type {
        fn convert(self) -> $type {
            self
        }
    })* };
}

/// Records with these fields, from one crate to the other.
macro_rules! records {
    ($from:ident => $to:ident: $($name:ident { $($field:ident),* })*) => { $(impl Convert<$to::$name> for $from::$name {
        fn convert(self) -> $to::$name {
            $to::$name { $($field: self.$field.convert()),* }
        }
    })* };
}

/// Variants with these cases, from one crate to the other.
macro_rules! variants {
    ($($from:ident::$name:ident => $to:ident::$other:ident {
        $($case:ident $(($value:ident))? $({ $($field:ident),* })?),*
    })*) => { $(impl Convert<$to::$other> for $from::$name {
        fn convert(self) -> $to::$other {
            match self {
                $($from::$name::$case $(($value))? $({ $($field),* })? =>
                    $to::$other::$case $(($value.convert()))? $({ $($field: $field.convert()),* })?,)*
            }
        }
    })* };
}

shared!(bool, u32, u64, Option<u64>, String);

impl Convert<String> for Arc<str> {
    fn convert(self) -> String {
        String::from(&*self)
    }
}

impl Convert<Option<String>> for Option<Arc<str>> {
    fn convert(self) -> Option<String> {
        self.map(Arc::convert)
    }
}

impl Convert<Option<host::Admission>> for Option<guest::Admission> {
    fn convert(self) -> Option<host::Admission> {
        self.map(guest::Admission::convert)
    }
}

impl Convert<Vec<host::PolicyFault>> for Vec<guest::PolicyFault> {
    fn convert(self) -> Vec<host::PolicyFault> {
        self.into_iter().map(guest::PolicyFault::convert).collect()
    }
}

records! { host => guest:
    Permit { epoch, lease }
    Report { outcome, took, caller, cause, retry_after }
    Tally { successes, slow_successes, failures, slow_failures, caller, cause, retry_after }
    Operator { by, note }
}

records! { guest => host:
    Permit { epoch, lease }
    Probe { permit, expires_in, slower_than }
    Deferral { retry_after, spread, reason, fresh_for, admission }
    Admission { permit, fresh_for, percent, slower_than }
    Receipt { verdict, state, next_due }
    PolicyInForce { policy, origin }
    PolicyFault { field, why }
}

variants! {
    host_engine::Operation => guest_step::Request {
        Acquire { caller }, Report { permit, report }, ReportTally { permit, tally }, Renew { permit },
        Release { permit }, Inspect, Policy, Configure { policy, operator }, Force { mode, lasting, operator },
        Reset { operator }, Forget { operator }, Prune { idle, operator }
    }
    host::Outcome => guest::Outcome { Success, Failure, Timeout, Ignored }
    host::Mode => guest::Mode { Open, Closed, None }
    guest_step::Answer => host_engine::Answer {
        Decision(decision), Receipt(receipt), Inspection(json), Policy(in_force), Pruned(is_removed)
    }
    guest::PolicyOrigin => host::PolicyOrigin { Host, Dependency }
    guest::Decision => host::Decision { Proceed(admission), Probe(probe), Defer(deferral) }
    guest::DeferReason => host::DeferReason { Open, Probing, ForcedOpen, Ramping, Other(text) }
    guest::Verdict => host::Verdict { Applied, Stale(reason) }
    guest::StaleReason => host::StaleReason {
        Forced, AlreadyReported, LeaseExpired, OldEpoch, UnknownPermit, Other(text)
    }
    guest::State => host::State { Closed, Open, HalfOpen }
    guest::StorageError => host::StorageError { Unavailable(why), Denied(why), Corrupt(why), Other(why) }
    guest::Error => host::Error {
        InvalidDependency(why), InvalidPolicy(faults), InvalidArgument(why), Contended, NewerVersion, Storage(error),
        TooManyCalls(ms), TooManyDependencies(limit), Other(why)
    }
}
