//! Plugins that take a lease and do not see to it.

use std::time::Duration;

use halfopen::store::MemoryStore;
use halfopen_tests::breakers;
use std::sync::Arc;

use crate::platform::{Platform, Plugin};

#[test]
fn a_plugin_that_dies_with_the_probe_gives_it_back() {
    let platform = Platform::new();
    let tenant = platform.tenant("acme");
    platform.make_due(&tenant, "pay");
    Plugin::of(&tenant).die("pay");
    let seen = tenant.host().breaker("pay").inspect().unwrap();
    assert_eq!((seen.leases.len(), seen.probe_due), (0, true));
    assert_eq!(Plugin::of(&tenant).call("pay", true), "applied: closed", "the next one probes at once");
}

#[test]
fn a_silent_plugin_delays_the_others_by_one_lease_at_most() {
    let policy = breakers::policy().open_ms(1_000).lease_ms(5_000);
    let platform = Platform::on(Arc::new(MemoryStore::new()), policy);
    let tenant = platform.tenant("acme");
    platform.make_due(&tenant, "pay");
    let mut silent = Plugin::of(&tenant);
    assert!(silent.take("pay").starts_with("probe "));
    let mut other = Plugin::of(&tenant);
    platform.clock.advance(Duration::from_millis(4_999));
    assert_eq!(other.take("pay"), "deferred: probing");
    platform.clock.advance(Duration::from_millis(1));
    assert!(other.take("pay").starts_with("probe "));
    // It ends now: the lease that another holds is not its to give back.
    drop(silent);
    assert_eq!(tenant.host().breaker("pay").inspect().unwrap().leases.len(), 1);
}

#[test]
fn a_plugin_releases_a_lease_and_reports_a_tally() {
    let platform = Platform::new();
    let tenant = platform.tenant("acme");
    let mut plugin = Plugin::of(&tenant);
    assert_eq!(plugin.operate("call-twice", "pay"), "applied: open", "one of the two failed");
    platform.clock.advance(Duration::from_secs(1));
    assert_eq!(plugin.operate("decline", "pay"), "applied: half-open");
    assert_eq!(Plugin::of(&tenant).call("pay", true), "applied: closed");
}

#[test]
fn settled_leases_and_those_of_others_are_not_given_back() {
    let platform = Platform::new();
    let tenant = platform.tenant("acme");
    platform.make_due(&tenant, "pay");
    let mut plugin = Plugin::of(&tenant);
    assert_eq!(plugin.call("pay", false), "applied: open");
    platform.clock.advance(Duration::from_secs(2));
    let mut other = Plugin::of(&tenant);
    assert!(other.take("pay").starts_with("probe "));
    drop(plugin);
    assert_eq!(tenant.host().breaker("pay").inspect().unwrap().leases.len(), 1);
    drop(other);
    assert_eq!(tenant.host().breaker("pay").inspect().unwrap().leases.len(), 0);
}
