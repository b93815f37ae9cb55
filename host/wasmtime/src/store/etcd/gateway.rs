//! The messages of etcd's JSON gateway: the parts of `rpc.proto` that are used. Bytes are in base64, and whole numbers of 64
//! bits in strings.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bytes(pub Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&base64::display::Base64Display::new(&self.0, &STANDARD))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        STANDARD.decode(text.as_bytes()).map(Bytes).map_err(serde::de::Error::custom)
    }
}

/// A whole number, as a string or plain.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Plain(i64),
        Text(String),
    }
    match Either::deserialize(deserializer)? {
        Either::Plain(number) => Ok(number),
        Either::Text(text) => text.parse().map_err(serde::de::Error::custom),
    }
}

#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct RangeRequest {
    pub key: Bytes,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range_end: Option<Bytes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort_order: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort_target: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys_only: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_mod_revision: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_mod_revision: Option<i64>,
}

impl RangeRequest {
    pub fn one(key: Vec<u8>) -> Self {
        RangeRequest { key: Bytes(key), ..Self::default() }
    }

    pub fn all((start, end): super::keys::Span) -> Self {
        RangeRequest { key: Bytes(start), range_end: Some(Bytes(end)), ..Self::default() }
    }
}

#[derive(Clone, Debug, Serialize)]
pub(super) enum RequestOp {
    #[serde(rename = "request_range")]
    Range(RangeRequest),
    #[serde(rename = "request_put")]
    Put { key: Bytes, value: Bytes },
    #[serde(rename = "request_delete_range")]
    Delete {
        key: Bytes,
        #[serde(skip_serializing_if = "Option::is_none")]
        range_end: Option<Bytes>,
    },
}

impl RequestOp {
    pub fn put(key: Vec<u8>, value: Vec<u8>) -> Self {
        RequestOp::Put { key: Bytes(key), value: Bytes(value) }
    }

    pub fn delete(key: Vec<u8>) -> Self {
        RequestOp::Delete { key: Bytes(key), range_end: None }
    }

    pub fn delete_all((start, end): super::keys::Span) -> Self {
        RequestOp::Delete { key: Bytes(start), range_end: Some(Bytes(end)) }
    }
}

/// A comparison of a key's revision; a missing key has revision 0.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Compare {
    target: &'static str,
    result: &'static str,
    key: Bytes,
    #[serde(skip_serializing_if = "Option::is_none")]
    range_end: Option<Bytes>,
    mod_revision: String,
}

impl Compare {
    /// The key was last written at this revision.
    pub fn is_at(key: Vec<u8>, revision: i64) -> Self {
        let mod_revision = revision.to_string();
        Compare { target: "MOD", result: "EQUAL", key: Bytes(key), range_end: None, mod_revision }
    }

    /// All keys of the range were last written before this revision.
    pub fn all_before((start, end): super::keys::Span, revision: i64) -> Self {
        let (key, range_end) = (Bytes(start), Some(Bytes(end)));
        Compare { target: "MOD", result: "LESS", key, range_end, mod_revision: revision.to_string() }
    }
}

#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct TxnRequest {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compare: Vec<Compare>,
    pub success: Vec<RequestOp>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failure: Vec<RequestOp>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Header {
    #[serde(default)]
    pub cluster_id: String,
    #[serde(default, deserialize_with = "number")]
    pub revision: i64,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct KeyValue {
    #[serde(default)]
    pub key: Bytes,
    #[serde(default, deserialize_with = "number")]
    pub mod_revision: i64,
    #[serde(default)]
    pub value: Bytes,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct RangeResponse {
    #[serde(default)]
    pub header: Header,
    #[serde(default)]
    pub kvs: Vec<KeyValue>,
    #[serde(default)]
    pub more: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct ResponseOp {
    #[serde(default, rename = "response_range")]
    pub range: Option<RangeResponse>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct TxnResponse {
    #[serde(default)]
    pub header: Header,
    #[serde(default)]
    pub succeeded: bool,
    #[serde(default)]
    pub responses: Vec<ResponseOp>,
}

/// Every answer has a header that names the cluster and the revision.
pub(super) trait Answer {
    fn header(&self) -> &Header;
}

impl Answer for RangeResponse {
    fn header(&self) -> &Header {
        &self.header
    }
}

impl Answer for TxnResponse {
    fn header(&self) -> &Header {
        &self.header
    }
}

#[derive(Serialize)]
pub(super) struct AuthenticateRequest<'a> {
    pub name: &'a str,
    pub password: &'a str,
}

#[derive(Deserialize)]
pub(super) struct AuthenticateResponse {
    pub token: String,
}

/// How the gateway says that a request failed.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Refusal {
    #[serde(default)]
    pub message: String,
    /// Before 3.6 it is there as well, and in some answers alone.
    #[serde(default)]
    pub error: String,
    #[serde(default)]
    pub code: i64,
}

impl Refusal {
    pub fn why(&self) -> &str {
        if self.message.is_empty() { &self.error } else { &self.message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_written_as_the_gateway_reads_it() {
        let txn = TxnRequest {
            compare: vec![Compare::is_at(b"a".to_vec(), 5)],
            success: vec![RequestOp::put(b"a".to_vec(), b"\xff".to_vec()), RequestOp::delete(b"b".to_vec())],
            failure: vec![RequestOp::Range(RangeRequest::one(b"a".to_vec()))],
        };
        let wanted = serde_json::json!({
            "compare": [{"target": "MOD", "result": "EQUAL", "key": "YQ==", "mod_revision": "5"}],
            "success": [
                {"request_put": {"key": "YQ==", "value": "/w=="}},
                {"request_delete_range": {"key": "Yg=="}}
            ],
            "failure": [{"request_range": {"key": "YQ=="}}]
        });
        assert_eq!(serde_json::to_value(txn).unwrap(), wanted);
    }

    #[test]
    fn an_answer_is_read_with_numbers_in_strings_or_plain_and_fields_left_out() {
        let text = r#"{"header":{"cluster_id":"7","revision":"9007199254740993","raft_term":"2"},"responses":[
            {"response_range":{"header":{"revision":"2"},"kvs":[{"key":"YQ==","mod_revision":2,"value":"\/w=="}]}},
            {"response_put":{}}]}"#;
        let answer: TxnResponse = serde_json::from_str(text).unwrap();
        assert_eq!(answer.header.revision, 9_007_199_254_740_993);
        assert!(!answer.succeeded);
        let kvs = &answer.responses[0].range.as_ref().unwrap().kvs;
        assert_eq!((kvs[0].mod_revision, kvs[0].value.0.as_slice()), (2, &b"\xff"[..]));
        assert!(answer.responses[1].range.is_none());
    }
}
