use super::*;
use crate::client::messages::Bytes;

fn header() -> Header {
    let (dependency, commit) = ("a\n\"b\"".to_owned(), "c".to_owned());
    Header { namespace: "n".to_owned(), dependency, version: u64::MAX, at: 7, commit, counted: 9, first: 2 }
}

fn read_back(value: &[u8]) -> Result<(Header, Option<Vec<u8>>), StoreError> {
    let kv = KeyValue { key: Bytes(b"p//record/n/a".to_vec()), mod_revision: 1, value: Bytes(value.to_vec()) };
    read_record(&Place("etcd".to_owned()), &kv)
}

#[test]
fn a_record_is_read_back_whatever_its_bytes() {
    for data in [None, Some(&b""[..]), Some(b"\n"), Some(b"{}\n\0\xff")] {
        assert_eq!(read_back(&write_record(&header(), data)), Ok((header(), data.map(<[u8]>::to_vec))));
    }
}

#[test]
fn a_later_format_and_damage_are_told_apart() {
    assert!(matches!(read_back(br#"{"format":2,"levels":[]}"#), Err(StoreError::Newer { found: 2, known: 1, .. })));
    for damaged in [&b""[..], b"{}", b"x", br#"{"format":0}"#, br#"{"format":1}"#, b"\xff\n"] {
        let error = read_back(damaged).unwrap_err();
        assert!(matches!(&error, StoreError::Corrupt { why, .. } if why.contains("p//record/n/a")), "{error}");
    }
}
