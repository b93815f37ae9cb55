use std::collections::HashMap;
use std::time::Duration;

use halfopen_contract::store::{AddressError, parameter};

use super::{EtcdOptions, EtcdTls, EtcdUser};

const NAMES: [&str; 5] = ["max_skew", "timeout", "cacert", "cert", "key"];

impl EtcdOptions {
    /// Reads `etcd://[USER:PASSWORD@]HOST:PORT[,HOST:PORT...][/PREFIX][?NAME=VALUE&...]`; `etcds://` connects with TLS.
    ///
    /// Names: `max_skew` and `timeout` (like `500ms` or `5s`), `cacert`, `cert` and `key` (PEM files). In user, password, prefix and values, a character that has a meaning in addresses is
    /// written as `%XX`.
    ///
    /// # Errors
    /// [`AddressError`]: the mistake, and how to write it. It shows no password.
    pub fn from_address(address: &str) -> Result<EtcdOptions, AddressError> {
        parse(address).map_err(|why| AddressError::new(address, why))
    }
}

/// The options that an address gives, or the mistake in it.
fn parse(address: &str) -> Result<EtcdOptions, String> {
    let (secure, rest) = match (address.strip_prefix("etcd://"), address.strip_prefix("etcds://")) {
        (Some(rest), _) => (false, rest),
        (_, Some(rest)) => (true, rest),
        _ => return Err("an address of etcd begins with `etcd://` or `etcds://`".to_owned()),
    };
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    let (user, hosts) = match authority.rsplit_once('@') {
        Some((user, hosts)) => (Some(user), hosts),
        None => (None, authority),
    };
    if user.is_some_and(|user| user.contains('@')) {
        // All endpoints but the last would be taken for the password.
        return Err("user and password stand once, before all endpoints; an `@` in them is written `%40`".to_owned());
    }
    if user.is_none() && hosts.contains(':') && prefix.contains('@') {
        // A part of the password would be taken for the port, and shown.
        return Err("a `/` in a user's name or password is written `%2F`, and an `@` in the prefix `%40`".to_owned());
    }
    let mut options = parameters(secure, query)?;
    options.endpoints = hosts.split(',').filter(|host| !host.is_empty()).map(str::to_owned).collect();
    if let Some(user) = user {
        let (name, password) =
            user.split_once(':').ok_or("a user needs a password: `etcd://USER:PASSWORD@HOST:PORT`")?;
        let name = parameter::decode("the user", name)?;
        options.user = Some(EtcdUser { name, password: parameter::decode("the password", password)? });
    }
    let prefix = parameter::decode("the prefix", prefix.trim_end_matches('/'))?;
    if !prefix.is_empty() {
        options.prefix = prefix;
    }
    options.fault().map_or(Ok(options), Err)
}

fn parameters(secure: bool, query: &str) -> Result<EtcdOptions, String> {
    let mut given = HashMap::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if !NAMES.contains(&name) {
            let name: String = name.chars().take(40).collect();
            return Err(format!("there is no parameter `{name}`; there are {}", NAMES.join(", ")));
        }
        given.insert(name, parameter::decode(name, value)?);
    }
    let path = |name: &str| given.get(name).map(Into::into);
    let identity = path("cert").zip(path("key"));
    if identity.is_none() && (given.contains_key("cert") || given.contains_key("key")) {
        return Err("cert and key go together; give both".to_owned());
    }
    let tls = EtcdTls { authorities: path("cacert"), identity };
    if !secure && tls != EtcdTls::default() {
        return Err("certificates are for TLS; write `etcds://`".to_owned());
    }
    let time = |name: &str, least: u64, most: u64, default| match given.get(name) {
        Some(value) => parameter::time(name, value, Duration::from_millis(least), Duration::from_secs(most)),
        None => Ok(default),
    };
    let EtcdOptions { max_skew, timeout, .. } = EtcdOptions::default();
    Ok(EtcdOptions {
        tls: secure.then_some(tls),
        max_skew: time("max_skew", 20, 3_600, max_skew)?,
        timeout: time("timeout", 100, 600, timeout)?,
        ..EtcdOptions::default()
    })
}
