use serde::{Deserialize, Serialize};
use wasmtime::component::{ComponentType, Lift, Lower};

use super::number::{lenient_u32, lenient_u64};
use super::text::words;

/// What a breaker goes by. A policy that never trips is valid.
///
/// Ranges: every `*_ms` is 1 to 2,592,000,000 (30 days) unless said otherwise; every percentage is 1 to 100 unless said
/// otherwise. The component checks them, all at once: see [`BreakerError::InvalidPolicy`](crate::BreakerError).
///
/// Read from a file, a field left out has its default, an unknown one is an error, a nested table is whole, and null (or
/// the word `"off"`, for formats without null) switches a table off. A number that is negative, fractional or too large
/// is read as the largest, so that the component refuses it together with all other faults.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// Trip after so many failures in a row; 0 to 1,000,000, 0 = off. Default 5.
    #[component(name = "consecutive-failures")]
    #[serde(deserialize_with = "lenient_u32")]
    pub consecutive_failures: u32,
    /// Trip when failures make up a percentage of the window; none = off. Default 50 percent of at least 20 calls.
    #[component(name = "failure-rate")]
    #[serde(deserialize_with = "table_or_off")]
    pub failure_rate: Option<FailureRate>,
    /// Count slow calls, and trip when they make up a percentage of the window; none = off, the default.
    #[component(name = "slow-calls")]
    #[serde(deserialize_with = "table_or_off")]
    pub slow_calls: Option<SlowCalls>,
    /// What the percentages are taken of. Default 30,000 ms.
    pub window: Window,
    /// How long the first open window lasts, before jitter; at most `open_max_ms`. Default 5,000.
    #[component(name = "open-ms")]
    #[serde(deserialize_with = "lenient_u64")]
    pub open_ms: u64,
    /// Each backoff level multiplies the open window by this; 1 to 100. Default 2.
    #[component(name = "open-multiplier")]
    pub open_multiplier: f64,
    /// The longest open window, before jitter. Default 300,000.
    #[component(name = "open-max-ms")]
    #[serde(deserialize_with = "lenient_u64")]
    pub open_max_ms: u64,
    /// Lengthen each open window by a random 0 to so many percent of it; 0 to 100. Also the `spread` of a deferral.
    /// Default 20.
    #[component(name = "jitter-percent")]
    #[serde(deserialize_with = "lenient_u32")]
    pub jitter_percent: u32,
    /// Closed for so long, the backoff starts afresh; from 0. Default 60,000.
    #[component(name = "stable-after-ms")]
    #[serde(deserialize_with = "lenient_u64")]
    pub stable_after_ms: u64,
    /// How long the lease of a probe lasts unless it is renewed; at most `probe_max_ms`. Default 5,000.
    #[component(name = "lease-ms")]
    #[serde(deserialize_with = "lenient_u64")]
    pub lease_ms: u64,
    /// The longest a lease can last with all its renewals, from its grant. Default 60,000.
    #[component(name = "probe-max-ms")]
    #[serde(deserialize_with = "lenient_u64")]
    pub probe_max_ms: u64,
    /// How many leases may be live at once; 1 to 100. Default 1.
    #[serde(deserialize_with = "lenient_u32")]
    pub probes: u32,
    /// How many successful probes close the breaker; 1 to 1,000,000. Default 1.
    #[component(name = "successes-to-close")]
    #[serde(deserialize_with = "lenient_u32")]
    pub successes_to_close: u32,
    /// What follows when a lease expires without a report. Default `reprobe`.
    #[component(name = "lost-probe")]
    pub lost_probe: LostProbe,
    /// Admit calls gradually after probes have closed the breaker; none = all at once, the default.
    #[serde(deserialize_with = "table_or_off")]
    pub ramp: Option<Ramp>,
    /// How long a process may act on its last look without asking again; from 0, 0 = it asks every time. Default 250.
    #[component(name = "fresh-ms")]
    #[serde(deserialize_with = "lenient_u64")]
    pub fresh_ms: u64,
}

