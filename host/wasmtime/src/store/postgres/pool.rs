//! Connections, lent out one operation at a time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio_postgres_rustls::MakeRustlsConnect;

use super::fault::{Failed, Nature};
use super::link::Link;
use super::options::PostgresOptions;

pub(super) struct Pool {
    tls: MakeRustlsConnect,
    /// The configuration, with the statement timeout in it.
    server: tokio_postgres::Config,
    shelf: Mutex<Shelf>,
    returned: Condvar,
}

#[derive(Default)]
struct Shelf {
    idle: Vec<Link>,
    lent: usize,
    /// How many wait for one that is lent.
    waiting: usize,
}

/// A connection on loan. Dropped without [`give_back`](Loan::give_back), it is closed.
pub(super) struct Loan<'a> {
    pool: &'a Pool,
    link: Option<Link>,
}

impl Pool {
    pub fn new(options: &PostgresOptions) -> Result<Pool, String> {
        let mut server = options.server.clone();
        // So that nothing which is given up here goes on there. What the user gives comes later, and so wins.
        let limit = (options.timeout * 4 / 5).as_millis().max(1);
        let own = format!(
            "-c statement_timeout={limit} -c idle_in_transaction_session_timeout={limit} \
             -c default_transaction_isolation=read\\ committed"
        );
        server.options(match options.server.get_options() {
            Some(given) => format!("{own} {given}"),
            None => own,
        });
        Ok(Pool { tls: options.tls.connector()?, server, shelf: Mutex::default(), returned: Condvar::new() })
    }

    /// Lends a connection; makes one where none is idle, and waits while all are lent.
    pub fn lend(&self, options: &PostgresOptions, until: Instant) -> Result<Loan<'_>, Failed> {
        let unreachable = |error| Failed { error, nature: Nature::Unreachable };
        let mut shelf = self.shelf();
        loop {
            // The last returned first: what is not needed grows old.
            if let Some(link) = shelf.idle.pop() {
                if link.is_old() || link.is_closed() {
                    continue;
                }
                shelf.lent += 1;
                return Ok(Loan { pool: self, link: Some(link) });
            }
            let now = Instant::now();
            if now >= until {
                return Err(unreachable(options.unavailable(format!(
                    "all {} connections were busy for longer than {} ms; allow more with `connections`",
                    options.connections,
                    options.timeout.as_millis()
                ))));
            }
            if shelf.lent < options.connections.max(1) {
                break;
            }
            shelf.waiting += 1;
            shelf = self.returned.wait_timeout(shelf, until - now).unwrap_or_else(PoisonError::into_inner).0;
            shelf.waiting -= 1;
        }
        shelf.lent += 1;
        drop(shelf);
        let mut loan = Loan { pool: self, link: None };
        let limit = until.min(Instant::now() + options.connect_timeout);
        match Link::make(&self.server, self.tls.clone(), limit) {
            Ok(link) => {
                loan.link = Some(link);
                Ok(loan)
            }
            Err(error) => Err(unreachable(options.not_made(&error))),
        }
    }

    /// Closes the connections that are idle.
    pub fn clear(&self) {
        let idle = std::mem::take(&mut self.shelf().idle);
        drop(idle);
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Loan<'_> {
    pub fn link(&mut self) -> Option<&mut Link> {
        self.link.as_mut()
    }

    /// Puts the connection back, for others to use.
    pub fn give_back(mut self) {
        let link = self.link.take();
        self.pool.shelf().idle.extend(link);
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        let mut shelf = self.pool.shelf();
        shelf.lent -= 1;
        // A call of the system each time, also where nobody waits.
        if shelf.waiting > 0 {
            self.pool.returned.notify_one();
        }
    }
}
