//! Acknowledgements, and requests, that are lost on the way.

use std::sync::Arc;

use halfopen_contract::store::{CommitOutcome, Key, Store as _, StoreError, Write};
use halfopen_etcd::EtcdStore;

use super::lossy::{Loss, Lossy};
use super::server::Cluster;
use super::store;

const KEY: Key<'static> = Key { namespace: "n", dependency: "a" };

fn write(based_on: u64, data: Option<&[u8]>) -> Write<'_> {
    Write { key: KEY, based_on, version: based_on + 1, data, transitions: &[], history: 10 }
}

/// A write that must be done.
fn put(store: &EtcdStore, based_on: u64, data: Option<&[u8]>) {
    assert_eq!(store.commit(&[write(based_on, data)]), Ok(vec![CommitOutcome::Committed]), "on {based_on}");
}

/// The writes of another store after the commit, before the store notices the loss.
type Meanwhile = fn(&EtcdStore);

fn nothing(_: &EtcdStore) {}

/// Writes many times on the version 2, which the lost commit gave.
fn write_on(other: &EtcdStore) {
    (2..40).for_each(|version| put(other, version, Some(b"other")));
}

fn remove(other: &EtcdStore) {
    put(other, 2, None);
}

fn remove_and_make_anew(other: &EtcdStore) {
    put(other, 2, None);
    put(other, 3, Some(b"other"));
}

fn remove_the_namespace(other: &EtcdStore) {
    other.remove_namespace(KEY.namespace).expect("it is removed");
}

struct Site {
    cluster: Arc<Cluster>,
    lossy: Lossy,
    /// By way of the proxy.
    lost: Arc<EtcdStore>,
    other: Arc<EtcdStore>,
}

impl Site {
    fn new() -> Site {
        let cluster = Arc::new(Cluster::single(&[]));
        let lossy = Lossy::before(cluster.members[0].client_port);
        let lost = store(&format!("etcd://127.0.0.1:{}/lost?max_skew=4s&timeout=6s", lossy.port));
        let other = store(&cluster.address(&[0], "lost?max_skew=4s"));
        Site { cluster, lossy, lost, other }
    }

    /// A record at version 1, or none that ever was, as both know it.
    fn begin(&self, made: bool) -> u64 {
        self.other.remove_namespace(KEY.namespace).expect("it is removed");
        let floor = self.other.load(KEY).expect("it is there").version;
        if made {
            put(&self.other, floor, Some(b"begun"));
        }
        self.lost.load(KEY).expect("it is there").version
    }
}

pub fn a_commit_whose_answer_is_lost_is_done_once_and_known() {
    let cases: [(&str, Meanwhile); 5] = [
        ("nothing", nothing),
        ("written on", write_on),
        ("removed", remove),
        ("removed and made anew", remove_and_make_anew),
        ("its namespace removed", remove_the_namespace),
    ];
    for (name, meanwhile) in cases {
        // Each on a cluster of its own, so that the versions are those that `meanwhile` speaks of.
        let site = Site::new();
        put(&site.other, 0, Some(b"begun"));
        assert_eq!(site.lost.load(KEY).unwrap().version, 1);
        let other = site.other.clone();
        site.lossy.lose(Loss::Answer, move || meanwhile(&other));
        put(&site.lost, 1, Some(b"mine"));
        assert!(site.lossy.has_lost(), "{name}");
        let now = site.other.load(KEY).unwrap();
        match name {
            "nothing" => assert_eq!((now.version, now.data.as_deref()), (2, Some(&b"mine"[..])), "{name}"),
            _ => assert_ne!(now.data.as_deref(), Some(&b"mine"[..]), "{name}: it was done again"),
        }
    }
    // Making a record, and removing one.
    for made in [false, true] {
        for again in [false, true] {
            let site = Site::new();
            let version = site.begin(made);
            let other = site.other.clone();
            site.lossy.lose(Loss::Answer, move || {
                if again {
                    put(&other, version + 1, if made { Some(b"other") } else { None });
                    put(&other, version + 2, if made { None } else { Some(b"other") });
                }
            });
            put(&site.lost, version, if made { None } else { Some(b"mine") });
            assert!(site.lossy.has_lost());
            let highest = if again { version + 3 } else { version + 1 };
            assert_eq!(site.other.load(KEY).unwrap().version, highest, "made: {made}, again: {again}");
        }
    }
}

pub fn a_lost_request_is_sent_again_and_compares_again() {
    let site = Site::new();
    for made in [false, true] {
        let version = site.begin(made);
        site.lossy.lose(Loss::Request, || {});
        put(&site.lost, version, Some(b"mine"));
        assert!(site.lossy.has_lost());

        let version = site.begin(made);
        let other = site.other.clone();
        site.lossy.lose(Loss::Request, move || {
            put(&other, version, Some(b"other"));
            put(&other, version + 1, None);
            put(&other, version + 2, Some(b"latest"));
        });
        let outcome = site.lost.commit(&[write(version, Some(b"mine"))]).unwrap().remove(0);
        let CommitOutcome::Stale(now) = outcome else {
            panic!("it was done on a record that had changed: {outcome:?}")
        };
        assert_eq!((now.version, now.data.as_deref()), (version + 3, Some(&b"latest"[..])));
        assert!(site.lossy.has_lost());
    }
}

pub fn a_commit_that_cannot_be_looked_up_is_in_doubt() {
    let site = Site::new();
    let version = site.begin(true);
    let (other, cluster) = (site.other.clone(), site.cluster.clone());
    site.lossy.lose(Loss::Answer, move || {
        put(&other, version + 1, Some(b"other"));
        let status = cluster.members[0].post("/v3/maintenance/status", "{}").expect("a status");
        let revision = status["header"]["revision"].as_str().expect("a revision");
        let compacted = cluster.members[0].post("/v3/kv/compaction", &format!(r#"{{"revision":"{revision}"}}"#));
        assert!(compacted.is_some_and(|answer| answer["header"]["revision"] == revision), "it is compacted");
    });
    let error = site.lost.commit(&[write(version, Some(b"mine"))]).expect_err("the past is gone");
    assert!(matches!(&error, StoreError::InDoubt { why, .. } if why.contains("compacted")), "{error}");

    let version = site.begin(true);
    site.lossy.lose(Loss::AnswerAndAllElse, || {});
    let error = site.lost.commit(&[write(version, Some(b"mine"))]).expect_err("nothing answers");
    assert!(matches!(error, StoreError::InDoubt { .. }), "{error}");
    let error = site.lost.load(KEY).expect_err("nothing answers");
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
}
