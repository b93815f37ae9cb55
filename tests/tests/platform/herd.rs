//! Plugins that run at the same time.

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::thread;

use halfopen::store::sqlite::{SqliteOptions, SqliteStore};
use halfopen_tests::breakers;

use crate::platform::{Platform, Plugin};

/// Instances of each tenant's plugin.
const INSTANCES: usize = 8;

fn of_two_tenants_in_one_namespace(platform: &Platform) {
    let tenants = [platform.tenant("shared"), platform.tenant("shared")];
    platform.make_due(&tenants[0], "pay");
    let start = Barrier::new(2 * INSTANCES);
    let (start, mut answers) = (&start, BTreeMap::<String, usize>::new());
    // The instances live on until all have asked, and their leases with them.
    let plugins: Vec<Plugin> = thread::scope(|scope| {
        let threads: Vec<_> = tenants
            .iter()
            .flat_map(|tenant| std::iter::repeat_n(tenant, INSTANCES))
            .map(|tenant| {
                scope.spawn(move || {
                    let mut plugin = Plugin::of(tenant);
                    start.wait();
                    let answer = plugin.take("pay");
                    (answer, plugin)
                })
            })
            .collect();
        let ended = threads.into_iter().map(|thread| thread.join().expect("no plugin panics"));
        ended
            .map(|(answer, plugin)| {
                *answers.entry(answer).or_default() += 1;
                plugin
            })
            .collect()
    });
    let deferred = answers.remove("deferred: probing");
    let probes: Vec<_> = answers.into_iter().collect();
    assert!(matches!(&probes[..], [(answer, 1)] if answer.starts_with("probe ")), "{probes:?}");
    assert_eq!(deferred, Some(2 * INSTANCES - 1));
    assert_eq!(tenants[0].host().breaker("pay").inspect().unwrap().leases.len(), 1);
    drop(plugins);
}

#[test]
fn of_two_tenants_plugins_on_one_breaker_exactly_one_probes() {
    of_two_tenants_in_one_namespace(&Platform::new());
}

#[test]
fn exactly_one_probes_on_disk_and_with_answers_from_memory() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open_with(folder.path().join("platform.db"), SqliteOptions::default()).unwrap();
    let policy = breakers::policy().open_ms(1_000).fresh_ms(250);
    of_two_tenants_in_one_namespace(&Platform::on(std::sync::Arc::new(store), policy));
}

#[test]
fn when_the_probe_succeeds_the_plugins_of_all_tenants_go_on() {
    let platform = Platform::new();
    let (one, other) = (platform.tenant("shared"), platform.tenant("shared"));
    platform.make_due(&one, "pay");
    assert_eq!(Plugin::of(&one).call("pay", true), "applied: closed");
    assert_eq!(Plugin::of(&other).call("pay", true), "applied: closed");
}
