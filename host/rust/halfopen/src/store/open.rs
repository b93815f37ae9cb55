use std::sync::Arc;

use halfopen_contract::store::{AddressError, MemoryStore, OpenError, Store, masked};

/// What a store is opened for.
#[derive(Clone, Copy, PartialEq)]
enum Access {
    Read,
    ReadAndWrite,
}

type Open = fn(&str, Access) -> Result<Arc<dyn Store>, OpenError>;

/// A kind of store: the schemes of its addresses, their form, and what opens one.
struct Kind(&'static [&'static str], &'static str, Open);

/// The kinds of this build.
#[rustfmt::skip]
const KINDS: &[Kind] = &[
    #[cfg(feature = "sqlite")]
    Kind(&["sqlite"], "sqlite:PATH", |address, access| shared(match access {
        Access::Read => halfopen_sqlite::SqliteStore::open_to_read(address),
        Access::ReadAndWrite => halfopen_sqlite::SqliteStore::open(address),
    })),
    #[cfg(feature = "postgres")]
    Kind(&["postgres", "postgresql"], "postgres://USER:PASSWORD@HOST:PORT/DATABASE", |address, _| shared(halfopen_postgres::PostgresStore::open(address))),
    #[cfg(feature = "etcd")]
    Kind(&["etcd", "etcds"], "etcd://HOST:PORT,HOST:PORT/PREFIX", |address, _| shared(halfopen_etcd::EtcdStore::open(address))),
    Kind(&["memory"], "memory", |_, _| Ok(Arc::new(MemoryStore::new()))),
];

#[cfg(any(feature = "sqlite", feature = "postgres", feature = "etcd"))]
fn shared<S: Store, E: Into<OpenError>>(opened: Result<S, E>) -> Result<Arc<dyn Store>, OpenError> {
    opened.map(|store| Arc::new(store) as Arc<dyn Store>).map_err(Into::into)
}

/// Opens the store at an address: `sqlite:PATH` or a bare path (feature `sqlite`),
/// `postgres://USER:PASSWORD@HOST:PORT/DATABASE` (feature `postgres`), `etcd://HOST:PORT,HOST:PORT/PREFIX` (feature `etcd`),
/// or `memory`.
///
/// # Errors
/// [`OpenError`]: no store of this build has such an address, or the store failed. No message shows a password.
pub fn open(address: &str) -> Result<Arc<dyn Store>, OpenError> {
    open_for(address, Access::ReadAndWrite)
}

/// Opens the store at an address only to read it. A SQLite file then need not be writable, and is not created: a missing one
/// reads as a store without records. For other stores it is [`open`].
///
/// # Errors
/// As [`open`].
pub fn open_to_read(address: &str) -> Result<Arc<dyn Store>, OpenError> {
    open_for(address, Access::Read)
}

fn open_for(address: &str, access: Access) -> Result<Arc<dyn Store>, OpenError> {
    let refuse = |why: String| Err(AddressError { address: masked(address), why }.into());
    if address.trim() != address || address.contains(char::is_control) {
        return refuse(
            "it begins or ends with white space, or holds a control character, such as a newline".to_owned(),
        );
    }
    let of_scheme = |scheme: &str| KINDS.iter().find(|kind| kind.0.contains(&scheme));
    let scheme = match address.split_once(':') {
        Some((scheme, _)) => scheme,
        None if address == "memory" => return Ok(Arc::new(MemoryStore::new())),
        None => "",
    };
    match of_scheme(scheme) {
        Some(kind) if scheme != "memory" => return (kind.2)(address, access),
        _ => {}
    }
    if let Some(kind) = of_scheme(&scheme.to_ascii_lowercase()).or_else(|| of_scheme(&address.to_ascii_lowercase())) {
        return refuse(format!("write it as `{}`", kind.1));
    }
    // One letter is a drive. A mistaken address of another store must not become a file, with a password in its name.
    let is_path = scheme.len() <= 1 || scheme.contains(['/', '\\']);
    let looks_like_a_server = address[scheme.len()..].contains('@') || address.contains("://");
    if let Some(sqlite) = of_scheme("sqlite").filter(|_| is_path && !looks_like_a_server) {
        return (sqlite.2)(&format!("sqlite:{address}"), access);
    }
    let forms: Vec<_> = KINDS.iter().map(|kind| format!("`{}`", kind.1)).collect();
    refuse(format!("this build has no store of that kind; give {}", forms.join(", ")))
}

#[cfg(test)]
mod tests;
