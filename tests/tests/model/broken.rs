//! Cores that are broken in one place each, around the real one: what is shown of them is that they are caught.

use halfopen_guest::contract::{Admission, CommitOutcome, Decision, Error, Permit, Snapshot, StorageError};
use halfopen_guest::policy::Policy;
use halfopen_guest::record::codec;
use halfopen_guest::record::{Lease, OpenEnd, Record, State};
use halfopen_guest::step::{Answer, Ports, Request, step};

type Answered = Result<Answer, Error>;

/// A report is taken for one under whatever lease is live.
pub fn no_token_check(ports: &mut dyn Ports, default: &Policy, dependency: &str, request: &Request) -> Answered {
    if let Request::Report { permit: Permit { lease: Some(_), .. }, report } = request
        && let Ok(record) = loaded(&ports.load(dependency).map_err(Error::Storage)?)
        && let State::HalfOpen { leases, .. } = &record.state
        && let Some(lease) = leases.last()
    {
        let permit = Permit { epoch: record.epoch, lease: Some(lease.token) };
        let request = Request::Report { permit, report: report.clone() };
        return step(ports, default, dependency, &request);
    }
    step(ports, default, dependency, request)
}

/// The length that the dependency asks for is dropped.
pub fn retry_after_dropped(ports: &mut dyn Ports, default: &Policy, dependency: &str, request: &Request) -> Answered {
    let mut request = request.clone();
    if let Request::Report { report, .. } = &mut request {
        report.retry_after = None;
    }
    step(ports, default, dependency, &request)
}

/// An override has no end.
pub fn overrides_without_end(ports: &mut dyn Ports, default: &Policy, dependency: &str, request: &Request) -> Answered {
    let mut request = request.clone();
    if let Request::Force { lasting, .. } = &mut request {
        *lasting = None;
    }
    step(ports, default, dependency, &request)
}

/// A removal writes no transition.
pub fn silent_removals(ports: &mut dyn Ports, default: &Policy, dependency: &str, request: &Request) -> Answered {
    step(&mut Silent(ports), default, dependency, request)
}

/// A lease holds until it is reported, as far as acquire is concerned.
pub fn leases_without_end(ports: &mut dyn Ports, default: &Policy, dependency: &str, request: &Request) -> Answered {
    edited(ports, default, dependency, request, matches!(request, Request::Acquire { .. }), |lease| {
        lease.length = u64::MAX;
        true
    })
}

/// A result counts however late it is, as long as nobody has taken the lease over.
pub fn late_results_count(ports: &mut dyn Ports, default: &Policy, dependency: &str, request: &Request) -> Answered {
    edited(ports, default, dependency, request, matches!(request, Request::Report { .. }), |lease| {
        lease.length = u64::MAX;
        true
    })
}

/// Acquire grants a lease whoever holds one.
pub fn live_leases_ignored(ports: &mut dyn Ports, default: &Policy, dependency: &str, request: &Request) -> Answered {
    edited(ports, default, dependency, request, matches!(request, Request::Acquire { .. }), |_| false)
}

/// A clock that steps back is taken to stand still until it has caught up.
pub fn clock_never_steps_back(
    ports: &mut dyn Ports,
    default: &Policy,
    dependency: &str,
    request: &Request,
) -> Answered {
    let mut ports = Edited { ports, keep: |_| true, edits: false, latest: Some(0) };
    step(&mut ports, default, dependency, request)
}

/// Who is deferred while another probes makes the call all the same.
pub fn deferred_callers_proceed(
    ports: &mut dyn Ports,
    default: &Policy,
    dependency: &str,
    request: &Request,
) -> Answered {
    match step(ports, default, dependency, request)? {
        Answer::Decision(Decision::Defer(deferral)) => {
            let permit = Permit { epoch: 0, lease: None };
            let admission = Admission { permit, fresh_for: deferral.fresh_for, percent: 100, slower_than: None };
            Ok(Answer::Decision(Decision::Proceed(admission)))
        }
        other => Ok(other),
    }
}

