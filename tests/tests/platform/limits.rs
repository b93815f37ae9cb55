//! What a tenant may take.

use std::sync::Arc;
use std::time::Duration;

use halfopen::store::MemoryStore;
use halfopen::{Outcome, Permit, Store};
use halfopen_tenants::Tenant;
use halfopen_tests::breakers;

use crate::platform::{Platform, Plugin};

const SECOND: Duration = Duration::from_secs(1);

fn with(platform: &Platform, namespace: &str, dependencies: u32) -> Tenant {
    Tenant::builder(&platform.host, namespace).dependencies(dependencies).calls(1_000_000, 1_000_000).build()
}

fn records(tenant: &Tenant) -> Vec<String> {
    tenant.host().list().unwrap()
}

#[test]
fn a_tenant_that_floods_is_deferred_and_delays_no_other() {
    let platform = Platform::new();
    let flooding = Tenant::builder(&platform.host, "flooding").calls(10, 50).build();
    let other = Tenant::builder(&platform.host, "other").calls(10, 50).build();
    // Its instances share the limit.
    let mut plugins = [Plugin::of(&flooding), Plugin::of(&flooding)];
    let answers: Vec<String> = (0..10_000).map(|number| plugins[number % 2].take("pay")).collect();
    assert!(answers[..50].iter().all(|answer| answer == "proceed 0"), "{:?}", &answers[..50]);
    assert!(answers[50..].iter().all(|answer| answer == "too many calls: 100"), "{:?}", &answers[50]);
    assert_eq!(Plugin::of(&other).take("pay"), "proceed 0");
    platform.clock.advance(Duration::from_millis(100));
    assert_eq!(plugins[0].take("pay"), "proceed 0");
    assert_eq!(plugins[1].take("pay"), "too many calls: 100");
}

#[test]
fn a_flood_of_names_makes_no_more_records_than_the_limit() {
    let platform = Platform::new();
    let tenant = with(&platform, "flooding", 3);
    let mut plugin = Plugin::of(&tenant);
    for second in 0..5 {
        for number in 0..100 {
            let answer = plugin.call(&format!("name {second} {number}"), true);
            let has_room = second == 0 && number < 3;
            assert_eq!(answer, if has_room { "applied: closed" } else { "too many dependencies: 3" });
        }
        platform.clock.advance(SECOND);
    }
    assert_eq!(records(&tenant), ["name 0 0", "name 0 1", "name 0 2"]);
    assert_eq!(plugin.call("name 0 1", true), "applied: closed", "those that it has are served");
    // Not even a report under a permit of its own making.
    assert_eq!(plugin.forge("name 9", 0, None), "too many dependencies: 3");
    assert_eq!(records(&tenant).len(), 3);
}

#[test]
fn invalid_names_take_no_place() {
    let platform = Platform::new();
    let tenant = with(&platform, "hostile", 1);
    let mut plugin = Plugin::of(&tenant);
    for name in ["", "a\0b", &"x".repeat(257)] {
        let answer = plugin.take(name);
        assert!(answer.starts_with("invalid dependency: "), "{answer}");
    }
    assert_eq!(plugin.take("pay"), "proceed 0");
}

#[test]
fn names_without_a_record_give_way_to_others() {
    let platform = Platform::new();
    let tenant = with(&platform, "curious", 2);
    let mut plugin = Plugin::of(&tenant);
    assert_eq!(plugin.take("a"), "proceed 0");
    assert_eq!(plugin.take("b"), "proceed 0");
    assert_eq!(plugin.take("c"), "too many dependencies: 2");
    platform.clock.advance(SECOND);
    assert_eq!(plugin.take("c"), "proceed 0");
    assert_eq!(records(&tenant), [""; 0]);
}

#[test]
fn records_count_also_after_a_restart_of_the_platform() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    {
        let platform = Platform::on(store.clone(), breakers::policy());
        let tenant = with(&platform, "acme", 2);
        assert_eq!(Plugin::of(&tenant).call("a", true), "applied: closed");
        assert_eq!(Plugin::of(&tenant).call("b", true), "applied: closed");
    }
    let platform = Platform::on(store, breakers::policy());
    let mut plugin = Plugin::of(&with(&platform, "acme", 2));
    assert_eq!(plugin.call("c", true), "too many dependencies: 2");
    assert_eq!(plugin.call("a", true), "applied: closed");
    // A limit that has become smaller takes away nothing.
    let mut plugin = Plugin::of(&with(&platform, "acme", 0));
    assert_eq!(plugin.call("b", true), "applied: closed");
    assert_eq!(plugin.call("c", true), "too many dependencies: 0");
}

#[test]
fn records_of_another_process_count_until_they_are_forgotten() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let here = Platform::on(store.clone(), breakers::policy());
    let there = Platform::on(store, breakers::policy());
    let (tenant, its_other) = (with(&here, "acme", 2), with(&there, "acme", 2));
    let mut plugin = Plugin::of(&tenant);
    assert_eq!(plugin.call("a", true), "applied: closed");
    assert_eq!(Plugin::of(&its_other).call("b", true), "applied: closed");
    here.clock.advance(SECOND);
    assert_eq!(plugin.call("c", true), "too many dependencies: 2");
    its_other.host().breaker("b").forget("").unwrap();
    here.clock.advance(SECOND);
    assert_eq!(plugin.call("c", true), "applied: closed");
}

#[test]
fn the_platform_itself_is_bound_by_no_limit() {
    let platform = Platform::new();
    let tenant = Tenant::builder(&platform.host, "acme").dependencies(0).calls(1, 1).build();
    for number in 0..10 {
        let breaker = tenant.host().breaker(format!("{number}"));
        breaker.report(Permit { epoch: 0, lease: None }, Outcome::Success).unwrap();
    }
    assert_eq!(records(&tenant).len(), 10);
}
