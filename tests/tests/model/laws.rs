//! What must hold in every interleaving, and how it is judged: by the records themselves, not by what the core says of them.

use stateright::Property;

use halfopen_guest::policy::{LostProbe, Policy};
use halfopen_guest::record::{Lease, OpenEnd, Override, Record, State, StateKind};

use crate::guest::{self, End, Kind, Op, Order, Reply, View, Write, number};
use crate::memory::Recalled;
use crate::world::{Moment, Scenario, Work, World};

pub const LIVE_LEASES: &str = "no lease is granted while as many as `probes` are live";
pub const STALE: &str = "a stale result changes nothing";
pub const IN_TIME: &str = "a result in time counts";
pub const RECOVERY: &str = "no crash and no silence keeps recovery back";
pub const NO_CALL: &str = "a deferred caller makes no call";
pub const TOKENS: &str = "lease tokens only rise";
pub const CHAIN: &str = "every change of state is the next link of one chain";
pub const ACKNOWLEDGED: &str = "nothing acknowledged is lost";
pub const INSPECT: &str = "inspect says when the next acquire is granted a lease";
pub const FORCED: &str = "an override holds from its order to its end, and no longer";
pub const RETRY_AFTER: &str = "an open window is as long as the dependency asks, within the policy";
pub const FRESH: &str = "no call is admitted from memory later than `fresh_ms` after its epoch has ended";
pub const MEMORY: &str = "memory answers what the component would answer to the record as it was looked at";

pub const LAWS: &[&str] = &[
    LIVE_LEASES,
    STALE,
    IN_TIME,
    RECOVERY,
    NO_CALL,
    TOKENS,
    CHAIN,
    ACKNOWLEDGED,
    INSPECT,
    FORCED,
    RETRY_AFTER,
    FRESH,
    MEMORY,
];

pub const LOST_RACE: &str = "a commit loses its race";
pub const LATE_RESULT: &str = "a late result meets the live lease of another";
pub const PROBES_CLOSE: &str = "probes close the breaker";
pub const LONGER_WINDOW: &str = "an open window is longer than the policy's";
pub const TRIPS: &str = "the breaker trips";
pub const OLD_ADMISSION: &str = "a call is admitted from memory after another process has tripped";
pub const REFUSED_FROM_MEMORY: &str = "a call is refused from memory";

/// The laws that a step broke.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Broken(Vec<&'static str>);

impl Broken {
    fn unless(&mut self, holds: bool, law: &'static str) {
        if !holds && !self.0.contains(&law) {
            self.0.push(law);
        }
    }
}

/// What has happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ledger {
    /// The highest token granted.
    token: u64,
    /// The last link of the chain of changes: the state, and the epoch.
    link: (u8, u64),
    /// The version that the last acknowledged commit gave.
    version: u64,
    /// Outcomes acknowledged in the epoch of the last link.
    counted: u64,
    /// When a lease was last granted, renewed, or an open window begun.
    began: u64,
    /// When a lease was last granted.
    granted: u64,
    /// The clock has stepped back, and nobody has asked since.
    pub stepped_back: bool,
    /// Which epochs have ended, and when; kept only where processes remember.
    ended: Vec<(u64, u64)>,
    /// What has been seen of answers from memory.
    seen: [bool; 2],
}

