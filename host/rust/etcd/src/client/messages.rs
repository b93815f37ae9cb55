//! The messages of etcd's JSON gateway: the parts of `rpc.proto` that this store uses. Bytes are in base64, and 64-bit
//! numbers in strings. A field with its default is as good as none.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A range of keys: from the first to before the second.
pub(crate) type Span = (Vec<u8>, Vec<u8>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bytes(pub Vec<u8>);

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

/// A whole number, in a string or plain.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    let number = value.as_i64().or_else(|| value.as_str()?.parse().ok());
    number.ok_or_else(|| serde::de::Error::custom("this is no number"))
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct RangeRequest {
    pub key: Bytes,
    pub range_end: Bytes,
    /// 0 sets no limit.
    pub limit: i64,
    /// 0 reads the present.
    pub revision: i64,
    pub sort_order: &'static str,
    pub sort_target: &'static str,
    pub min_mod_revision: i64,
    /// 0 sets no limit.
    pub max_mod_revision: i64,
}

impl RangeRequest {
    pub fn one(key: Vec<u8>) -> Self {
        RangeRequest::all((key, Vec::new()))
    }

    pub fn all((start, end): Span) -> Self {
        let (key, range_end) = (Bytes(start), Bytes(end));
        RangeRequest { key, range_end, sort_order: "NONE", sort_target: "KEY", ..Self::default() }
    }
}

#[derive(Clone, Debug, Serialize)]
pub(crate) enum RequestOp {
    #[serde(rename = "request_range")]
    Range(RangeRequest),
    #[serde(rename = "request_put")]
    Put { key: Bytes, value: Bytes },
    #[serde(rename = "request_delete_range")]
    Delete { key: Bytes, range_end: Bytes },
}

impl RequestOp {
    pub fn put(key: Vec<u8>, value: Vec<u8>) -> Self {
        RequestOp::Put { key: Bytes(key), value: Bytes(value) }
    }

    pub fn delete(key: Vec<u8>) -> Self {
        RequestOp::delete_all((key, Vec::new()))
    }

    pub fn delete_all((start, end): Span) -> Self {
        RequestOp::Delete { key: Bytes(start), range_end: Bytes(end) }
    }
}

/// A comparison of a key's revision; a missing key has revision 0.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Compare {
    target: &'static str,
    result: &'static str,
    key: Bytes,
    range_end: Bytes,
    mod_revision: i64,
}

impl Compare {
    /// The key was last written at this revision.
    pub fn is_at(key: Vec<u8>, mod_revision: i64) -> Self {
        Compare { target: "MOD", result: "EQUAL", key: Bytes(key), range_end: Bytes::default(), mod_revision }
    }

    /// All keys of the range were last written before this revision.
    pub fn all_before((start, end): Span, mod_revision: i64) -> Self {
        Compare { target: "MOD", result: "LESS", key: Bytes(start), range_end: Bytes(end), mod_revision }
    }
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct TxnRequest {
    pub compare: Vec<Compare>,
    pub success: Vec<RequestOp>,
    pub failure: Vec<RequestOp>,
}

#[derive(Serialize)]
pub(crate) struct AuthenticateRequest<'a> {
    pub name: &'a str,
    pub password: &'a str,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Header {
    #[serde(deserialize_with = "number")]
    pub revision: i64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct KeyValue {
    pub key: Bytes,
    #[serde(deserialize_with = "number")]
    pub mod_revision: i64,
    pub value: Bytes,
}

/// The answer to any request: only its header is in all of them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Answer {
    pub header: Header,
    /// Of a range.
    pub kvs: Vec<KeyValue>,
    pub more: bool,
    #[serde(deserialize_with = "number")]
    pub count: i64,
    /// Of a transaction.
    pub succeeded: bool,
    pub responses: Vec<ResponseOp>,
    /// Of an authentication.
    pub token: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ResponseOp {
    pub response_range: Answer,
}

/// The answer to a request that failed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Refusal {
    message: String,
    /// Before 3.6 beside `message`, and in some answers alone.
    error: String,
    pub code: i64,
}

impl Refusal {
    pub fn why(&self) -> &str {
        if self.message.is_empty() { &self.error } else { &self.message }
    }
}

#[cfg(test)]
mod tests;
