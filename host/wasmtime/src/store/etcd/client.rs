//! Speaking to the members: one after the other until one answers, within a bounded time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::http::{Response, StatusCode};
use ureq::unversioned::transport::DefaultConnector;
use ureq::{Agent, Body};

use super::super::StoreError;
use super::fault::{self, Attempt};
use super::gateway::{Answer, AuthenticateRequest, AuthenticateResponse};
use super::lookup::Lookup;
use super::measure::Timepiece;
use super::options::{EtcdOptions, EtcdUser, with_port};
use super::place::Place;
use super::skew::{Sample, monotonic};
use super::tls;

/// No answer is larger.
const MOST_BYTES: u64 = 1 << 30;

/// How often a token is had anew for one request.
const MOST_TOKENS: u32 = 3;

/// The members of a cluster.
#[derive(Debug)]
pub(super) struct Client {
    agent: Agent,
    pub members: Vec<Member>,
    /// The one that answered last.
    preferred: AtomicUsize,
    user: Option<EtcdUser>,
    token: Mutex<Option<String>>,
    cluster: OnceLock<String>,
    pub place: Place,
    pub timeout: Duration,
    pub time: Timepiece,
}

/// A member, as the user named it.
#[derive(Debug)]
pub(super) struct Member {
    pub name: String,
    base: String,
}

/// An answer, and how it came about.
#[derive(Debug)]
pub(super) struct Answered<T> {
    pub answer: T,
    /// Whose it is.
    pub member: usize,
    /// Whether the request may have been done before, by an attempt that had no answer.
    pub doubtful: bool,
}

/// No answer.
#[derive(Debug)]
pub(super) struct Unanswered {
    pub error: StoreError,
    /// Whether the request may have been done.
    pub doubtful: bool,
}

impl Client {
    pub fn new(options: &EtcdOptions, place: Place) -> Result<Client, StoreError> {
        let scheme = if options.tls.is_some() { "https" } else { "http" };
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_idle_connections(256)
            .max_idle_connections_per_host(64)
            .user_agent("halfopen")
            // Whoever sets a proxy for the web does not mean the network that etcd is in.
            .proxy(None);
        if let Some(tls) = &options.tls {
            config = config.https_only(true).tls_config(tls::config(tls, &place)?);
        }
        let member = |endpoint: &String| {
            let name = with_port(endpoint);
            Member { base: format!("{scheme}://{name}"), name }
        };
        let members: Vec<Member> = options.endpoints.iter().map(member).collect();
        Ok(Client {
            agent: Agent::with_parts(config.build(), DefaultConnector::new(), Lookup::default()),
            preferred: AtomicUsize::new(0),
            user: options.user.clone(),
            token: Mutex::new(None),
            cluster: OnceLock::new(),
            timeout: options.timeout,
            time: Timepiece::new(options, members.len()),
            members,
            place,
        })
    }

    /// Until when an operation that begins now may take.
    pub fn until(&self) -> Instant {
        Instant::now() + self.timeout
    }

    /// The member that answered last.
    pub fn preferred(&self) -> usize {
        self.preferred.load(Ordering::Relaxed)
    }

    /// How long one attempt may take, so that there is time for others.
    pub fn attempt_limit(&self) -> Duration {
        self.timeout / 3
    }

