//! `etcd://[USER:PASSWORD@]HOST:PORT[,HOST:PORT...][/PREFIX][?NAME=VALUE&...]`

use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;

use super::options::{EtcdIdentity, EtcdOptions, EtcdTls, EtcdUser};

/// Why an address is none of etcd's. The message holds neither user nor password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidEtcdAddress(pub(super) String);

impl EtcdOptions {
    /// Reads `etcd://[USER:PASSWORD@]HOST:PORT[,HOST:PORT...][/PREFIX][?NAME=VALUE&...]`; `etcds://` speaks TLS.
    ///
    /// Names: `max_skew` and `timeout` (like `500ms` or `5s`), `cacert`, `cert` and `key` (files in PEM), `tls` (`true` is
    /// the same as `etcds://`). Whatever has a meaning in addresses is written as `%XX` in user, password, prefix and
    /// values.
    ///
    /// # Errors
    /// [`InvalidEtcdAddress`]: what is wrong, and what to write.
    pub fn from_address(address: &str) -> Result<EtcdOptions, InvalidEtcdAddress> {
        let invalid = |why: &str| InvalidEtcdAddress(why.to_owned());
        let (secure, rest) = match (address.strip_prefix("etcd://"), address.strip_prefix("etcds://")) {
            (Some(rest), _) => (false, rest),
            (_, Some(rest)) => (true, rest),
            _ => return Err(invalid("an address of etcd begins with `etcd://` or `etcds://`")),
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, hosts) = match authority.rsplit_once('@') {
            Some((user, hosts)) => (Some(user), hosts),
            None => (None, authority),
        };
        if user.is_some_and(|user| user.contains('@')) {
            // Or else all but the last endpoint would be taken for the password.
            return Err(invalid("user and password stand once, before all endpoints; an `@` in them is written `%40`"));
        }
        if user.is_none() && hosts.contains(':') && prefix.contains('@') {
            // Or else a part of the password would be taken for the port, and shown.
            return Err(invalid("a `/` in a user's name or password is written `%2F`, and an `@` in the prefix `%40`"));
        }
        let endpoints = hosts.split(',').filter(|host| !host.is_empty()).map(str::to_owned).collect();
        let mut options = EtcdOptions { endpoints, ..EtcdOptions::default() };
        if let Some(user) = user {
            let (name, password) = user
                .split_once(':')
                .ok_or_else(|| invalid("a user needs a password: `etcd://USER:PASSWORD@HOST:PORT`"))?;
            options.user = Some(EtcdUser::new(decoded(name, "the user")?, decoded(password, "the password")?));
        }
        let prefix = decoded(prefix.trim_end_matches('/'), "the prefix")?;
        if !prefix.is_empty() {
            options.prefix = prefix;
        }
        Parameters { secure, ..Parameters::default() }.read(query)?.apply(&mut options)?;
        options.fault().map_or(Ok(options), |why| Err(InvalidEtcdAddress(why)))
    }
}

#[derive(Default)]
struct Parameters {
    secure: bool,
    authorities: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    max_skew: Option<Duration>,
    timeout: Option<Duration>,
}

impl Parameters {
    fn read(mut self, query: &str) -> Result<Self, InvalidEtcdAddress> {
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decoded(value, name)?;
            match name {
                "tls" => {
                    self.secure |=
                        value.parse::<bool>().map_err(|_| InvalidEtcdAddress("tls is `true` or `false`".to_owned()))?;
                }
                "cacert" => self.authorities = Some(value.into()),
                "cert" => self.certificate = Some(value.into()),
                "key" => self.key = Some(value.into()),
                "max_skew" => self.max_skew = Some(duration(name, &value)?),
                "timeout" => self.timeout = Some(duration(name, &value)?),
                _ => {
                    let name: String = name.chars().take(40).collect();
                    return Err(InvalidEtcdAddress(format!(
                        "there is no parameter `{name}`; there are max_skew, timeout, tls, cacert, cert, key"
                    )));
                }
            }
        }
        Ok(self)
    }

    fn apply(self, options: &mut EtcdOptions) -> Result<(), InvalidEtcdAddress> {
        let identity = match (self.certificate, self.key) {
            (Some(certificate), Some(key)) => Some(EtcdIdentity { certificate, key }),
            (None, None) => None,
            _ => return Err(InvalidEtcdAddress("cert and key go together; give both".to_owned())),
        };
        if !self.secure && (self.authorities.is_some() || identity.is_some()) {
            return Err(InvalidEtcdAddress("certificates are for TLS; write `etcds://`".to_owned()));
        }
        if self.secure {
            options.tls = Some(EtcdTls { authorities: self.authorities, identity });
        }
        options.max_skew = self.max_skew.unwrap_or(options.max_skew);
        options.timeout = self.timeout.unwrap_or(options.timeout);
        Ok(())
    }
}

