//! The world around the core: callers in processes of their own, a store that they race for, a clock, and operators.
//!
//! An operation takes three steps, which those of others come between: load; look at the clock and decide; commit. A
//! commit that lost its race lets the core decide again on what won. Then the answer is under way, and may come late or,
//! when the caller crashes, never. Callers are alike: they are kept sorted, so that worlds which differ only in who is who
//! are one.

use stateright::{Model, Property};

use halfopen_guest::policy::Policy;

use crate::guest::{self, End, Op, Order, Pass, Reply, Step, View, Write};
use crate::laws::{self, Broken, Ledger};
use crate::memory::{Memory, Recall, Recalled};

/// What is explored.
#[derive(Clone)]
pub struct Scenario {
    pub name: &'static str,
    /// The host's default, and what an operator configures.
    pub policies: [Policy; 2],
    pub begins: View,
    pub callers: usize,
    pub bounds: Bounds,
    /// How far the clock may step.
    pub steps: &'static [i64],
    /// What operators may do.
    pub orders: &'static [Order],
    /// How calls may end.
    pub ends: &'static [End],
    /// What the exploration must come to.
    pub reaches: &'static [&'static str],
    pub core: Step,
    pub store: Store,
    /// How processes recall what they were last told.
    pub recall: Recall,
}

/// Where the exploration ends.
#[derive(Clone, Copy)]
pub struct Bounds {
    /// Ms that pass.
    pub time: u64,
    /// Commits.
    pub commits: u64,
    /// Operations at a time.
    pub racing: usize,
    pub left: Left,
}

/// How many more of what is rare may happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Left {
    /// Steps of the clock.
    pub steps: u8,
    /// Orders of operators.
    pub orders: u8,
    /// Reports of which the network keeps a copy.
    pub copies: u8,
    /// Records damaged.
    pub damages: u8,
}

/// What the store does with a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// Compare-and-set, durable before the answer: what the contract asks for.
    Sound,
    /// Broken: the last write wins.
    LastWriteWins,
    /// Broken: it says that a write is done which a power cut may still undo.
    AnswersEarly,
    /// Broken: its versions begin anew after a removal.
    ForgetsVersions,
}

/// A state of the world.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    /// Ms that have passed.
    pub time: u64,
    /// What the clock shows.
    pub clock: u64,
    pub store: View,
    pub callers: Vec<Caller>,
    /// Reports that the network will bring once more.
    pub copies: Vec<(Pass, End)>,
    pub left: Left,
    /// What has happened, as far as the laws need it.
    pub ledger: Ledger,
    /// The laws that were broken on the way here.
    pub broken: Broken,
}

/// A caller in a process of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call {
    /// What it was admitted under.
    pub pass: Pass,
    /// When it asked for that.
    pub asked: u64,
    /// Until when it may believe that it holds the lease.
    pub until: u64,
}

/// A caller: the call that it is making, and the operation that it is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Caller {
    pub call: Option<Call>,
    pub work: Work,
    /// What its process was last told, where it may answer from that.
    pub memory: Option<Memory>,
    /// What the clock showed when it asked; 0 where nothing is remembered.
    pub sent: u64,
}

/// How far an operation is.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Work {
    #[default]
    None,
    /// It has loaded the record.
    Loaded { op: Op, asked: u64, view: View },
    /// It has decided to write.
    Decided { op: Op, asked: u64, view: View, at: Moment, reply: Reply, write: Write },
    /// The answer is under way.
    Answered { op: Op, asked: u64, reply: Reply, learnt: Option<Memory> },
}

impl Work {
    fn is_racing(&self) -> bool {
        matches!(self, Work::Loaded { .. } | Work::Decided { .. })
    }