/// Judges a decision of the core on a view.
pub fn decided(world: &mut World, scenario: &Scenario, op: Op, view: &View, reply: Reply, write: Option<&Write>) {
    let default = &scenario.policies[0];
    let (now, moment) = (world.clock, world.moment());
    let record = view.record(default);
    let policy = record.policy.unwrap_or(*default);
    let broken = &mut world.broken;
    if let Op::Report(pass, _) | Op::Renew(pass) = op {
        let counts = !view.is_damaged()
            && match pass.lease {
                Some(token) => lease_is_live(&record, pass.epoch, token, now),
                None => number(record.state.kind()) == 0 && pass.epoch == record.epoch && !is_over(&record, now),
            };
        broken.unless(counts || (write.is_none() && reply != Reply::Applied), STALE);
        broken.unless(!counts || reply == Reply::Applied, IN_TIME);
    }
    if op == Op::Acquire && !view.is_damaged() {
        broken.unless(follows_override(&record, now, reply), FORCED);
    }
    match reply {
        Reply::Probe { pass, .. } => {
            broken.unless(live(&record, now) < policy.probes as usize && !is_held(&record, now), LIVE_LEASES);
            let holds = write
                .and_then(|write| view.after(write).kept())
                .is_some_and(|record| record.leases().iter().any(|lease| Some(lease.token) == pass.lease));
            broken.unless(holds, NO_CALL);
        }
        Reply::Proceed { .. } => broken.unless(number(record.state.kind()) == 0, NO_CALL),
        Reply::Defer { .. } => {
            let granted = write.and_then(|write| view.after(write).kept()).map(|record| record.last_token);
            broken.unless(granted.is_none_or(|token| token == record.last_token), NO_CALL);
        }
        _ => {}
    }
    // It had nothing to correct: what it saw is dated no later than now.
    if op == Op::Acquire && write.is_none() && view.version == world.store.version {
        world.ledger.look(moment);
    }
}

/// Judges a commit, and takes it down as acknowledged.
pub fn committed(
    world: &mut World,
    scenario: &Scenario,
    op: &Op,
    view: &View,
    at: Moment,
    reply: Reply,
    write: &Write,
) {
    let default = &scenario.policies[0];
    let after = world.store.after(write);
    let (ledger, broken) = (&mut world.ledger, &mut world.broken);
    if view.is_damaged() {
        // What follows has a chain of its own, above all that was.
        ledger.link = (0, view.record(default).epoch);
    }
    let link = ledger.link;
    for change in &write.changes {
        let is_note = change.is_note(ledger.link.1);
        let epoch = ledger.link.1 + u64::from(!is_note);
        broken.unless(change.from == ledger.link.0 && change.epoch == epoch, CHAIN);
        broken.unless(!is_note || change.from == change.to, CHAIN);
        ledger.link = (change.to, change.epoch);
    }
    let record = after.record(default);
    let ends = write.changes.iter().filter(|change| change.kind == Kind::Forgotten).count();
    broken.unless(ends == usize::from(write.data.is_none() && view.data.is_some()), CHAIN);
    if write.data.is_none() {
        broken.unless(record.epoch > ledger.link.1, CHAIN);
        ledger.link = (0, record.epoch);
    }
    broken.unless(ledger.link == (number(record.state.kind()), record.epoch), CHAIN);
    if scenario.remembers() && ledger.link.1 != link.1 {
        ledger.ended.push((link.1, world.time));
    }

    if at.steps_left == world.left.steps {
        ledger.look(at);
    } else {
        ledger.stepped_back = true;
    }
    let opened = write.changes_of_state(link.1).any(|change| change.to == 1);
    match *op {
        Op::Order(Order::ForceOpen(lasting) | Order::ForceClosed(lasting)) => {
            let forced = record.state.forced().map(|forced| (forced.since, forced.lasting));
            broken.unless(forced == Some((at.clock, lasting)), FORCED);
        }
        Op::Report(_, end) if opened => {
            broken.unless(window_fits(&record, &record.policy.unwrap_or(*default), end), RETRY_AFTER);
        }
        _ => {}
    }
    if opened || matches!(reply, Reply::Probe { .. }) || matches!(op, Op::Renew(_)) {
        ledger.began = ledger.began.max(at.time);
    }
    if let Reply::Probe { pass, .. } = reply {
        broken.unless(pass.lease.is_some_and(|token| token > ledger.token), TOKENS);
        ledger.token = ledger.token.max(pass.lease.unwrap_or(0));
        ledger.granted = ledger.granted.max(at.time);
    }
    ledger.version += 1;
    let counts = matches!(op, Op::Report(pass, end) if *end != End::Ignored && pass.lease.is_none());
    ledger.counted = match ledger.link == link {
        true => ledger.counted + u64::from(counts),
        false => 0,
    };
}

