//! Components that misbehave: each gets a typed error in bounded time, nothing is written, and the host serves on.

mod wat;

use std::sync::Arc;
use std::time::Duration;

use halfopen::engine::Operation;
use halfopen::store::{Key, MemoryStore, Store};
use halfopen::{
    Breaker, BreakerError, Component, ComponentError, Decision, EngineError, Host, Limits, Mode, OpenError, Outcome,
    Permit, Policy, State, Tally,
};

use self::wat::Wat;

const LIMITS: Limits = Limits { call: Duration::from_millis(200), memory: 4 << 20 };
const PERMIT: Permit = Permit { epoch: 0, lease: None };

/// A store with the record of "a" in it, which the real component has written: open.
fn store() -> Arc<MemoryStore> {
    let store = Arc::new(MemoryStore::new());
    let breaker = host(&store, Component::embedded()).breaker("a");
    breaker.report_tally(PERMIT, Tally { failures: 5, ..Tally::default() }).unwrap();
    assert_eq!(breaker.inspect().unwrap().state, State::Open);
    store
}

fn host(store: &Arc<MemoryStore>, component: Component) -> Host {
    Host::builder().shared_store(store.clone()).component(component).limits(LIMITS).build().unwrap()
}

fn open_error(bytes: Vec<u8>) -> OpenError {
    let component = Component::from_bytes(bytes).unwrap();
    Host::builder().component(component).limits(LIMITS).build().map(|_| ()).unwrap_err()
}

fn all_that_is_kept(store: &MemoryStore) -> Vec<(String, u64, Option<Vec<u8>>, usize)> {
    let names = store.list("default").unwrap();
    let kept = names.into_iter().map(|name| {
        let key = Key { namespace: "default", dependency: &name };
        let snapshot = store.load(key).unwrap();
        let history = store.history(key, usize::MAX).unwrap().len();
        (name, snapshot.version, snapshot.data, history)
    });
    kept.collect()
}

type Perform = fn(&Breaker) -> Result<(), BreakerError>;

/// All operations, by the name of the export.
const OPERATIONS: [(&str, Perform); 12] = [
    ("acquire", |b| b.acquire().map(drop)),
    ("report", |b| b.report(PERMIT, Outcome::Failure).map(drop)),
    ("report-tally", |b| b.report_tally(PERMIT, Tally { failures: 1, ..Tally::default() }).map(drop)),
    ("renew", |b| b.renew(PERMIT).map(drop)),
    ("release", |b| b.release(PERMIT).map(drop)),
    // The documents in the answers are not read: these components have none.
    ("inspect", |b| b.perform(Operation::Inspect).map(drop)),
    ("policy", |b| b.perform(Operation::Policy).map(drop)),
    ("configure", |b| b.configure(&Policy::new(), "note").map(drop)),
    ("force", |b| b.force(Mode::Open, None, "note").map(drop)),
    ("reset", |b| b.reset("").map(drop)),
    ("forget", |b| b.forget("").map(drop)),
    ("prune", |b| b.prune(Duration::ZERO).map(drop)),
];

fn operation(of: &str) -> Perform {
    OPERATIONS.iter().find(|(name, _)| *name == of).unwrap().1
}

/// Lets a component misbehave in one export, several times, and shows that the host takes no harm.
fn fault_of(export: &str, wat: &Wat) -> EngineError {
    let store = store();
    let before = all_that_is_kept(&store);
    let host = host(&store, Component::from_bytes(wat.component()).unwrap());
    let breaker = host.breaker("a");
    let mut fault = None;
    // Another export of the same component, which works in an instance that has not been hurt.
    let (other, sound) =
        if export == "acquire" { ("reset", operation("reset")) } else { ("acquire", operation("acquire")) };
    for _ in 0..3 {
        match operation(export)(&breaker) {
            Err(BreakerError::Engine(found)) => fault = Some(found),
            other => panic!("{export} came to {other:?}"),
        }
        assert_eq!(sound(&breaker), Ok(()), "{other} works after {export} has failed");
    }
    assert_eq!(all_that_is_kept(&store), before, "nothing is written");
    let good = self::host(&store, Component::embedded()).breaker("a");
    assert!(matches!(good.acquire(), Ok(Decision::Defer(_))), "a good component finds the record as it was");
    fault.unwrap()
}

