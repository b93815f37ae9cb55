//! Leases on machines whose clocks may differ.

use std::time::Duration;

use halfopen::{BreakerError, Host, OpenError};
use halfopen_tests::breakers::{make_due, policy};

use super::host;
use super::server::Cluster;

pub fn a_lease_below_twice_the_skew_is_refused() {
    let cluster = Cluster::single(&[]);
    let (wide, narrow) = (cluster.address(&[0], "lease?max_skew=2s"), cluster.address(&[0], "lease?max_skew=1s"));
    let short = policy().lease_ms(3_999);
    let long = policy().lease_ms(4_000);
    let names_it = |text: String| assert!(text.contains("lease_ms") && text.contains("3999, below 4000"), "{text}");
    match Host::builder().address(&wide).default_policy(short.clone()).build() {
        Err(error @ OpenError::InvalidPolicy(_)) => names_it(error.to_string()),
        other => panic!("as the default: {other:?}"),
    }
    let breaker = host(&wide, &long).breaker("pay");
    let error = breaker.configure(&short, "").expect_err("it is too short");
    assert!(matches!(error, BreakerError::InvalidPolicy(_)), "{error}");
    names_it(error.to_string());
    breaker.configure(&long.open_ms(2), "").expect("it is long enough");
    // Another process, with a bound of its own, may have configured it.
    let other = host(&narrow, &short).breaker("pay");
    other.configure(&short, "").expect("it is long enough for the smaller bound");
    make_due(&other);
    names_it(breaker.acquire().map(drop).expect_err("a probe under it").to_string());
    assert!(breaker.inspect().expect("an inspection").leases.is_empty(), "nothing was written");
    std::thread::sleep(Duration::from_millis(1));
    assert!(matches!(other.acquire(), Ok(halfopen::Decision::Probe(_))));
}
