//! Running an operation: on which connection, for how long, and how often.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio_postgres::Error;

use super::fault::{Failed, Nature};
use super::link::Conversation;
use super::options::PostgresOptions;
use super::pool::Pool;
use super::schema;
use super::statements::Texts;
use crate::error::StoreError;

pub(super) struct Session {
    pub options: PostgresOptions,
    pub texts: Texts,
    pool: Pool,
    /// The schema has been seen to be there.
    ready: AtomicBool,
}

/// What an operation does to the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing, or what may as well be done twice.
    Repeatable,
    /// It writes. Asked again after an answer was lost, it finds out what became of the first time.
    Commit,
}

/// Whether this very thing was asked before, and no answer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    None,
    AskedBefore,
}

impl Session {
    pub fn new(options: PostgresOptions) -> Result<Session, StoreError> {
        let pool = Pool::new(&options).map_err(|why| options.other(why))?;
        let texts = Texts::new(&options.schema);
        Ok(Session { options, texts, pool, ready: AtomicBool::new(false) })
    }

    /// Runs an operation, on another connection where one was lost, until its time is up.
    pub fn run<T: Send>(
        &self,
        effect: Effect,
        work: impl AsyncFnMut(&mut Conversation<'_>, Doubt) -> Result<T, Error> + Send,
    ) -> Result<T, StoreError> {
        off_runtimes(|| self.run_here(effect, work))
    }

    fn run_here<T>(
        &self,
        effect: Effect,
        mut work: impl AsyncFnMut(&mut Conversation<'_>, Doubt) -> Result<T, Error>,
    ) -> Result<T, StoreError> {
        let mut until = Instant::now() + self.options.timeout;
        let mut doubt = Doubt::None;
        for tries in 0.. {
            let Failed { error, nature } = match self.attempt(until, doubt, &mut work) {
                Ok(result) => return Ok(result),
                Err(failed) => failed,
            };
            if nature == Nature::Lost && effect == Effect::Commit && doubt == Doubt::None {
                doubt = Doubt::AskedBefore;
                until += self.options.timeout;
            }
            let again = match nature {
                Nature::Lost | Nature::Conflict => true,
                Nature::Outdated if tries < 3 => true,
                // What has not been done this time says nothing about the time before.
                Nature::Outdated | Nature::Refused | Nature::Unreachable => doubt == Doubt::AskedBefore,
            };
            let pause = Duration::from_micros(fastrand::u64(..1_000 << tries.min(6)));
            if !again || Instant::now() + pause >= until {
                return Err(match doubt {
                    Doubt::None => error,
                    Doubt::AskedBefore => StoreError::InDoubt {
                        place: self.options.place.clone(),
                        why: format!("the answer was lost, and asking again failed: {error}"),
                    },
                });
            }
            std::thread::sleep(pause);
        }
        Err(self.options.silent())
    }

    fn attempt<T>(
        &self,
        until: Instant,
        doubt: Doubt,
        work: &mut impl AsyncFnMut(&mut Conversation<'_>, Doubt) -> Result<T, Error>,
    ) -> Result<T, Failed> {
        let mut loan = self.pool.lend(&self.options, until)?;
        let Some(link) = loan.link() else {
            return Err(Failed { error: self.options.silent(), nature: Nature::Unreachable });
        };
        if !self.ready.load(Ordering::Relaxed) {
            // Nothing has been asked for yet, so that nothing is in doubt.
            let before = |failed: Failed| match failed.nature {
                Nature::Lost => Failed { nature: Nature::Unreachable, ..failed },
                _ => failed,
            };
            schema::ensure(link, until, &self.options, &self.texts).map_err(before)?;
            self.ready.store(true, Ordering::Relaxed);
        }
        match link.run(until, async |conversation| work(conversation, doubt).await) {
            Some(Ok(result)) => {
                loan.give_back();
                Ok(result)
            }
            Some(Err(error)) => {
                let failed = self.options.failed(&error);
                match failed.nature {
                    // The others are most likely lost, or as much out of date, as well.
                    Nature::Lost | Nature::Outdated => {
                        drop(loan);
                        self.pool.clear();
                        self.ready.store(false, Ordering::Relaxed);
                    }
                    _ => loan.give_back(),
                }
                Err(failed)
            }
            None => Err(Failed { error: self.options.silent(), nature: Nature::Lost }),
        }
    }

    /// Makes the schema ready, if the server can be reached.
    pub fn check(&self) -> Result<(), StoreError> {
        self.run(Effect::Repeatable, async |_, _| Ok(()))
    }
}

/// Runs something that waits for a runtime of its own. Where the caller is in one already, which would not allow that, it
/// is run on another thread.
fn off_runtimes<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if tokio::runtime::Handle::try_current().is_err() {
        return work();
    }
    std::thread::scope(|scope| match scope.spawn(work).join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}
