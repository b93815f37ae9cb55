//! Where a store is, as users write it.

use std::sync::Arc;

use crate::error::OpenError;
use crate::store::{MemoryStore, Store};

/// Opens the store at an address: `sqlite:PATH`, a bare path, or `memory`.
pub(crate) fn open(address: &str) -> Result<Arc<dyn Store>, OpenError> {
    open_for(address, Stay::Lasting)
}

/// What is to be written to a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stay {
    /// It is to survive a crash of the machine.
    Lasting,
    /// It is removed soon: no commit waits for the disk.
    #[cfg(feature = "replay")]
    Passing,
}

/// The same for what is to stay so long.
pub(crate) fn open_for(address: &str, stay: Stay) -> Result<Arc<dyn Store>, OpenError> {
    let refuse =
        |why: &str| Err(OpenError::Address { address: address.chars().take(200).collect(), why: why.to_owned() });
    let path = match address.split_once(':') {
        None if address == "memory" => return Ok(Arc::new(MemoryStore::new())),
        None => address,
        Some(("sqlite", path)) => path,
        // One letter is a drive.
        Some((scheme, rest)) if rest.starts_with("//") && scheme.len() > 1 => {
            return refuse(&format!("this build has no store of the kind `{scheme}`"));
        }
        Some(_) => address,
    };
    if path.is_empty() {
        return refuse("it names no file");
    }
    if path == ":memory:" || path == "memory:" {
        return refuse("a store in memory is written differently");
    }
    if path.contains('\0') {
        return refuse("a path holds no NUL character");
    }
    sqlite(path, stay).unwrap_or_else(|| refuse("this build has no SQLite store (feature `sqlite`)"))
}

#[cfg(feature = "sqlite")]
fn sqlite(path: &str, stay: Stay) -> Option<Result<Arc<dyn Store>, OpenError>> {
    use crate::store::sqlite::{SqliteOptions, SqliteStore, Synchronous};
    let synchronous = match stay {
        Stay::Lasting => Synchronous::Full,
        #[cfg(feature = "replay")]
        Stay::Passing => Synchronous::Normal,
    };
    let opened = SqliteStore::open_with(path, SqliteOptions { synchronous, ..SqliteOptions::default() });
    Some(opened.map(|store| Arc::new(store) as Arc<dyn Store>).map_err(OpenError::from))
}

#[cfg(not(feature = "sqlite"))]
fn sqlite(_path: &str, _stay: Stay) -> Option<Result<Arc<dyn Store>, OpenError>> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_names_no_store_says_what_to_give() {
        for address in ["", "sqlite:", "sqlite::memory:", ":memory:", "postgres://localhost/db", "a\0b"] {
            let error = open(address).err().unwrap_or_else(|| panic!("{address:?} was opened"));
            assert!(matches!(error, OpenError::Address { .. }), "{address:?}: {error}");
            assert!(error.to_string().contains("give `sqlite:PATH`"), "{error}");
        }
    }

    #[cfg(feature = "sqlite")]
    #[test]
    fn a_bare_path_is_a_sqlite_file() {
        let temp = crate::testing::TempDir::new();
        let path = temp.path().join("with:colon.db");
        assert!(open(path.to_str().unwrap()).is_ok());
        assert!(path.is_file());
    }
}
