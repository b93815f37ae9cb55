//! How the store is reached, and the address that says so.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

use super::fault::reasons;
use super::tls::{Roots, Tls, Verify};
use crate::error::OpenError;

/// How a PostgreSQL store is opened.
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    /// The schema that holds the tables, at most 63 bytes. It is made where it is missing. Default `halfopen`.
    pub schema: String,
    /// How long making a connection may take in all, TLS and login included. Default 3 s.
    pub connect_timeout: Duration,
    /// How long an operation may take in all, connecting and trying again included. The server gives up on a statement
    /// after four fifths of it. Only a commit whose acknowledgement was lost may take up to twice as long. Default 5 s.
    pub timeout: Duration,
    /// How many connections to have at most; one is made when it is needed. Default 4.
    pub connections: usize,
    pub(super) server: Config,
    pub(super) tls: Tls,
    /// What the store is called in messages: without the password.
    pub(super) place: String,
}

/// The longest a time limit may be.
const LONGEST: Duration = Duration::from_secs(3_600);

/// No name is longer in PostgreSQL.
const LONGEST_NAME: usize = 63;

impl PostgresOptions {
    /// Reads an address, `postgres://user:password@host:port/database?key=value&..`, as libpq does.
    ///
    /// Keys of this store: `schema`, `connect_timeout` and `timeout` (seconds, or `800ms`), `connections`, `sslmode`,
    /// `sslrootcert`, `sslcert`, `sslkey`. Those of the connection: `application_name`, `channel_binding`, `hostaddr`,
    /// `keepalives`, `keepalives_idle`, `keepalives_interval`, `keepalives_retries`, `load_balance_hosts`, `options`,
    /// `sslnegotiation`, `target_session_attrs`, `tcp_user_timeout`.
    ///
    /// # Errors
    /// [`OpenError::Address`]: what is wrong. It shows no password.
    pub fn from_address(address: &str) -> Result<PostgresOptions, OpenError> {
        parse(address).map_err(|why| OpenError::Address { address: crate::address::shown(address), why })
    }
}

fn parse(address: &str) -> Result<PostgresOptions, String> {
    let (base, query) = split(address);
    if base.matches('@').count() > 1 {
        // What of a password comes after the first would be taken for the host and the database, and shown.
        return Err("an `@` in a user's name, a password or a database is written `%40`".to_owned());
    }
    let mut own = Own::default();
    let mut theirs = String::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let Some((key, value)) = pair.split_once('=') else {
            return Err(format!("`{}` has no value; write key=value", decoded(pair)?));
        };
        let (key, value) = (decoded(key)?, decoded(value)?);
        if !own.take(&key, &value)? {
            theirs.push(if theirs.is_empty() { '?' } else { '&' });
            theirs.push_str(pair);
            own.given.push(key.into_owned());
        }
    }
    let server: Config = format!("{base}{theirs}").parse().map_err(|error| reasons(&error))?;
    own.finish(server)
}

/// Where the parameters begin. Before an `@`, a question mark belongs to the password.
fn split(address: &str) -> (&str, &str) {
    let after = address.find('@').unwrap_or(0);
    match address[after..].find('?') {
        Some(at) => (&address[..after + at], &address[after + at + 1..]),
        None => (address, ""),
    }
}

fn decoded(text: &str) -> Result<Cow<'_, str>, String> {
    let decoded = percent_decode_str(text).decode_utf8().map_err(|_| "a parameter is not UTF-8".to_owned())?;
    if decoded.contains('\0') { Err("a parameter holds no NUL character".to_owned()) } else { Ok(decoded) }
}

/// The parameters that this store takes care of itself.
#[derive(Default)]
struct Own {
    schema: Option<String>,
    connect_timeout: Option<Duration>,
    timeout: Option<Duration>,
    connections: Option<usize>,
    sslmode: Option<(SslMode, Verify)>,
    roots: Option<Roots>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    /// The names of the others.
    given: Vec<String>,
}

