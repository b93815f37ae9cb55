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
    for address in ["mysql://localhost/db", "postgres//me:hush@localhost/db", "me:hush@localhost/db", "x:me:hush@db"] {
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
