use std::collections::HashMap;
use std::error::Error as _;
use std::time::Duration;

use halfopen_contract::store::{AddressError, Place, masked, parameter};
use tokio_postgres::Config;
use tokio_postgres::config::{SslMode, TargetSessionAttrs};

use super::PostgresOptions;
use super::tls::{Tls, Verify};

/// The keys of this store; the driver reads all others.
const OWN_KEYS: [&str; 8] =
    ["schema", "connect_timeout", "timeout", "connections", "sslmode", "sslrootcert", "sslcert", "sslkey"];

/// The settings of the driver, which the address may change. A standby returns old records: it is refused, and where there
/// are several hosts the next one is tried. Without keepalives, a server that vanished is noticed after minutes.
const DEFAULTS: &str = "application_name=halfopen&target_session_attrs=read-write&keepalives_idle=60";

impl PostgresOptions {
    /// Reads an address, `postgres://user:password@host:port/database?key=value&..`, as libpq does.
    ///
    /// Keys of this store: `schema`, `connect_timeout` and `timeout` (seconds, or `800ms`), `connections`, `sslmode`,
    /// `sslrootcert`, `sslcert`, `sslkey`. Keys of the connection: `application_name`, `channel_binding`, `hostaddr`,
    /// `keepalives`, `keepalives_idle`, `keepalives_interval`, `keepalives_retries`, `load_balance_hosts`, `options`,
    /// `sslnegotiation`, `target_session_attrs`, `tcp_user_timeout`.
    ///
    /// # Errors
    /// [`AddressError`]: the mistake. It shows no password.
    pub fn from_address(address: &str) -> Result<PostgresOptions, AddressError> {
        parse(address).map_err(|why| AddressError::new(address, why))
    }
}

/// The options that an address gives, or the mistake in it.
fn parse(address: &str) -> Result<PostgresOptions, String> {
    let (base, query) = split(address);
    if base.matches('@').count() > 1 {
        // The rest of a password after the first `@` would be taken for host and database, and shown.
        return Err("an `@` in a user's name, a password or a database is written `%40`".to_owned());
    }
    let mut own = HashMap::new();
    let mut rest = format!("{base}?{DEFAULTS}");
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let decode = |text| parameter::decode("a parameter", text);
        let Some((key, value)) = pair.split_once('=') else {
            return Err(format!("`{}` has no value; write key=value", decode(pair)?));
        };
        let (key, value) = (decode(key)?, decode(value)?);
        if OWN_KEYS.contains(&key.as_str()) {
            own.insert(key, value);
        } else {
            rest.push('&');
            rest.push_str(pair);
        }
    }
    let mut server: Config = rest.parse().map_err(|error: tokio_postgres::Error| match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    })?;
    let time = |key: &str, default| match own.get(key) {
        Some(value) => parameter::time(key, value, Duration::from_millis(1), Duration::from_secs(3_600)),
        None => Ok(Duration::from_secs(default)),
    };
    let timeout = time("timeout", 5)?;
    let connections = match own.get("connections").map(|value| value.parse()) {
        None => 4,
        Some(Ok(number @ 1..=1_000)) => number,
        Some(_) => return Err("`connections` is a number from 1 to 1,000".to_owned()),
    };
    let tls = tls(&own, &mut server)?;
    if server.get_hosts().is_empty() {
        return Err("it names no host".to_owned());
    }
    if server.get_target_session_attrs() != TargetSessionAttrs::ReadWrite {
        return Err("`target_session_attrs` can only be `read-write`: a standby returns old records".to_owned());
    }
    if server.get_tcp_user_timeout().is_none() {
        server.tcp_user_timeout(timeout);
    }
    let options = PostgresOptions {
        schema: own.get("schema").cloned().unwrap_or_else(|| "halfopen".to_owned()),
        connect_timeout: time("connect_timeout", 3)?,
        timeout,
        connections,
        server,
        tls,
        place: Place(masked(base)),
    };
    options.schema_fault().map_or(Ok(options), |why| Err(why.to_owned()))
}

/// The address before its parameters, and the parameters. A question mark before an `@` belongs to the password.
fn split(address: &str) -> (&str, &str) {
    let after = address.find('@').unwrap_or(0);
    match address[after..].find('?') {
        Some(at) => (&address[..after + at], &address[after + at + 1..]),
        None => (address, ""),
    }
}

fn tls(own: &HashMap<String, String>, server: &mut Config) -> Result<Tls, String> {
    let text = |key| own.get(key).map(String::as_str);
    let roots = text("sslrootcert");
    let (mode, verify) = match (text("sslmode"), roots) {
        (None, Some("system")) | (Some("verify-full"), _) => (SslMode::Require, Verify::Full),
        (Some(_), Some("system")) => {
            return Err("`sslrootcert=system` needs `sslmode=verify-full`: any host can get a certificate".to_owned());
        }
        (None | Some("prefer"), _) => (SslMode::Prefer, Verify::Nothing),
        (Some("disable"), _) => (SslMode::Disable, Verify::Nothing),
        (Some("require"), None) => (SslMode::Require, Verify::Nothing),
        // As libpq does.
        (Some("require" | "verify-ca"), _) => (SslMode::Require, Verify::Chain),
        _ => return Err("`sslmode` is disable, prefer, require, verify-ca or verify-full".to_owned()),
    };
    let client = match (own.get("sslcert"), own.get("sslkey")) {
        (Some(certificate), Some(key)) => Some((certificate.into(), key.into())),
        (None, None) => None,
        _ => return Err("`sslcert` and `sslkey` go together".to_owned()),
    };
    server.ssl_mode(mode);
    Ok(Tls { verify, roots: roots.filter(|roots| *roots != "system").map(Into::into), client })
}

#[cfg(test)]
mod tests;