/// What was decided on an old record is written over the one that won the race.
pub fn old_decisions_stand(ports: &mut dyn Ports, default: &Policy, dependency: &str, request: &Request) -> Answered {
    step(&mut Stubborn(ports), default, dependency, request)
}

fn edited(
    ports: &mut dyn Ports,
    default: &Policy,
    dependency: &str,
    request: &Request,
    edits: bool,
    keep: fn(&mut Lease) -> bool,
) -> Answered {
    step(&mut Edited { ports, keep, edits, latest: None }, default, dependency, request)
}

fn loaded(snapshot: &Snapshot) -> Result<Record, codec::DecodeError> {
    match &snapshot.data {
        Some(data) => codec::decode(data),
        None => Err(codec::DecodeError::Corrupt),
    }
}

/// Shows the core another record than the one that is kept.
struct Edited<'a> {
    ports: &'a mut dyn Ports,
    keep: fn(&mut Lease) -> bool,
    edits: bool,
    /// Where now is never before what the record was last dated: that date.
    latest: Option<u64>,
}

impl Edited<'_> {
    fn edit(&mut self, snapshot: Snapshot) -> Snapshot {
        let Ok(mut record) = loaded(&snapshot) else { return snapshot };
        if let Some(latest) = &mut self.latest {
            *latest = match &record.state {
                State::Closed { since, .. } => since.unwrap_or(0),
                State::Open { since, end: OpenEnd::Length(_) } => *since,
                State::Open { .. } => 0,
                State::HalfOpen { since, leases, .. } => leases.iter().map(|lease| lease.start).fold(*since, u64::max),
            };
        }
        if let State::HalfOpen { leases, .. } = &mut record.state
            && self.edits
        {
            leases.retain_mut(|lease| (self.keep)(lease));
        }
        Snapshot { data: Some(codec::encode(&record)), ..snapshot }
    }
}

impl Ports for Edited<'_> {
    fn load(&mut self, dependency: &str) -> Result<Snapshot, StorageError> {
        let snapshot = self.ports.load(dependency)?;
        Ok(self.edit(snapshot))
    }

    fn commit(
        &mut self,
        dependency: &str,
        based_on: u64,
        data: Option<&[u8]>,
        transitions: &[String],
    ) -> Result<CommitOutcome, StorageError> {
        Ok(match self.ports.commit(dependency, based_on, data, transitions)? {
            CommitOutcome::Stale(newer) => CommitOutcome::Stale(self.edit(newer)),
            done => done,
        })
    }

    fn now(&mut self) -> u64 {
        self.ports.now().max(self.latest.unwrap_or(0))
    }

    fn next(&mut self) -> u64 {
        self.ports.next()
    }
}

/// Commits what it has, whatever it is told.
struct Stubborn<'a>(&'a mut dyn Ports);

impl Ports for Stubborn<'_> {
    fn load(&mut self, dependency: &str) -> Result<Snapshot, StorageError> {
        self.0.load(dependency)
    }

    fn commit(
        &mut self,
        dependency: &str,
        based_on: u64,
        data: Option<&[u8]>,
        transitions: &[String],
    ) -> Result<CommitOutcome, StorageError> {
        match self.0.commit(dependency, based_on, data, transitions)? {
            CommitOutcome::Stale(newer) => self.commit(dependency, newer.version, data, transitions),
            done => Ok(done),
        }
    }

    fn now(&mut self) -> u64 {
        self.0.now()
    }

    fn next(&mut self) -> u64 {
        self.0.next()
    }
}

/// Commits removals without their transitions.
struct Silent<'a>(&'a mut dyn Ports);

impl Ports for Silent<'_> {
    fn load(&mut self, dependency: &str) -> Result<Snapshot, StorageError> {
        self.0.load(dependency)
    }

    fn commit(
        &mut self,
        dependency: &str,
        based_on: u64,
        data: Option<&[u8]>,
        transitions: &[String],
    ) -> Result<CommitOutcome, StorageError> {
        self.0.commit(dependency, based_on, data, if data.is_none() { &[] } else { transitions })
    }

    fn now(&mut self) -> u64 {
        self.0.now()
    }

    fn next(&mut self) -> u64 {
        self.0.next()
    }
}
