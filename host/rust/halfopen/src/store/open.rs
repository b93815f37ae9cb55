use std::sync::Arc;

use halfopen_contract::store::{AddressError, MemoryStore, OpenError, Store, masked};

/// A kind of store: the schemes of its addresses, their form, and what opens one.
struct Kind {
    schemes: &'static [&'static str],
    form: &'static str,
    open: fn(&str) -> Result<Arc<dyn Store>, OpenError>,
}

const fn kind(
    schemes: &'static [&'static str],
    form: &'static str,
    open: fn(&str) -> Result<Arc<dyn Store>, OpenError>,
) -> Kind {
    Kind { schemes, form, open }
}

/// The kinds of this build.
#[rustfmt::skip]
const KINDS: &[Kind] = &[
    #[cfg(feature = "sqlite")]
    kind(&["sqlite"], "sqlite:PATH", |address| shared(halfopen_sqlite::SqliteStore::open(address))),
    #[cfg(feature = "postgres")]
    kind(&["postgres", "postgresql"], "postgres://USER:PASSWORD@HOST:PORT/DATABASE", |address| shared(halfopen_postgres::PostgresStore::open(address))),
    #[cfg(feature = "etcd")]
    kind(&["etcd", "etcds"], "etcd://HOST:PORT,HOST:PORT/PREFIX", |address| shared(halfopen_etcd::EtcdStore::open(address))),
    kind(&["memory"], "memory", |_| Ok(Arc::new(MemoryStore::new()))),
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
    let refuse = |why: String| Err(AddressError { address: masked(address), why }.into());
    let of_scheme = |scheme: &str| KINDS.iter().find(|kind| kind.schemes.contains(&scheme));
    let scheme = match address.split_once(':') {
        Some((scheme, _)) => scheme,
        None if address == "memory" => return Ok(Arc::new(MemoryStore::new())),
        None => "",
    };
    match of_scheme(scheme) {
        Some(kind) if scheme != "memory" => return (kind.open)(address),
        _ => {}
    }
    if let Some(kind) = of_scheme(&scheme.to_ascii_lowercase()).or_else(|| of_scheme(&address.to_ascii_lowercase())) {
        return refuse(format!("write it as `{}`", kind.form));
    }
    // One letter is a drive. A mistaken address of another store must not become a file, with a password in its name.
    let is_path = scheme.len() <= 1 || scheme.contains(['/', '\\']);
    let looks_like_a_server = address[scheme.len()..].contains('@') || address.contains("://");
    if let Some(sqlite) = of_scheme("sqlite").filter(|_| is_path && !looks_like_a_server) {
        return (sqlite.open)(&format!("sqlite:{address}"));
    }
    let forms: Vec<_> = KINDS.iter().map(|kind| format!("`{}`", kind.form)).collect();
    refuse(format!("this build has no store of that kind; give {}", forms.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(address: &str) -> String {
        match open(address) {
            Err(error @ OpenError::Address(_)) => error.to_string(),
            Err(other) => panic!("{address:?}: {other}"),
            Ok(_) => panic!("{address:?} was opened"),
        }
    }

    #[test]
    fn an_address_of_no_store_is_refused_without_its_password() {
        for address in
            ["mysql://localhost/db", "postgres//me:hush@localhost/db", "me:hush@localhost/db", "x:me:hush@db"]
        {
            let error = error(address);
            assert!(error.contains("give ") && error.contains("`memory`"), "{error}");
            assert!(!error.contains("hush"), "{error}");
        }
    }

    #[test]
    fn the_error_lists_the_stores_of_this_build() {
        let error = error("mysql://localhost/db");
        assert_eq!(error.contains("`sqlite:PATH`"), cfg!(feature = "sqlite"), "{error}");
        assert_eq!(error.contains("`postgres://"), cfg!(feature = "postgres"), "{error}");
        assert_eq!(error.contains("`etcd://"), cfg!(feature = "etcd"), "{error}");
    }

    #[test]
    fn a_scheme_that_is_nearly_right_shows_its_form() {
        assert!(error("MEMORY").contains("write it as `memory`"));
        assert!(error("memory:").contains("write it as `memory`"));
        #[cfg(feature = "sqlite")]
        assert!(error("SQLITE:a.db").contains("write it as `sqlite:PATH`"));
        #[cfg(feature = "etcd")]
        assert!(error("Etcd://db").contains("write it as `etcd://HOST:PORT"));
        #[cfg(feature = "postgres")]
        assert!(error("Postgres://db/app").contains("write it as `postgres://USER"));
    }

    #[cfg(feature = "sqlite")]
    #[test]
    fn an_address_that_names_no_file_is_refused() {
        for address in
            ["", "sqlite:", "sqlite: ", "sqlite::memory:", ":memory:", "sqlite:postgres://me:hush@db/app", "a\0b"]
        {
            assert!(!error(address).contains("hush"), "{address:?}");
        }
    }

    #[cfg(feature = "sqlite")]
    #[test]
    fn a_bare_path_is_a_sqlite_file() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("with:colon.db");
        assert!(open(path.to_str().unwrap()).is_ok());
        assert!(path.is_file());
    }
}