    /// An answer that changes nothing for its caller makes no difference, however late it comes.
    fn answered(op: Op, asked: u64, reply: Reply, learnt: Option<Memory>) -> Work {
        match (op, reply) {
            (_, Reply::Proceed { .. } | Reply::Probe { .. }) | (Op::Renew(_), Reply::Applied) => {
                Work::Answered { op, asked, reply, learnt }
            }
            _ if learnt.is_some() => Work::Answered { op, asked, reply, learnt },
            _ => Work::None,
        }
    }
}

/// When a decision was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment {
    pub time: u64,
    pub clock: u64,
    /// How many steps of the clock were still to come.
    pub steps_left: u8,
}

/// What can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A caller asks: its process loads the record.
    Ask(usize),
    /// A caller asks, or another one of its process, which answers from memory.
    Recall(usize),
    /// A call ends, and its caller begins to report.
    End(usize, End),
    /// Likewise, and the network will bring the report once more.
    EndTwice(usize, End),
    /// A caller renews its lease.
    Renew(usize),
    /// The network brings a report once more; an idle process takes it.
    BringAgain(usize, usize),
    /// An operator's process loads the record.
    Order(usize, Order),
    /// A process looks at the clock and lets the core decide.
    Decide(usize),
    /// A process commits.
    Commit(usize),
    /// A commit that is answered and not done (of a broken store).
    Undone(usize),
    /// An answer arrives.
    Arrive(usize),
    /// A process dies, with what it was about.
    Crash(usize),
    /// A millisecond passes.
    Pass,
    /// The clock steps.
    Step(i64),
    /// The record is damaged.
    Damage,
}

/// When the model begins.
pub const START: u64 = 1_000;

impl World {
    pub fn moment(&self) -> Moment {
        Moment { time: self.time, clock: self.clock, steps_left: self.left.steps }
    }

    /// Calls that go on under a lease which has not run out as far as their caller can know.
    pub fn believed(&self) -> impl Iterator<Item = &Call> {
        let held = |call: &&Call| call.pass.lease.is_some() && self.time < call.until;
        self.callers.iter().filter_map(|caller| caller.call.as_ref()).filter(held)
    }

    fn begin(&mut self, scenario: &Scenario, caller: usize, op: Op) {
        // When it asked makes a difference only for what it will hold, or remember.
        let asked = if matches!(op, Op::Acquire | Op::Renew(_)) { self.time } else { 0 };
        self.callers[caller].sent = if op == Op::Acquire && scenario.remembers() { self.clock } else { 0 };
        self.callers[caller].work = Work::Loaded { op, asked, view: self.store.clone() };
    }

    fn end(&mut self, scenario: &Scenario, caller: usize, end: End) {
        if let Some(call) = self.callers[caller].call.take() {
            self.begin(scenario, caller, Op::Report(call.pass, end));
        }
    }

    fn decide(&mut self, scenario: &Scenario, caller: usize) {
        if let Work::Loaded { op, asked, view } = std::mem::take(&mut self.callers[caller].work) {
            self.settle(scenario, caller, op, asked, None, view);
        }
    }

    fn commit(&mut self, scenario: &Scenario, caller: usize) {
        let work = std::mem::take(&mut self.callers[caller].work);
        let Work::Decided { op, asked, view, at, reply, write } = work else { return };
        if view.version != self.store.version && scenario.store != Store::LastWriteWins {
            let present = self.store.clone();
            self.settle(scenario, caller, op, asked, Some((&view, at.clock)), present);
            return;
        }
        laws::committed(self, scenario, &op, &view, at, reply, &write);
        self.store = self.store.after(&write);
        if scenario.store == Store::ForgetsVersions && write.data.is_none() {
            self.store.version = 0;
        }
        self.answer(scenario, caller, op, asked, reply, self.store.clone(), !write.changes.is_empty());
    }

