//! The component: the functions that world `component` exports.
//!
//! They have the shape that the component model gives them in WebAssembly. Arguments come as plain numbers (an option as a
//! tag and a value, a text as its start and length), or as one pointer where they are many; what is answered is a pointer.

use alloc::boxed::Box;

use once_cell::race::OnceBox;

use crate::arena;
use crate::contract::{
    Decision, Error, Inspection, Mode, Outcome, Permit, Policy, PolicyInForce, Receipt, Reply, Tally, Text,
};
use crate::import::Host;
use crate::policy;
use crate::step::{Answer, Request, step};

static DEFAULT: OnceBox<Policy> = OnceBox::new();

/// What a function answers. The host reads it before it calls again.
type Pointer<T> = &'static Reply<T, Error>;

/// # Safety
///
/// A host calls it as the contract says.
#[unsafe(export_name = "halfopen:breaker/setup@0.1.0#set-default-policy")]
unsafe extern "C" fn set_default_policy(policy: *mut Policy) -> Pointer<Policy> {
    // SAFETY: the host hands the arguments over in memory that it got from `cabi_realloc`.
    let policy = unsafe { Box::from_raw(policy) };
    let copy = *policy;
    hand_over(match policy::check(&copy) {
        Err(error) => Reply::Err(error),
        Ok(()) if DEFAULT.set(policy).is_err() => {
            Reply::Err(Error::InvalidArgument("this instance has a default policy already".into()))
        }
        Ok(()) => {
            arena::keep();
            Reply::Ok(copy)
        }
    })
}

#[unsafe(export_name = "halfopen:breaker/setup@0.1.0#built-in-policy")]
extern "C" fn built_in_policy() -> &'static Policy {
    &policy::BUILT_IN
}

/// # Safety
///
/// A host calls it as the contract says.
#[unsafe(export_name = "halfopen:breaker/breaker@0.1.0#acquire")]
unsafe extern "C" fn acquire(name: *mut u8, name_len: usize, caller: *mut u8, caller_len: usize) -> Pointer<Decision> {
    // SAFETY: both are texts from the host.
    hand_over(
        match unsafe { answer(name, name_len, Request::Acquire { caller: Text::from_raw_parts(caller, caller_len) }) } {
            Ok(Answer::Decision(answer)) => Reply::Ok(answer),
            other => mismatch(other),
        },
    )
}

/// # Safety
///
/// A host calls it as the contract says.
#[unsafe(export_name = "halfopen:breaker/breaker@0.1.0#report")]
unsafe extern "C" fn report(
    name: *mut u8,
    name_len: usize,
    epoch: u64,
    has_lease: u32,
    lease: u64,
    outcome: u32,
    has_took: u32,
    took: u64,
) -> Pointer<Receipt> {
    let outcome = match outcome {
        0 => Outcome::Success,
        1 => Outcome::Failure,
        2 => Outcome::Timeout,
        _ => Outcome::Ignored,
    };
    let request = Request::Report { permit: permit(epoch, has_lease, lease), outcome, took: option(has_took, took) };
    // SAFETY: it is a text from the host.
    unsafe { receipt(name, name_len, request) }
}

/// # Safety
///
/// A host calls it as the contract says.
#[unsafe(export_name = "halfopen:breaker/breaker@0.1.0#report-tally")]
unsafe extern "C" fn report_tally(
    name: *mut u8,
    name_len: usize,
    epoch: u64,
    has_lease: u32,
    lease: u64,
    successes: u64,
    slow_successes: u64,
    failures: u64,
    slow_failures: u64,
) -> Pointer<Receipt> {
    let tally = Tally { successes, slow_successes, failures, slow_failures };
    // SAFETY: it is a text from the host.
    unsafe { receipt(name, name_len, Request::ReportTally { permit: permit(epoch, has_lease, lease), tally }) }
}

/// # Safety
///
/// A host calls it as the contract says.
#[unsafe(export_name = "halfopen:breaker/breaker@0.1.0#renew")]
unsafe extern "C" fn renew(name: *mut u8, name_len: usize, epoch: u64, has_lease: u32, lease: u64) -> Pointer<Receipt> {
    // SAFETY: it is a text from the host.
    unsafe { receipt(name, name_len, Request::Renew { permit: permit(epoch, has_lease, lease) }) }
}

/// # Safety
///
/// A host calls it as the contract says.
#[unsafe(export_name = "halfopen:breaker/breaker@0.1.0#release")]
unsafe extern "C" fn release(
    name: *mut u8,
    name_len: usize,
    epoch: u64,
    has_lease: u32,
    lease: u64,
) -> Pointer<Receipt> {
    // SAFETY: it is a text from the host; 3 is `ignored`.
    unsafe { report(name, name_len, epoch, has_lease, lease, 3, 0, 0) }
}

