//! Where a store is, as users write it.

use std::sync::Arc;

use crate::error::OpenError;
use crate::store::{MemoryStore, Store};

/// Opens the store at an address: `sqlite:PATH`, a bare path, `postgres://..`, `etcd://..`, or `memory`.
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
    let refuse = |why: &str| Err(OpenError::Address { address: shown(address), why: why.to_owned() });
    let path = match address.split_once(':') {
        None if address == "memory" => return Ok(Arc::new(MemoryStore::new())),
        None if address.eq_ignore_ascii_case("memory") => return refuse("`memory` is written in small letters"),
        None => address,
        Some(("sqlite", path)) => path,
        Some(("etcd" | "etcds", rest)) if rest.starts_with("//") => {
            return etcd(address).unwrap_or_else(|| refuse("this build has no etcd store (feature `etcd`)"));
        }
        Some(("postgres" | "postgresql", rest)) if rest.starts_with("//") => {
            return postgres(address)
                .unwrap_or_else(|| refuse("this build has no PostgreSQL store (feature `postgres`)"));
        }
        Some((scheme, _)) if let Some(form) = form_of(scheme) => return refuse(&format!("write it as `{form}`")),
        // One letter is a drive. What was meant for another store must not become a file, with a password in its name.
        Some((scheme, _)) if scheme.len() > 1 && !scheme.contains(['/', '\\']) => {
            return refuse("this build has no store of that kind; a path with a colon is written `sqlite:PATH`");
        }
        Some((_, rest)) if rest.contains('@') => {
            return refuse(
                "it looks like the address of a server; a path with a colon and an @ is written `sqlite:PATH`",
            );
        }
        Some(_) => address,
    };
    if path.trim().is_empty() {
        return refuse("it names no file");
    }
    if path.contains("://") {
        return refuse("an address of another kind is no path");
    }
    // SQLite would read it as a URI.
    if path.starts_with("file:") {
        return refuse("a path is written without `file:`");
    }
    if path == ":memory:" || path == "memory:" {
        return refuse("a store in memory is written differently");
    }
    if path.contains('\0') {
        return refuse("a path holds no NUL character");
    }
    sqlite(path, stay).unwrap_or_else(|| refuse("this build has no SQLite store (feature `sqlite`)"))
}

/// How an address is written whose scheme is this one but for its case.
fn form_of(scheme: &str) -> Option<&'static str> {
    Some(match scheme.to_ascii_lowercase().as_str() {
        "sqlite" => "sqlite:PATH",
        "postgres" | "postgresql" => "postgres://USER:PASSWORD@HOST:PORT/DATABASE",
        "etcd" | "etcds" => "etcd://HOST:PORT,HOST:PORT/PREFIX",
        _ => return None,
    })
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

#[cfg(feature = "etcd")]
fn etcd(address: &str) -> Option<Result<Arc<dyn Store>, OpenError>> {
    use crate::store::etcd::{EtcdOptions, EtcdStore};
    let options = EtcdOptions::from_address(address)
        .map_err(|error| OpenError::Address { address: shown(address), why: error.to_string() });
    let opened = options.and_then(|options| EtcdStore::open(&options).map_err(OpenError::from));
    Some(opened.map(|store| Arc::new(store) as Arc<dyn Store>))
}

#[cfg(not(feature = "etcd"))]
fn etcd(_address: &str) -> Option<Result<Arc<dyn Store>, OpenError>> {
    None
}

#[cfg(feature = "postgres")]
fn postgres(address: &str) -> Option<Result<Arc<dyn Store>, OpenError>> {
    Some(crate::store::postgres::PostgresStore::open(address).map(|store| Arc::new(store) as Arc<dyn Store>))
}

#[cfg(not(feature = "postgres"))]
fn postgres(_address: &str) -> Option<Result<Arc<dyn Store>, OpenError>> {
    None
}

/// An address as messages show it: without passwords, whatever else is wrong with it, and not endless.
pub(crate) fn shown(address: &str) -> String {
    let mut shown = address.to_owned();
    if let Some(start) = address.find("://").map(|at| at + 3) {
        // A password may hold any character, so it ends at the last that can end it.
        if let Some(end) = address[start..].rfind('@').map(|at| start + at)
            && let Some(colon) = address[start..end].find(':').map(|at| start + at)
        {
            shown.replace_range(colon + 1..end, "***");
        }
        if let Some(at) = shown.find('?') {
            let parameters = shown.split_off(at + 1);
            let hidden = parameters.split('&').map(|pair| match pair.split_once('=') {
                Some((key, _)) => format!("{key}=***"),
                None => pair.to_owned(),
            });
            shown.push_str(&hidden.collect::<Vec<_>>().join("&"));
        }
    } else if let Some(colon) = address.find(':')
        && !address.starts_with("sqlite:")
        && address.contains(['@', '='])
    {
        // Meant for a server, and written so that there is no telling where its password begins.
        shown.replace_range(colon + 1.., "***");
    }
    shown.chars().take(200).collect()
}

