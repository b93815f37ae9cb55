use std::time::Duration;

use super::values::{duration, statuses};
use super::*;

#[test]
fn the_definitions_are_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn a_status_is_a_number_or_a_range() {
    assert_eq!(statuses("3"), Ok(3..=3));
    assert_eq!(statuses("64-78"), Ok(64..=78));
    for wrong in ["", "0", "256", "-1", "5-", "9-3", "x"] {
        assert!(statuses(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_duration_needs_a_unit_and_a_length() {
    assert_eq!(duration("1m 30s"), Ok(Duration::from_secs(90)));
    for wrong in ["", "5", "0s", "1ns", "-1s", "9999999999999y", "5 parsecs"] {
        assert!(duration(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn words_after_the_dashes_are_the_commands() {
    let cli = Cli::try_parse_from(["halfopen", "run", "pay", "--", "curl", "--quiet", "--", "x"]).unwrap();
    let Command::Run(run) = cli.command else { panic!() };
    assert_eq!((run.dependency.as_str(), run.quiet), ("pay", false));
    assert_eq!(run.command, ["curl", "--quiet", "--", "x"]);
    assert!(Cli::try_parse_from(["halfopen", "run", "pay", "curl"]).is_err());
    assert!(Cli::try_parse_from(["halfopen", "run", "pay", "--max-wait", "1s", "--", "curl"]).is_err());
}
