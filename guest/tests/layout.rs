//! The types of the core are those of the contract: the same names in the same order, laid out as the component model says.

use std::collections::BTreeSet;
use std::mem::{align_of, offset_of, size_of};

use halfopen_guest::contract::*;
use wit_parser::{Resolve, SizeAlign, Type, TypeDef, TypeDefKind};

/// The contract, and where things stand in memory by it. The pointers of this machine are as long as those of wasm64.
struct Contract {
    resolve: Resolve,
    sizes: SizeAlign,
    compared: BTreeSet<String>,
}

impl Contract {
    fn read() -> Contract {
        assert_eq!(size_of::<usize>(), 8, "on a machine with shorter pointers compare with wasm32");
        let mut resolve = Resolve::default();
        resolve.push_dir("../wit").expect("the contract can be read");
        let mut sizes = SizeAlign::default();
        sizes.fill(&resolve).expect("its types have sizes");
        Contract { resolve, sizes, compared: BTreeSet::new() }
    }

    fn ty(&mut self, name: &str) -> (Type, TypeDef) {
        self.compared.insert(name.to_owned());
        let described = |def: &TypeDef| def.name.as_deref() == Some(name) && !matches!(def.kind, TypeDefKind::Type(_));
        let (id, def) = self.resolve.types.iter().find(|(_, def)| described(def)).expect(name);
        (Type::Id(id), def.clone())
    }

    fn assert_size<T>(&self, name: &str, ty: &Type) {
        assert_eq!(size_of::<T>(), self.sizes.size(ty).size_wasm64(), "the size of {name}");
        assert_eq!(align_of::<T>(), self.sizes.align(ty).align_wasm64(), "the alignment of {name}");
    }

    fn record<T>(&mut self, name: &str, fields: &[(&str, usize)]) {
        let (ty, def) = self.ty(name);
        self.assert_size::<T>(name, &ty);
        let TypeDefKind::Record(record) = &def.kind else { panic!("{name} is no record") };
        let of_contract: Vec<(String, usize)> = self
            .sizes
            .field_offsets(record.fields.iter().map(|field| &field.ty))
            .iter()
            .zip(&record.fields)
            .map(|((offset, _), field)| (field.name.replace('-', "_"), offset.size_wasm64()))
            .collect();
        let of_core: Vec<(String, usize)> = fields.iter().map(|(name, at)| ((*name).to_owned(), *at)).collect();
        assert_eq!(of_core, of_contract, "the fields of {name}");
    }

    /// `values` are one of each case, in order.
    fn cases<T: std::fmt::Debug>(&mut self, name: &str, values: &[T]) {
        let (ty, def) = self.ty(name);
        self.assert_size::<T>(name, &ty);
        let of_contract: Vec<&str> = match &def.kind {
            TypeDefKind::Enum(of) => of.cases.iter().map(|case| &*case.name).collect(),
            TypeDefKind::Variant(of) => of.cases.iter().map(|case| &*case.name).collect(),
            _ => panic!("{name} has no cases"),
        };
        let of_core: Vec<String> = values.iter().map(|value| kebab(&format!("{value:?}"))).collect();
        assert_eq!(of_core, of_contract, "the cases of {name}");
        for (tag, value) in (0..).zip(values) {
            assert_eq!(self::tag(value), tag, "the tag of {value:?} in {name}");
        }
    }
}

/// `HalfOpen(..)` as `half-open`.
fn kebab(debug: &str) -> String {
    let name = debug.split(['(', ' ']).next().unwrap_or_default();
    let mut kebab = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !kebab.is_empty() {
            kebab.push('-');
        }
        kebab.extend(letter.to_lowercase());
    }
    kebab
}

macro_rules! record {
    ($contract:ident, $name:literal, $ty:ty { $($field:ident),* }) => {
        $contract.record::<$ty>($name, &[$((stringify!($field).trim_end_matches('_'), offset_of!($ty, $field))),*])
    };
}