fn traps(export: &str, body: &str) {
    let fault = fault_of(export, &Wat::default().body(export, body));
    assert!(matches!(fault, EngineError::Trapped { .. }), "{body}: {fault}");
}

fn breaks_the_contract(export: &str, body: &str) {
    let fault = fault_of(export, &Wat::default().body(export, body));
    assert!(matches!(fault, EngineError::Broken { .. } | EngineError::Trapped { .. }), "{body}: {fault}");
}

#[test]
fn an_endless_loop_is_stopped_in_every_function() {
    for (export, _) in OPERATIONS {
        let fault = fault_of(export, &Wat::default().body(export, "(loop (br 0)) (unreachable)"));
        assert_eq!(fault, EngineError::TimedOut { limit: LIMITS.call }, "{export}");
    }
}

#[test]
fn an_endless_loop_of_calls_to_the_host_is_stopped() {
    // What the host answers is put far behind the name, in the same place each time.
    let again = "(global.set $next (i32.const 0x8000))";
    let reads = format!("(loop {again} (drop (call $version (local.get 0) (local.get 1))) (br 0)) (unreachable)");
    let fault = fault_of("inspect", &Wat::default().body("inspect", &reads));
    assert_eq!(fault, EngineError::TimedOut { limit: LIMITS.call });
    let writes = format!("(loop {again} (call $commit (local.get 0) (local.get 1)) (br 0)) (unreachable)");
    let fault = fault_of("inspect", &Wat::default().body("inspect", &writes));
    assert_eq!(fault, EngineError::TimedOut { limit: LIMITS.call });
}

#[test]
fn an_endless_loop_in_the_passing_of_arguments_is_stopped() {
    let arguments = "(if (global.get $hurt) (then (loop (br 0)))) (i32.const 8192)";
    let wat = Wat::default().body(
        "inspect",
        "(global.set $hurt (i32.const 1)) (drop (call $version (local.get 0) (local.get 1))) (i32.const 1024)",
    );
    let fault = fault_of("inspect", &wat.realloc(arguments));
    assert_eq!(fault, EngineError::TimedOut { limit: LIMITS.call }, "while it makes room for what it loads");
    let cleans_up = r#"(func (export "cabi_post_halfopen:breaker/control@0.1.0#inspect") (param i32) (loop (br 0)))"#;
    let fault = fault_of("inspect", &Wat::default().with(cleans_up));
    assert_eq!(fault, EngineError::TimedOut { limit: LIMITS.call }, "while it cleans up");
}

#[test]
fn memory_that_grows_ends_at_the_limit() {
    let at_once = "(if (i32.eq (memory.grow (i32.const 1000)) (i32.const -1)) (then unreachable)) (i32.const 1024)";
    let by_and_by = "(loop (br_if 0 (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) (unreachable)";
    for body in [at_once, by_and_by] {
        let fault = fault_of("inspect", &Wat::default().body("inspect", body));
        assert_eq!(fault, EngineError::OutOfMemory { limit: LIMITS.memory }, "{body}");
    }
}

#[test]
fn many_memories_have_one_limit_together() {
    let memories: String = (0..20).map(|at| format!("(memory $m{at} 1)")).collect();
    let grow: String = (0..20).map(|at| format!("(drop (memory.grow $m{at} (i32.const 32)))")).collect();
    let wat = Wat::default().with(&memories).body("inspect", &format!("{grow} (unreachable)"));
    assert_eq!(fault_of("inspect", &wat), EngineError::OutOfMemory { limit: LIMITS.memory });
    let at_once = Wat::default().with(&memories.replace(" 1)", " 32)"));
    let error = open_error(at_once.component());
    assert!(matches!(error, OpenError::Engine(EngineError::OutOfMemory { .. })), "{error:?}");
}

