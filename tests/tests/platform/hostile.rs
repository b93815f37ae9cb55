//! Plugins that reach for records and permits of others.

use halfopen::Store;
use halfopen::store::{Key, MemoryStore};
use halfopen_tests::breakers;
use std::sync::Arc;

use crate::platform::{Platform, Plugin};

#[test]
fn hostile_names_are_typed_errors_and_leave_nothing_behind() {
    let platform = Platform::new();
    let tenant = platform.tenant("acme");
    let mut plugin = Plugin::of(&tenant);
    let long = "x".repeat(257);
    let huge = "x".repeat(1 << 20);
    for name in ["", "a\0b", "a\nb", "\u{7f}", "\u{85}", &long, &huge] {
        let shown: String = name.chars().take(20).collect();
        let answer = plugin.call(name, true);
        assert!(answer.starts_with("invalid dependency: "), "{shown:?}: {answer}");
        assert!(answer.len() < 200, "{shown:?}: {answer}");
    }
    assert_eq!(tenant.host().list().unwrap(), [""; 0]);
    assert_eq!(plugin.call("pay", true), "applied: closed", "it goes on all the same");
}

#[test]
fn the_name_of_a_caller_is_cut_and_refuses_nothing() {
    let platform = Platform::new();
    let tenant = platform.tenant("acme");
    for (caller, kept) in [("é".repeat(65), 128), ("x".repeat(1 << 20), 128), ("a\nb".to_owned(), 3)] {
        platform.make_due(&tenant, "pay");
        let mut plugin = Plugin::operating(&tenant);
        assert!(plugin.take_as("pay", &caller).starts_with("probe "));
        let leases = tenant.host().breaker("pay").inspect().unwrap().leases;
        assert_eq!(leases.iter().map(|lease| lease.caller.len()).collect::<Vec<_>>(), [kept]);
        assert!(!leases[0].caller.contains(char::is_control));
        assert_eq!(plugin.operate("reset", "pay"), "applied: closed");
    }
}

#[test]
fn a_name_that_spells_another_namespace_stays_in_its_own() {
    let store = Arc::new(MemoryStore::new());
    let platform = Platform::on(store.clone(), breakers::policy());
    let (mallory, victim) = (platform.tenant("mallory"), platform.tenant("victim"));
    assert_eq!(Plugin::of(&victim).call("pay", true), "applied: closed");
    let before = store.load(Key { namespace: "victim", dependency: "pay" }).unwrap();
    let mut plugin = Plugin::of(&mallory);
    for name in ["victim/pay", "../victim/pay", "victim:pay", "victim pay", "pay' OR namespace = 'victim", "pay%"] {
        assert_eq!(plugin.call(name, false), "applied: open", "{name}");
    }
    assert_eq!(store.list("victim").unwrap(), ["pay"]);
    assert_eq!(store.load(Key { namespace: "victim", dependency: "pay" }).unwrap(), before);
    assert_eq!(store.list("mallory").unwrap().len(), 6);
}

#[test]
fn the_dependency_of_another_tenant_is_out_of_reach() {
    let platform = Platform::new();
    let (mallory, victim) = (platform.tenant("mallory"), platform.tenant("victim"));
    let mut plugin = Plugin::of(&mallory);
    // The same name is another breaker.
    assert_eq!(plugin.call("pay", false), "applied: open");
    assert_eq!(Plugin::of(&victim).call("pay", true), "applied: closed");
    assert_eq!(plugin.take("pay"), "deferred: open");
}

#[test]
fn permits_made_up_or_of_others_settle_nothing_of_others() {
    let platform = Platform::new();
    let (mallory, victim) = (platform.tenant("mallory"), platform.tenant("victim"));
    platform.make_due(&victim, "pay");
    let mut holder = Plugin::of(&victim);
    let taken = holder.take("pay");
    let numbers: Vec<u64> = taken.split(' ').skip(1).map(|number| number.parse().unwrap()).collect();
    let [epoch, lease] = numbers[..] else { panic!("{taken}") };
    let mut plugin = Plugin::of(&mallory);
    for (epoch, lease) in [(epoch, Some(lease)), (epoch, None), (u64::MAX, Some(u64::MAX)), (0, Some(0))] {
        assert!(plugin.forge("pay", epoch, lease).starts_with("stale: "), "{epoch} {lease:?}");
    }
    assert!(plugin.renew("pay", epoch, lease).starts_with("stale: "));
    let seen = victim.host().breaker("pay").inspect().unwrap();
    assert_eq!(seen.leases.len(), 1, "the lease is where it was");
    assert_eq!(holder.renew("pay", epoch, lease), "applied: half-open");
}

#[test]
fn a_plugin_operates_breakers_only_where_that_is_offered() {
    let platform = Platform::new();
    let tenant = platform.tenant("acme");
    let refused = Plugin::presuming(&tenant).err().expect("it cannot be instantiated");
    assert!(format!("{refused:#}").contains("halfopen:breaker/control"), "{refused:#}");
    let mut operator = Plugin::operating(&tenant);
    assert_eq!(operator.operate("close-down", "pay"), "applied: open");
    assert_eq!(Plugin::of(&tenant).take("pay"), "deferred: forced open");
    assert_eq!(Plugin::of(&platform.tenant("other")).take("pay"), "proceed 0");
    assert_eq!(operator.operate("state", "pay"), "open");
    assert_eq!(operator.operate("reset", "pay"), "applied: closed");
    assert_eq!(operator.operate("be-patient", "books"), "2");
    assert_eq!(operator.operate("tidy", "books"), "false", "it has a policy of its own");
    assert_eq!(operator.operate("tidy", "pay"), "true");
    assert_eq!(tenant.host().list().unwrap(), ["books"]);
    assert_eq!(operator.operate("forget", "books"), "applied: closed");
    assert_eq!(tenant.host().list().unwrap(), [""; 0]);
    assert_eq!(Plugin::of(&tenant).take("pay").split(' ').next(), Some("proceed"));
}
