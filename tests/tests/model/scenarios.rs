//! What is explored: small policies, few callers, little time.

use halfopen_guest::policy::{BUILT_IN, LostProbe, Policy, WindowSpan};
use halfopen_guest::step::step;

use crate::guest::{self, End, Op, Order, Pass, View};
use crate::laws::{LATE_RESULT, LONGER_WINDOW, LOST_RACE, OLD_ADMISSION, PROBES_CLOSE, REFUSED_FROM_MEMORY, TRIPS};
use crate::memory::Recall;
use crate::world::{Bounds, Left, START, Scenario, Store};

/// Trips on the first failure, waits 2 ms, leases a probe for 2 ms, renewed for 3 ms at most.
const SMALL: Policy = Policy {
    consecutive_failures: 1,
    failure_rate: None,
    slow_calls: None,
    window: WindowSpan::Ms(86_400_000),
    open_ms: 2,
    open_multiplier: 1.0,
    open_max_ms: 2,
    jitter_percent: 0,
    stable_after_ms: 0,
    lease_ms: 2,
    probe_max_ms: 3,
    fresh_ms: 0,
    ..BUILT_IN
};

const NOTHING: Left = Left { steps: 0, orders: 0, copies: 0, damages: 0 };

const ALL_ORDERS: &[Order] = &[
    Order::ForceOpen(None),
    Order::ForceOpen(Some(2)),
    Order::ForceClosed(None),
    Order::ForceClosed(Some(1)),
    Order::ForceNone,
    Order::Reset,
    Order::Forget,
    Order::Configure,
];

/// A record that a failed call tripped a millisecond ago.
fn open(policy: &Policy) -> View {
    let policies = [*policy, *policy];
    let failure = Op::Report(Pass { epoch: 0, lease: None }, End::Failure);
    let new = View::default();
    let (_, write) = guest::run(step, &policies, failure, None, (&new, START - 1));
    new.after(&write.expect("a failure is written"))
}

/// One lease at a time, three callers.
pub fn one_probe() -> Scenario {
    Scenario {
        name: "one probe at a time, three callers",
        policies: [SMALL, SMALL],
        begins: open(&SMALL),
        callers: 3,
        bounds: Bounds { time: 3, commits: 4, racing: 2, left: NOTHING },
        steps: &[],
        orders: &[],
        ends: &[End::Success, End::Failure],
        reaches: &[LOST_RACE, LATE_RESULT, PROBES_CLOSE],
        core: step,
        store: Store::Sound,
        recall: Recall::Sound,
    }
}

/// The network brings reports twice, now and much later.
pub fn reports_twice() -> Scenario {
    Scenario {
        name: "reports that come twice",
        callers: 2,
        bounds: Bounds { time: 3, commits: 4, racing: 2, left: Left { copies: 1, ..NOTHING } },
        ends: &[End::Success, End::Failure, End::Ignored],
        ..one_probe()
    }
}

/// The dependency asks to be left alone: within the policy, and for longer.
pub fn retry_after() -> Scenario {
    let policy = Policy { open_max_ms: 3, ..SMALL };
    Scenario {
        name: "the dependency asks to be left alone",
        policies: [policy, policy],
        begins: View::default(),
        callers: 2,
        bounds: Bounds { time: 4, commits: 4, racing: 2, left: NOTHING },
        ends: &[End::Success, End::Failure, End::RetryAfter(3), End::RetryAfter(9)],
        reaches: &[LOST_RACE, TRIPS, LONGER_WINDOW],
        ..one_probe()
    }
}

/// Two leases at a time for 1 ms, two successes to close, and a lost probe reopens.
pub fn two_probes() -> Scenario {
    let policy = Policy {
        probes: 2,
        successes_to_close: 2,
        lost_probe: LostProbe::Reopen,
        open_ms: 1,
        open_max_ms: 1,
        lease_ms: 1,
        probe_max_ms: 2,
        ..SMALL
    };
    Scenario {
        name: "two probes at a time, lost ones reopen",
        policies: [policy, policy],
        begins: open(&policy),
        bounds: Bounds { time: 2, commits: 4, racing: 2, left: NOTHING },
        ends: &[End::Success, End::Timeout],
        ..one_probe()
    }
}