/// Judges an answer from memory: against the record that memory rests on, and against what has happened since.
pub fn recalled(world: &mut World, scenario: &Scenario, view: &View, answer: Recalled) {
    let (ledger, broken) = (&mut world.ledger, &mut world.broken);
    let there = guest::run(scenario.core, &scenario.policies, Op::Acquire, None, (view, world.clock)).0;
    match (answer, there) {
        (Recalled::Admit(ours), Reply::Proceed { pass, .. }) => broken.unless(ours == pass, MEMORY),
        // Memory counts from when it was asked for, so that nobody waits for longer than is left.
        (Recalled::Defer { retry_after: ours }, Reply::Defer { retry_after, .. }) => {
            broken.unless(ours <= retry_after, MEMORY);
        }
        _ => broken.unless(false, MEMORY),
    }
    match answer {
        Recalled::Admit(pass) => {
            let ended = ledger.ended.iter().find(|(epoch, _)| *epoch == pass.epoch);
            let longest = scenario.policies.iter().map(|policy| policy.fresh_ms).max().unwrap_or(0);
            broken.unless(ended.is_none_or(|(_, at)| world.time < at + longest), FRESH);
            ledger.seen[0] |= ended.is_some() && ledger.link.0 == number(StateKind::Open);
        }
        Recalled::Defer { .. } => ledger.seen[1] = true,
    }
}

impl Ledger {
    /// The ledger of a world that begins with a record.
    pub fn of(view: &View, default: &Policy) -> Ledger {
        let record = view.record(default);
        let link = (number(record.state.kind()), record.epoch);
        Ledger { version: view.version, token: record.last_token, link, ..Ledger::default() }
    }

    /// Somebody has looked at the record, and what is stored is dated no later than that.
    fn look(&mut self, at: Moment) {
        if std::mem::take(&mut self.stepped_back) {
            self.began = self.began.max(at.time);
            self.granted = self.granted.max(at.time);
        }
    }
}

/// All that is checked in each state, and what the exploration must come to, or it would show nothing.
pub fn properties(reaches: &[&str]) -> Vec<Property<Scenario>> {
    let mut properties = vec![
        Property::always(LIVE_LEASES, |s, w| kept(w, LIVE_LEASES) && few_leases_are_live(s, w)),
        Property::always(STALE, |_, w| kept(w, STALE)),
        Property::always(IN_TIME, |_, w| kept(w, IN_TIME)),
        Property::always(RECOVERY, recovers),
        Property::always(NO_CALL, |_, w| kept(w, NO_CALL)),
        Property::always(TOKENS, |_, w| kept(w, TOKENS)),
        Property::always(CHAIN, |_, w| kept(w, CHAIN)),
        Property::always(ACKNOWLEDGED, nothing_acknowledged_is_lost),
        Property::always(INSPECT, inspect_tells),
        Property::always(FORCED, |_, w| kept(w, FORCED)),
        Property::always(RETRY_AFTER, |_, w| kept(w, RETRY_AFTER)),
        Property::always(FRESH, |_, w| kept(w, FRESH)),
        Property::always(MEMORY, |_, w| kept(w, MEMORY)),
    ];
    let sights = [
        Property::sometimes(LOST_RACE, |_, w: &World| {
            w.callers.iter().any(|c| matches!(&c.work, Work::Decided { view, .. } if view.version != w.store.version))
        }),
        Property::sometimes(LATE_RESULT, |s: &Scenario, w: &World| {
            let record = w.store.record(&s.policies[0]);
            let is_late = |op: &Op| matches!(op, Op::Report(pass, _) if pass.lease < Some(record.last_token));
            live(&record, w.clock) > 0
                && w.callers.iter().any(|c| matches!(&c.work, Work::Loaded { op, .. } if is_late(op)))
        }),
        Property::sometimes(PROBES_CLOSE, |s: &Scenario, w: &World| {
            let record = w.store.record(&s.policies[0]);
            number(record.state.kind()) == 0 && record.settled.is_some()
        }),
        Property::sometimes(LONGER_WINDOW, |s: &Scenario, w: &World| {
            let [default, _] = &s.policies;
            matches!(w.store.record(default).state, State::Open { end: OpenEnd::Length(length), .. } if length > default.open_ms)
        }),
        Property::sometimes(TRIPS, |s: &Scenario, w: &World| number(w.store.record(&s.policies[0]).state.kind()) == 1),
        Property::sometimes(OLD_ADMISSION, |_, w: &World| w.ledger.seen[0]),
        Property::sometimes(REFUSED_FROM_MEMORY, |_, w: &World| w.ledger.seen[1]),
    ];
    properties.extend(sights.into_iter().filter(|sight| reaches.contains(&sight.name)));
    properties
}

