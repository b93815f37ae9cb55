use std::sync::Arc;

use halfopen_contract::conformance::check;
use halfopen_contract::store::{CommitOutcome, Key, Store as _, StoreError, Write};
use halfopen_etcd::EtcdStore;

use super::server::{Cluster, Member};
use super::store;

const KEY: Key<'static> = Key { namespace: "n", dependency: "a" };

/// A cluster of one member, and a store in it. One answer proves the clock, so no test waits for the next second.
fn single() -> (Cluster, Arc<EtcdStore>) {
    let cluster = Cluster::single(&[]);
    let store = store(&cluster.address(&[0], "p?max_skew=4s"));
    (cluster, store)
}

pub fn the_store_meets_every_obligation() {
    let cluster = Cluster::single(&[]);
    let address = cluster.address(&[0], "p?max_skew=4s");
    assert_eq!(check(&|| store(&address)), []);
}

pub fn one_instance_meets_every_obligation() {
    let (_cluster, store) = single();
    assert_eq!(check(&|| store.clone()), []);
}

/// The keys with a prefix.
fn keys(member: &Member, prefix: &str) -> Vec<String> {
    let (from, to) = (super::secure::base64(&format!("{prefix}/")), super::secure::base64(&format!("{prefix}0")));
    let answer = member.post("/v3/kv/range", &format!(r#"{{"key":"{from}","range_end":"{to}","keys_only":true}}"#));
    let answer = answer.expect("etcd answers");
    let kvs = answer["kvs"].as_array().cloned().unwrap_or_default();
    kvs.iter().map(|kv| kv["key"].as_str().expect("a key").to_owned()).collect()
}

fn transitions(numbers: std::ops::Range<u64>) -> Vec<String> {
    numbers.map(|number| format!(r#"{{"number":{number}}}"#)).collect()
}

pub fn a_long_history_is_cut_and_leaves_few_keys() {
    let (cluster, store) = single();
    let mut number = 0;
    for (version, (many, history)) in (0..).zip([(150, 1_000), (1, 100), (70, 100), (1, 1), (200, 10), (1, 0)]) {
        let added = transitions(number..number + many);
        number += many;
        let (based_on, version) = (version, version + 1);
        let write = Write { key: KEY, based_on, version, data: Some(b"x"), transitions: &added, history };
        assert_eq!(store.commit(&[write]), Ok(vec![CommitOutcome::Committed]));
        let first = number.saturating_sub(history as u64);
        assert_eq!(store.history(KEY, usize::MAX).unwrap(), transitions(first..number), "{many} in {history}");
    }
    let chunks = keys(&cluster.members[0], "p//history").len();
    assert_eq!(chunks, 0, "a history that keeps nothing");
}

pub fn compaction_leaves_a_thousand_removed_records() {
    let (cluster, store) = single();
    let names: Vec<String> = (0..1_030).map(|number| number.to_string()).collect();
    for names in names.chunks(store.max_records()) {
        let write = |name, based_on, data| Write {
            key: Key { namespace: "n", dependency: name },
            based_on,
            version: based_on + 1,
            data,
            transitions: &[],
            history: 9,
        };
        let writes: Vec<Write<'_>> =
            names.iter().flat_map(|name| [write(name, 0, Some(&b"x"[..])), write(name, 1, None)]).collect();
        assert!(store.commit(&writes).unwrap().iter().all(|outcome| *outcome == CommitOutcome::Committed));
    }
    store.compact("n").unwrap();
    // All have one version, so all go with the first beyond the thousand.
    assert_eq!(keys(&cluster.members[0], "p").len(), 1);
    assert_eq!(store.load(KEY).unwrap().version, 2);
}

pub fn a_commit_takes_max_records_and_no_more() {
    let (_cluster, store) = single();
    let names: Vec<String> = (0..=store.max_records()).map(|number| number.to_string()).collect();
    let added = transitions(0..3);
    let write = |name| Write {
        key: Key { namespace: "n", dependency: name },
        based_on: 0,
        version: 1,
        data: Some(b"x"),
        transitions: &added,
        history: 1,
    };
    let mut writes: Vec<Write<'_>> = names.iter().map(|name| write(name)).collect();
    let error = store.commit(&writes).unwrap_err();
    assert!(matches!(error, StoreError::Other { .. }), "{error}");
    assert_eq!(store.list("n"), Ok(Vec::new()), "nothing was done");
    writes.pop();
    let outcomes = store.commit(&writes).unwrap();
    assert!(outcomes.iter().all(|outcome| *outcome == CommitOutcome::Committed));
    assert_eq!(store.list("n").unwrap().len(), store.max_records());
    // A removal and a record made anew need the most operations.
    let remade: Vec<Write<'_>> = writes
        .iter()
        .flat_map(|write| {
            let removal = Write { based_on: 1, version: 2, data: None, transitions: &added[..2], ..*write };
            [removal, Write { based_on: 2, version: 3, ..*write }]
        })
        .collect();
    let outcomes = store.commit(&remade).unwrap();
    assert!(outcomes.iter().all(|outcome| *outcome == CommitOutcome::Committed));
}

pub fn a_later_format_and_a_foreign_value_are_left_alone() {
    let (cluster, store) = single();
    let set = |value: &str| {
        let (key, value) = (super::secure::base64("p//record/n/a"), super::secure::base64(value));
        cluster.members[0].post("/v3/kv/put", &format!(r#"{{"key":"{key}","value":"{value}"}}"#)).expect("a put");
    };
    set("{\"format\":2,\"shape\":\"other\"}\nx");
    assert!(matches!(store.load(KEY), Err(StoreError::Newer { found: 2, known: 1, .. })));
    set("theirs");
    assert!(matches!(store.load(KEY), Err(StoreError::Corrupt { .. })));
    store.remove_namespace("n").unwrap();
    assert_eq!(store.load(KEY).unwrap().data, None);
}
