//! Group commit: operations that wait while a commit is being written share the next one.
//!
//! The waiting threads do it themselves. A thread that finds no leader leads at once; threads that come meanwhile join the
//! next cohort. A leader that is done hands on to one of that cohort, which takes all that have joined by then into one
//! commit, and then it wakes its own cohort, all at once: by the time they come back, the next commit is on its way to the
//! disk.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use halfopen_contract::BreakerError;
use halfopen_contract::cas::{CommitResult, PendingWrite};
use halfopen_contract::engine::Request;
use halfopen_contract::store::Snapshot;

use super::batch::{Batch, BatchResult, Member};
use super::executor::Executor;

/// The commits of a host.
#[derive(Default)]
pub(super) struct Group {
    queue: Mutex<Queue>,
    /// For this number of operations more, a leader locks the store before it evaluates, where the store can be locked:
    /// other processes write to it as well, and an evaluation before the lock would most likely be out of date.
    lock_first: AtomicU32,
}

/// The number of operations that lock first after a lost race.
const LOCK_FIRST_FOR: u32 = 32;

#[derive(Default)]
struct Queue {
    has_leader: bool,
    /// The operations that wait for the next commit; none where there are none.
    next: Option<Arc<Cohort>>,
}

/// Operations that wait for one commit. Locked after the queue, where both are.
#[derive(Default)]
struct Cohort {
    progress: Mutex<Progress>,
    changed: Condvar,
}

#[derive(Default)]
struct Progress {
    stage: Stage,
    /// In the order in which they came.
    waiters: Vec<Waiter>,
    /// The results, in the same order.
    results: Vec<CommitResult>,
}

impl Progress {
    /// Adds an operation, and returns the index of its result. Where one tally stands for it and the operation before it
    /// on the same dependency, they share one.
    fn add(&mut self, request: &Request, snapshot: Option<Snapshot>) -> usize {
        let before = self.waiters.iter().rposition(|waiter| waiter.request.dependency == request.dependency);
        if let Some(index) = before
            && self.waiters[index].request.merge(request)
        {
            return index;
        }
        self.waiters.push(Waiter { request: request.clone(), snapshot });
        self.waiters.len() - 1
    }
}

/// An operation that waits, and the record that it was evaluated on, if it was.
struct Waiter {
    request: Request,
    snapshot: Option<Snapshot>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Waiting,
    /// The commit before is done: one of this cohort is to lead.
    Due,
    Led,
    Settled,
}

impl Group {
    /// Commits a write, alone or in a batch. After a lost race it is evaluated once more, with the operations that came meanwhile.
    pub fn commit(&self, executor: &Executor, request: &Request, pending: PendingWrite) -> CommitResult {
        let mut queue = lock(&self.queue);
        if queue.has_leader {
            return self.wait(queue, executor, request, Some(pending.snapshot));
        }
        queue.has_leader = true;
        drop(queue);
        let mut leader = Leader { group: self, cohort: None, handed_on: false };
        if self.locks_first() {
            leader.cohort = lock(&self.queue).next.take();
            return leader.run(executor, Some(Member { request, snapshot: Some(pending.snapshot) })).0;
        }
        let present = match executor.records.commit(request, pending) {
            CommitResult::Lost(present) => present,
            settled => return settled,
        };
        leader.cohort = lock(&self.queue).next.take();
        let (result, locked) = leader.run(executor, Some(Member { request, snapshot: present }));
        if locked {
            self.lock_first.store(LOCK_FIRST_FOR, Ordering::Relaxed);
        }
        result
    }

    /// Settles an operation with the next commit, if one is being written now: an evaluation before that would be out of
    /// date.
    pub fn join(&self, executor: &Executor, request: &Request) -> Option<CommitResult> {
        let queue = lock(&self.queue);
        queue.has_leader.then(|| self.wait(queue, executor, request, None))
    }

    /// Waits for the next commit, or leads it.
    fn wait(
        &self,
        mut queue: MutexGuard<'_, Queue>,
        executor: &Executor,
        request: &Request,
        snapshot: Option<Snapshot>,
    ) -> CommitResult {
        let cohort = queue.next.get_or_insert_default().clone();
        let mut progress = lock(&cohort.progress);
        let index = progress.add(request, snapshot);
        drop(queue);
        loop {
            progress = match progress.stage {
                Stage::Waiting | Stage::Led => cohort.changed.wait(progress).unwrap_or_else(PoisonError::into_inner),
                Stage::Due => {
                    progress.stage = Stage::Led;
                    drop(progress);
                    self.lead(executor, &cohort);
                    lock(&cohort.progress)
                }
                Stage::Settled => {
                    return progress.results.get_mut(index).map_or_else(abandoned, share);
                }
            };
        }
    }

    fn lead(&self, executor: &Executor, cohort: &Arc<Cohort>) {
        // An operation that comes from here on is in the next one.
        lock(&self.queue).next.take_if(|next| Arc::ptr_eq(next, cohort));
        Leader { group: self, cohort: Some(cohort.clone()), handed_on: false }.run(executor, None);
    }

    fn locks_first(&self) -> bool {
        self.lock_first.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }
}

/// A leader, and the cohort that it has taken. Dropped, it answers them and hands on, so that a panic strands no thread.
struct Leader<'a> {
    group: &'a Group,
    cohort: Option<Arc<Cohort>>,
    handed_on: bool,
}

impl Leader<'_> {
    /// Runs an operation that is in no cohort first, and those of the cohort in the order in which they came. Returns the
    /// result of the first, and whether the store was locked.
    fn run(mut self, executor: &Executor, own: Option<Member<'_>>) -> (CommitResult, bool) {
        let waiters = self.cohort.iter().flat_map(|cohort| std::mem::take(&mut lock(&cohort.progress).waiters));
        let waiters: Vec<Waiter> = waiters.collect();
        let is_own = own.is_some();
        let others = waiters.iter().map(|Waiter { request, snapshot }| Member { request, snapshot: snapshot.clone() });
        let members: Vec<_> = own.into_iter().chain(others).collect();
        let BatchResult { results, locked } = Batch::new(executor, &members).run();
        let mut results = results.into_iter();
        let first = if is_own { results.next() } else { None };
        self.hand_on();
        self.settle(results.collect());
        (first.unwrap_or_else(abandoned), locked)
    }

    fn settle(&mut self, results: Vec<CommitResult>) {
        if let Some(cohort) = self.cohort.take() {
            let mut progress = lock(&cohort.progress);
            progress.results = results;
            progress.stage = Stage::Settled;
            drop(progress);
            cohort.changed.notify_all();
        }
    }

    fn hand_on(&mut self) {
        if std::mem::replace(&mut self.handed_on, true) {
            return;
        }
        let mut queue = lock(&self.group.queue);
        // It stays there until its leader is awake, so that more operations can still join.
        let Some(next) = queue.next.clone() else {
            queue.has_leader = false;
            return;
        };
        lock(&next.progress).stage = Stage::Due;
        drop(queue);
        next.changed.notify_one();
    }
}

impl Drop for Leader<'_> {
    fn drop(&mut self) {
        self.settle(Vec::new());
        self.hand_on();
    }
}

/// The result for one of the operations that share it. The first has the transitions: each is traced once.
fn share(result: &mut CommitResult) -> CommitResult {
    let shared = result.clone();
    if let CommitResult::Settled(Ok(settled)) = result {
        settled.transitions.clear();
    }
    shared
}

fn abandoned() -> CommitResult {
    CommitResult::Settled(Err(BreakerError::Other("the thread that was writing this operation panicked".to_owned())))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
