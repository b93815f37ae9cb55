//! A breaker in front of a dependency, from plain code and from async code.
//!
//! `cargo run --example embed`

use std::time::Duration;

use halfopen::{CallError, Decision, Host, Policy};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // `Host::open("sqlite:breakers.db")` would share the breakers with every process that opens the same file.
    let policy = Policy::new().consecutive_failures(3).open_ms(200);
    let host = Host::builder().address("memory").default_policy(policy).build()?;
    let payments = host.breaker("payments").timeout(Duration::from_secs(2));
    let mut transitions = host.transitions();

    // The dependency is down: three calls fail, the rest are deferred and never reach it.
    for _ in 0..5 {
        match payments.call(|| charge(false)) {
            Ok(receipt) => println!("charged: {receipt}"),
            Err(CallError::Failed(error)) => println!("the call failed: {error}"),
            Err(CallError::Deferred(deferral)) => println!("no call was made: {deferral}"),
            Err(other) => return Err(other.into()),
        }
    }

    // It has healed. The first to come back is the probe.
    std::thread::sleep(Duration::from_millis(300));
    match payments.acquire()? {
        Decision::Probe(guard) => {
            println!("probing under fencing token {:?}", guard.token());
            let recorded = match charge(true) {
                Ok(_) => guard.success()?,
                Err(_) => guard.failure()?,
            };
            // The outcome of a probe is written at once; a success of a closed call may be counted in memory first.
            if let Some(receipt) = recorded.receipt() {
                println!("the breaker is {}", receipt.state);
            }
        }
        other => println!("no probe: {other:?}"),
    }

    // Async code neither blocks its thread nor needs a runtime of a certain kind.
    let charged = futures_lite::future::block_on(payments.call_async(async || charge(true)));
    println!("charged: {charged:?}");

    while let Some(seen) = transitions.next_timeout(Duration::ZERO)? {
        let change = &seen.transition;
        println!("{}: {} to {} ({})", seen.dependency, change.from, change.to, change.reason);
    }
    Ok(())
}

fn charge(up: bool) -> Result<&'static str, &'static str> {
    if up { Ok("receipt 17") } else { Err("connection refused") }
}
