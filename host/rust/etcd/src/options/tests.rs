use super::*;

#[test]
fn an_ipv6_address_is_in_brackets_and_a_port_is_optional() {
    for (endpoint, full) in
        [("a", "a:2379"), ("a.b-c:1", "a.b-c:1"), ("a_b", "a_b:2379"), ("[::1]", "[::1]:2379"), ("[::1]:9", "[::1]:9")]
    {
        assert_eq!(with_port(endpoint).as_deref(), Some(full));
    }
    for endpoint in [
        "",
        ":1",
        "a:",
        "a:0",
        "a:65536",
        "::1",
        "[::1",
        "[::1]x",
        "[x]:1",
        "a b",
        "a/b",
        "u@a",
        "u@a:1",
        "u:p@[::1]:1",
    ] {
        assert_eq!(with_port(endpoint), None, "{endpoint}");
    }
}

#[test]
fn a_prefix_with_an_empty_part_is_refused() {
    let fault = |prefix: &str| EtcdOptions { prefix: prefix.to_owned(), ..EtcdOptions::default() }.fault();
    for prefix in ["", "/", "a/", "/a", "a//b", "a\n"] {
        assert!(fault(prefix).is_some(), "{prefix:?}");
    }
    assert_eq!(fault("teams/payments"), None);
}
