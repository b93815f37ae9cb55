use super::*;

fn header() -> Header {
    Header { version: u64::MAX, at: 7, by: "a\n\"b\"".to_owned(), commit: "c".to_owned(), counted: 9, first: 2 }
}

#[test]
fn a_record_is_read_back_whatever_its_bytes() {
    for data in [None, Some(&b""[..]), Some(b"\n"), Some(b"{}\n\0\xff")] {
        assert_eq!(read_record(&write_record(&header(), data)), Ok((header(), data.map(<[u8]>::to_vec))));
    }
}

#[test]
fn a_later_format_and_damage_are_told_apart() {
    assert_eq!(read::<Floor>(br#"{"format":2,"levels":[]}"#), Err(Unreadable::Newer(2)));
    for damaged in [&b""[..], b"{}", b"x", br#"{"format":0}"#, br#"{"format":1}"#, b"\xff\n"] {
        assert_eq!(read::<Floor>(damaged), Err(Unreadable::Damaged));
        assert_eq!(read_record(damaged), Err(Unreadable::Damaged));
    }
}