#[test]
fn every_type_is_laid_out_as_the_contract_says() {
    let mut contract = Contract::read();
    let c = &mut contract;
    record!(
        c,
        "policy",
        Policy {
            consecutive_failures,
            failure_rate,
            slow_calls,
            window,
            open_ms,
            open_multiplier,
            open_max_ms,
            jitter_percent,
            stable_after_ms,
            lease_ms,
            probe_max_ms,
            probes,
            successes_to_close,
            lost_probe,
            ramp,
            fresh_ms
        }
    );
    record!(c, "failure-rate", FailureRate { percent, minimum_calls });
    record!(c, "slow-calls", SlowCalls { slower_than_ms, percent, minimum_calls });
    c.cases("window", &[Window::Ms(1), Window::Calls(1)]);
    c.cases("lost-probe", &[LostProbe::Reprobe, LostProbe::Reopen]);
    record!(c, "ramp", Ramp { over_ms, from_percent });
    c.cases("state", &[State::Closed, State::Open, State::HalfOpen]);
    c.cases("mode", &[Mode::Open, Mode::Closed, Mode::None]);
    record!(c, "permit", Permit { epoch, lease });
    c.cases("outcome", &[Outcome::Success, Outcome::Failure, Outcome::Timeout, Outcome::Ignored]);
    record!(c, "tally", Tally { successes, slow_successes, failures, slow_failures });

    let permit = Permit { epoch: 1, lease: Maybe::Some(1) };
    let admission = Admission { permit, fresh_for: 1, percent: 1, slower_than: Maybe::Some(1) };
    let probe = Probe { permit, expires_in: 1, slower_than: Maybe::Some(1) };
    let reason = || DeferReason::Other("x".into());
    let deferral =
        Deferral { retry_after: 1, spread: 1, reason: reason(), fresh_for: 1, admission: Maybe::Some(admission) };
    c.cases("decision", &[Decision::Proceed(admission), Decision::Probe(probe), Decision::Defer(deferral)]);
    record!(c, "admission", Admission { permit, fresh_for, percent, slower_than });
    record!(c, "probe", Probe { permit, expires_in, slower_than });
    record!(c, "deferral", Deferral { retry_after, spread, reason, fresh_for, admission });
    let forced_open = DeferReason::ForcedOpen;
    c.cases("defer-reason", &[DeferReason::Open, DeferReason::Probing, forced_open, DeferReason::Ramping, reason()]);

    record!(c, "receipt", Receipt { verdict, state, next_due, transitions });
    c.cases("verdict", &[Verdict::Applied, Verdict::Stale(StaleReason::Forced)]);
    c.cases(
        "stale-reason",
        &[
            StaleReason::Forced,
            StaleReason::AlreadyReported,
            StaleReason::LeaseExpired,
            StaleReason::OldEpoch,
            StaleReason::UnknownPermit,
            StaleReason::Other("x".into()),
        ],
    );
    record!(c, "transition", Transition { from, to, at, epoch, reason });
    c.cases(
        "transition-reason",
        &[
            TransitionReason::ConsecutiveFailures,
            TransitionReason::FailureRate,
            TransitionReason::SlowCalls,
            TransitionReason::RampFailure,
            TransitionReason::ProbeDue,
            TransitionReason::ProbeSucceeded,
            TransitionReason::ProbeFailed,
            TransitionReason::ProbeTimedOut,
            TransitionReason::ProbeSlow,
            TransitionReason::ProbeLost,
            TransitionReason::Forced,
            TransitionReason::OverrideRemoved,
            TransitionReason::OverrideEnded,
            TransitionReason::Reset,
            TransitionReason::Other("x".into()),
        ],
    );
    record!(
        c,
        "inspection",
        Inspection {
            state,
            override_,
            probe_due,
            leases,
            successes,
            level,
            calls,
            failures,
            slow,
            failures_in_row,
            epoch,
            since,
            next_due
        }
    );
    record!(c, "forced", Forced { mode, since, ends_in, note });
    record!(c, "lease", Lease { token, caller, expires_in });
    record!(c, "policy-in-force", PolicyInForce { policy, origin });
    c.cases("policy-origin", &[PolicyOrigin::Host, PolicyOrigin::Dependency]);

    record!(c, "policy-fault", PolicyFault { field, why });
    let unavailable = || StorageError::Unavailable("x".into());
    c.cases(
        "error",
        &[
            Error::InvalidDependency("x".into()),
            Error::InvalidPolicy(List::EMPTY),
            Error::InvalidArgument("x".into()),
            Error::Contended,
            Error::NewerVersion,
            Error::Storage(unavailable()),
            Error::TooManyCalls(1),
            Error::TooManyDependencies(1),
            Error::Other("x".into()),
        ],
    );
    c.cases(
        "storage-error",
        &[
            unavailable(),
            StorageError::Denied("x".into()),
            StorageError::Corrupt("x".into()),
            StorageError::Other("x".into()),
        ],
    );
    record!(c, "snapshot", Snapshot { version, data });
    let snapshot = Snapshot { version: 1, data: Maybe::None };
    c.cases("commit-outcome", &[CommitOutcome::Committed(1), CommitOutcome::Stale(snapshot)]);

    let named = contract.resolve.types.iter().filter_map(|(_, def)| match def.kind {
        TypeDefKind::Type(_) => None,
        _ => def.name.clone(),
    });
    assert_eq!(contract.compared, named.collect(), "every type of the contract is compared");
}

