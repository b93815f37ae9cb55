//! What the killed processes said, and what must be so because of it.

use std::collections::{BTreeMap, BTreeSet};

use halfopen::{Inspection, Outcome, Permit, Receipt, State, Transition, TransitionReason};

/// A line of a caller.
#[derive(Clone, Debug, PartialEq)]
enum Said {
    Acquiring,
    Probe(Permit),
    Proceed(Permit),
    Defer,
    Renewing,
    Renewed(Receipt),
    Settling(Outcome),
    Settled(Receipt),
    Reporting(Outcome),
    Reported(Receipt),
    /// A success that its process has counted in memory, to be handed over later.
    Counted,
}

impl Said {
    fn parse(words: &str) -> Option<Said> {
        let (what, rest) = words.split_once('|').unwrap_or((words, ""));
        let receipt = || serde_json::from_str(rest).ok();
        Some(match what {
            "acquiring" => Said::Acquiring,
            "probe" => Said::Probe(rest.parse().ok()?),
            "proceed" => Said::Proceed(rest.parse().ok()?),
            "defer" => Said::Defer,
            "renewing" => Said::Renewing,
            "renewed" => Said::Renewed(receipt()?),
            "settling" => Said::Settling(rest.parse().ok()?),
            "settled" => Said::Settled(receipt()?),
            "reporting" => Said::Reporting(rest.parse().ok()?),
            "reported" => Said::Reported(receipt()?),
            "counted" => Said::Counted,
            _ => return None,
        })
    }

    /// About to do something of which the answer had not arrived.
    fn is_intent(&self) -> bool {
        matches!(self, Said::Acquiring | Said::Renewing | Said::Settling(_) | Said::Reporting(_))
    }

    /// The state in which a permit was given.
    fn state(&self) -> Option<State> {
        match self {
            Said::Probe(_) => Some(State::HalfOpen),
            Said::Proceed(_) => Some(State::Closed),
            _ => None,
        }
    }
}

/// The changes of state that a caller was told of: the permit that it reported under, and the state after it.
fn acknowledged_changes(said: &[Said]) -> Vec<(Permit, State)> {
    let mut permit = None;
    let mut changes = Vec::new();
    for said in said {
        match said {
            Said::Probe(given) | Said::Proceed(given) => permit = Some((*given, said.state())),
            Said::Settled(receipt) | Said::Reported(receipt) if receipt.is_applied() => {
                let changed = permit.filter(|(_, before)| *before != Some(receipt.state));
                changes.extend(changed.map(|(permit, _)| (permit, receipt.state)));
            }
            _ => {}
        }
    }
    changes
}

/// What each caller said, in its order.
#[derive(Debug, Default)]
pub struct Account {
    callers: BTreeMap<String, Vec<Said>>,
}

