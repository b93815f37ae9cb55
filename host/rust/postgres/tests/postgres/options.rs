use std::time::Duration;

use halfopen_postgres::PostgresOptions;

fn options(address: &str) -> PostgresOptions {
    PostgresOptions::from_address(address).unwrap_or_else(|error| panic!("{address}: {error}"))
}

pub fn an_address_gives_the_options_and_the_rest_are_defaults() {
    let plain = options("postgresql://me@db.example/app");
    assert_eq!((plain.schema.as_str(), plain.connections), ("halfopen", 4));
    assert_eq!((plain.connect_timeout, plain.timeout), (Duration::from_secs(3), Duration::from_secs(5)));
    let full =
        options("postgres://me@h:1/app?schema=x%20y&timeout=800ms&connect_timeout=2&connections=1&options=-c%20a=b");
    assert_eq!((full.schema.as_str(), full.connections), ("x y", 1));
    assert_eq!((full.connect_timeout, full.timeout), (Duration::from_secs(2), Duration::from_millis(800)));
    assert!(format!("{full:?}").contains("-c a=b"), "{full:?}");
}

pub fn a_password_is_shown_nowhere() {
    for address in [
        "postgres://me:hush@db:1/app",
        "postgres://me:hu?sh@db/app?timeout=1",
        "postgres://me:hu/sh@db/app",
        "postgres://me:hu%40/sh@db/app",
        "postgres://db/app?user=me&password=hush",
        "postgres://a:1,b:2/app?password=hush",
    ] {
        let shown = format!("{:?}", options(address));
        assert!(!shown.contains("hu"), "{shown}");
    }
    for wrong in [
        "postgres://me:hush@db:port/app",
        "postgres://me:hu?sh@db/app?none=1",
        "postgres://me:hush@",
        "postgres://me:x@hu/sh@db/app",
        "postgres://me:/hu@sh@db/app",
    ] {
        let error = PostgresOptions::from_address(wrong).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hu"), "{error}");
    }
}

pub fn a_place_names_every_host() {
    let address = "postgres://me:x@a:1,b:2/app";
    assert!(format!("{:?}", options(&format!("{address}?timeout=1"))).contains("\"postgres://me:***@a:1,b:2/app\""));
}

pub fn a_mistake_in_an_address_is_named() {
    for (parameters, named) in [
        ("schema=", "`schema`"),
        ("schema=pg_x", "`schema`"),
        ("timeout=0", "`timeout`"),
        ("timeout=2h", "`timeout`"),
        ("connections=0", "`connections`"),
        ("sslmode=allow", "`sslmode`"),
        ("sslmode=require&sslrootcert=system", "verify-full"),
        ("sslcert=a", "`sslkey`"),
        ("target_session_attrs=any", "read-write"),
        ("colour=red", "`colour`"),
        ("timeout", "key=value"),
        ("schema=a%00", "NUL"),
    ] {
        let error = PostgresOptions::from_address(&format!("postgres://db/app?{parameters}")).unwrap_err();
        assert!(error.to_string().contains(named), "{parameters}: {error}");
    }
    assert!(PostgresOptions::from_address("postgres://").unwrap_err().to_string().contains("no host"));
}