    /// Sends the answer, which rests on a view. What its process learns by a report or an order it acts on at once.
    #[allow(clippy::too_many_arguments)]
    fn answer(
        &mut self,
        scenario: &Scenario,
        caller: usize,
        op: Op,
        asked: u64,
        reply: Reply,
        view: View,
        changed: bool,
    ) {
        let caller = &mut self.callers[caller];
        if changed || reply == Reply::Stale {
            caller.memory = None;
        }
        let learnt = scenario.remembers().then(|| Memory::of(op, reply, (asked, caller.sent), &view)).flatten();
        caller.work = Work::answered(op, asked, reply, learnt);
    }

    fn undone(&mut self, scenario: &Scenario, caller: usize) {
        let work = std::mem::take(&mut self.callers[caller].work);
        let Work::Decided { op, asked, view, at, reply, write } = work else { return };
        laws::committed(self, scenario, &op, &view, at, reply, &write);
        self.callers[caller].work = Work::answered(op, asked, reply, None);
    }

    /// Lets the core decide on a view, after it lost a race where it did.
    fn settle(
        &mut self,
        scenario: &Scenario,
        caller: usize,
        op: Op,
        asked: u64,
        lost: Option<(&View, u64)>,
        view: View,
    ) {
        let (reply, write) = guest::run(scenario.core, &scenario.policies, op, lost, (&view, self.clock));
        laws::decided(self, scenario, op, &view, reply, write.as_ref());
        let at = self.moment();
        match write {
            Some(write) => self.callers[caller].work = Work::Decided { op, asked, view, at, reply, write },
            None => self.answer(scenario, caller, op, asked, reply, view, false),
        }
    }

    fn arrive(&mut self, scenario: &Scenario, caller: usize) {
        let (time, clock) = (self.time, self.clock);
        let caller = &mut self.callers[caller];
        let Work::Answered { op, asked, reply, learnt } = std::mem::take(&mut caller.work) else { return };
        if op == Op::Acquire {
            caller.memory = learnt;
            caller.sent = 0;
            if let Some(memory) = &mut caller.memory
                && scenario.recall == Recall::FromArrival
            {
                (memory.time, memory.clock) = (time, clock);
            }
        }
        match (op, reply) {
            (Op::Acquire, Reply::Proceed { pass, .. }) => {
                caller.call = Some(Call { pass, asked, until: u64::MAX });
            }
            // Who receives it too late treats it as lost.
            (Op::Acquire, Reply::Probe { pass, expires_in }) if time < asked + expires_in => {
                caller.call = Some(Call { pass, asked, until: asked + expires_in });
            }
            (Op::Renew(_), Reply::Applied) => {
                let policy = &scenario.policies[0];
                if let Some(call) = &mut caller.call {
                    call.until = (asked + policy.lease_ms).min(call.asked + policy.probe_max_ms);
                }
            }
            _ => {}
        }
    }

    /// What the process of a caller answers from memory.
    fn remembered(&self, scenario: &Scenario, caller: &Caller) -> Option<Recalled> {
        caller.memory.as_ref()?.recall(scenario.recall, self.clock, self.time)
    }

    fn recall(&mut self, scenario: &Scenario, caller: usize) {
        let answer = self.remembered(scenario, &self.callers[caller]);
        let (Some(answer), Some(memory)) = (answer, &self.callers[caller].memory) else { return };
        let view = memory.view.clone();
        laws::recalled(self, scenario, &view, answer);
        let caller = &mut self.callers[caller];
        // While its caller is about something it is another one who asks, and whose call is not followed.
        let is_idle = caller.work == Work::None && caller.call.is_none();
        if let Recalled::Admit(pass) = answer
            && is_idle
        {
            caller.call = Some(Call { pass, asked: 0, until: u64::MAX });
        }
    }
}

impl Scenario {
    /// Whether processes answer from memory at all.
    pub fn remembers(&self) -> bool {
        self.policies.iter().any(|policy| policy.fresh_ms > 0)
    }
}

