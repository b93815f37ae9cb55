use super::*;

#[test]
fn certificates_are_checked_as_libpq_does() {
    for (parameters, mode, verify) in [
        ("", SslMode::Prefer, Verify::Nothing),
        ("sslmode=disable", SslMode::Disable, Verify::Nothing),
        ("sslmode=require", SslMode::Require, Verify::Nothing),
        ("sslmode=require&sslrootcert=ca.pem", SslMode::Require, Verify::Chain),
        ("sslmode=verify-ca", SslMode::Require, Verify::Chain),
        ("sslmode=verify-full&sslrootcert=ca.pem", SslMode::Require, Verify::Full),
        ("sslrootcert=system", SslMode::Require, Verify::Full),
    ] {
        let options = parse(&format!("postgres://db/app?{parameters}")).unwrap();
        assert_eq!((options.server.get_ssl_mode(), options.tls.verify), (mode, verify), "{parameters}");
    }
}
