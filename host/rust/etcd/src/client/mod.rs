//! Requests to the members: one after the other until one answers, within a bounded time.

mod attempt;
mod compare;
pub(crate) mod messages;
mod tls;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use halfopen_contract::store::{Place, StoreError};
use halfopen_contract::time::{Backoff, Clock};
use serde::Serialize;
use ureq::http::{Response, StatusCode};
use ureq::{Agent, Body};

use crate::clock::{CheckedClock, Sample, monotonic};
use crate::options::{EtcdOptions, EtcdUser, with_port};
use attempt::AttemptError;
use messages::{Answer, AuthenticateRequest, RangeRequest, TxnRequest};

/// The size of an answer, at most.
const MAX_BYTES: u64 = 1 << 30;

/// A request gets a new token at most this many times.
const MAX_TOKENS: u32 = 3;

/// The members of a cluster.
pub(crate) struct Client {
    agent: Agent,
    members: Vec<Member>,
    /// The member that answered last.
    preferred: AtomicUsize,
    user: Option<EtcdUser>,
    token: Mutex<Option<String>>,
    /// Locked during a comparison of the clocks.
    comparison: Mutex<()>,
    pub place: Place,
    pub timeout: Duration,
    pub clock: CheckedClock,
}

struct Member {
    name: String,
    base: String,
}

/// The error of a request, and whether the request may have been done all the same.
type NoAnswer = (StoreError, bool);

impl Client {
    pub fn new(options: &EtcdOptions, clock: Arc<dyn Clock>) -> Result<Client, StoreError> {
        let place = options.place();
        if let Some(why) = options.fault() {
            return Err(place.denied(why));
        }
        let scheme = if options.tls.is_some() { "https" } else { "http" };
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_idle_connections(256)
            .max_idle_connections_per_host(64)
            .user_agent("halfopen")
            // A proxy for the web is not meant for the network of etcd.
            .proxy(None);
        if let Some(tls) = &options.tls {
            config = config.https_only(true).tls_config(tls::config(tls, &place)?);
        }
        let names = options.endpoints.iter().filter_map(|endpoint| with_port(endpoint));
        Ok(Client {
            agent: config.build().new_agent(),
            members: names.map(|name| Member { base: format!("{scheme}://{name}"), name }).collect(),
            preferred: AtomicUsize::new(0),
            user: options.user.clone(),
            token: Mutex::new(None),
            comparison: Mutex::new(()),
            place,
            timeout: options.timeout,
            clock: CheckedClock::new(clock, options.max_skew, options.endpoints.len()),
        })
    }

    /// The end of an operation that begins now.
    pub fn until(&self) -> Instant {
        Instant::now() + self.timeout
    }

    pub fn range(&self, request: &RangeRequest, until: Instant) -> Result<Answer, StoreError> {
        self.send("/v3/kv/range", request, until).map(|(answer, _)| answer).map_err(|(error, _)| error)
    }

    /// Sends a transaction that may be repeated.
    pub fn txn(&self, request: &TxnRequest, until: Instant) -> Result<Answer, StoreError> {
        self.send("/v3/kv/txn", request, until).map(|(answer, _)| answer).map_err(|(error, _)| error)
    }

    /// Sends a transaction of a commit. Returns with the answer whether an earlier attempt was left without one.
    pub fn commit(&self, request: &TxnRequest, until: Instant) -> Result<(Answer, bool), StoreError> {
        match self.send("/v3/kv/txn", request, until) {
            // The same transaction again is done at most once: it compares.
            Err((error, true)) => match self.send("/v3/kv/txn", request, until + self.timeout) {
                Ok((answer, _)) => Ok((answer, true)),
                Err(_) => Err(self.place.in_doubt(format!("the answer was lost: {error}"))),
            },
            result => result.map_err(|(error, _)| error),
        }
    }