impl Model for Scenario {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World {
            time: 0,
            clock: START,
            store: self.begins.clone(),
            callers: vec![Caller::default(); self.callers],
            copies: Vec::new(),
            left: self.bounds.left,
            ledger: Ledger::of(&self.begins, &self.policies[0]),
            broken: Broken::default(),
        }]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        let racing = world.callers.iter().filter(|caller| caller.work.is_racing()).count();
        let may_begin = racing < self.bounds.racing;
        for (i, caller) in world.callers.iter().enumerate() {
            if i > 0 && world.callers[i - 1] == *caller {
                continue;
            }
            let recalls = world.remembered(self, caller).is_some();
            if recalls {
                actions.push(Action::Recall(i));
            }
            match (&caller.work, &caller.call) {
                (Work::None, None) => {
                    if !may_begin {
                        continue;
                    }
                    if !recalls {
                        actions.push(Action::Ask(i));
                    }
                    actions.extend((0..world.copies.len()).map(|copy| Action::BringAgain(i, copy)));
                    if world.left.orders > 0 {
                        actions.extend(self.orders.iter().map(|order| Action::Order(i, *order)));
                    }
                    continue;
                }
                (Work::None, Some(call)) if may_begin => {
                    actions.extend(self.ends.iter().map(|end| Action::End(i, *end)));
                    if call.pass.lease.is_some() {
                        actions.push(Action::Renew(i));
                        if world.left.copies > 0 {
                            actions.extend(self.ends.iter().map(|end| Action::EndTwice(i, *end)));
                        }
                    }
                }
                (Work::None, Some(_)) => {}
                (Work::Loaded { .. }, _) => actions.push(Action::Decide(i)),
                (Work::Decided { .. }, _) => {
                    actions.push(Action::Commit(i));
                    if self.store == Store::AnswersEarly {
                        actions.push(Action::Undone(i));
                    }
                }
                (Work::Answered { .. }, _) => actions.push(Action::Arrive(i)),
            }
            actions.push(Action::Crash(i));
        }
        actions.push(Action::Pass);
        if world.left.steps > 0 {
            actions.extend(self.steps.iter().map(|by| Action::Step(*by)));
        }
        if world.left.damages > 0 && world.store.data.is_some() {
            actions.push(Action::Damage);
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        match action {
            Action::Ask(i) => next.begin(self, i, Op::Acquire),
            Action::Recall(i) => next.recall(self, i),
            Action::End(i, end) => next.end(self, i, end),
            Action::EndTwice(i, end) => {
                next.left.copies -= 1;
                next.copies.extend(next.callers[i].call.map(|call| (call.pass, end)));
                next.copies.sort_unstable();
                next.end(self, i, end);
            }
            Action::Renew(i) => {
                let call = next.callers[i].call?;
                next.begin(self, i, Op::Renew(call.pass));
            }
            Action::BringAgain(i, copy) => {
                let (pass, end) = next.copies.remove(copy);
                next.begin(self, i, Op::Report(pass, end));
            }
            Action::Order(i, order) => {
                next.left.orders -= 1;
                next.begin(self, i, Op::Order(order));
            }
            Action::Decide(i) => next.decide(self, i),
            Action::Commit(i) => next.commit(self, i),
            Action::Undone(i) => next.undone(self, i),
            Action::Arrive(i) => next.arrive(self, i),
            Action::Crash(i) => next.callers[i] = Caller::default(),
            Action::Pass => {
                next.time += 1;
                next.clock += 1;
            }
            Action::Step(by) => {
                next.left.steps -= 1;
                next.clock = next.clock.saturating_add_signed(by);
                next.ledger.stepped_back |= by < 0;
            }
            Action::Damage => {
                next.left.damages -= 1;
                next.store.data = Some([0xff; 3].as_slice().into());
            }
        }
        next.callers.sort_unstable();
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Scenario>> {
        laws::properties(self.reaches)
    }

    fn within_boundary(&self, world: &World) -> bool {
        world.time <= self.bounds.time && world.store.version <= self.begins.version + self.bounds.commits
    }
}
