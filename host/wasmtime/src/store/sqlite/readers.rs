//! Connections that read, lent out one read at a time.

use std::sync::{Condvar, Mutex, PoisonError};

use rusqlite::Connection;

use super::fault::Place;
use super::file::Opened;
use super::open;
use crate::error::StoreError;

/// A read takes microseconds: more connections than this would only wait for each other.
const MOST: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Readers {
    shelf: Mutex<Shelf>,
    returned: Condvar,
}

#[derive(Debug, Default)]
struct Shelf {
    idle: Vec<Opened>,
    lent: usize,
    /// Who waits is counted: waking nobody costs a system call.
    waiting: usize,
}

/// The right to use one of the connections; given back when dropped, with the connection where there is one.
struct Loan<'a> {
    readers: &'a Readers,
    returning: Option<Opened>,
}

impl Readers {
    /// Reads; waits while all connections are lent. Before one is opened, `ready` sees to the file.
    pub fn read<T>(
        &self,
        place: &Place,
        ready: impl FnOnce() -> Result<(), StoreError>,
        read: impl FnOnce(&Connection) -> T,
    ) -> Result<T, StoreError> {
        let (mut loan, idle) = self.lend();
        let connection = match idle.filter(Opened::is_at_its_path) {
            Some(connection) => connection,
            None => {
                ready()?;
                open::reader(place)?
            }
        };
        let result = read(&connection);
        loan.returning = Some(connection);
        Ok(result)
    }

    fn lend(&self) -> (Loan<'_>, Option<Opened>) {
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        while shelf.lent >= MOST {
            shelf.waiting += 1;
            shelf = self.returned.wait(shelf).unwrap_or_else(PoisonError::into_inner);
            shelf.waiting -= 1;
        }
        shelf.lent += 1;
        (Loan { readers: self, returning: None }, shelf.idle.pop())
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        let mut shelf = self.readers.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.lent -= 1;
        shelf.idle.extend(self.returning.take());
        let waited_for = shelf.waiting > 0;
        drop(shelf);
        if waited_for {
            self.readers.returned.notify_one();
        }
    }
}