impl Own {
    /// Whether it was one of these.
    fn take(&mut self, key: &str, value: &str) -> Result<bool, String> {
        match key {
            "schema" => self.schema = Some(schema(value)?),
            "connect_timeout" => self.connect_timeout = Some(limit(key, value)?),
            "timeout" => self.timeout = Some(limit(key, value)?),
            "connections" => {
                let number = value.parse().ok().filter(|number| (1..=1_000).contains(number));
                self.connections = Some(number.ok_or("`connections` is a number from 1 to 1,000")?);
            }
            "sslmode" => self.sslmode = Some(sslmode(value)?),
            "sslrootcert" if value == "system" => self.roots = Some(Roots::System),
            "sslrootcert" => self.roots = Some(Roots::File(value.into())),
            "sslcert" => self.certificate = Some(value.into()),
            "sslkey" => self.key = Some(value.into()),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn finish(self, mut server: Config) -> Result<PostgresOptions, String> {
        // For TLS a host needs a name, and its address is one.
        if server.get_hosts().is_empty() {
            let addresses: Vec<String> = server.get_hostaddrs().iter().map(ToString::to_string).collect();
            if addresses.is_empty() {
                return Err("it names no host".to_owned());
            }
            for address in addresses {
                server.host(address);
            }
        }
        let (mode, verify) = match (self.sslmode, &self.roots) {
            (None, Some(Roots::System)) => (SslMode::Require, Verify::Full),
            (None, _) => (SslMode::Prefer, Verify::Nothing),
            (Some((_, verify)), Some(Roots::System)) if verify != Verify::Full => {
                return Err(
                    "`sslrootcert=system` needs `sslmode=verify-full`: anybody can get a certificate".to_owned()
                );
            }
            (Some((SslMode::Require, Verify::Nothing)), Some(_)) => (SslMode::Require, Verify::Chain),
            (Some(mode), _) => mode,
        };
        let client = match (self.certificate, self.key) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err("`sslcert` and `sslkey` go together".to_owned()),
        };
        server.ssl_mode(mode);
        let tls = Tls { verify, roots: self.roots.unwrap_or(Roots::System), client };
        let connect_timeout = self.connect_timeout.unwrap_or(Duration::from_secs(3));
        let timeout = self.timeout.unwrap_or(Duration::from_secs(5));
        let given = |key: &str| self.given.iter().any(|given| given == key);
        if !given("application_name") {
            server.application_name("halfopen");
        }
        // A standby shows old records: it is refused, and where there are several hosts the next is tried.
        if !given("target_session_attrs") {
            server.target_session_attrs(TargetSessionAttrs::ReadWrite);
        } else if server.get_target_session_attrs() != TargetSessionAttrs::ReadWrite {
            return Err("`target_session_attrs` can only be `read-write`: a standby shows old records".to_owned());
        }
        // Without these a peer that is gone without a word is noticed after minutes.
        if !given("keepalives_idle") {
            server.keepalives_idle(Duration::from_secs(60));
        }
        if !given("tcp_user_timeout") {
            server.tcp_user_timeout(timeout);
        }
        let schema = self.schema.unwrap_or_else(|| "halfopen".to_owned());
        let place = place(&server);
        let connections = self.connections.unwrap_or(4);
        Ok(PostgresOptions { schema, connect_timeout, timeout, connections, server, tls, place })
    }
}

fn limit(key: &str, value: &str) -> Result<Duration, String> {
    let number = |digits: &str| digits.parse::<u64>().ok();
    let length = match value.strip_suffix("ms") {
        Some(digits) => number(digits).map(Duration::from_millis),
        None => number(value.strip_suffix('s').unwrap_or(value)).map(Duration::from_secs),
    };
    length
        .filter(|length| !length.is_zero() && *length <= LONGEST)
        .ok_or_else(|| format!("`{key}` is a time, `5` or `5s` or `800ms`, from 1 ms to an hour"))
}

/// A name that is good for a schema.
pub(super) fn schema(name: &str) -> Result<String, String> {
    if name.is_empty() || name.len() > LONGEST_NAME || name.contains(['\0', '$']) || name.starts_with("pg_") {
        return Err(format!(
            "`schema` is a name of 1 to {LONGEST_NAME} bytes without `$` that does not begin with pg_"
        ));
    }
    Ok(name.to_owned())
}

fn sslmode(value: &str) -> Result<(SslMode, Verify), String> {
    Ok(match value {
        "disable" => (SslMode::Disable, Verify::Nothing),
        "prefer" => (SslMode::Prefer, Verify::Nothing),
        "require" => (SslMode::Require, Verify::Nothing),
        "verify-ca" => (SslMode::Require, Verify::Chain),
        "verify-full" => (SslMode::Require, Verify::Full),
        _ => return Err("`sslmode` is disable, prefer, require, verify-ca or verify-full".to_owned()),
    })
}

/// The address without what is secret.
fn place(server: &Config) -> String {
    use std::fmt::Write as _;
    let mut place = "postgres://".to_owned();
    if let Some(user) = server.get_user() {
        let _ = write!(place, "{user}@");
    }
    let ports = server.get_ports();
    for (index, host) in server.get_hosts().iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        let _ = match host {
            Host::Tcp(name) if name.contains(':') => write!(place, "{comma}[{name}]"),
            Host::Tcp(name) => write!(place, "{comma}{name}"),
            #[cfg(unix)]
            Host::Unix(path) => write!(place, "{comma}{}", path.display()),
        };
        if let Some(port) = ports.get(index).or(ports.first()) {
            let _ = write!(place, ":{port}");
        }
    }
    if let Some(database) = server.get_dbname() {
        let _ = write!(place, "/{database}");
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(address: &str) -> PostgresOptions {
        PostgresOptions::from_address(address).unwrap_or_else(|error| panic!("{address}: {error}"))
    }

    #[test]
    fn an_address_says_where_and_how_and_the_rest_has_defaults() {
        let plain = options("postgresql://me@db.example/app");
        assert_eq!((plain.schema.as_str(), plain.connections), ("halfopen", 4));
        assert_eq!((plain.connect_timeout, plain.timeout), (Duration::from_secs(3), Duration::from_secs(5)));
        let full = options(
            "postgres://me@h:1/app?schema=x%20y&timeout=800ms&connect_timeout=2&connections=1&options=-c%20a=b",
        );
        assert_eq!((full.schema.as_str(), full.connections), ("x y", 1));
        assert_eq!((full.connect_timeout, full.timeout), (Duration::from_secs(2), Duration::from_millis(800)));
        assert_eq!(full.server.get_options(), Some("-c a=b"));
    }

    #[test]
    fn a_password_is_shown_nowhere() {
        for address in [
            "postgres://me:hush@db:1/app",
            "postgres://me:hu?sh@db/app?timeout=1",
            "postgres://me:hu/sh@db/app",
            "postgres://me:hu%40/sh@db/app",
            "postgres://db/app?user=me&password=hush",
            "postgres://a:1,b:2/app?password=hush",
        ] {
            let options = options(address);
            let shown = format!("{} {options:?}", options.place);
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

    #[test]
    fn a_place_names_every_host() {
        assert_eq!(options("postgres://me:x@a:1,b:2/app").place, "postgres://me@a:1,b:2/app");
        assert_eq!(options("postgres://[::1]:5/app").place, "postgres://[::1]:5/app");
    }

    #[test]
    fn what_is_wrong_is_named() {
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
        ] {
            let error = PostgresOptions::from_address(&format!("postgres://db/app?{parameters}")).unwrap_err();
            assert!(error.to_string().contains(named), "{parameters}: {error}");
        }
        assert!(PostgresOptions::from_address("postgres://").unwrap_err().to_string().contains("no host"));
    }

    #[test]
    fn certificates_are_checked_as_libpq_would() {
        for (parameters, mode, verify) in [
            ("", SslMode::Prefer, Verify::Nothing),
            ("sslmode=disable", SslMode::Disable, Verify::Nothing),
            ("sslmode=require", SslMode::Require, Verify::Nothing),
            ("sslmode=require&sslrootcert=ca.pem", SslMode::Require, Verify::Chain),
            ("sslmode=verify-ca", SslMode::Require, Verify::Chain),
            ("sslmode=verify-full&sslrootcert=ca.pem", SslMode::Require, Verify::Full),
            ("sslrootcert=system", SslMode::Require, Verify::Full),
        ] {
            let options = options(&format!("postgres://db/app?{parameters}"));
            assert_eq!((options.server.get_ssl_mode(), options.tls.verify), (mode, verify), "{parameters}");
        }
    }
}
