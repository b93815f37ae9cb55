//! Lost answers: the store finds out whether a commit was done, or reports that it cannot.

use std::sync::Arc;

use crate::patience::until;
use crate::proxy::{Fate, Proxy};
use halfopen_contract::store::{CommitOutcome, Key, Store, StoreError, Write};
use halfopen_postgres::PostgresStore;

use crate::server::{Server, address_at};

const KEY: Key<'static> = Key { namespace: "answers", dependency: "pay" };

/// The bytes that only the commit in question holds.
const MINE: &[u8] = b"written by the one whose answer is lost";

fn added() -> Vec<String> {
    vec![r#"{"from":"closed","to":"open","at":1,"epoch":1,"reason":"forced"}"#.to_owned()]
}

fn write<'a>(based_on: u64, data: &'a [u8], transitions: &'a [String]) -> Write<'a> {
    Write { key: KEY, based_on, version: based_on + 1, data: Some(data), transitions, history: 100 }
}

/// A server, a store that reaches it through a proxy, and a store that reaches it directly.
struct Scene {
    _server: Server,
    proxy: Proxy,
    through: PostgresStore,
    past: Arc<PostgresStore>,
}

impl Scene {
    fn new(parameters: &str) -> Scene {
        let server = Server::new("");
        let proxy = Proxy::before(server.port);
        let past = Arc::new(PostgresStore::open(&server.address("")).unwrap());
        assert_eq!(past.commit(&[write(0, b"before", &[])]).unwrap(), [CommitOutcome::Committed]);
        let through = PostgresStore::open(&address_at(proxy.port(), parameters)).unwrap();
        Scene { _server: server, proxy, through, past }
    }

    /// This number of writes by the other store.
    fn others(&self, times: u64) -> impl FnOnce() + Send + use<> {
        let past = Arc::clone(&self.past);
        move || {
            for _ in 0..times {
                let version = past.load(KEY).unwrap().version;
                assert_eq!(past.commit(&[write(version, b"theirs", &[])]).unwrap(), [CommitOutcome::Committed]);
            }
        }
    }

    fn commit(&self) -> Result<Vec<CommitOutcome>, StoreError> {
        let result = self.through.commit(&[write(1, MINE, &added())]);
        assert!(self.proxy.is_sprung(), "nothing was lost");
        result
    }

    /// Checks that the record holds the commit and its transition once.
    fn is_done_once(&self) {
        let found = self.past.load(KEY).unwrap();
        assert_eq!((found.version, found.data.as_deref()), (2, Some(MINE)));
        assert_eq!(self.past.history(KEY, 10).unwrap(), added());
    }
}

pub fn a_commit_whose_answer_was_lost_is_recognised() {
    let scene = Scene::new("");
    scene.proxy.trap(MINE, Fate::AnswerLost, || {});
    assert_eq!(scene.commit().unwrap(), [CommitOutcome::Committed]);
    scene.is_done_once();
}

pub fn a_commit_that_never_arrived_is_made() {
    let scene = Scene::new("");
    scene.proxy.trap(MINE, Fate::RequestLost, || {});
    assert_eq!(scene.commit().unwrap(), [CommitOutcome::Committed]);
    scene.is_done_once();
}

pub fn a_commit_that_arrives_late_is_not_made_twice() {
    let scene = Scene::new("");
    scene.proxy.trap(MINE, Fate::RequestLate(500), || {});
    assert_eq!(scene.commit().unwrap(), [CommitOutcome::Committed]);
    scene.is_done_once();
    // Until the request has arrived, and a moment longer.
    std::thread::sleep(std::time::Duration::from_millis(1_000));
    scene.is_done_once();
}

pub fn a_lost_answer_is_recognised_after_later_writes() {
    let scene = Scene::new("");
    scene.proxy.trap(MINE, Fate::AnswerLost, scene.others(30));
    assert_eq!(scene.commit().unwrap(), [CommitOutcome::Committed]);
    assert_eq!(scene.past.load(KEY).unwrap().version, 32);
    assert_eq!(scene.past.history(KEY, 10).unwrap(), added());
}

pub fn a_commit_that_never_arrived_and_was_overtaken_is_stale() {
    let scene = Scene::new("");
    scene.proxy.trap(MINE, Fate::RequestLost, scene.others(30));
    let outcomes = scene.commit().unwrap();
    let [CommitOutcome::Stale(present)] = outcomes.as_slice() else { panic!("{outcomes:?}") };
    assert_eq!((present.version, present.data.as_deref()), (31, Some(&b"theirs"[..])));
    assert_eq!(scene.past.history(KEY, 10).unwrap(), Vec::<String>::new());
}

pub fn a_commit_with_too_many_writes_after_it_is_in_doubt() {
    for fate in [Fate::AnswerLost, Fate::RequestLost] {
        let scene = Scene::new("");
        scene.proxy.trap(MINE, fate, scene.others(100));
        assert!(matches!(scene.commit(), Err(StoreError::InDoubt { .. })), "{fate:?}");
    }
}

pub fn a_commit_without_any_answer_is_in_doubt_in_time() {
    let scene = Scene::new("timeout=3s");
    scene.proxy.trap(MINE, Fate::AnswerLost, || {});
    std::thread::scope(|scope| {
        let committing = scope.spawn(|| scene.commit());
        until("the answer is lost", || scene.proxy.is_sprung().then_some(()));
        scene.proxy.cut();
        // Done before the cut or in doubt, and no other error.
        match committing.join().unwrap() {
            Ok(outcomes) => assert_eq!(outcomes, [CommitOutcome::Committed]),
            Err(error) => assert!(matches!(error, StoreError::InDoubt { .. }), "{error}"),
        }
    });
    scene.proxy.mend();
    until("it comes back", || scene.through.load(KEY).ok());
}

pub fn each_of_several_writes_is_recognised_for_itself() {
    let scene = Scene::new("");
    let other = Key { dependency: "another", ..KEY };
    scene.proxy.trap(MINE, Fate::AnswerLost, scene.others(3));
    let removal = Write { key: other, based_on: 0, version: 1, data: None, transitions: &[], history: 10 };
    let anew = Write { key: other, based_on: 1, version: 2, data: Some(b"anew"), transitions: &added(), history: 10 };
    let stale = Write { based_on: 0, version: 1, ..write(0, b"stale", &[]) };
    let outcomes = scene.through.commit(&[removal, write(1, MINE, &added()), stale, anew]).unwrap();
    assert!(scene.proxy.is_sprung());
    let done: Vec<bool> = outcomes.iter().map(|outcome| *outcome == CommitOutcome::Committed).collect();
    assert_eq!(done, [true, true, false, true], "{outcomes:?}");
    assert_eq!(scene.past.load(other).unwrap().version, 2);
    assert_eq!(scene.past.history(other, 10).unwrap(), added());
    assert_eq!(scene.past.load(KEY).unwrap().version, 5);
}
