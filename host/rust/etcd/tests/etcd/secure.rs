//! Users and certificates.

use super::patience::until;
use halfopen_contract::store::{Key, OpenError, Store as _, StoreError, Write};

use super::server::{Cluster, Member, certificates};
use super::{options, store};

const KEY: Key<'static> = Key { namespace: "n", dependency: "a" };

/// A word that no message holds by chance.
const PASSWORD: &str = "hush-9f3/@?";
const WRITTEN: &str = "hush-9f3%2F%40%3F";

pub fn base64(text: &str) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |bytes: &[u8]| {
        let bits = bytes.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - bytes.len()));
        let digit =
            |at: usize| if at > bytes.len() { '=' } else { DIGITS[(bits >> (18 - 6 * at)) as usize & 63] as char };
        (0..4).map(digit).collect::<String>()
    };
    text.as_bytes().chunks(3).map(group).collect()
}

/// Enables users: root, and one that may read and write under a prefix.
fn enable_users(member: &Member, prefix: &str) {
    let post = |path: &str, body: serde_json::Value| {
        let answer = member.post(path, &body.to_string()).unwrap_or_default();
        assert!(answer["header"].is_object(), "{path}: {answer}");
    };
    let (from, to) = (base64(&format!("{prefix}//")), base64(&format!("{prefix}/0")));
    let permission = serde_json::json!({"permType": "READWRITE", "key": from, "range_end": to});
    post("/v3/auth/role/add", serde_json::json!({"name": "breakers"}));
    post("/v3/auth/role/grant", serde_json::json!({"name": "breakers", "perm": permission}));
    for (user, role) in [("root", "root"), ("ann", "breakers")] {
        post("/v3/auth/user/add", serde_json::json!({"name": user, "password": PASSWORD}));
        post("/v3/auth/user/grant", serde_json::json!({"user": user, "role": role}));
    }
    post("/v3/auth/enable", serde_json::json!({}));
}

fn with_user(address: &str, user: &str) -> String {
    address.replace("etcd://", &format!("etcd://{user}@"))
}

pub fn a_user_has_its_rights_and_its_password_is_in_no_message() {
    let cluster = Cluster::single(&[]);
    let address = cluster.address(&[0], "allowed?max_skew=4s");
    let ann = format!("ann:{WRITTEN}");
    store(&with_user(&address, &ann)).load(KEY).expect("an etcd without users lets every client in");
    enable_users(&cluster.members[0], "allowed");

    let allowed = store(&with_user(&address, &ann));
    let write = Write { key: KEY, based_on: 0, version: 1, data: Some(b"x"), transitions: &[], history: 1 };
    allowed.commit(&[write]).expect("it may write");
    assert_eq!(allowed.list("n"), Ok(vec!["a".to_owned()]));
    allowed.remove_namespace("n").expect("it may remove");

    let elsewhere = cluster.address(&[0], "other?max_skew=4s");
    let refused = [
        (address.clone(), "user name is empty"),
        (with_user(&address, "ann:wrong"), "check user and password"),
        (with_user(&address, &format!("bob:{WRITTEN}")), "check user and password"),
        (with_user(&elsewhere, &ann), "grant readwrite"),
    ];
    for (address, part) in refused {
        let store = store(&address);
        let error = store.load(KEY).expect_err("it may not");
        assert!(matches!(error, StoreError::Denied { .. }), "{error:?}");
        let shown = format!("{error} {error:?} {store:?} {:?}", options(&address));
        assert!(shown.contains(part) && !shown.contains("hush") && !shown.contains("wrong"), "{shown}");
    }
}

pub fn an_expired_token_is_replaced() {
    let mut cluster = Cluster::single(&[]);
    enable_users(&cluster.members[0], "token");
    let store = store(&with_user(&cluster.address(&[0], "token?max_skew=4s"), &format!("ann:{WRITTEN}")));
    store.load(KEY).expect("it may read");
    // etcd forgets its tokens when it ends.
    cluster.members[0].kill();
    cluster.members[0].start();
    until("etcd is back", || match store.load(KEY) {
        Ok(_) => Some(()),
        Err(StoreError::Unavailable { .. }) => None,
        Err(error) => panic!("{error}"),
    });
}

pub fn tls_accepts_the_certificates_of_both_sides_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    certificates(folder.path());
    let file = |name: &str| folder.path().join(name).to_str().expect("tests use plain paths").to_owned();
    let (certificate, key, authority) = (file("server.pem"), file("server.key"), file("ca.pem"));
    let arguments =
        ["--cert-file", &certificate, "--key-file", &key, "--trusted-ca-file", &authority, "--client-cert-auth"];
    let cluster = Cluster::secure(&arguments);
    let port = cluster.members[0].client_port;
    let address = |parameters: &str| format!("etcds://127.0.0.1:{port}/tls?max_skew=4s&timeout=5s{parameters}");
    let own = |name: &str| format!("&cert={}&key={}", file(&format!("{name}.pem")), file(&format!("{name}.key")));
    let trusted = format!("&cacert={authority}");

    let good = store(&address(&format!("{trusted}{}", own("client"))));
    until("etcd answers", || match good.load(KEY) {
        Ok(_) => Some(()),
        Err(StoreError::Unavailable { .. }) => None,
        Err(error) => panic!("{error}"),
    });
    for (what, parameters) in [
        ("an authority that is not its own", format!("&cacert={}{}", file("other.pem"), own("client"))),
        ("the authorities of the web", own("client")),
    ] {
        let error = store(&address(&parameters)).load(KEY).expect_err(what);
        assert!(matches!(&error, StoreError::Denied { why, .. } if why.contains("cacert")), "{what}: {error}");
    }
    for (what, parameters) in [
        ("no certificate", trusted.clone()),
        ("a certificate of another authority", format!("{trusted}{}", own("stranger"))),
    ] {
        // etcd breaks off, which comes through in one way or another.
        store(&address(&parameters)).load(KEY).expect_err(what);
    }
    let plain = store(&format!("etcd://127.0.0.1:{port}/tls?timeout=5s")).load(KEY).expect_err("it speaks TLS");
    assert!(plain.to_string().contains("etcds://"), "{plain}");
    for (parameters, part) in
        [("&cacert=/nowhere", "cannot read /nowhere"), (&format!("&cacert={key}"), "no certificate")]
    {
        let error = halfopen_etcd::EtcdStore::open(&address(parameters)).expect_err("a wrong file");
        assert!(matches!(&error, OpenError::Store(StoreError::Denied { why, .. }) if why.contains(part)), "{error}");
    }
}