    /// Sends a request until a member answers. Returns with the answer whether an earlier attempt may have been done.
    fn send(&self, path: &str, request: &impl Serialize, until: Instant) -> Result<(Answer, bool), NoAnswer> {
        let body = serde_json::to_vec(request).unwrap_or_default();
        let mut member = self.preferred.load(Ordering::Relaxed);
        let (mut in_doubt, mut tokens, mut failures) = (false, 0, 0);
        let mut backoff = Backoff::begin();
        let mut last = self.place.unavailable("there was no time for a request");
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err((last, in_doubt));
            }
            let mut token = None;
            let attempt = self.authenticate(member, left).and_then(|had| {
                token = had;
                self.post(member, path, &body, token.as_deref(), left)
            });
            match attempt {
                Ok(answer) => {
                    self.preferred.store(member, Ordering::Relaxed);
                    return Ok((answer, in_doubt));
                }
                Err(AttemptError::Refused(error)) => return Err((error, in_doubt)),
                Err(AttemptError::Token(why)) => {
                    tokens += 1;
                    if self.user.is_none() || tokens > MAX_TOKENS {
                        return Err((self.place.denied(why), in_doubt));
                    }
                    self.forget_token(token.as_deref());
                }
                Err(AttemptError::Failed { error, in_doubt: may_be_done }) => {
                    in_doubt |= may_be_done;
                    last = error;
                    failures += 1;
                    member = (member + 1) % self.members.len();
                    if failures % self.members.len() == 0 {
                        std::thread::sleep(backoff.wait().min(until.saturating_duration_since(Instant::now())));
                        backoff.again();
                    }
                }
            }
        }
    }

    fn post(
        &self,
        member: usize,
        path: &str,
        body: &[u8],
        token: Option<&str>,
        left: Duration,
    ) -> Result<Answer, AttemptError> {
        let Member { base, name } = &self.members[member];
        // So that there is time for other members.
        let limit = left.min(self.timeout / 3);
        let mut request = self.agent.post(format!("{base}{path}")).header("Content-Type", "application/json");
        if let Some(token) = token {
            request = request.header("Authorization", token);
        }
        let request = request
            .config()
            .timeout_global(Some(limit))
            .timeout_connect(Some(limit.min(Duration::from_secs(1))))
            .build();
        let mut response = self.observed(member, || request.send(body))?;
        let status = response.status();
        let content = response.body_mut().with_config().limit(MAX_BYTES).read_to_vec();
        let content = content.map_err(|error| attempt::from_transport(&self.place, name, &error))?;
        if status != StatusCode::OK {
            return Err(attempt::from_answer(&self.place, name, status, &content));
        }
        serde_json::from_slice(&content).map_err(|_| attempt::not_etcd(&self.place, name))
    }

    /// Sends, and takes the member's clock from the answer.
    fn observed(
        &self,
        member: usize,
        send: impl FnOnce() -> Result<Response<Body>, ureq::Error>,
    ) -> Result<Response<Body>, AttemptError> {
        let sent = monotonic(self.clock.clock());
        let response =
            send().map_err(|error| attempt::from_transport(&self.place, &self.members[member].name, &error))?;
        let received = monotonic(self.clock.clock());
        let date = response.headers().get("Date").and_then(|date| httpdate::parse_http_date(date.to_str().ok()?).ok());
        if let Some(date) = date {
            // A clock before 1970 reads 0, which is as wrong.
            let seconds = SystemTime::duration_since(&date, UNIX_EPOCH).map_or(0, |since| since.as_secs());
            let date = i64::try_from(seconds).unwrap_or(i64::MAX);
            self.clock.observe(member, Sample { sent, received, date });
        }
        Ok(response)
    }

    /// The token to send: the present one, or a new one from this member.
    fn authenticate(&self, member: usize, left: Duration) -> Result<Option<String>, AttemptError> {
        let Some(EtcdUser { name, password }) = &self.user else { return Ok(None) };
        // Locked during the request, so that threads that come meanwhile use the same token.
        let mut token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        if token.is_none() {
            let body = serde_json::to_vec(&AuthenticateRequest { name, password }).unwrap_or_default();
            match self.post(member, "/v3/auth/authenticate", &body, None, left) {
                Ok(response) => *token = Some(response.token),
                // An etcd without users lets every client in.
                Err(AttemptError::Token(why)) if why.contains(attempt::WITHOUT_USERS) => return Ok(None),
                Err(AttemptError::Token(why)) => return Err(AttemptError::Refused(self.place.denied(why))),
                // A token changes no record, so nothing is in doubt.
                Err(AttemptError::Failed { error, .. }) => {
                    return Err(AttemptError::Failed { error, in_doubt: false });
                }
                Err(refused) => return Err(refused),
            }
        }
        Ok(token.clone())
    }

    /// Forgets a token that is no longer accepted, unless another thread has replaced it.
    fn forget_token(&self, spent: Option<&str>) {
        let mut token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        if token.as_deref() == spent {
            *token = None;
        }
    }
}