fn kept(world: &World, law: &str) -> bool {
    !world.broken.0.contains(&law)
}

fn few_leases_are_live(scenario: &Scenario, world: &World) -> bool {
    let most = scenario.policies.iter().map(|policy| policy.probes as usize).max().unwrap_or(0);
    live(&world.store.record(&scenario.policies[0]), world.clock) <= most
        && (!is_calm(scenario, world) || world.believed().count() <= most)
}

/// A clock that steps ends a lease without its holder's knowledge, and so does an operator.
fn is_calm(scenario: &Scenario, world: &World) -> bool {
    let left = scenario.bounds.left;
    (world.left.steps, world.left.orders, world.left.damages) == (left.steps, left.orders, left.damages)
}

/// Runs an acquire on the state: whoever comes now is granted a lease, is admitted, or is told when that will be.
fn recovers(scenario: &Scenario, world: &World) -> bool {
    let [default, other] = &scenario.policies;
    if world.store.is_damaged() {
        return true;
    }
    let longest = |of: fn(&Policy) -> u64| of(default).max(of(other));
    let lease = longest(|policy| policy.lease_ms);
    let window = longest(|policy| policy.open_max_ms);
    let record = world.store.record(default);
    let reopens = record.policy.unwrap_or(*default).lost_probe == LostProbe::Reopen;
    let acquire = |view: &View, now| guest::run(scenario.core, &scenario.policies, Op::Acquire, None, (view, now));

    let (reply, write) = acquire(&world.store, world.clock);
    let Reply::Defer { retry_after, forced: false, .. } = reply else { return true };
    let opens = write.as_ref().is_some_and(|write| write.changes_of_state(record.epoch).any(|change| change.to == 1));
    // What is behind: after one lease, or one window, somebody is let in, and a lost probe reopens at most.
    let is_due = !world.ledger.stepped_back
        && match record.state {
            State::HalfOpen { .. } => {
                let renewed = longest(|policy| policy.probe_max_ms);
                world.time >= world.ledger.began + lease || world.time >= world.ledger.granted + renewed
            }
            _ => world.time >= world.ledger.began + window,
        };
    if is_due && !(reopens && opens) {
        return false;
    }
    // What is ahead: who comes back as told is let in, wherever the clock stands.
    let waits_for_lease = matches!(record.state, State::HalfOpen { .. }) && !opens;
    if retry_after > if waits_for_lease { lease } else { window } {
        return false;
    }
    let seen = write.map_or(world.store.clone(), |write| world.store.after(&write));
    let back = world.clock + retry_after;
    match acquire(&seen, back) {
        (Reply::Probe { .. } | Reply::Proceed { .. }, _) => true,
        (Reply::Defer { retry_after, .. }, Some(write)) if reopens && waits_for_lease => {
            retry_after <= window && matches!(acquire(&seen.after(&write), back + retry_after).0, Reply::Probe { .. })
        }
        _ => false,
    }
}

