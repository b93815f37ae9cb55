//! Long-lived instances, lent out one call at a time.

use std::sync::{Condvar, Mutex, PoisonError};

use crate::error::ComponentFault;
use crate::instance::{Blueprint, Instance, MakeError, Ran};
use crate::op::Op;
use crate::store::Snapshot;

pub(crate) struct Pool {
    blueprint: Blueprint,
    shelf: Mutex<Shelf>,
    returned: Condvar,
    /// An instance takes two MiB, and more of them than processors get no more done.
    most: usize,
}

#[derive(Default)]
struct Shelf {
    /// Boxed: an instance is large, and moves at each call.
    #[expect(clippy::vec_box)]
    idle: Vec<Box<Instance>>,
    lent: usize,
    /// Who waits is counted: waking nobody costs a system call.
    waiting: usize,
}

/// An instance on loan.
pub(crate) struct Loan<'a> {
    pool: &'a Pool,
    instance: Option<Box<Instance>>,
}

impl Pool {
    /// A pool with one instance in it.
    pub fn new(blueprint: Blueprint) -> Result<Pool, MakeError> {
        let first = Box::new(Instance::make(&blueprint)?);
        let most = std::thread::available_parallelism().map_or(4, |n| n.get().max(2) * 2);
        let shelf = Shelf { idle: vec![first], ..Shelf::default() };
        Ok(Pool { blueprint, shelf: Mutex::new(shelf), returned: Condvar::new(), most })
    }

    /// Lends an instance; waits while all are lent.
    pub fn lend(&self) -> Result<Loan<'_>, ComponentFault> {
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        while shelf.lent >= self.most {
            shelf.waiting += 1;
            shelf = self.returned.wait(shelf).unwrap_or_else(PoisonError::into_inner);
            shelf.waiting -= 1;
        }
        shelf.lent += 1;
        // The last returned first: one caller alone always has the same, and its memory is warm.
        let instance = shelf.idle.pop();
        drop(shelf);
        let mut loan = Loan { pool: self, instance };
        loan.ensure()?;
        Ok(loan)
    }
}

impl Loan<'_> {
    /// Runs an exported call. After a fault the instance is thrown away; the next call has a new one.
    pub fn run(&mut self, op: &Op, view: &Snapshot) -> Ran {
        let instance = match self.ensure() {
            Ok(instance) => instance,
            Err(fault) => return Ran::Fault(fault),
        };
        let ran = instance.run(op, view);
        if let Ran::Fault(fault) = &ran {
            tracing::error!(%fault, dependency = &*op.dependency, "the component failed and is replaced");
            self.instance = None;
        }
        ran
    }

    fn ensure(&mut self) -> Result<&mut Instance, ComponentFault> {
        let instance = match self.instance.take() {
            Some(instance) => instance,
            None => Box::new(Instance::make(&self.pool.blueprint).map_err(|error| match error {
                MakeError::Fault(fault) => fault,
                MakeError::InvalidPolicy(_) => {
                    ComponentFault::Broken { why: "it refuses a default policy that it accepted before".to_owned() }
                }
            })?),
        };
        Ok(self.instance.insert(instance))
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        // A panic in the middle of a call leaves an instance in no known state.
        let instance = self.instance.take().filter(|_| !std::thread::panicking());
        let mut shelf = self.pool.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.idle.extend(instance);
        shelf.lent -= 1;
        let waited_for = shelf.waiting > 0;
        drop(shelf);
        if waited_for {
            self.pool.returned.notify_one();
        }
    }
}
