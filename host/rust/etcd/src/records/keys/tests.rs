use super::*;

const NAMES: [&str; 14] = ["", "a", "a/b", "b", "%2F", "a%2Fb", "/", "//", "a ", "a\0", "é", "record", "a//b", "%"];

#[test]
fn no_two_pairs_share_a_key() {
    let keys = Keys::new("p/q");
    let mut seen = std::collections::HashMap::new();
    for namespace in NAMES {
        for dependency in NAMES {
            let key = Key { namespace, dependency };
            let record = keys.record(key);
            let (chunk, removal) = (keys.chunk(key, 17), keys.removal(key, 17, 3));
            let (start, end) = keys.chunks(key);
            assert!(chunk >= start && chunk < end && !(removal >= start && removal < end), "{key:?}");
            if let Some(other) = seen.insert(record, key) {
                panic!("{key:?} and {other:?} share a key");
            }
        }
    }
}

#[test]
fn the_range_of_a_namespace_holds_its_own_keys_and_no_others() {
    let prefixes = ["a", "a/b", "a/record"];
    for prefix in prefixes {
        for namespace in NAMES {
            let keys = Keys::new(prefix);
            let (start, end) = keys.records(namespace);
            let (first, last) = keys.history(namespace);
            for other in prefixes {
                for another in NAMES {
                    let key = Key { namespace: another, dependency: "x/y" };
                    let own = (other, another) == (prefix, namespace);
                    let others = Keys::new(other);
                    let (record, chunk, removal) =
                        (others.record(key), others.chunk(key, 1), others.removal(key, 1, 0));
                    assert_eq!(record >= start && record < end, own, "{namespace:?} and {key:?}");
                    assert_eq!(chunk >= first && chunk < last, own, "{namespace:?} and {key:?}");
                    assert_eq!(removal >= first && removal < last, own, "{namespace:?} and {key:?}");
                }
            }
        }
    }
}
