//! On a real etcd, where `HALFOPEN_TEST_ETCD` names one.

use std::sync::Arc;

use super::*;

/// The address of the server; none, said aloud, where there is none.
fn address() -> Option<String> {
    let Ok(address) = std::env::var("HALFOPEN_TEST_ETCD") else {
        eprintln!("NOT TESTED: etcd; set HALFOPEN_TEST_ETCD to the address of one");
        return None;
    };
    Some(address)
}

fn options() -> Option<EtcdOptions> {
    let mut options = EtcdOptions::from_address(&address()?).unwrap();
    options.prefix = format!("test-{:016x}", fastrand::u64(..));
    // One answer proves a clock within that, so that no test waits for the next second.
    options.max_skew = Duration::from_secs(4);
    Some(options)
}

#[cfg(feature = "conformance")]
#[test]
fn the_etcd_store_meets_every_obligation_in_one_instance_and_in_many() {
    let Some(options) = options() else { return };
    let open = || Arc::new(EtcdStore::open(&options).unwrap());
    assert_eq!(crate::conformance::check(&|| open()), []);
    let store = open();
    assert_eq!(crate::conformance::check(&|| store.clone()), []);
}

fn transition(epoch: u64) -> Transition {
    let (from, to) = (crate::State::Closed, crate::State::Open);
    Transition { from, to, at: 1, epoch, reason: crate::TransitionReason::Forced }
}

#[test]
fn a_long_history_is_cut_to_the_transition_and_leaves_nothing_behind_for_long() {
    let Some(options) = options() else { return };
    let store = EtcdStore::open(&options).unwrap();
    let key = Key { namespace: "n", dependency: "a" };
    let mut epoch = 0;
    for (version, (many, history)) in (0..).zip([(150, 1_000), (1, 100), (70, 100), (1, 1), (200, 10), (1, 0)]) {
        let added: Vec<Transition> = (epoch..epoch + many).map(transition).collect();
        epoch += many;
        let write =
            Write { key, based_on: version, version: version + 1, data: Some(b"x"), transitions: &added, history };
        assert_eq!(store.commit(&[write]), Ok(vec![CommitOutcome::Committed]));
        let kept: Vec<u64> = store.history(key, usize::MAX).unwrap().iter().map(|kept| kept.epoch).collect();
        let first = epoch.saturating_sub(history as u64);
        assert_eq!(kept, (first..epoch).collect::<Vec<_>>(), "after {many} with room for {history}");
    }
    let until = store.client.until();
    let chunks = store.range(&RangeRequest::all(store.keys.history("n")), until).unwrap().kvs.len() as u64;
    assert!(chunks <= value::CHUNK, "{chunks} keys for a history that keeps none");
}

#[test]
fn records_that_are_removed_leave_one_key_for_all() {
    let Some(options) = options() else { return };
    let store = EtcdStore::open(&options).unwrap();
    for number in 0..40 {
        let dependency = number.to_string();
        let key = Key { namespace: "n", dependency: &dependency };
        let based_on = store.load(key).unwrap().version;
        let added = [transition(number)];
        let write = Write { key, based_on, version: based_on + 1, data: Some(b"x"), transitions: &added, history: 9 };
        let removal = Write { based_on: based_on + 1, version: based_on + 2, data: None, transitions: &[], ..write };
        assert_eq!(store.commit(&[write]), Ok(vec![CommitOutcome::Committed]));
        assert_eq!(store.commit(&[removal]), Ok(vec![CommitOutcome::Committed]));
    }
    let all = (format!("{}/", options.prefix).into_bytes(), format!("{}0", options.prefix).into_bytes());
    let left = store.range(&RangeRequest::all(all), store.client.until()).unwrap();
    assert_eq!(left.kvs.len(), 1);
}

#[test]
fn a_commit_takes_as_many_records_as_the_store_says_and_no_more() {
    let Some(options) = options() else { return };
    let store = EtcdStore::open(&options).unwrap();
    let names: Vec<String> = (0..=store.max_records()).map(|number| number.to_string()).collect();
    let added: Vec<Transition> = (0..3).map(transition).collect();
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
    assert_eq!(store.list("n"), Ok(Vec::new()), "nothing of it was done");
    writes.pop();
    let outcomes = store.commit(&writes).unwrap();
    assert!(outcomes.iter().all(|outcome| *outcome == CommitOutcome::Committed));
    assert_eq!(store.list("n").unwrap().len(), store.max_records());
}

#[test]
fn a_value_of_a_later_release_or_of_another_program_is_told_apart_and_left_alone() {
    let Some(options) = options() else { return };
    let store = EtcdStore::open(&options).unwrap();
    let key = Key { namespace: "n", dependency: "a" };
    let set = |value: &[u8]| {
        let put = gateway::RequestOp::put(store.keys.record(key), value.to_vec());
        let request = gateway::TxnRequest { success: vec![put], ..Default::default() };
        store.txn(&request, store.client.until()).unwrap();
    };
    set(b"{\"format\":2,\"shape\":\"other\"}\nx");
    assert!(matches!(store.load(key), Err(StoreError::Newer { found: 2, known: 1, .. })));
    set(b"theirs");
    assert!(matches!(store.load(key), Err(StoreError::Corrupt { .. })));
    store.remove_namespace("n").unwrap();
    assert_eq!(store.load(key).unwrap().data, None);
}

#[test]
fn what_is_no_etcd_or_not_there_is_named_in_time() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4_096]);
            let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
        }
    });
    let load = |address: &str| {
        let store = EtcdStore::open(&EtcdOptions::from_address(address).unwrap()).unwrap();
        store.load(Key { namespace: "n", dependency: "a" }).unwrap_err()
    };
    let error = load(&format!("etcd://127.0.0.1:{port}?timeout=1s"));
    assert!(matches!(&error, StoreError::Denied { why, .. } if why.contains("does not answer like etcd")), "{error}");
    let error = load("etcd://127.0.0.1:1,nowhere.invalid?timeout=300ms");
    assert!(matches!(&error, StoreError::Unavailable { .. }), "{error}");
}
