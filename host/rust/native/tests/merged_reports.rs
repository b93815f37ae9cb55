//! Reports that are merged leave the record that they leave one after the other.

use std::sync::Arc;

use halfopen_contract::documents::Policy;
use halfopen_contract::engine::{Answer, Engine, Input, Operation, Request};
use halfopen_contract::entropy::Entropy;
use halfopen_contract::store::Snapshot;
use halfopen_contract::types::{Outcome, Permit, Report, Tally};
use halfopen_native::NativeEngine;

const PERMIT: Permit = Permit { epoch: 1_000, lease: None };

fn request(operation: Operation) -> Request {
    Request { dependency: "payments".into(), operation }
}

fn failure(number: u64) -> Request {
    let report = Report::new(Outcome::Failure).caller("worker").cause(format!("failure {number}"));
    request(Operation::Report { permit: PERMIT, report })
}

fn successes(successes: u64) -> Request {
    request(Operation::ReportTally { permit: PERMIT, tally: Tally { successes, ..Tally::default() } })
}

/// The record after these reports at one instant.
fn record(engine: &NativeEngine, requests: &[Request]) -> Option<Vec<u8>> {
    let entropy = Arc::new(Entropy::new(Some(1)));
    let mut snapshot = Snapshot { version: 1, ..Snapshot::default() };
    for request in requests {
        let input = Input { request, snapshot: &snapshot, now: 1_800_000_000_000, entropy: &entropy };
        let evaluation = engine.evaluate(&input).expect("the rules take it");
        assert!(matches!(evaluation.answer, Answer::Receipt(receipt) if receipt.is_applied()), "{request:?}");
        snapshot.data = evaluation.write.expect("it writes").data;
    }
    snapshot.data
}

fn merged(mut requests: Vec<Request>) -> Vec<Request> {
    let later = requests.split_off(1);
    for request in later {
        if !requests.last_mut().expect("there is one").merge(&request) {
            requests.push(request);
        }
    }
    requests
}

#[test]
fn merged_reports_leave_the_record_of_single_ones() {
    let policies = [
        Policy::new().consecutive_failures(0).failure_rate_off(),
        // The last of them trips: the trip says what the window held.
        Policy::new().consecutive_failures(13).failure_rate_off().jitter_percent(0),
    ];
    for policy in policies {
        let engine = NativeEngine::new(&policy).expect("the policy is valid");
        let mut requests = vec![failure(1), successes(5), failure(2), failure(3), successes(2)];
        requests.extend((1..=13).map(failure));
        let merged = merged(requests.clone());
        assert_eq!(merged.len(), 3, "{merged:?}");
        assert_eq!(record(&engine, &merged), record(&engine, &requests));
    }
}