/// The clock steps back and forward, near and far.
pub fn clock_steps() -> Scenario {
    Scenario {
        name: "the clock steps",
        callers: 2,
        bounds: Bounds { time: 3, commits: 3, racing: 2, left: Left { steps: 1, ..NOTHING } },
        steps: &[-1, -500, 500],
        ..one_probe()
    }
}

/// Operators force, reset, forget and configure.
pub fn operators() -> Scenario {
    let other = Policy { probes: 2, lease_ms: 1, open_ms: 1, open_max_ms: 1, ..SMALL };
    Scenario {
        name: "operators",
        policies: [SMALL, other],
        callers: 2,
        bounds: Bounds { time: 2, commits: 3, racing: 2, left: Left { orders: 1, ..NOTHING } },
        orders: ALL_ORDERS,
        ..one_probe()
    }
}

/// The record is damaged, and an operator mends it.
pub fn damage() -> Scenario {
    Scenario {
        name: "a damaged record",
        callers: 2,
        bounds: Bounds { time: 2, commits: 3, racing: 2, left: Left { orders: 1, damages: 1, ..NOTHING } },
        orders: &[Order::Reset, Order::Forget],
        ..one_probe()
    }
}

/// Outcomes are counted while closed, by three callers at once.
pub fn counting() -> Scenario {
    let policy = Policy { consecutive_failures: 3, ..SMALL };
    Scenario {
        name: "counting while closed",
        policies: [policy, policy],
        begins: View::default(),
        bounds: Bounds { time: 1, commits: 5, racing: 2, left: NOTHING },
        ends: &[End::Success, End::Failure, End::Timeout, End::Ignored],
        reaches: &[LOST_RACE, TRIPS],
        ..one_probe()
    }
}

/// The record is removed, and what follows it trips and recovers.
pub fn removal() -> Scenario {
    Scenario {
        name: "a removed record",
        callers: 1,
        bounds: Bounds { time: 4, commits: 6, racing: 1, left: Left { orders: 1, ..NOTHING } },
        orders: &[Order::Forget, Order::Prune],
        ends: &[End::Failure],
        reaches: &[],
        ..one_probe()
    }
}

/// Two processes remember for 2 ms what they were told. One trips while the other goes by what it knows; both recover.
pub fn memory() -> Scenario {
    let policy = Policy { fresh_ms: 2, ..SMALL };
    Scenario {
        name: "answers from memory",
        policies: [policy, policy],
        begins: View::default(),
        callers: 2,
        bounds: Bounds { time: 3, commits: 2, racing: 2, left: NOTHING },
        ends: &[End::Failure],
        reaches: &[TRIPS, OLD_ADMISSION, REFUSED_FROM_MEMORY],
        ..one_probe()
    }
}

/// The clock steps while they remember.
pub fn memory_and_clock() -> Scenario {
    Scenario {
        name: "answers from memory, the clock steps",
        bounds: Bounds { time: 3, commits: 1, racing: 2, left: Left { steps: 1, ..NOTHING } },
        steps: &[-1, -500, 500],
        ..memory()
    }
}

/// Operators force, reset, forget and configure while they remember.
pub fn memory_and_operators() -> Scenario {
    let [policy, _] = memory().policies;
    Scenario {
        name: "answers from memory, operators",
        policies: [policy, Policy { fresh_ms: 1, probes: 2, lease_ms: 1, ..policy }],
        bounds: Bounds { time: 2, commits: 2, racing: 2, left: Left { orders: 1, ..NOTHING } },
        orders: ALL_ORDERS,
        ..memory()
    }
}
