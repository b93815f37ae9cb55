use super::*;

#[test]
fn columns_are_two_spaces_apart() {
    let mut rows = Rows::new(&["NAME", "N"], &[1]);
    rows.add(["a\u{1b}b", "10"]);
    rows.add(["c", "2"]);
    assert_eq!(rows.render(), "NAME       N\na\\u{1b}b  10\nc          2");
}

#[test]
fn a_table_may_have_no_headings() {
    let mut rows = Rows::new(&[], &[]);
    rows.add(["state", "open"]);
    assert_eq!(rows.render(), "state  open");
}
