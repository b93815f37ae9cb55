//! What failures mean to the user, and whether the request may have been done all the same.

use std::io::ErrorKind;

use ureq::http::StatusCode;
use ureq::{Error, Timeout};

use super::super::StoreError;
use super::gateway::Refusal;
use super::place::Place;

/// Why an attempt had no answer.
#[derive(Debug)]
pub(super) enum Attempt {
    /// It was not done, and would not be elsewhere.
    Refused(StoreError),
    /// The token is no good.
    Token {
        /// The token that was sent.
        spent: Option<String>,
        /// What etcd says.
        why: String,
    },
    /// Another member, or another moment, may do better.
    Failed {
        error: StoreError,
        /// Whether it may have been done.
        reached: bool,
    },
}

impl Attempt {
    /// It was made with this token.
    pub fn spending(self, token: Option<String>) -> Attempt {
        match self {
            Attempt::Token { why, .. } => Attempt::Token { spent: token, why },
            other => other,
        }
    }
}

/// There was no whole answer.
pub(super) fn transport(place: &Place, member: &str, error: &Error) -> Attempt {
    let unavailable = |why: String| place.unavailable(format!("{member} {why}"));
    let (error, reached) = match error {
        Error::HostNotFound => (unavailable("is no host that is known; look at its name".to_owned()), false),
        Error::ConnectionFailed => (unavailable("cannot be reached".to_owned()), false),
        Error::Timeout(Timeout::Resolve | Timeout::Connect) => (unavailable("does not answer".to_owned()), false),
        Error::Timeout(_) => (unavailable("did not answer in time".to_owned()), true),
        Error::Io(error) if error.kind() == ErrorKind::ConnectionRefused => {
            (unavailable("refuses connections; is etcd running?".to_owned()), false)
        }
        // A handshake that fails, as rustls has it come through.
        Error::Io(error) if error.kind() == ErrorKind::InvalidData => (not_trusted(place, member, error), true),
        Error::Rustls(error) => (not_trusted(place, member, error), true),
        other => (unavailable(format!("broke off ({other}); {}", place.if_it_breaks_off())), true),
    };
    Attempt::Failed { error, reached }
}

fn not_trusted(place: &Place, member: &str, error: &dyn std::fmt::Display) -> StoreError {
    place.denied(format!(
        "{member} and this program do not trust each other ({error}); look at cacert, cert and key, and at whether it \
         speaks TLS"
    ))
}

/// The member answered that it failed.
pub(super) fn answer(place: &Place, member: &str, status: StatusCode, content: &[u8]) -> Attempt {
    if status == StatusCode::NOT_FOUND {
        return not_etcd(place, member);
    }
    let refusal: Refusal = serde_json::from_slice(content).unwrap_or_default();
    let why = match refusal.why() {
        "" => format!("{member} answered with status {status}"),
        why => format!("{member} answered: {why}"),
    };
    let says = |text: &str| refusal.why().contains(text);
    let refused = Attempt::Refused;
    match refusal.code {
        // The codes of gRPC.
        16 => Attempt::Token { spent: None, why },
        3 if says("revision") && says("old") => Attempt::Token { spent: None, why },
        3 if says("user name is empty") => refused(place.denied(format!("{why}; give `etcd://USER:PASSWORD@...`"))),
        3 if says("authentication failed") => refused(place.denied(format!("{why}; look at user and password"))),
        3 if says("too large") => refused(place.other(format!("{why}; see etcd's --max-request-bytes"))),
        3 if says("too many operations") => refused(place.other(format!("{why}; see etcd's --max-txn-ops"))),
        7 => refused(place.denied(format!("{why}; grant readwrite on its prefix"))),
        8 if says("space exceeded") => {
            refused(place.unavailable(format!("{why}; compact and defragment it, then `etcdctl alarm disarm`")))
        }
        8 => Attempt::Failed { error: place.unavailable(why), reached: false },
        9 if says("authentication is not enabled") => refused(place.denied(WITHOUT_USERS)),
        12 => not_etcd(place, member),
        15 => refused(place.corrupt(why)),
        1 | 2 | 4 | 13 | 14 => Attempt::Failed { error: place.unavailable(why), reached: true },
        0 if status.is_server_error() => Attempt::Failed { error: place.unavailable(why), reached: true },
        _ => refused(place.other(why)),
    }
}

const WITHOUT_USERS: &str = "it knows no users";

/// Whether it is that etcd knows no users.
pub(super) fn is_without_users(error: &StoreError) -> bool {
    matches!(error, StoreError::Denied { why, .. } if why == WITHOUT_USERS)
}

pub(super) fn not_etcd(place: &Place, member: &str) -> Attempt {
    let why =
        format!("{member} does not answer like etcd from 3.4 on; look at host and port, and at --enable-grpc-gateway");
    Attempt::Refused(place.denied(why))
}
