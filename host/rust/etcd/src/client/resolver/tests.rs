use super::*;

fn resolve(resolver: &CachingResolver, member: &str) -> Option<Vec<SocketAddr>> {
    let uri = format!("http://{member}/v3/kv/txn").parse().unwrap();
    let timeout = NextTimeout {
        after: Duration::from_secs(60).into(),
        reason: ureq::Timeout::Resolve,
        per_read: None,
        per_write: None,
    };
    resolver.resolve(&uri, &Config::default(), timeout).ok().map(|addresses| addresses.to_vec())
}

#[test]
fn a_name_is_looked_up_once_in_a_while_and_an_address_never() {
    let resolver = CachingResolver::default();
    for member in ["127.0.0.1:2379", "[::1]:2379"] {
        assert_eq!(resolve(&resolver, member), Some(vec![member.parse().unwrap()]));
    }
    assert!(resolver.cache().is_empty());
    assert!(resolve(&resolver, "localhost:7").unwrap().iter().all(|address| address.ip().is_loopback()));
    assert!(resolver.cache().contains_key("localhost:7"));

    // No host has this name.
    let name = "etcd.invalid:7";
    let (addresses, now) = (vec!["192.0.2.1:7".parse().unwrap()], Instant::now());
    resolver.cache().insert(name.to_owned(), (now, addresses.clone()));
    assert_eq!(resolve(&resolver, name), Some(addresses.clone()));
    resolver.cache().insert(name.to_owned(), (now.checked_sub(VALID).unwrap(), addresses));
    assert_eq!(resolve(&resolver, name), None);
}
