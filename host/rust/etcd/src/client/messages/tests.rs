use super::*;

#[test]
fn a_request_is_written_as_the_gateway_reads_it() {
    let txn = TxnRequest {
        compare: vec![Compare::is_at(b"a".to_vec(), 5)],
        success: vec![RequestOp::put(b"a".to_vec(), b"\xff".to_vec()), RequestOp::delete(b"b".to_vec())],
        failure: vec![RequestOp::Range(RangeRequest::one(b"a".to_vec()))],
    };
    let wanted = serde_json::json!({
        "compare": [{"target": "MOD", "result": "EQUAL", "key": "YQ==", "range_end": "", "mod_revision": 5}],
        "success": [
            {"request_put": {"key": "YQ==", "value": "/w=="}},
            {"request_delete_range": {"key": "Yg==", "range_end": ""}}
        ],
        "failure": [{"request_range": {
            "key": "YQ==", "range_end": "", "limit": 0, "revision": 0, "sort_order": "NONE", "sort_target": "KEY",
            "min_mod_revision": 0, "max_mod_revision": 0
        }}]
    });
    assert_eq!(serde_json::to_value(txn).unwrap(), wanted);
}

#[test]
fn numbers_may_be_strings_and_fields_may_be_missing() {
    let text = r#"{"header":{"cluster_id":"7","revision":"9007199254740993","raft_term":"2"},"responses":[
        {"response_range":{"header":{"revision":"2"},"kvs":[{"key":"YQ==","mod_revision":2,"value":"\/w=="}]}},
        {"response_put":{}}]}"#;
    let answer: Answer = serde_json::from_str(text).unwrap();
    assert_eq!(answer.header.revision, 9_007_199_254_740_993);
    assert!(!answer.succeeded);
    let kvs = &answer.responses[0].response_range.kvs;
    assert_eq!((kvs[0].mod_revision, kvs[0].value.0.as_slice()), (2, &b"\xff"[..]));
    assert!(answer.responses[1].response_range.kvs.is_empty());
}