    /// Sends a request until it is answered. It may be done more than once.
    pub fn call<T: DeserializeOwned + Answer>(
        &self,
        path: &str,
        request: &impl Serialize,
        until: Instant,
    ) -> Result<Answered<T>, Unanswered> {
        let body = serde_json::to_vec(request).unwrap_or_default();
        let mut member = self.preferred();
        let (mut doubtful, mut tokens, mut failures) = (false, 0, 0u32);
        let mut last = self.place.unavailable("there was no time to ask");
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Unanswered { error: last, doubtful });
            }
            let attempt = self.authorized(member, left).and_then(|token| {
                self.post::<T>(member, path, &body, token.as_deref(), left).map_err(|attempt| attempt.spending(token))
            });
            match attempt {
                Ok(answer) => {
                    self.preferred.store(member, Ordering::Relaxed);
                    if let Err(error) = self.same_cluster(answer.header().cluster_id.as_str(), member) {
                        return Err(Unanswered { error, doubtful: true });
                    }
                    return Ok(Answered { answer, member, doubtful });
                }
                Err(Attempt::Refused(error)) => return Err(Unanswered { error, doubtful }),
                Err(Attempt::Token { spent, why }) => {
                    tokens += 1;
                    if self.user.is_none() || tokens > MOST_TOKENS {
                        return Err(Unanswered { error: self.place.denied(why), doubtful });
                    }
                    self.forget_token(spent.as_deref());
                }
                Err(Attempt::Failed { error, reached }) => {
                    doubtful |= reached;
                    last = error;
                    failures += 1;
                    member = (member + 1) % self.members.len().max(1);
                    if failures.is_multiple_of(self.members.len().max(1) as u32) {
                        pause(failures, until);
                    }
                }
            }
        }
    }

    /// Asks a member for its version, to read its clock.
    pub fn probe(&self, member: usize, limit: Duration) -> Result<(), Attempt> {
        let Some(Member { base, .. }) = self.members.get(member) else { return Ok(()) };
        let request = self.agent.get(format!("{base}/version"));
        let request = request.config().timeout_global(Some(limit)).timeout_connect(Some(limit)).build();
        self.timed(member, || request.call()).map(drop)
    }

    fn post<T: DeserializeOwned>(
        &self,
        member: usize,
        path: &str,
        body: &[u8],
        token: Option<&str>,
        left: Duration,
    ) -> Result<T, Attempt> {
        let Some(Member { base, name }) = self.members.get(member) else {
            return Err(Attempt::Refused(self.place.other("it has no such member")));
        };
        let limit = left.min(self.attempt_limit());
        let mut request = self.agent.post(format!("{base}{path}")).header("Content-Type", "application/json");
        if let Some(token) = token {
            request = request.header("Authorization", token);
        }
        let request = request
            .config()
            .timeout_global(Some(limit))
            .timeout_connect(Some(limit.min(Duration::from_secs(1))))
            .build();
        let mut response = self.timed(member, || request.send(body))?;
        let status = response.status();
        let content = response.body_mut().with_config().limit(MOST_BYTES).read_to_vec();
        let content = content.map_err(|error| fault::transport(&self.place, name, &error))?;
        if status != StatusCode::OK {
            return Err(fault::answer(&self.place, name, status, &content));
        }
        serde_json::from_slice(&content).map_err(|_| fault::not_etcd(&self.place, name))
    }

    /// Sends, and takes the member's clock from the answer.
    fn timed(
        &self,
        member: usize,
        send: impl FnOnce() -> Result<Response<Body>, ureq::Error>,
    ) -> Result<Response<Body>, Attempt> {
        let name = self.members.get(member).map_or("", |member| &member.name);
        let sent = monotonic(self.time.clock());
        let response = send().map_err(|error| fault::transport(&self.place, name, &error))?;
        let received = monotonic(self.time.clock());
        let date = response.headers().get("Date").and_then(|date| httpdate::parse_http_date(date.to_str().ok()?).ok());
        if let Some(date) = date {
            // Before 1970 is as wrong as can be.
            let seconds = SystemTime::duration_since(&date, UNIX_EPOCH).map_or(0, |since| since.as_secs());
            let date = i64::try_from(seconds).unwrap_or(i64::MAX);
            self.time.observe(member, Sample { sent, received, date });
        }
        Ok(response)
    }

    /// The token to send along, had from this member where there is none yet.
    fn authorized(&self, member: usize, left: Duration) -> Result<Option<String>, Attempt> {
        let Some(EtcdUser { name, password }) = &self.user else { return Ok(None) };
        // Held meanwhile, so that those who come at the same time have one token between them.
        let mut token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        if token.is_none() {
            let body = serde_json::to_vec(&AuthenticateRequest { name, password }).unwrap_or_default();
            match self.post::<AuthenticateResponse>(member, "/v3/auth/authenticate", &body, None, left) {
                Ok(response) => *token = Some(response.token),
                // Whoever knows no users lets everybody in.
                Err(Attempt::Refused(error)) if fault::is_without_users(&error) => return Ok(None),
                Err(Attempt::Token { why, .. }) => return Err(Attempt::Refused(self.place.denied(why))),
                // Having a token changes nothing, so it leaves no doubt.
                Err(Attempt::Failed { error, .. }) => return Err(Attempt::Failed { error, reached: false }),
                Err(refused) => return Err(refused),
            }
        }
        Ok(token.clone())
    }

    /// A token that is no good any more; unless another thread has had a new one since.
    fn forget_token(&self, spent: Option<&str>) {
        let mut token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        if token.as_deref() == spent {
            *token = None;
        }
    }

    /// Members of two clusters would be two stores.
    fn same_cluster(&self, cluster: &str, member: usize) -> Result<(), StoreError> {
        let first = self.cluster.get_or_init(|| cluster.to_owned());
        if first == cluster {
            return Ok(());
        }
        let name = self.members.get(member).map_or("", |member| &member.name);
        Err(self.place.denied(format!("{name} is of another cluster than the rest; give members of one cluster")))
    }
}

/// A random moment, longer the more failures there were.
fn pause(failures: u32, until: Instant) {
    let most = 20u64 << failures.min(4);
    let pause = Duration::from_millis(fastrand::u64(most / 2..=most));
    std::thread::sleep(pause.min(until.saturating_duration_since(Instant::now())));
}