fn decoded(text: &str, what: &str) -> Result<String, InvalidEtcdAddress> {
    let text = percent_decode_str(text).decode_utf8().map(String::from);
    text.map_err(|_| InvalidEtcdAddress(format!("{what} is not UTF-8")))
}

fn duration(name: &str, value: &str) -> Result<Duration, InvalidEtcdAddress> {
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = value.get(digits.len()..).unwrap_or_default();
    let number = digits.parse::<u32>().ok();
    match (number, unit) {
        (Some(number), "ms") => Ok(Duration::from_millis(u64::from(number))),
        (Some(number), "s") => Ok(Duration::from_secs(u64::from(number))),
        _ => Err(InvalidEtcdAddress(format!("{name} is a time like `500ms` or `5s`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(address: &str) -> EtcdOptions {
        EtcdOptions::from_address(address).unwrap_or_else(|error| panic!("{address}: {error}"))
    }

    #[test]
    fn an_address_says_where_as_whom_and_under_which_prefix() {
        let options = read("etcd://ann:p%40ss%2F%3A@one:1,two/teams/pay?max_skew=40ms&timeout=2s");
        assert_eq!(options.endpoints, ["one:1", "two"]);
        assert_eq!(options.user, Some(EtcdUser::new("ann", "p@ss/:")));
        assert_eq!(options.prefix, "teams/pay");
        assert_eq!((options.max_skew, options.timeout), (Duration::from_millis(40), Duration::from_secs(2)));
        assert_eq!(options.tls, None);
        for address in ["etcd://one", "etcd://one/", "etcd://one?"] {
            assert_eq!((read(address).prefix, read(address).user), ("halfopen".to_owned(), None));
        }
    }

    #[test]
    fn tls_is_asked_for_by_the_scheme_or_a_parameter() {
        assert_eq!(read("etcds://one").tls, Some(EtcdTls::default()));
        let tls = read("etcd://one?tls=true&cacert=/a%20b.pem&cert=c&key=k").tls.unwrap();
        assert_eq!(tls.authorities, Some("/a b.pem".into()));
        assert_eq!(tls.identity, Some(EtcdIdentity { certificate: "c".into(), key: "k".into() }));
    }

    #[test]
    fn a_mistake_is_named_and_no_password_shown() {
        let cases = [
            ("http://one", "begins with"),
            ("etcd://", "names no host"),
            ("etcd:///a", "names no host"),
            ("etcd://a:hunter2@", "names no host"),
            ("etcd://hunter2@one", "needs a password"),
            ("etcd://a:hunter2/x@one", "written `%2F`"),
            ("etcd://a:hunter2@one:1,a:hunter2@two:2/x", "stand once"),
            ("etcd://a:hunter2@one:x", "`one:x` is no host"),
            ("etcd://a:hunter2@one/a//b", "empty part"),
            ("etcd://a:hunter2@one/a%0Ab", "control character"),
            ("etcd://a:hunter2@one/%ff", "the prefix is not UTF-8"),
            ("etcd://a:%ff@one", "the password is not UTF-8"),
            ("etcd://a:hunter2@one?skew=1s", "no parameter `skew`"),
            ("etcd://one?max_skew=1", "a time like"),
            ("etcd://one?max_skew=1m", "a time like"),
            ("etcd://one?max_skew=19ms", "20ms to 3600s"),
            ("etcd://one?timeout=0s", "100ms to 600s"),
            ("etcd://one?tls=yes", "`true` or `false`"),
            ("etcd://one?cacert=a", "for TLS"),
            ("etcds://one?cert=a", "give both"),
        ];
        for (address, part) in cases {
            let error = EtcdOptions::from_address(address).unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains("hunter2"), "{address}: {error}");
        }
    }
}
