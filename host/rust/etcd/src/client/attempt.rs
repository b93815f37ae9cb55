//! The failure of one attempt to send a request: its meaning for the user, and for a retry.

use std::io::ErrorKind;

use halfopen_contract::store::{Place, StoreError};
use ureq::http::StatusCode;
use ureq::{Error, Timeout};

use super::messages::Refusal;

/// etcd's answer to an authentication where it has no users.
pub(super) const WITHOUT_USERS: &str = "authentication is not enabled";

/// The failure of an attempt.
#[derive(Debug)]
pub(super) enum AttemptError {
    /// The request was not done; another member would refuse it, too.
    Refused(StoreError),
    /// etcd does not accept the token, or gives none; its message.
    Token(String),
    /// Another member, or a later attempt, may succeed.
    Failed {
        error: StoreError,
        /// Whether the request may have been done.
        in_doubt: bool,
    },
}

/// The failure of an attempt without a complete answer.
pub(super) fn from_transport(place: &Place, member: &str, error: &Error) -> AttemptError {
    let unavailable = |why: &str| place.unavailable(format!("{member} {why}"));
    let not_trusted = |error: &dyn std::fmt::Display| {
        place.denied(format!(
            "{member} and this program do not trust each other ({error}); check cacert, cert and key, and whether it \
             speaks TLS"
        ))
    };
    let (error, in_doubt) = match error {
        Error::HostNotFound => (unavailable("is not a known host; check its name"), false),
        Error::ConnectionFailed => (unavailable("cannot be reached"), false),
        Error::Timeout(Timeout::Resolve | Timeout::Connect) => (unavailable("does not answer"), false),
        Error::Timeout(_) => (unavailable("did not answer in time"), true),
        Error::Io(error) if error.kind() == ErrorKind::ConnectionRefused => {
            (unavailable("refuses connections; is etcd running?"), false)
        }
        // A failed handshake, as rustls passes it on.
        Error::Io(error) if error.kind() == ErrorKind::InvalidData => (not_trusted(error), true),
        Error::Rustls(error) => (not_trusted(error), true),
        other => {
            let hint = match place.0.starts_with("etcds:") {
                true => "if it requires certificates, check cert and key",
                false => "if it speaks TLS, write `etcds://`",
            };
            (unavailable(&format!("broke off ({other}); {hint}")), true)
        }
    };
    AttemptError::Failed { error, in_doubt }
}

/// The failure that a member answered.
pub(super) fn from_answer(place: &Place, member: &str, status: StatusCode, content: &[u8]) -> AttemptError {
    if status == StatusCode::NOT_FOUND {
        return not_etcd(place, member);
    }
    let refusal: Refusal = serde_json::from_slice(content).unwrap_or_default();
    let why = match refusal.why() {
        "" => format!("{member} answered with status {status}"),
        why => format!("{member} answered: {why}"),
    };
    let says = |text: &str| refusal.why().contains(text);
    let refused = AttemptError::Refused;
    let failed = |in_doubt| AttemptError::Failed { error: place.unavailable(why.clone()), in_doubt };
    // The codes of gRPC.
    match refusal.code {
        16 => AttemptError::Token(why),
        3 if says("revision") && says("old") => AttemptError::Token(why),
        3 if says("user name is empty") => refused(place.denied(format!("{why}; give `etcd://USER:PASSWORD@...`"))),
        3 if says("authentication failed") => refused(place.denied(format!("{why}; check user and password"))),
        3 if says("too large") => refused(place.other(format!("{why}; see etcd's --max-request-bytes"))),
        7 => refused(place.denied(format!("{why}; grant readwrite on its prefix"))),
        8 if says("space exceeded") => {
            refused(place.unavailable(format!("{why}; compact and defragment it, then `etcdctl alarm disarm`")))
        }
        8 => failed(false),
        9 if says(WITHOUT_USERS) => AttemptError::Token(why),
        12 => not_etcd(place, member),
        15 => refused(place.corrupt(why)),
        1 | 2 | 4 | 13 | 14 => failed(true),
        0 if status.is_server_error() => failed(true),
        _ => refused(place.other(why)),
    }
}

pub(super) fn not_etcd(place: &Place, member: &str) -> AttemptError {
    let why = format!("{member} does not answer like etcd from 3.4 on; check host and port, and --enable-grpc-gateway");
    AttemptError::Refused(place.denied(why))
}