#[test]
fn options_results_lists_and_strings_are_laid_out_as_the_component_model_says() {
    let contract = Contract::read();
    contract.assert_size::<Text>("string", &Type::String);
    for (id, def) in contract.resolve.types.iter().filter(|(_, def)| def.name.is_none()) {
        let ty = Type::Id(id);
        let inner = |inner: &Type| match inner {
            Type::Id(id) => contract.resolve.types[*id].name.clone().unwrap_or_else(|| "list<u8>".to_owned()),
            plain => format!("{plain:?}").to_lowercase(),
        };
        let name = match &def.kind {
            TypeDefKind::Option(some) => format!("option<{}>", inner(some)),
            TypeDefKind::List(item) => format!("list<{}>", inner(item)),
            TypeDefKind::Result(result) => format!("result<{}>", result.ok.as_ref().map_or(String::new(), inner)),
            other => panic!("{other:?} is not laid out yet"),
        };
        match &*name {
            "option<u64>" => contract.assert_size::<Maybe<u64>>(&name, &ty),
            "option<failure-rate>" => contract.assert_size::<Maybe<FailureRate>>(&name, &ty),
            "option<slow-calls>" => contract.assert_size::<Maybe<SlowCalls>>(&name, &ty),
            "option<ramp>" => contract.assert_size::<Maybe<Ramp>>(&name, &ty),
            "option<admission>" => contract.assert_size::<Maybe<Admission>>(&name, &ty),
            "option<forced>" => contract.assert_size::<Maybe<Forced>>(&name, &ty),
            "option<list<u8>>" => contract.assert_size::<Maybe<List<u8>>>(&name, &ty),
            "list<u8>" => contract.assert_size::<List<u8>>(&name, &ty),
            "list<transition>" => contract.assert_size::<List<Transition>>(&name, &ty),
            "list<lease>" => contract.assert_size::<List<Lease>>(&name, &ty),
            "list<policy-fault>" => contract.assert_size::<List<PolicyFault>>(&name, &ty),
            "result<policy>" => contract.assert_size::<Reply<Policy, Error>>(&name, &ty),
            "result<decision>" => contract.assert_size::<Reply<Decision, Error>>(&name, &ty),
            "result<receipt>" => contract.assert_size::<Reply<Receipt, Error>>(&name, &ty),
            "result<inspection>" => contract.assert_size::<Reply<Inspection, Error>>(&name, &ty),
            "result<policy-in-force>" => contract.assert_size::<Reply<PolicyInForce, Error>>(&name, &ty),
            "result<bool>" => contract.assert_size::<Reply<bool, Error>>(&name, &ty),
            "result<snapshot>" => contract.assert_size::<Reply<Snapshot, StorageError>>(&name, &ty),
            "result<commit-outcome>" => contract.assert_size::<Reply<CommitOutcome, StorageError>>(&name, &ty),
            other => panic!("{other} is not compared"),
        }
    }
    assert_eq!([tag(&Maybe::None::<u64>), tag(&Maybe::Some(7_u64))], [0, 1]);
    assert_eq!([tag(&Reply::Ok::<u64, u64>(7)), tag(&Reply::Err::<u64, u64>(7))], [0, 1]);
}

fn tag<T>(value: &T) -> u8 {
    // SAFETY: this is asked of types with cases alone; they begin with their tag, by their representation.
    unsafe { std::ptr::from_ref(value).cast::<u8>().read() }
}