#[test]
fn a_trap_is_named() {
    traps("inspect", "unreachable");
    traps("acquire", "(i32.div_u (i32.const 1) (i32.const 0))");
    traps("report", "(i32.load (i32.const 0x7ffffff0))");
    let deep = Wat::default().with("(func $deep (result i32) (call $deep))").body("policy", "(call $deep)");
    let fault = fault_of("policy", &deep);
    assert!(matches!(&fault, EngineError::Trapped { why } if why.contains("stack")), "{fault}");
}

#[test]
fn after_a_trap_another_instance_serves() {
    let hurts = "(global.set $hurt (i32.const 1)) (unreachable)";
    let tells = "(if (global.get $hurt) (then (return (call $err (i32.const 0) (i32.const 0))))) (i32.const 1024)";
    let wat = Wat::default().body("inspect", hurts).body("acquire", tells);
    assert!(matches!(fault_of("inspect", &wat), EngineError::Trapped { .. }), "acquire works after it, three times");
    let lasts =
        Wat::default().body("inspect", "(global.set $hurt (i32.const 1)) (i32.const 1024)").body("acquire", tells);
    let breaker = host(&store(), Component::from_bytes(lasts.component()).unwrap()).breaker("a");
    breaker.perform(Operation::Inspect).unwrap();
    assert!(breaker.acquire().is_err(), "without a trap the instance is the same: acquire would have told");
}

#[test]
fn a_commit_before_an_error_or_a_trap_is_dropped() {
    let commits = "(call $commit (local.get 0) (local.get 1))";
    let ends = [
        "(unreachable)",
        "(loop (br 0)) (unreachable)",
        "(drop (memory.grow (i32.const 1000))) (unreachable)",
        "(i32.const 0x7ffffff0)",
        "(i32.store8 (i32.const 2048) (i32.const 77)) (i32.const 2048)",
    ];
    for end in ends {
        for export in ["acquire", "inspect", "reset", "forget"] {
            fault_of(export, &Wat::default().body(export, &format!("{commits} {end}")));
        }
    }
    // An error is an answer, and what was committed before it is dropped all the same.
    let store = store();
    let before = all_that_is_kept(&store);
    let wat = Wat::default().body("reset", &format!("{commits} (call $err (i32.const 0) (i32.const 0))"));
    let breaker = host(&store, Component::from_bytes(wat.component()).unwrap()).breaker("a");
    assert!(matches!(breaker.reset(""), Err(BreakerError::InvalidDependency { .. })));
    assert_eq!(all_that_is_kept(&store), before);
    // With ok it is kept, so that the tests above show something.
    let wat = Wat::default().body("reset", &format!("{commits} (i32.const 1024)"));
    host(&store, Component::from_bytes(wat.component()).unwrap()).breaker("a").reset("").unwrap();
    assert_ne!(all_that_is_kept(&store), before);
}

#[test]
fn answers_that_are_none_are_refused() {
    let tag = |at: i32, tag: i32| format!("(i32.store8 (i32.const {at}) (i32.const {tag})) (i32.const 2048)");
    // Neither ok nor err; a decision, a verdict, a state, an option and an error that do not exist.
    breaks_the_contract("acquire", &tag(2048, 2));
    breaks_the_contract("acquire", &tag(2056, 3));
    breaks_the_contract("report", &tag(2056, 2));
    breaks_the_contract("report", &tag(2072, 3));
    breaks_the_contract("report", &tag(2080, 2));
    breaks_the_contract("force", &format!("(i32.store8 (i32.const 2048) (i32.const 1)) {}", tag(2056, 9)));
    // Answers at places where there is no memory, and at odd ones.
    for at in ["0x7ffffff0", "-1", "131071", "131064", "1025"] {
        for (export, _) in OPERATIONS {
            breaks_the_contract(export, &format!("(i32.const {at})"));
        }
    }
    // A text that is no UTF-8, one beyond the memory, and one without an end.
    breaks_the_contract(
        "reset",
        "(i32.store8 (i32.const 3000) (i32.const 0xff)) (call $err (i32.const 3000) (i32.const 1))",
    );
    breaks_the_contract("reset", "(call $err (i32.const 131070) (i32.const 10))");
    breaks_the_contract("reset", "(call $err (i32.const 1) (i32.const -1))");
}