impl Account {
    pub fn read<'a>(lines: impl Iterator<Item = &'a String>) -> Account {
        let mut account = Account::default();
        for line in lines {
            let said = line.split_once('|').and_then(|(caller, words)| Some((caller, Said::parse(words)?)));
            let Some((caller, said)) = said else { panic!("a caller was told: {line}") };
            account.callers.entry(caller.to_owned()).or_default().push(said);
        }
        assert!(account.callers.len() <= crate::CALLERS);
        account
    }

    fn all(&self) -> impl Iterator<Item = &Said> {
        self.callers.values().flatten()
    }

    /// The tokens of the leases that were acknowledged.
    pub fn tokens(&self) -> impl Iterator<Item = u64> {
        self.all().filter_map(|said| match said {
            Said::Probe(permit) => permit.lease,
            _ => None,
        })
    }

    pub fn settled(&self) -> usize {
        self.all().filter(|said| matches!(said, Said::Settled(_))).count()
    }

    pub fn reported(&self) -> usize {
        self.all().filter(|said| matches!(said, Said::Reported(_))).count()
    }

    pub fn counted(&self) -> usize {
        self.all().filter(|said| matches!(said, Said::Counted)).count()
    }

    pub fn in_flight(&self) -> usize {
        self.callers.values().filter(|said| said.last().is_some_and(Said::is_intent)).count()
    }

    /// The history is whole and holds every transition that was acknowledged.
    pub fn check_history(&self, history: &[Transition], seen: &Inspection) {
        if let Some(first) = history.first() {
            assert_eq!(first.from, State::Closed);
            assert_eq!(history.last().map(|last| (last.to, last.epoch)), Some((seen.state, seen.epoch)));
        }
        for pair in history.windows(2) {
            assert_eq!((pair[1].from, pair[1].epoch), (pair[0].to, pair[0].epoch + 1), "{history:?}");
        }
        // No lease can run out in a round.
        assert!(history.iter().all(|change| change.reason != TransitionReason::ProbeLost), "{history:?}");
        let known: BTreeSet<u64> = history.iter().map(|change| change.epoch).collect();
        for (permit, state) in self.callers.values().flat_map(|said| acknowledged_changes(said)) {
            let is_there = history.iter().any(|change| change.epoch == permit.epoch + 1 && change.to == state);
            assert!(is_there, "a change to {state} under {permit} was acknowledged and is lost: {history:?}");
        }
        let first_epoch = history.first().map_or(seen.epoch, |first| first.epoch - 1);
        for said in self.all() {
            let (permit, state) = match said {
                Said::Probe(permit) => (permit, State::HalfOpen),
                Said::Proceed(permit) => (permit, State::Closed),
                _ => continue,
            };
            let in_epoch = history.iter().find(|change| change.epoch == permit.epoch).map(|change| change.to);
            let in_epoch = in_epoch.or((permit.epoch == first_epoch).then_some(State::Closed));
            assert_eq!(in_epoch, Some(state), "{permit} was given; epochs {known:?}");
        }
    }

    /// Each lease ended before the next one was granted, and one that was not ended is there.
    pub fn check_leases(&self, seen: &Inspection) {
        let tokens: BTreeSet<u64> = self.tokens().collect();
        assert_eq!(tokens.len(), self.tokens().count(), "a token was given twice");
        assert!(seen.leases.len() <= 1, "more than one live lease: {:?}", seen.leases);
        let newest = tokens.iter().copied().chain(seen.leases.iter().map(|lease| lease.token)).max();

        for (caller, said) in &self.callers {
            let mut held = None;
            for said in said {
                match said {
                    Said::Probe(permit) => held = permit.lease,
                    Said::Renewed(receipt) => assert!(receipt.is_applied(), "{caller}: a live lease is {receipt:?}"),
                    Said::Settled(receipt) => {
                        assert!(receipt.is_applied(), "{caller}: the result of a live lease is {receipt:?}");
                        held = None;
                    }
                    _ => {}
                }
            }
            let settling = matches!(said.last(), Some(Said::Settling(_)));
            if let Some(token) = held
                && !settling
            {
                let live = seen.leases.iter().any(|lease| lease.token == token && lease.caller == *caller);
                assert!(live, "{caller} held lease {token}, and there is {:?}", seen.leases);
                assert_eq!(newest, Some(token), "another lease was granted while {caller} held {token}");
            }
        }

        if let [lease] = seen.leases.as_slice()
            && !tokens.contains(&lease.token)
        {
            // Granted, and its holder was killed before it could say so.
            let last = self.callers.get(&lease.caller).and_then(|said| said.last());
            assert_eq!(last, Some(&Said::Acquiring), "{lease:?} was granted to one who did not ask");
            assert!(tokens.iter().all(|token| *token < lease.token), "{lease:?} is older than {tokens:?}");
        }
    }

    /// All that was acknowledged is counted, and nothing beyond what was in flight. A success that was counted in memory
    /// may be lost; a failure never.
    pub fn check_counts(&self, seen: &Inspection) {
        let mut sure = (0, 0);
        let mut perhaps = (0, 0);
        for said in self.callers.values() {
            let mut reporting = None;
            for said in said {
                match said {
                    Said::Reporting(outcome) => reporting = Some(u64::from(*outcome == Outcome::Failure)),
                    Said::Reported(receipt) => {
                        assert!(receipt.is_applied(), "{receipt:?}");
                        sure = (sure.0 + 1, sure.1 + reporting.take().unwrap_or_default());
                    }
                    Said::Counted => {
                        assert_eq!(reporting.take(), Some(0), "a failure was not reported at once");
                        perhaps.0 += 1;
                    }
                    _ => {}
                }
            }
            if let Some(failure) = reporting {
                perhaps = (perhaps.0 + 1, perhaps.1 + failure);
            }
        }
        let in_range = |counted: u64, sure: u64, perhaps: u64| (sure..=sure + perhaps).contains(&counted);
        assert!(
            in_range(seen.calls, sure.0, perhaps.0) && in_range(seen.failures, sure.1, perhaps.1),
            "{} calls and {} failures are counted; acknowledged {sure:?}, in flight {perhaps:?}",
            seen.calls,
            seen.failures
        );
    }
}
