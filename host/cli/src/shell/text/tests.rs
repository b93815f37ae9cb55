use super::*;

#[test]
fn a_duration_has_one_or_two_units() {
    for (ms, text) in [
        (0, "0ms"),
        (1, "1ms"),
        (999, "999ms"),
        (1_000, "1s"),
        (4_250, "4.2s"),
        (59_999, "59.9s"),
        (60_000, "1m"),
        (200_000, "3m 20s"),
        (7_500_000, "2h 5m"),
        (273_600_000, "3d 4h"),
        (2_592_000_000, "30d"),
    ] {
        assert_eq!(duration(Duration::from_millis(ms)), text);
    }
    assert_eq!(duration(Duration::from_micros(1)), "1ms");
}

#[test]
fn instants_beyond_the_calendar_do_not_panic() {
    assert_eq!(instant(1_700_000_000_000), "2023-11-14T22:13:20.000Z");
    assert_eq!(instant(253_402_300_799_999), "9999-12-31T23:59:59.999Z");
    assert_eq!(instant(u64::MAX), "18446744073709551615ms since 1970");
}

#[test]
fn an_instant_has_its_distance_and_its_day_if_it_is_another() {
    let now = 1_700_000_000_000;
    assert_eq!(when(now - 720_000, now), "22:01:20 UTC (12m ago)");
    assert_eq!(when(now + 7_200_000, now), "2023-11-15 00:13:20 UTC (in 2h)");
}

#[test]
fn a_terminal_gets_no_character_to_act_on() {
    assert_eq!(escape("plain, ünïcode"), "plain, ünïcode");
    assert_eq!(escape("a\u{1b}[2J\nb\u{9b}1m\u{202e}"), "a\\u{1b}[2J\\nb\\u{9b}1m\\u{202e}");
}

#[test]
fn long_strings_are_cut_between_characters() {
    let just = "ü".repeat(100);
    assert_eq!(shortened(&just), just);
    assert_eq!(shortened(&format!("{just}ü")), format!("{just}..."));
}

#[test]
fn escaped_json_is_json() {
    let nasty = "a\u{1b}b\u{9b}c\u{7f}d\u{202e}e\"";
    let shown = json(&nasty).unwrap();
    assert!(!shown.contains(is_dangerous));
    assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), nasty);
}