impl Default for Policy {
    /// The built-in policy; the same as the component's.
    fn default() -> Self {
        Policy {
            consecutive_failures: 5,
            failure_rate: Some(FailureRate { percent: 50, minimum_calls: 20 }),
            slow_calls: None,
            window: Window::Ms(30_000),
            open_ms: 5_000,
            open_multiplier: 2.0,
            open_max_ms: 300_000,
            jitter_percent: 20,
            stable_after_ms: 60_000,
            lease_ms: 5_000,
            probe_max_ms: 60_000,
            probes: 1,
            successes_to_close: 1,
            lost_probe: LostProbe::Reprobe,
            ramp: None,
            fresh_ms: 250,
        }
    }
}

/// Trip when failures make up `percent` of the window or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(deny_unknown_fields)]
pub struct FailureRate {
    /// 1 to 100.
    #[serde(deserialize_with = "lenient_u32")]
    pub percent: u32,
    /// Below so many calls in the window the rate is not judged; 1 to 1,000,000.
    #[component(name = "minimum-calls")]
    #[serde(deserialize_with = "lenient_u32")]
    pub minimum_calls: u32,
}

/// Trip when slow calls make up `percent` of the window or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(deny_unknown_fields)]
pub struct SlowCalls {
    /// A call that took so long or longer is slow; 1 to 2,592,000,000 ms.
    #[component(name = "slower-than-ms")]
    #[serde(deserialize_with = "lenient_u64")]
    pub slower_than_ms: u64,
    /// 1 to 100.
    #[serde(deserialize_with = "lenient_u32")]
    pub percent: u32,
    /// Below so many calls in the window the rate is not judged; 1 to 1,000,000.
    #[component(name = "minimum-calls")]
    #[serde(deserialize_with = "lenient_u32")]
    pub minimum_calls: u32,
}

/// Which outcomes count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(variant)]
#[serde(rename_all = "snake_case")]
pub enum Window {
    /// Those of the last so many milliseconds, in ten buckets; 10 to 86,400,000 and a multiple of 10.
    #[component(name = "ms")]
    Ms(#[serde(deserialize_with = "lenient_u64")] u64),
    /// The last so many; 1 to 1,000.
    #[component(name = "calls")]
    Calls(#[serde(deserialize_with = "lenient_u32")] u32),
}

/// What follows when a lease expires without a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ComponentType, Lift, Lower)]
#[component(enum)]
#[repr(u8)]
pub enum LostProbe {
    /// The next claimant is let in at once.
    #[component(name = "reprobe")]
    Reprobe,
    /// The breaker opens again, one backoff level up.
    #[component(name = "reopen")]
    Reopen,
}

words!(LostProbe { Reprobe = "reprobe", Reopen = "reopen" });

/// Admit calls gradually after probes have closed the breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(deny_unknown_fields)]
pub struct Ramp {
    /// How long the ramp lasts, from the closing; 1 to 2,592,000,000 ms.
    #[component(name = "over-ms")]
    #[serde(deserialize_with = "lenient_u64")]
    pub over_ms: u64,
    /// The percentage of calls admitted at its beginning; 0 to 100.
    #[component(name = "from-percent")]
    #[serde(deserialize_with = "lenient_u32")]
    pub from_percent: u32,
}

/// A field of a policy that is out of range.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
pub struct PolicyFault {
    /// The field, in kebab-case, with its table: `failure-rate.percent`.
    pub field: String,
    /// What is wrong, with the allowed range.
    pub why: String,
}

impl PolicyFault {
    /// The same, with the fields named as in policy files: those of which it speaks as well, which are lengths of time.
    pub fn in_file_names(self) -> PolicyFault {
        let named = |word: &str| if word.ends_with("-ms") { word.replace('-', "_") } else { word.to_owned() };
        let why = self.why.split(' ').map(named).collect::<Vec<_>>().join(" ");
        PolicyFault { field: self.field.replace('-', "_"), why }
    }
}

impl std::fmt::Display for PolicyFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.field, self.why)
    }
}

