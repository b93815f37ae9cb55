use std::time::Duration;

use halfopen_contract::store::{Key, Store as _, StoreError};
use halfopen_etcd::{EtcdOptions, EtcdTls, EtcdUser};

use super::{options, store};

pub fn an_address_gives_members_user_and_prefix() {
    let read = options("etcd://ann:p%40ss%2F%3A@one:1,two/teams/pay?max_skew=40ms&timeout=2s");
    assert_eq!(read.endpoints, ["one:1", "two"]);
    assert_eq!(read.user, Some(EtcdUser { name: "ann".into(), password: "p@ss/:".into() }));
    assert_eq!(read.prefix, "teams/pay");
    assert_eq!((read.max_skew, read.timeout), (Duration::from_millis(40), Duration::from_secs(2)));
    assert_eq!(read.tls, None);
    for address in ["etcd://one", "etcd://one/", "etcd://one?"] {
        assert_eq!((options(address).prefix, options(address).user), ("halfopen".to_owned(), None));
    }
}

pub fn the_scheme_gives_tls_and_parameters_its_files() {
    assert_eq!(options("etcds://one").tls, Some(EtcdTls::default()));
    let tls = options("etcds://one?cacert=/a%20b.pem&cert=c&key=k").tls.unwrap();
    assert_eq!(tls.authorities, Some("/a b.pem".into()));
    assert_eq!(tls.identity, Some(("c".into(), "k".into())));
}

pub fn a_mistake_in_an_address_is_named_without_password() {
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
        ("etcd://one?max_skew=1m", "a time like"),
        ("etcd://one?max_skew=19ms", "20ms to 3600s"),
        ("etcd://one?timeout=0s", "100ms to 600s"),
        ("etcd://one?cacert=a", "for TLS"),
        ("etcds://one?cert=a", "give both"),
    ];
    for (address, part) in cases {
        let error = EtcdOptions::from_address(address).unwrap_err();
        assert!(error.why.contains(part), "{address}: {error}");
        // What has no form with a user is shown up to its `@`.
        assert!(!error.why.contains("hunter2"), "{address}: {error}");
        assert!(!error.address.contains("a:hunter2"), "{address}: {error}");
    }
}

pub fn the_password_is_not_shown() {
    let shown = format!("{:?}", options("etcd://ann:hunter2@one"));
    assert!(shown.contains("ann") && !shown.contains("hunter2"), "{shown}");
}

pub fn a_server_that_is_no_etcd_is_named_in_time() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4_096]);
            let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
        }
    });
    let load = |address: &str| store(address).load(Key { namespace: "n", dependency: "a" }).unwrap_err();
    let error = load(&format!("etcd://127.0.0.1:{port}?timeout=30s"));
    assert!(matches!(&error, StoreError::Denied { why, .. } if why.contains("does not answer like etcd")), "{error}");
    let error = load("etcd://127.0.0.1:1,nowhere.invalid?timeout=300ms");
    assert!(matches!(&error, StoreError::Unavailable { .. }), "{error}");
}