fn nothing_acknowledged_is_lost(scenario: &Scenario, world: &World) -> bool {
    let ledger = &world.ledger;
    let record = world.store.record(&scenario.policies[0]);
    let calm = is_calm(scenario, world);
    let kept = |token| record.leases().iter().any(|lease| lease.token == token);
    let counted = match (world.store.is_damaged(), &record.state) {
        (false, State::Closed { .. }) => {
            let inspect =
                guest::run(scenario.core, &scenario.policies, Op::Inspect, None, (&world.store, world.clock)).0;
            let is_over = is_over(&record, world.clock);
            is_over || matches!(inspect, Reply::Inspected { calls, .. } if calls == ledger.counted)
        }
        _ => true,
    };
    let lost_lease = world
        .believed()
        .any(|call| calm && call.pass.epoch == record.epoch && call.pass.lease.is_some_and(|token| !kept(token)));
    world.store.version >= ledger.version
        && record.epoch >= ledger.link.1
        && record.last_token >= ledger.token
        && counted
        && !lost_lease
}

fn inspect_tells(scenario: &Scenario, world: &World) -> bool {
    let ask = |op| guest::run(scenario.core, &scenario.policies, op, None, (&world.store, world.clock)).0;
    match ask(Op::Inspect) {
        Reply::Inspected { probe_due, forced, .. } => {
            probe_due == matches!(ask(Op::Acquire), Reply::Probe { .. })
                && forced == is_held(&world.store.record(&scenario.policies[0]), world.clock)
        }
        _ => world.store.is_damaged(),
    }
}

/// Whether the answer to an acquire is that of the override: a deferral until its end at most, or an admission; and none of
/// an override that has ended.
fn follows_override(record: &Record, now: u64, reply: Reply) -> bool {
    let is_forced_deferral = matches!(reply, Reply::Defer { forced: true, .. });
    match record.state.forced().filter(|_| is_held(record, now)) {
        None => !is_forced_deferral,
        Some(_) if number(record.state.kind()) == 0 => matches!(reply, Reply::Proceed { .. }),
        Some(forced) => {
            let ends = |ms: u64| end(forced, now).is_none_or(|end| ms <= end - now);
            matches!(reply, Reply::Defer { retry_after, forced: true, .. } if ends(retry_after))
        }
    }
}

/// Whether the window that a report has opened is as long as it should be. No scenario has jitter or a multiplier.
fn window_fits(record: &Record, policy: &Policy, end: End) -> bool {
    let at_least = if let End::RetryAfter(ms) = end { ms } else { 0 };
    let wanted = policy.open_ms.max(at_least).min(policy.open_max_ms);
    matches!(record.state, State::Open { end: OpenEnd::Length(length), .. } if length == wanted)
}

fn live(record: &Record, now: u64) -> usize {
    record.leases().iter().filter(|lease| is_live(lease, now)).count()
}

/// A lease that is dated after now counts as dated now.
fn is_live(lease: &Lease, now: u64) -> bool {
    now < lease.start.min(now) + lease.length
}

fn lease_is_live(record: &Record, epoch: u64, token: u64, now: u64) -> bool {
    epoch == record.epoch && record.leases().iter().any(|lease| lease.token == token && is_live(lease, now))
}

/// Whether an operator forces the state.
fn is_held(record: &Record, now: u64) -> bool {
    record.state.forced().is_some_and(|forced| end(forced, now).is_none_or(|end| now < end))
}

/// Whether what an operator forced has come to its end, and nobody has written that down.
fn is_over(record: &Record, now: u64) -> bool {
    record.state.forced().is_some_and(|forced| end(forced, now).is_some_and(|end| now >= end))
}

fn end(forced: &Override, now: u64) -> Option<u64> {
    Some(forced.since.min(now) + forced.lasting?)
}
