use super::*;

#[test]
fn columns_are_two_spaces_apart() {
    let mut rows = Rows::new(&["NAME", "N"], &[1]);
    rows.add(["a\u{1b}b", "10"]);
    rows.add(["c", "2"]);
    assert_eq!(rows.render(), "NAME       N\na\\u{1b}b  10\nc          2");
}

#[test]
fn a_table_fits_a_narrow_terminal() {
    let table = |width| {
        let mut rows = Rows::new(&["NAME", "STATE", "N", "CAUSE"], &[2]);
        rows.add(["payments", "open", "10", "connection refused by the provider of payments"]);
        rows.fit(Some(width), &[], &[2, 1]);
        rows.render()
    };
    let wide = table(80);
    assert!(wide.contains(" N ") && wide.ends_with("of payments"), "{wide}");
    for width in [60, 40, 32, 30] {
        let shown = table(width);
        assert!(shown.lines().all(|line| line.chars().count() <= width), "{width}: {shown}");
        assert!(shown.contains("payments"), "{width}: {shown}");
        assert_eq!(shown.lines().count(), 2, "{shown}");
    }
    assert!(!table(32).contains("STATE"), "{}", table(32));
}
