//! The layer and its store: the threads that use it, and a store that fails.

use std::collections::HashSet;
use std::convert::Infallible;
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::thread::{self, ThreadId};

use ::http::{Request, Response, StatusCode};
use futures_lite::future::block_on;
use tower_layer::Layer;
use tower_service::Service;

use super::tests::{MS, due, service, wait_until};
use super::*;
use crate::tests::{Watched, down};
use crate::{Breaker, BreakerError, CallError, Host, HostBuilder, OnStoreError, Policy, State};

/// The threads that use a store, and whether it fails.
#[derive(Default)]
struct Use {
    threads: Mutex<HashSet<ThreadId>>,
    down: AtomicBool,
}

impl Use {
    fn threads(&self) -> HashSet<ThreadId> {
        self.threads.lock().unwrap().clone()
    }
}

/// A breaker whose first failure trips it.
fn watched(builder: HostBuilder, fresh_ms: u64) -> (Arc<Use>, Breaker) {
    let used: Arc<Use> = Arc::default();
    let seen = used.clone();
    let store = Watched::with(move |_| {
        seen.threads.lock().unwrap().insert(thread::current().id());
        if seen.down.load(Ordering::SeqCst) { Err(down()) } else { Ok(()) }
    });
    let policy = Policy::new().consecutive_failures(1).fresh_ms(fresh_ms);
    let host = builder.store(store).default_policy(policy).build().unwrap();
    (used, host.breaker("a"))
}

/// Whether it was woken.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn no_thread_that_polls_a_call_reads_or_writes_the_store() {
    for fresh_ms in [0, 250] {
        let (store, breaker) = watched(Host::builder(), fresh_ms);
        let layer = BreakerLayer::new(breaker.clone().timeout(50 * MS));
        let operate = move |work: fn(&Breaker)| {
            let breaker = breaker.clone();
            thread::spawn(move || work(&breaker)).join().unwrap();
        };
        let is_open: fn(&Breaker) =
            |breaker| wait_until("the report", || breaker.inspect().unwrap().state == State::Open);
        let executor = thread::spawn(move || {
            let answer = |n: u32| async move {
                match n {
                    0 => Ok("receipt"),
                    1 => Err("down"),
                    2 => resume_unwind(Box::new("bang")),
                    _ => pending().await,
                }
            };
            let mut service = layer.layer(service(answer));
            let mut send = |n: u32| {
                let call = service.call(n);
                // Gone when it panics, as with an executor's task.
                catch_unwind(AssertUnwindSafe(move || block_on(call)))
            };
            for n in 1..=3 {
                operate(|breaker| drop(breaker.reset("").unwrap()));
                assert_eq!(send(0).unwrap(), Ok("receipt"));
                assert_eq!(send(0).unwrap(), Ok("receipt"));
                assert!(!matches!(send(n), Ok(Ok(_))));
                operate(is_open);
                assert!(matches!(send(0).unwrap(), Err(CallError::Deferred(_))));
                operate(due);
                // The probe.
                assert!(!matches!(send(n), Ok(Ok(_))));
                operate(is_open);
            }
            thread::current().id()
        });
        let executor = executor.join().unwrap();
        assert!(!store.threads().contains(&executor), "fresh_ms = {fresh_ms}");
    }
}

#[test]
fn a_dropped_call_gives_its_permit_back_on_another_thread() {
    let (store, breaker) = watched(Host::builder(), 0);
    due(&breaker);
    let (seen, made) = (breaker.clone(), Arc::new(AtomicBool::new(false)));
    let making = made.clone();
    let hang = move |()| {
        making.store(true, Ordering::SeqCst);
        pending::<Result<(), ()>>()
    };
    let mut service = BreakerLayer::new(breaker).layer(service(hang));
    let executor = thread::spawn(move || {
        let woken = Arc::new(Woken::default());
        let mut call = service.call(());
        assert!(Pin::new(&mut call).poll(&mut Context::from_waker(&Waker::from(woken.clone()))).is_pending());
        // The lease has been granted; seldom it was at once.
        wait_until("the answer", || woken.0.load(Ordering::SeqCst) || made.load(Ordering::SeqCst));
        drop(call);
        thread::current().id()
    });
    let executor = executor.join().unwrap();
    wait_until("the release", || seen.inspect().unwrap().leases.is_empty());
    let inspection = seen.inspect().unwrap();
    assert_eq!((inspection.state, inspection.probe_due), (State::HalfOpen, true));
    assert!(!store.threads().contains(&executor));
}

#[test]
fn while_the_store_fails_calls_go_by_on_store_error() {
    for (choice, made) in
        [(OnStoreError::FailClosed, false), (OnStoreError::FailOpen, true), (OnStoreError::LastKnown, true)]
    {
        let (store, breaker) = watched(Host::builder().on_store_error(choice), 0);
        let mut plain = BreakerLayer::new(breaker.clone()).layer(service(|()| async { Ok::<_, ()>("receipt") }));
        let respond = |_: Request<()>| async { Ok::<_, Infallible>(Response::new("receipt".to_owned())) };
        let mut http = BreakerLayer::http(breaker).layer(service(respond));
        assert_eq!(block_on(plain.call(())), Ok("receipt"));
        store.down.store(true, Ordering::SeqCst);
        let (answer, response) = (block_on(plain.call(())), block_on(http.call(Request::new(()))).unwrap());
        if made {
            assert_eq!((answer, response.status()), (Ok("receipt"), StatusCode::OK), "{choice:?}");
        } else {
            assert!(matches!(answer, Err(CallError::Breaker(BreakerError::Store(_)))), "{answer:?}");
            assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert!(!response.headers().contains_key("retry-after"), "no time is known");
        }
    }
}

#[test]
fn a_store_that_fails_during_a_call_takes_no_response_away() {
    let (store, breaker) = watched(Host::builder(), 0);
    let down = store.clone();
    let answer = move |up: bool| {
        down.down.store(true, Ordering::SeqCst);
        async move { if up { Ok("receipt") } else { Err("refused") } }
    };
    let mut service = BreakerLayer::new(breaker.clone()).layer(service(answer));
    assert_eq!(block_on(service.call(true)), Ok("receipt"));
    store.down.store(false, Ordering::SeqCst);
    wait_until("the success", || breaker.inspect().unwrap().calls == 1);
    assert_eq!(block_on(service.call(false)), Err(CallError::Failed("refused")));
    store.down.store(false, Ordering::SeqCst);
    wait_until("the failure", || breaker.inspect().unwrap().state == State::Open);
}