#[test]
fn arguments_for_the_host_that_are_none_are_refused() {
    let commit = |data: &str, transitions: &str| {
        format!(
            "(call $import (local.get 0) (local.get 1) (i64.const 0) {data} {transitions} (i32.const 4096)) (i32.const 1024)"
        )
    };
    let nothing = "(i32.const 0) (i32.const 0)";
    for body in [
        commit("(i32.const 1) (i32.const 131070) (i32.const 10)", nothing),
        commit("(i32.const 1) (i32.const 0) (i32.const -1)", nothing),
        commit("(i32.const 2) (i32.const 0) (i32.const 0)", nothing),
        commit("(i32.const 0) (i32.const 0) (i32.const 0)", "(i32.const 131064) (i32.const 10)"),
        commit("(i32.const 0) (i32.const 0) (i32.const 0)", "(i32.const 0) (i32.const -1)"),
        "(drop (call $version (i32.const 131070) (i32.const 10))) (i32.const 1024)".to_owned(),
        "(i32.store8 (i32.const 3000) (i32.const 0xff)) (drop (call $version (i32.const 3000) (i32.const 1))) (i32.const 1024)"
            .to_owned(),
        "(call $load (local.get 0) (local.get 1) (i32.const 131070)) (i32.const 1024)".to_owned(),
    ] {
        breaks_the_contract("inspect", &body);
    }
    for place in ["0x7ffffff0", "-1", "8193"] {
        let arguments =
            format!("(if (result i32) (global.get $hurt) (then (i32.const {place})) (else (i32.const 8192)))");
        let body =
            "(global.set $hurt (i32.const 1)) (drop (call $version (local.get 0) (local.get 1))) (i32.const 1024)";
        let wat = Wat::default().body("inspect", body).realloc(&arguments);
        let store = store();
        let breaker = host(&store, Component::from_bytes(wat.component()).unwrap()).breaker("a");
        let found = breaker.perform(Operation::Inspect);
        // Bytes have no alignment, so an odd place for them is as good as any.
        assert!(matches!(found, Err(BreakerError::Engine(_))) || place == "8193", "{place}: {found:?}");
    }
}

#[test]
fn a_call_about_one_dependency_does_not_write_to_another() {
    // "b" stands at 3000.
    let other =
        "(i32.store8 (i32.const 3000) (i32.const 98)) (call $commit (i32.const 3000) (i32.const 1)) (i32.const 1024)";
    let store = store();
    let before = all_that_is_kept(&store);
    let wat = Wat::default().body("reset", other);
    host(&store, Component::from_bytes(wat.component()).unwrap()).breaker("a").reset("").unwrap();
    assert_eq!(all_that_is_kept(&store), before);
}

#[test]
fn a_flood_of_commits_ends_before_it_fills_the_hosts_memory() {
    // 1,600 transitions in each commit; it goes on until one is refused.
    let floods = "(loop
        (call $import (local.get 0) (local.get 1) (call $version (local.get 0) (local.get 1))
            (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 65536) (i32.const 1600) (i32.const 4096))
        (br_if 0 (i32.eqz (i32.load8_u (i32.const 4096)))))
        (unreachable)";
    let patient = Limits { call: Duration::from_secs(600), ..LIMITS };
    let component = Component::from_bytes(Wat::default().body("inspect", floods).component()).unwrap();
    let host = Host::builder().component(component).limits(patient).build().unwrap();
    let error = host.breaker("a").perform(Operation::Inspect).unwrap_err();
    assert!(matches!(error, BreakerError::Engine(EngineError::Trapped { .. })), "{error}");
    assert_eq!(host.list().unwrap(), Vec::<String>::new());
}

#[test]
fn an_answer_larger_than_the_instances_memory_is_refused() {
    // A list of 100,000 faults, 16 bytes each, which all hold one and the same text of 60,000 bytes.
    let large = "(local $at i32)
        (local.set $at (i32.const 131072))
        (drop (memory.grow (i32.const 30)))
        (loop
            (i32.store (i32.add (local.get $at) (i32.const 4)) (i32.const 60000))
            (i32.store (i32.add (local.get $at) (i32.const 12)) (i32.const 60000))
            (local.set $at (i32.add (local.get $at) (i32.const 16)))
            (br_if 0 (i32.lt_u (local.get $at) (i32.const 1731072))))
        (drop (call $err (i32.const 131072) (i32.const 100000)))
        (i32.store8 (i32.const 2056) (i32.const 1))
        (i32.const 2048)";
    let fault = fault_of("configure", &Wat::default().body("configure", large));
    assert!(!matches!(fault, EngineError::TimedOut { .. }), "{fault}");
}