/// What tells a store from others, whatever folder it is opened from: its address without passwords.
pub(crate) fn identity(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else {
        let path = address.strip_prefix("sqlite:").unwrap_or(address);
        let path = std::path::absolute(path).ok().and_then(|path| path.to_str().map(str::to_owned));
        return path.unwrap_or_else(|| address.to_owned());
    };
    let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let place = match place.rsplit_once('@') {
        Some((user, host)) => format!("{}@{host}", user.split(':').next().unwrap_or_default()),
        None => place.to_owned(),
    };
    let open = parameters.split('&').filter(|pair| !pair.to_ascii_lowercase().contains("pass"));
    format!("{scheme}://{place}?{}", open.collect::<Vec<_>>().join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_known_by_its_address_without_passwords() {
        for (one, other, same) in [
            ("postgres://me:hush@db/app", "postgres://me:hash@db/app", true),
            ("postgres://me@db/app?password=hush&x=1", "postgres://me@db/app?x=1&PASSWORD=hash", true),
            ("postgres://me:hush@db/app", "postgres://db/app", false),
            ("postgres://db/app?schema=a", "postgres://db/app?schema=b", false),
            ("etcd://db:1/app", "etcd://db:1/other", false),
            ("a.db", "sqlite:./a.db", true),
            ("a.db", "b.db", false),
        ] {
            assert_eq!(identity(one) == identity(other), same, "{one} {other}");
            assert!(!identity(one).contains("hush"), "{one}");
        }
        assert!(identity("sqlite:a.db").starts_with('/') || cfg!(windows));
    }

    #[test]
    fn an_address_that_names_no_store_says_what_to_give() {
        let addresses = [
            "",
            "sqlite:",
            "sqlite: ",
            "sqlite::memory:",
            ":memory:",
            "MEMORY",
            "mysql://localhost/db",
            "postgres:host=localhost password=hush",
            "postgres//me:hush@localhost/db",
            "me:hush@localhost/db",
            "sqlite:postgres://me:hush@localhost/db",
            "sqlite:file:a.db?mode=memory",
            "a\0b",
        ];
        for address in addresses {
            let error = open(address).err().unwrap_or_else(|| panic!("{address:?} was opened"));
            assert!(matches!(error, OpenError::Address { .. }), "{address:?}: {error}");
            assert!(error.to_string().contains("give `sqlite:PATH`"), "{error}");
            assert!(!error.to_string().contains("hush"), "{error}");
        }
    }

    #[test]
    fn a_scheme_that_is_nearly_right_says_how_it_is_written() {
        for (address, form) in [
            ("etcd:127.0.0.1:2379", "etcd://HOST:PORT"),
            ("Postgres://db/app", "postgres://USER"),
            ("postgresql:db/app", "postgres://USER"),
            ("SQLITE:a.db", "sqlite:PATH`"),
        ] {
            let error = open(address).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(&format!("write it as `{form}")), "{address}: {error}");
        }
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (address, wanted) in [
            ("mysql://me:hush@db/app", "mysql://me:***@db/app"),
            ("mysql://me:hu@sh:/?x@db/app", "mysql://me:***@db/app"),
            ("postgres://db/app?user=me&Password=hush&x=1", "postgres://db/app?user=***&Password=***&x=***"),
            ("me:hush@db/app", "me:***"),
            ("postgres:host=db password=hush", "postgres:***"),
            ("sqlite:postgres://me:hush@db/app", "sqlite:postgres://me:***@db/app"),
            ("postgres://me@db:1/app", "postgres://me@db:1/app"),
            ("sqlite:a:b@c?password=d", "sqlite:a:b@c?password=d"),
        ] {
            assert_eq!(shown(address), wanted);
        }
    }

    #[cfg(feature = "etcd")]
    #[test]
    fn an_address_of_etcd_is_opened_before_etcd_is_asked_and_a_mistake_in_it_is_named_without_its_password() {
        assert!(open("etcd://ann:hush@localhost:1/a").is_ok());
        let error = open("etcd://ann:hush@localhost:1/a?skew=1s").err().unwrap().to_string();
        assert!(error.contains("`etcd://ann:***@localhost:1/a?skew=***`") && error.contains("max_skew"), "{error}");
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
