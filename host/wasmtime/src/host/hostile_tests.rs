//! Components that misbehave: a typed error in bounded time, and the host serves on.

use std::time::Duration;

use super::*;
use crate::testing::hostile;
use crate::wire::State;
use crate::{BreakerError, ComponentFault, Decision, Limits};

fn host(bodies: &[(&str, &str)]) -> Host {
    let limits = Limits { call: Duration::from_millis(50), memory: 4 << 20 };
    let component = Component::from_bytes(hostile(bodies)).unwrap();
    Host::builder().component(component).limits(limits).build().unwrap()
}

/// The fault of `inspect`, and that `acquire` works before and after.
fn fault_of_inspect(body: &str) -> ComponentFault {
    let host = host(&[("inspect", body)]);
    let breaker = host.breaker("a");
    let mut fault = None;
    for _ in 0..3 {
        assert!(matches!(breaker.acquire(), Ok(Decision::Proceed(_))));
        match breaker.inspect() {
            Err(BreakerError::Component(found)) => fault = Some(found),
            other => panic!("{other:?}"),
        }
    }
    fault.unwrap()
}

#[test]
fn an_endless_loop_is_stopped() {
    let fault = fault_of_inspect("(loop (br 0)) (unreachable)");
    assert_eq!(fault, ComponentFault::TimedOut { limit: Duration::from_millis(50) });
}

#[test]
fn a_trap_is_named() {
    assert!(matches!(fault_of_inspect("unreachable"), ComponentFault::Trapped { why } if why.contains("unreachable")));
    assert!(matches!(fault_of_inspect("(i32.div_u (i32.const 1) (i32.const 0))"), ComponentFault::Trapped { .. }));
    let beyond = "(i32.load (i32.const 0x7ffffff0))";
    assert!(matches!(fault_of_inspect(beyond), ComponentFault::Trapped { .. }));
}

#[test]
fn growing_memory_ends_at_the_limit() {
    let grow = "(if (i32.eq (memory.grow (i32.const 1000)) (i32.const -1)) (then unreachable)) (i32.const 0)";
    assert_eq!(fault_of_inspect(grow), ComponentFault::OutOfMemory { limit: 4 << 20 });
}

#[test]
fn a_stack_that_never_ends_is_a_trap() {
    // A function calls itself through its own export index: the table of this module has no other way.
    let host = host(&[("inspect", "(call $deep)"), ("policy", "(i32.const 0)) (func $deep (result i32) (call $deep)")]);
    match host.breaker("a").inspect() {
        Err(BreakerError::Component(ComponentFault::Trapped { why })) => assert!(why.contains("stack"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn answers_that_the_contract_does_not_allow_are_refused() {
    // A pointer beyond the memory, and an answer whose case does not exist.
    assert!(matches!(
        fault_of_inspect("(i32.const 0x7ffffff0)"),
        ComponentFault::Broken { .. } | ComponentFault::Trapped { .. }
    ));
    let odd = "(i32.store8 (i32.const 2048) (i32.const 77)) (i32.const 2048)";
    assert!(matches!(fault_of_inspect(odd), ComponentFault::Broken { .. }));
}

#[test]
fn what_was_committed_before_a_trap_is_dropped() {
    let host = host(&[
        ("reset", "(call $commit (local.get 0) (local.get 1)) (unreachable)"),
        ("forget", "(call $commit (local.get 0) (local.get 1)) (i32.const 1024)"),
    ]);
    assert!(matches!(host.breaker("a").reset(), Err(BreakerError::Component(_))));
    assert_eq!(host.list().unwrap(), Vec::<String>::new());
    assert!(host.breaker("a").forget().is_ok());
    assert_eq!(host.list().unwrap(), ["a"]);
}

#[test]
fn a_component_that_fails_from_the_start_cannot_be_opened() {
    for (body, wanted) in [("unreachable", "trapped"), ("(loop (br 0)) (unreachable)", "longer than")] {
        let component = Component::from_bytes(hostile(&[("set-default-policy", body)])).unwrap();
        let limits = Limits { call: Duration::from_millis(50), ..Limits::default() };
        let error = Host::builder().component(component).limits(limits).build().unwrap_err();
        assert!(matches!(error, OpenError::Setup(_)) && error.to_string().contains(wanted), "{error}");
    }
    let small = Limits { memory: 1 << 12, ..Limits::default() };
    let error = Host::builder().limits(small).build().unwrap_err();
    assert!(matches!(error, OpenError::Setup(ComponentFault::OutOfMemory { .. })), "{error}");
}

#[test]
fn a_state_machine_from_a_file_decides_in_the_embedded_ones_place() {
    let temp = crate::testing::TempDir::new();
    let path = temp.path().join("mine.wasm");
    let bytes = hostile(&[]);
    std::fs::write(&path, &bytes).unwrap();
    let component = Component::from_file(&path).unwrap();
    let hash = component.sha256();
    let host = Host::builder().component(component.pinned(&hash).unwrap()).build().unwrap();
    assert_eq!(host.component().bytes(), bytes);
    assert_eq!(host.breaker("a\nb").inspect().unwrap().state, State::Closed, "this one judges no names");
}

#[test]
fn a_component_of_another_world_is_refused_by_name() {
    let other = wat::parse_str(
        r#"(component
            (import "wasi:cli/environment@0.2.0" (instance (export "get-arguments" (func (result (list string)))))))"#,
    );
    let component = Component::from_bytes(other.unwrap()).unwrap();
    assert_eq!(component.imports().unwrap(), ["wasi:cli/environment@0.2.0#get-arguments"]);
    let error = Host::builder().component(component).build().unwrap_err();
    assert!(error.to_string().contains("wasi:cli/environment"), "{error}");
    let empty = Component::from_bytes(wat::parse_str("(component)").unwrap()).unwrap();
    let error = Host::builder().component(empty).build().unwrap_err();
    assert!(error.to_string().contains("does not export setup, breaker, control"), "{error}");
}