/// A table, or null, or the word "off".
fn table_or_off<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de>,
{
    use std::marker::PhantomData;

    struct TableOrOff<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> serde::de::Visitor<'de> for TableOrOff<T> {
        type Value = Option<T>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a table, null or \"off\"")
        }

        fn visit_unit<E: serde::de::Error>(self) -> Result<Option<T>, E> {
            Ok(None)
        }

        fn visit_none<E: serde::de::Error>(self) -> Result<Option<T>, E> {
            Ok(None)
        }

        fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Option<T>, E> {
            match word {
                "off" => Ok(None),
                _ => Err(E::invalid_value(serde::de::Unexpected::Str(word), &self)),
            }
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Option<T>, A::Error> {
            T::deserialize(serde::de::value::MapAccessDeserializer::new(map)).map(Some)
        }
    }

    deserializer.deserialize_any(TableOrOff(PhantomData))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Result<Policy, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_field_left_out_has_its_default_and_null_or_off_switches_a_table_off() {
        assert_eq!(json("{}"), Ok(Policy::default()));
        let wanted = Policy { failure_rate: None, open_ms: 7, ..Policy::default() };
        assert_eq!(json(r#"{"failure_rate": null, "open_ms": 7}"#), Ok(wanted));
        assert_eq!(toml::from_str::<Policy>("failure_rate = \"off\"\nopen_ms = 7").unwrap(), wanted);
        let table = "[failure_rate]\npercent = 10\nminimum_calls = 3\n[window]\ncalls = 100";
        let wanted = Policy {
            failure_rate: Some(FailureRate { percent: 10, minimum_calls: 3 }),
            window: Window::Calls(100),
            ..Policy::default()
        };
        assert_eq!(toml::from_str::<Policy>(table).unwrap(), wanted);
    }

    #[test]
    fn what_is_written_is_read_back_the_same() {
        let policy = Policy {
            slow_calls: Some(SlowCalls { slower_than_ms: 1, percent: 2, minimum_calls: 3 }),
            ramp: Some(Ramp { over_ms: 4, from_percent: 5 }),
            lost_probe: LostProbe::Reopen,
            failure_rate: None,
            ..Policy::default()
        };
        assert_eq!(json(&serde_json::to_string(&policy).unwrap()), Ok(policy));
    }

    #[test]
    fn an_unknown_field_and_a_table_cut_short_are_errors() {
        assert!(json(r#"{"open": 1}"#).unwrap_err().contains("unknown field `open`"));
        assert!(json(r#"{"failure_rate": {"percent": 50}}"#).unwrap_err().contains("minimum_calls"));
        assert!(json(r#"{"failure_rate": "on"}"#).is_err());
        assert!(json(r#"{"open_ms": "soon"}"#).is_err());
        assert!(json(r#"{"lost_probe": "retry"}"#).unwrap_err().contains("reprobe, reopen"));
    }

    #[test]
    fn a_number_that_no_field_holds_is_left_to_the_component_to_name() {
        for number in ["-1", "0.5", "1e300", "18446744073709551616", "-9223372036854775809"] {
            let policy = json(&format!(r#"{{"open_ms": {number}, "probes": {number}}}"#)).unwrap();
            assert_eq!((policy.open_ms, policy.probes), (u64::MAX, u32::MAX), "{number}");
            let window = json(&format!(r#"{{"window": {{"calls": {number}}}}}"#)).unwrap().window;
            assert_eq!(window, Window::Calls(u32::MAX), "{number}");
        }
        assert_eq!(json(r#"{"open_ms": 5e3}"#).unwrap().open_ms, 5_000);
        assert_eq!(json(r#"{"probes": 4294967296}"#).unwrap().probes, u32::MAX);
        assert!(toml::from_str::<Policy>("open_multiplier = nan").unwrap().open_multiplier.is_nan());
    }
}
