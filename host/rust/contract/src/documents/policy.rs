use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{InvalidDocument, from_json};
use crate::types::{PolicyInForce, PolicyOrigin};

/// A policy: when a breaker trips, how long it stays open, how it recovers. A key that is not set has its default.
///
/// The keys, their ranges and their defaults are documented in `wit/types.wit`; the engine checks them when the policy is
/// used. Setting is all that this type does:
///
/// ```
/// use halfopen_contract::documents::Policy;
///
/// let policy = Policy::new().consecutive_failures(3).failure_rate_off().open_ms(1_000);
/// assert_eq!(policy.to_string(), r#"{"consecutive_failures":3,"failure_rate":null,"open_ms":1000}"#);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
#[must_use]
pub struct Policy(Map<String, Value>);

macro_rules! keys {
    ($($(#[$doc:meta])* $key:ident: $type:ty;)*) => {
        impl Policy {
            $($(#[$doc])*
            pub fn $key(self, $key: $type) -> Self {
                self.set(stringify!($key), json!($key))
            })*
        }
    };
}

keys! {
    /// Trip after this number of failures in a row; 0 to 1,000,000, 0 = off.
    consecutive_failures: u32;
    /// The length of the first open window, in ms, before jitter.
    open_ms: u64;
    /// Each backoff level multiplies the open window by this; 1 to 100.
    open_multiplier: f64;
    /// The longest open window, in ms, before jitter.
    open_max_ms: u64;
    /// Lengthen each open window by a random 0 to this percentage of it; 0 to 100.
    jitter_percent: u32;
    /// A breaker that has been closed for this time, in ms, starts its backoff afresh.
    stable_after_ms: u64;
    /// The length of a probe's lease, in ms, unless it is renewed.
    lease_ms: u64;
    /// The longest a lease can last with all its renewals, in ms, from its grant.
    probe_max_ms: u64;
    /// The number of leases that may be live at once; 1 to 100.
    probes: u32;
    /// The number of successful probes that close the breaker; 1 to 1,000,000.
    successes_to_close: u32;
    /// For this time, in ms, a process may act on its last answer without asking again; 0 = it asks every time.
    fresh_ms: u64;
}

impl Policy {
    /// A policy in which every key has its default.
    pub fn new() -> Self {
        Self::default()
    }

    /// Trip when failures make up `percent` of the window or more, and at least `minimum_calls` calls are in it.
    pub fn failure_rate(self, percent: u32, minimum_calls: u32) -> Self {
        self.set("failure_rate", json!({ "percent": percent, "minimum_calls": minimum_calls }))
    }

    /// Do not trip by the rate of failures.
    pub fn failure_rate_off(self) -> Self {
        self.set("failure_rate", Value::Null)
    }

    /// A call that takes `slower_than_ms` or longer is slow; trip when slow calls make up `percent` of the window or more,
    /// and at least `minimum_calls` calls are in it.
    pub fn slow_calls(self, slower_than_ms: u64, percent: u32, minimum_calls: u32) -> Self {
        let table = json!({ "slower_than_ms": slower_than_ms, "percent": percent, "minimum_calls": minimum_calls });
        self.set("slow_calls", table)
    }

    /// Take the percentages of the outcomes of the last `ms`; 10 to 86,400,000, a multiple of 10.
    pub fn window_ms(self, ms: u64) -> Self {
        self.set("window", json!({ "ms": ms }))
    }

    /// Take the percentages of the last `calls` outcomes; 1 to 1,000.
    pub fn window_calls(self, calls: u32) -> Self {
        self.set("window", json!({ "calls": calls }))
    }

    /// Open again, one backoff level up, when a lease expires without a report.
    pub fn reopen_on_lost_probe(self) -> Self {
        self.set("lost_probe", json!("reopen"))
    }

    /// After probes have closed the breaker, admit a share of the calls that grows from `from_percent` to all over `over_ms`.
    pub fn ramp(self, over_ms: u64, from_percent: u32) -> Self {
        self.set("ramp", json!({ "over_ms": over_ms, "from_percent": from_percent }))
    }

    /// The value of a key; none where it is not set.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// The JSON object.
    pub fn as_object(&self) -> &Map<String, Value> {
        &self.0
    }

    fn set(mut self, key: &str, value: Value) -> Self {
        self.0.insert(key.to_owned(), value);
        self
    }
}

impl From<Map<String, Value>> for Policy {
    fn from(object: Map<String, Value>) -> Self {
        Policy(object)
    }
}

/// The policy of a dependency, read.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectivePolicy {
    /// The policy, with all its keys.
    pub policy: Policy,
    /// Whose it is.
    pub origin: PolicyOrigin,
}

impl TryFrom<PolicyInForce> for EffectivePolicy {
    type Error = InvalidDocument;

    fn try_from(in_force: PolicyInForce) -> Result<Self, Self::Error> {
        Ok(EffectivePolicy { policy: in_force.policy.parse()?, origin: in_force.origin })
    }
}

impl fmt::Display for Policy {
    /// The JSON text of the contract.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match serde_json::to_string(&self.0) {
            Ok(json) => f.write_str(&json),
            Err(_) => Err(fmt::Error),
        }
    }
}

// Whatever its keys: the engine judges them.
from_json!(Policy, "policy");
