use super::*;

#[test]
fn an_address_is_a_path_with_or_without_scheme() {
    for (address, wanted) in [
        ("sqlite:a.db", "a.db"),
        ("sqlite:/a:b@c.db", "/a:b@c.db"),
        ("a.db", "a.db"),
        ("folder/with:colon.db", "folder/with:colon.db"),
        ("C:\\a.db", "C:\\a.db"),
    ] {
        assert_eq!(path(address), Ok(wanted));
    }
}

#[test]
fn an_address_that_names_no_file_is_refused() {
    for address in [
        "",
        "sqlite:",
        "sqlite: ",
        "sqlite::memory:",
        ":memory:",
        "SQLITE:a.db",
        "mysql://localhost/db",
        "postgres:host=localhost password=hush",
        "postgres//me:hush@localhost/db",
        "me:hush@localhost/db",
        "sqlite:postgres://me:hush@localhost/db",
        "sqlite:file:a.db?mode=memory",
        "a\0b",
    ] {
        let error = path(address).expect_err(address).to_string();
        assert!(!error.contains("hush"), "{error}");
    }
}
