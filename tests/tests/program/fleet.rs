//! Many dependencies, as an operator sees them.

use std::time::Duration;

use halfopen::{Decision, Host, Mode};
use halfopen_tests::breakers::{LONG_MS, address, make_due, policy, trip};

use crate::bench::{Bench, ran};

/// 3 forced, 12 open, 3 half-open, 182 closed.
fn fleet() -> Bench {
    let bench = Bench::new();
    let host = Host::builder().address(&address(&bench.store())).operator("ops@bastion").default_policy(policy());
    let host = host.build().unwrap();
    for number in 0..200 {
        let breaker = host.breaker(format!("service-{number:03}"));
        match number {
            10..22 => {
                breaker.configure(&policy().open_ms(LONG_MS), "").unwrap();
                trip(&breaker);
            }
            30..33 => {
                make_due(&breaker);
                let Ok(Decision::Probe(guard)) = breaker.acquire() else { panic!("no probe") };
                let _held = guard.into_permit();
            }
            40 => drop(breaker.force(Mode::Open, None, "maintenance of the provider").unwrap()),
            41 => drop(breaker.force(Mode::Closed, Some(Duration::from_secs(3_600)), "").unwrap()),
            42 => drop(breaker.force(Mode::Open, None, "").unwrap()),
            _ => drop(breaker.reset("").unwrap()),
        }
    }
    bench
}

fn rows(bench: &Bench, args: &[&str]) -> Vec<String> {
    let ran = bench.run(args);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
    ran.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn the_worst_come_first_and_eighty_columns_are_enough() {
    let bench = fleet();
    let mut command = bench.command(&["status"]);
    let shown = ran(command.env("COLUMNS", "80")).stdout;
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[0], "200 dependencies: 3 forced, 12 open, 3 half-open, 182 closed");
    assert!(lines[1].starts_with("DEPENDENCY ") && lines[1].ends_with("CAUSE"), "{shown}");
    assert_eq!(lines.len(), 202);
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{shown}");
    for (line, words) in [
        (2, &["service-040", "forced open", "by ops@bastion: maintenance"][..]),
        (3, &["service-041", "forced closed"]),
        (5, &["service-010", "open", "in 59m"]),
        (17, &["service-030", "half-open", "under way"]),
        (20, &["service-000", "closed"]),
    ] {
        assert!(words.iter().all(|word| lines[line].contains(word)), "{line}: {}", lines[line]);
    }
    let wide = ran(bench.command(&["status"]).env("COLUMNS", "200")).stdout;
    assert!(["CONSECUTIVE", "WHY", "LEVEL"].iter().all(|heading| wide.contains(heading)), "{wide}");
}

#[test]
fn a_status_shows_what_is_asked_for() {
    let bench = fleet();
    assert_eq!(rows(&bench, &["status", "--problems"]).len(), 20);
    assert_eq!(rows(&bench, &["status", "--state", "half-open"]).len(), 5);
    assert_eq!(rows(&bench, &["status", "--state", "open,half-open"]).len(), 19);
    assert_eq!(rows(&bench, &["status", "service-01?", "service-000"]).len(), 13);
    assert_eq!(rows(&bench, &["list", "service-19*"]).len(), 10);
    let unknown = bench.run(&["status", "servce-*"]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (66, ""), "{unknown:?}");
}

#[test]
fn a_check_fails_where_something_is_open_or_forced() {
    let bench = fleet();
    let check = |words: &[&str]| bench.run(&[&["status", "--check"], words].concat()).code;
    assert_eq!(check(&[]), 1);
    assert_eq!([check(&["service-010"]), check(&["service-041"])], [1, 1]);
    assert_eq!([check(&["service-03*"]), check(&["service-000"]), check(&["service-1*", "--json"])], [0, 0, 0]);
    assert_eq!(check(&["service-00"]), 66, "a name without a record");
}

#[test]
fn colours_are_for_terminals_or_on_demand() {
    let bench = fleet();
    let coloured = |mut command: std::process::Command| ran(&mut command).stdout.contains('\u{1b}');
    assert!(!coloured(bench.command(&["status"])));
    assert!(coloured(bench.command(&["status", "--color", "always"])));
    let mut forced = bench.command(&["status"]);
    forced.env("CLICOLOR_FORCE", "1");
    assert!(coloured(forced));
    let mut none = bench.command(&["status"]);
    none.env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1");
    assert!(!coloured(none));
}

#[test]
fn all_namespaces_are_shown_at_once() {
    let bench = Bench::with_records();
    assert_eq!(bench.run(&["--namespace", "other", "force", "mail", "open"]).code, 0);
    let shown = bench.run(&["status", "--all-namespaces"]).stdout;
    assert!(shown.starts_with("2 dependencies: 1 forced, 1 open\n"), "{shown}");
    assert!(shown.contains("NAMESPACE") && shown.contains("other") && shown.contains("default"), "{shown}");
    assert!(!bench.run(&["status"]).stdout.contains("mail"));
}

#[test]
fn an_interval_is_not_taken_for_a_name() {
    let refusal = Bench::with_records().refused(&["status", "--watch", "5s"]);
    assert!(refusal.contains("write --watch=5s"), "{refusal}");
}

/// The first screen that a command writes to a terminal of 80 columns and 24 lines, again and again.
#[cfg(target_os = "linux")]
fn screen(bench: &Bench, args: &[&str]) -> String {
    use std::io::Read as _;
    use std::os::fd::FromRawFd as _;

    const CLEAR: &str = "\u{1b}[H\u{1b}[2J";
    let (mut leader, mut follower) = (0, 0);
    let size = libc::winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the call writes the two descriptors and reads the size, all of which outlive it.
    let made = unsafe { libc::openpty(&mut leader, &mut follower, std::ptr::null_mut(), std::ptr::null(), &size) };
    assert_eq!(made, 0);
    // SAFETY: the descriptors are new, and nothing else owns them.
    let [mut leader, follower] = [leader, follower].map(|end| unsafe { std::fs::File::from_raw_fd(end) });
    let mut command = bench.command(args);
    let mut child = command.env_remove("COLUMNS").env("TERM", "xterm").stdout(follower).spawn().unwrap();
    let mut shown = String::new();
    while shown.matches(CLEAR).count() < 2 {
        let mut part = [0; 4_096];
        let size = leader.read(&mut part).unwrap();
        shown += std::str::from_utf8(&part[..size]).unwrap();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    shown.split(CLEAR).nth(1).unwrap().replace('\r', "")
}

#[test]
#[cfg(target_os = "linux")]
fn a_watched_terminal_keeps_the_counts_and_the_heading() {
    let bench = fleet();
    let shown = screen(&bench, &["status", "--watch=50ms"]);
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].starts_with("200 dependencies: ") && lines[1].starts_with("DEPENDENCY"), "{shown}");
    assert_eq!((lines.len(), *lines.last().unwrap()), (23, "... and 180 more"));
    assert!(lines[2].starts_with("\u{1b}[35m") && lines[5].starts_with("\u{1b}[31m"), "{shown:?}");
    let detail = screen(&bench, &["status", "service-010", "--watch=50ms"]);
    assert!(detail.starts_with("service-010 is open since "), "{detail}");
}