#[test]
fn memory_refused_to_an_earlier_call_is_not_blamed() {
    let modest = "(drop (memory.grow (i32.const 1000))) (i32.const 1024)";
    let wat = Wat::default().body("policy", modest).body("inspect", "unreachable");
    let breaker = host(&store(), Component::from_bytes(wat.component()).unwrap()).breaker("a");
    breaker.perform(Operation::Policy).unwrap();
    let error = breaker.perform(Operation::Inspect).unwrap_err();
    assert!(matches!(error, BreakerError::Engine(EngineError::Trapped { .. })), "{error}");
}

#[test]
fn a_component_that_fails_from_the_start_cannot_be_opened() {
    for (bad, wanted) in [
        (Wat::default().body("set-default-policy", "unreachable"), "trapped"),
        (Wat::default().body("set-default-policy", "(loop (br 0)) (unreachable)"), "longer than 200 ms"),
        (Wat::default().with("(func $start (loop (br 0))) (start $start)"), "longer than 200 ms"),
        (Wat::default().with("(func $start (unreachable)) (start $start)"), "trapped"),
        (Wat::default().with("(memory $big 100)"), "memory"),
        (Wat::default().with("(table 1000000 funcref)"), "table"),
    ] {
        let error = open_error(bad.component());
        assert!(matches!(error, OpenError::Engine(_)), "{error:?}");
        assert!(error.to_string().contains(wanted), "{error}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

#[test]
fn a_file_that_is_no_component_is_refused_by_name() {
    let text = Component::from_bytes("a text").unwrap_err();
    assert!(matches!(text, ComponentError::NotAComponent { .. }), "{text}");
    let empty = Component::from_bytes("").unwrap_err();
    assert!(matches!(empty, ComponentError::NotAComponent { .. }), "{empty}");
    let module = Component::from_bytes(::wat::parse_str("(module)").unwrap()).unwrap_err();
    assert!(matches!(module, ComponentError::CoreModule { .. }), "{module}");
    let real = Component::embedded().bytes().to_vec();
    for cut in [8, 9, 100, real.len() / 2, real.len() - 1] {
        let error = open_error(real[..cut].to_vec());
        assert!(matches!(error, OpenError::Component(_)), "cut after {cut} bytes: {error:?}");
    }
}

#[test]
fn another_world_is_refused_by_name() {
    let import = |name: &str, functions: &str| {
        ::wat::parse_str(format!(r#"(component (import "{name}" (instance {functions})))"#)).unwrap()
    };
    let wasi = import("wasi:cli/environment@0.2.0", r#"(export "get-arguments" (func (result (list string))))"#);
    let error = open_error(wasi);
    assert!(matches!(error, OpenError::Component(ComponentError::OtherImports { .. })), "{error:?}");
    assert!(error.to_string().contains("wasi:cli/environment@0.2.0"), "{error}");
    let later = import("halfopen:breaker/clock@0.2.0", r#"(export "now" (func (result u64)))"#);
    let error = open_error(later);
    assert!(matches!(error, OpenError::Component(ComponentError::OtherWorld { .. })), "{error:?}");
    assert!(error.to_string().contains("clock@0.2.0"), "{error}");
    let nothing = ::wat::parse_str("(component)").unwrap();
    let error = open_error(nothing);
    assert!(matches!(error, OpenError::Component(ComponentError::OtherWorld { .. })), "{error:?}");
    assert!(error.to_string().contains("does not export"), "{error}");
    let other_types = import("halfopen:breaker/clock@0.1.0", r#"(export "now" (func (result string)))"#);
    let error = open_error(other_types);
    assert!(matches!(error, OpenError::Component(ComponentError::OtherWorld { .. })), "{error:?}");
}