/// # Safety
///
/// A host calls it as the contract says.
#[unsafe(export_name = "halfopen:breaker/control@0.1.0#inspect")]
unsafe extern "C" fn inspect(name: *mut u8, name_len: usize) -> Pointer<Inspection> {
    // SAFETY: it is a text from the host.
    hand_over(match unsafe { answer(name, name_len, Request::Inspect) } {
        Ok(Answer::Inspection(answer)) => Reply::Ok(answer),
        other => mismatch(other),
    })
}

/// # Safety
///
/// A host calls it as the contract says.
#[unsafe(export_name = "halfopen:breaker/control@0.1.0#policy")]
unsafe extern "C" fn policy(name: *mut u8, name_len: usize) -> Pointer<PolicyInForce> {
    // SAFETY: it is a text from the host.
    hand_over(match unsafe { answer(name, name_len, Request::Policy) } {
        Ok(Answer::Policy(answer)) => Reply::Ok(answer),
        other => mismatch(other),
    })
}

/// The arguments of `configure`: too many to come as numbers.
#[repr(C)]
struct Configure {
    name: *mut u8,
    name_len: usize,
    policy: Policy,
}

/// # Safety
///
/// A host calls it as the contract says.
#[unsafe(export_name = "halfopen:breaker/control@0.1.0#configure")]
unsafe extern "C" fn configure(arguments: *mut Configure) -> Pointer<Receipt> {
    // SAFETY: the host hands the arguments over in memory that it got from `cabi_realloc`.
    unsafe {
        let Configure { name, name_len, policy } = *Box::from_raw(arguments);
        receipt(name, name_len, Request::Configure(policy))
    }
}

/// # Safety
///
/// A host calls it as the contract says.
#[unsafe(export_name = "halfopen:breaker/control@0.1.0#force")]
unsafe extern "C" fn force(
    name: *mut u8,
    name_len: usize,
    mode: u32,
    has_lasting: u32,
    lasting: u64,
    note: *mut u8,
    note_len: usize,
) -> Pointer<Receipt> {
    let mode = match mode {
        0 => Mode::Open,
        1 => Mode::Closed,
        _ => Mode::None,
    };
    // SAFETY: both are texts from the host.
    unsafe {
        let note = Text::from_raw_parts(note, note_len);
        receipt(name, name_len, Request::Force { mode, lasting: option(has_lasting, lasting), note })
    }
}

/// # Safety
///
/// A host calls it as the contract says.
#[unsafe(export_name = "halfopen:breaker/control@0.1.0#reset")]
unsafe extern "C" fn reset(name: *mut u8, name_len: usize) -> Pointer<Receipt> {
    // SAFETY: it is a text from the host.
    unsafe { receipt(name, name_len, Request::Reset) }
}

/// # Safety
///
/// A host calls it as the contract says.
#[unsafe(export_name = "halfopen:breaker/control@0.1.0#forget")]
unsafe extern "C" fn forget(name: *mut u8, name_len: usize) -> Pointer<Receipt> {
    // SAFETY: it is a text from the host.
    unsafe { receipt(name, name_len, Request::Forget) }
}

/// # Safety
///
/// A host calls it as the contract says.
#[unsafe(export_name = "halfopen:breaker/control@0.1.0#prune")]
unsafe extern "C" fn prune(name: *mut u8, name_len: usize, idle: u64) -> Pointer<bool> {
    // SAFETY: it is a text from the host.
    hand_over(match unsafe { answer(name, name_len, Request::Prune { idle }) } {
        Ok(Answer::Pruned(answer)) => Reply::Ok(answer),
        other => mismatch(other),
    })
}

fn permit(epoch: u64, has_lease: u32, lease: u64) -> Permit {
    Permit { epoch, lease: option(has_lease, lease).into() }
}

fn option(tag: u32, value: u64) -> Option<u64> {
    (tag != 0).then_some(value)
}

/// # Safety
///
/// The name is a text from the host.
unsafe fn receipt(name: *mut u8, name_len: usize, request: Request) -> Pointer<Receipt> {
    // SAFETY: the caller sees to it.
    hand_over(match unsafe { answer(name, name_len, request) } {
        Ok(Answer::Receipt(receipt)) => Reply::Ok(receipt),
        other => mismatch(other),
    })
}

/// # Safety
///
/// The name is a text from the host.
#[inline(never)]
unsafe fn answer(name: *mut u8, name_len: usize, request: Request) -> Result<Answer, Error> {
    // SAFETY: the caller sees to it.
    let dependency = unsafe { Text::from_raw_parts(name, name_len) };
    step(&mut Host, DEFAULT.get().unwrap_or(&policy::BUILT_IN), &dependency, &request)
}

/// An error. Another answer is never seen: each request has one kind of answer.
fn mismatch<T>(answer: Result<Answer, Error>) -> Reply<T, Error> {
    Reply::Err(answer.err().unwrap_or(Error::Contended))
}

fn hand_over<T>(reply: Reply<T, Error>) -> Pointer<T> {
    let reply = Box::leak(Box::new(reply));
    arena::end_of_call();
    reply
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
