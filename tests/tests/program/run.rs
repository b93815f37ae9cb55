//! `halfopen run`: one command.

use std::fs::Permissions;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Stdio};

use halfopen::{Decision, State, TransitionReason};
use halfopen_tests::breakers::{policy, until};

use crate::bench::{Bench, ignoring, ran};

/// Runs a shell script as the command.
fn shell<'a>(dependency: &'a str, script: &'a str) -> [&'a str; 6] {
    ["run", dependency, "--", "sh", "-c", script]
}

#[test]
fn the_command_has_the_programs_streams_and_arguments() {
    let bench = Bench::new();
    let mut command = bench.command(&["run", "pay", "--", "sh", "-c", "cat; printf '%s|' \"$@\"; echo oops >&2", "sh"]);
    command.args(["a b", "", "--wait", "$HOME", "*"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"in\xff\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(output.stdout, b"in\xff\na b||--wait|$HOME|*|");
    assert_eq!(output.stderr, b"oops\n");
}

#[test]
fn the_exit_status_is_the_commands_and_decides_the_outcome() {
    let bench = Bench::new();
    let breaker = bench.host().breaker("pay");
    breaker.configure(&policy().consecutive_failures(0), "").unwrap();
    let mut counted = (0, 0);
    for (script, code, calls, failures) in [
        ("exit 0", 0, 1, 0),
        ("exit 1", 1, 1, 1),
        ("exit 22", 22, 1, 1),
        ("exit 255", 255, 1, 1),
        ("kill -KILL $$", 137, 1, 1),
        ("kill -SEGV $$", 139, 1, 1),
    ] {
        let ran = bench.run(&shell("pay", script));
        assert_eq!((ran.code, ran.stderr.as_str()), (code, ""), "{script}");
        counted = (counted.0 + calls, counted.1 + failures);
        let seen = breaker.inspect().unwrap();
        assert_eq!((seen.calls, seen.failures), counted, "{script}");
    }
}

#[test]
fn a_failure_is_kept_with_its_cause_and_its_caller() {
    let bench = Bench::new();
    let breaker = bench.open("pay");
    let mut words = vec!["run", "--caller", "cron"];
    words.extend(&shell("pay", "exit 22")[1..]);
    assert_eq!(bench.run(&words).code, 22);
    let failure = breaker.inspect().unwrap().last_failure.unwrap();
    assert_eq!((failure.cause.as_str(), failure.caller.as_str()), ("exit status 22", "cron"));
    breaker.reset("").unwrap();
    assert_eq!(bench.run(&shell("pay", "kill -KILL $$")).code, 137);
    let failure = breaker.inspect().unwrap().last_failure.unwrap();
    assert!(
        failure.cause == "signal 9" && failure.caller.starts_with("sh@") && failure.caller.contains(" (pid "),
        "{failure:?}"
    );
}

#[test]
fn ignored_statuses_are_not_counted() {
    let bench = Bench::new();
    let breaker = bench.open("pay");
    for (status, ignored) in [(3, true), (22, true), (70, true), (78, true)] {
        let script = format!("exit {status}");
        let ran = bench.run(&["run", "--ignore-status", "3,22,64-78", "pay", "--", "sh", "-c", &script]);
        assert_eq!(ran.code, status);
        assert_eq!(breaker.inspect().unwrap().calls, u64::from(!ignored));
    }
    assert_eq!(bench.run(&["run", "--ignore-status", "3,22", "pay", "--", "sh", "-c", "exit 4"]).code, 4);
    assert_eq!(breaker.inspect().unwrap().state, State::Open);
}

#[test]
fn the_command_sees_dependency_role_and_token() {
    let bench = Bench::new();
    let script = "echo \"$HALFOPEN_DEPENDENCY,$HALFOPEN_ROLE,${HALFOPEN_TOKEN-none}\"";
    let mut call = bench.command(&shell("pay", script));
    assert_eq!(ran(call.env("HALFOPEN_TOKEN", "7")).stdout, "pay,call,none\n");

    let breaker = bench.due("due", &policy());
    let probe = bench.run(&shell("due", script)).stdout;
    let token = probe.trim_end().strip_prefix("due,probe,").unwrap_or_else(|| panic!("{probe}"));
    assert!(token.parse::<u64>().unwrap() > 0);
    assert_eq!(breaker.inspect().unwrap().state, State::Closed);
}

#[test]
fn a_time_limit_beyond_the_longest_lease_is_a_warning() {
    let bench = Bench::new();
    for (timeout, warned) in [("59m", false), ("2h", true)] {
        for (quiet, warned) in [(None, warned), (Some("--quiet"), false)] {
            // Of its own: not that of the host that sets it.
            let breaker = bench.due("pay", &policy().fresh_ms(1));
            let words = ["run", "--timeout", timeout].into_iter().chain(quiet).chain(["pay", "--", "false"]);
            let ran = bench.run(&words.collect::<Vec<_>>());
            let wanted = "longer than 1h (probe_max_ms) does not count, and --timeout allows 2h; allow longer ones: halfopen policy set pay probe_max=121m";
            assert_eq!((ran.code, ran.stderr.contains(wanted)), (1, warned), "{}", ran.stderr);
            breaker.reset("").unwrap();
        }
    }
    assert_eq!(bench.run(&["run", "--timeout", "2h", "pay", "--", "true"]).stderr, "", "only a probe has a lease");
}

#[test]
fn a_deferred_command_is_not_started_and_one_line_says_why() {
    let bench = Bench::with_records();
    let ran = bench.run(&["run", "pay", "--", "touch", "started"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.lines().count()), (75, "", 1));
    let wanted = "halfopen: pay: not started: the breaker is open; retry in ";
    assert!(ran.stderr.starts_with(wanted), "{}", ran.stderr);

    let quiet = bench.run(&["run", "--quiet", "pay", "--", "touch", "started"]);
    assert_eq!((quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()), (75, "", ""));
    assert!(!bench.path("started").exists());
}

#[test]
fn a_command_that_cannot_be_started_counts_nowhere() {
    let bench = Bench::new();
    let breaker = bench.due("pay", &policy());
    bench.write("plain", "no program");
    for (name, first_line) in [("script", "#!/nonexistent/sh -e"), ("folder", "#!/")] {
        bench.write(name, format!("{first_line}\nexit 0\n"));
        std::fs::set_permissions(bench.path(name), Permissions::from_mode(0o700)).unwrap();
    }
    for (command, code, why) in [
        ("none-of-this-name", 127, "not found; give a full path, or see PATH"),
        ("./none", 127, "not found; "),
        ("", 127, "not found; "),
        ("./plain", 126, "Permission denied"),
        (".", 126, "Permission denied"),
        ("./script", 126, "its interpreter \"/nonexistent/sh\" is not found; see its first line"),
        ("./folder", 126, "Permission denied"),
    ] {
        let ran = bench.run(&["run", "pay", "--", command]);
        assert_eq!((ran.code, ran.stderr.lines().count()), (code, 1), "{ran:?}");
        assert!(ran.stderr.contains(why), "{ran:?}");
        assert!(ran.stderr.starts_with(&format!("halfopen: cannot start {command:?}: ")), "{ran:?}");
        // The lease is given back.
        let seen = breaker.inspect().unwrap();
        assert!(seen.probe_due && seen.leases.is_empty(), "{seen:?}");
    }
}

#[test]
fn a_very_long_name_of_a_command_is_cut_in_messages() {
    for name in ["x".repeat(10_000), format!("./{}", "x/".repeat(3_000))] {
        let ran = Bench::new().run(&["run", "pay", "--", &name]);
        assert!([126, 127].contains(&ran.code), "{ran:?}");
        assert!(ran.stderr.contains("cannot start \"") && ran.stderr.len() < 300, "{ran:?}");
    }
}

#[test]
fn a_missing_interpreter_is_told_from_a_missing_script() {
    let bench = Bench::new();
    bench.write("script", "#!/nonexistent/sh\n");
    std::fs::set_permissions(bench.path("script"), Permissions::from_mode(0o700)).unwrap();
    let mut command = bench.command(&["run", "pay", "--", "script"]);
    let ran = ran(command.env("PATH", bench.folder()));
    assert_eq!(ran.code, 126);
    assert!(ran.stderr.contains("its interpreter \"/nonexistent/sh\" is not found"), "{ran:?}");
}

#[test]
fn a_result_is_reported_also_where_sigchld_was_ignored() {
    let bench = Bench::new();
    let breaker = bench.host().breaker("pay");
    for (script, code) in [("exit 0", 0), ("exit 3", 3), ("kill -KILL $$", 137)] {
        let mut command = bench.command(&shell("pay", script));
        let ran = ran(ignoring(&mut command, libc::SIGCHLD));
        assert_eq!((ran.code, ran.stderr.as_str()), (code, ""), "{script}");
    }
    let seen = breaker.inspect().unwrap();
    assert_eq!((seen.calls, seen.failures), (3, 2));
}

#[test]
fn a_time_limit_ends_the_command_and_is_reported_as_a_timeout() {
    let bench = Bench::new();
    for (name, script, kill_after) in [
        ("kind", "trap 'echo term; exit 0' TERM; while :; do sleep 0.05; done", "10m"),
        ("stubborn", "trap '' TERM; while :; do sleep 600; done", "50ms"),
    ] {
        let breaker = bench.due(name, &policy());
        let ran = bench.run(&["run", "--timeout", "1s", "--kill-after", kill_after, name, "--", "sh", "-c", script]);
        assert_eq!(ran.code, 124, "{ran:?}");
        assert_eq!(ran.stdout, if name == "kind" { "term\n" } else { "" });
        let last = breaker.history(1).unwrap().remove(0);
        assert_eq!((last.to, last.reason), (State::Open, TransitionReason::ProbeTimedOut));
        assert_eq!(last.cause, "timed out after 1s");
    }
    assert_eq!(bench.run(&["run", "--timeout", "1h", "pay", "--", "true"]).code, 0);
}

#[test]
fn a_time_limit_ends_the_children_of_the_command_too() {
    let bench = Bench::new();
    // Without a terminal, as in cron.
    let mut command = bench.command(&["run", "--timeout", "500ms", "pay", "--", "sh", "-c", "sleep 600 & sleep 600"]);
    // SAFETY: setsid is a plain system call.
    unsafe { command.pre_exec(|| rustix::process::setsid().map(drop).map_err(Into::into)) };
    // Its output ends only when all that could write to it are gone.
    assert_eq!(ran(&mut command).code, 124);
}

/// A command under way, which runs until it reads its exit status.
struct Underway {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
}

impl Underway {
    fn start(bench: &Bench, options: &[&str], dependency: &str) -> Underway {
        let mut args = vec!["run"];
        args.extend(options);
        args.extend([dependency, "--", "sh", "-c", "echo started; read line; exit \"$line\""]);
        let mut command = bench.command(&args);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut started = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut started).unwrap();
        assert_eq!(started, "started\n");
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Underway { child, stderr }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).unwrap();
        line
    }

    /// Ends it with a status; returns what else it wrote.
    fn end(mut self, status: u8) -> (i32, String) {
        self.child.stdin.take().unwrap().write_all(format!("{status}\n").as_bytes()).unwrap();
        let mut rest = String::new();
        self.stderr.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code().unwrap(), rest)
    }
}

#[test]
fn the_lease_of_a_probe_is_renewed_while_the_command_runs() {
    let bench = Bench::new();
    let breaker = bench.due("pay", &policy().lease_ms(3_000));
    let underway = Underway::start(&bench, &[], "pay");
    let lease = breaker.inspect().unwrap().leases.remove(0);
    assert!(lease.caller.starts_with("sh@"), "{lease:?}");
    // Time was added to it often enough to make more than its length.
    let (mut renewals, mut left) = (0, lease.expires_in);
    until("the lease has been renewed four times", || {
        let now = breaker.inspect().unwrap().leases.pop().expect("the lease is there");
        assert_eq!(now.token, lease.token);
        renewals += u32::from(now.expires_in > left);
        left = now.expires_in;
        (renewals == 4).then_some(())
    });
    assert_eq!(underway.end(0), (0, String::new()));
    assert_eq!(breaker.inspect().unwrap().state, State::Closed);
}

#[test]
fn a_lost_lease_is_a_warning_and_the_result_changes_nothing() {
    let bench = Bench::new();
    let breaker = bench.due("pay", &policy().lease_ms(3_000));
    let mut underway = Underway::start(&bench, &[], "pay");
    breaker.reset("").unwrap();
    let line = underway.line();
    assert!(line.starts_with("halfopen: pay: the probe's lease is lost ("), "{line}");
    let (code, rest) = underway.end(9);
    assert_eq!(code, 9);
    assert!(rest.starts_with("halfopen: pay: the probe's result came too late and does not count ("), "{rest}");
    let seen = breaker.inspect().unwrap();
    assert_eq!((seen.state, seen.calls), (State::Closed, 0));
}

#[test]
fn quiet_hides_the_warning_about_a_lost_lease() {
    let bench = Bench::new();
    let breaker = bench.due("pay", &policy().lease_ms(3_000));
    let underway = Underway::start(&bench, &["--quiet"], "pay");
    breaker.reset("").unwrap();
    assert_eq!(underway.end(0), (0, String::new()));
}

#[test]
fn a_result_that_cannot_be_recorded_keeps_the_exit_status() {
    let bench = Bench::new();
    bench.open("pay");
    let underway = Underway::start(&bench, &["--quiet"], "pay");
    let database = rusqlite::Connection::open(bench.store()).unwrap();
    assert_eq!(database.execute("UPDATE record SET data = x'0102'", []).unwrap(), 1);
    let (code, stderr) = underway.end(3);
    assert_eq!((code, stderr.lines().count()), (3, 1));
    assert!(stderr.contains("the command has run, but its result (failure) could not be recorded: "), "{stderr}");
}

#[test]
fn of_five_commands_at_once_exactly_one_probes() {
    let bench = Bench::new();
    let breaker = bench.due("pay", &policy());
    // The one that is started goes on until the four others are deferred.
    bench.write("call", "echo started >> log\nwhile [ $(grep -c 75 statuses) -lt 4 ]; do sleep 0.05; done\n");
    bench.write("statuses", "");
    let loop_of_five = "for i in 1 2 3 4 5; do { halfopen run pay -- sh call; echo $? >> statuses; } & done; wait";
    let ran = bench.shell(loop_of_five);
    assert_eq!(ran.stderr.lines().count(), 4, "{ran:?}");
    assert!(ran.stderr.lines().all(|line| line.contains("not started: another caller is probing")), "{ran:?}");
    assert_eq!(std::fs::read_to_string(bench.path("log")).unwrap(), "started\n");
    let mut statuses: Vec<String> =
        std::fs::read_to_string(bench.path("statuses")).unwrap().lines().map(str::to_owned).collect();
    statuses.sort();
    assert_eq!(statuses, ["0", "75", "75", "75", "75"]);
    assert!(matches!(breaker.acquire().unwrap(), Decision::Proceed(_)));
}

#[test]
fn a_command_killed_with_the_program_costs_one_lease() {
    let bench = Bench::new();
    let breaker = bench.due("pay", &policy().lease_ms(1_000));
    let mut underway = Underway::start(&bench, &[], "pay");
    underway.child.kill().unwrap();
    underway.child.wait().unwrap();
    until("the next one is let in", || matches!(breaker.acquire().unwrap(), Decision::Probe(_)).then_some(()));
}

#[test]
fn the_dependencys_own_word_decides_how_long_it_is_open() {
    let bench = Bench::new();
    let breaker = bench.host().breaker("pay");
    breaker.configure(&policy().open_ms(1_000), "").unwrap();
    for (written, least, said) in [
        ("120", 110_000, ""),
        ("2m", 110_000, ""),
        ("$(date -Ru --date '+2 minutes' | sed s/+0000/GMT/)", 110_000, ""),
        ("soon", 0, "what the command wrote to HALFOPEN_RETRY_AFTER_FILE is ignored: "),
        ("", 0, ""),
    ] {
        let script =
            format!("echo \"{written}\" > $HALFOPEN_RETRY_AFTER_FILE; echo $HALFOPEN_RETRY_AFTER_FILE; exit 1");
        let ran = bench.run(&shell("pay", &script));
        let left = breaker.inspect().unwrap().next_due.unwrap() - ran_at(&breaker);
        assert!(left >= least && (least > 0 || left <= 1_000), "{written}: {left}, {ran:?}");
        assert!(ran.code == 1 && ran.stderr.contains(said), "{ran:?}");
        assert!(!std::path::Path::new(ran.stdout.trim()).exists(), "the file is removed");
        breaker.reset("").unwrap();
    }
}

fn ran_at(breaker: &halfopen::Breaker) -> u64 {
    breaker.history(1).unwrap().remove(0).at
}

#[test]
fn a_run_that_trips_or_is_cut_off_says_so_unless_quiet() {
    let bench = Bench::new();
    let breaker = bench.host().breaker("pay");
    breaker.configure(&policy().open_ms(60_000), "").unwrap();
    for (quiet, lines) in [(None, 2), (Some("--quiet"), 0)] {
        let words = ["run", "--timeout", "50ms"].into_iter().chain(quiet).chain(["pay", "--", "sleep", "600"]);
        let ran = bench.run(&words.collect::<Vec<_>>());
        assert_eq!((ran.code, ran.stderr.lines().count()), (124, lines), "{ran:?}");
        if lines > 0 {
            let open = "the breaker is open now, after this failure (timed out after 50ms); retry in ";
            assert!(ran.stderr.starts_with("halfopen: pay: timed out after 50ms: the command was ended\n"), "{ran:?}");
            assert!(ran.stderr.contains(open), "{ran:?}");
        }
        breaker.reset("").unwrap();
    }
}

#[test]
fn redacted_a_failure_is_kept_without_cause_and_names() {
    let bench = Bench::new();
    let breaker = bench.open("pay");
    assert_eq!(bench.run(&["run", "--redact", "pay", "--", "sh", "-c", "exit 22"]).code, 22);
    let failure = breaker.inspect().unwrap().last_failure.unwrap();
    assert!(failure.cause.is_empty() && failure.caller.starts_with("pid "), "{failure:?}");
}

#[test]
fn a_probe_that_took_too_long_is_told_what_to_set() {
    let bench = Bench::new();
    let breaker = bench.due("pay", &policy().lease_ms(200).probe_max_ms(400));
    let ran = bench.run(&shell("pay", "sleep 1"));
    assert_eq!((ran.code, ran.stderr.lines().count()), (0, 2), "{ran:?}");
    let remedy = "a probe may take 400ms (probe_max_ms): allow longer ones: halfopen policy set pay probe_max=1m\n";
    assert!(ran.stderr.contains("does not count") && ran.stderr.ends_with(remedy), "{ran:?}");
    assert_eq!(bench.run(&["policy", "set", "pay", "probe_max=1m"]).code, 0);
    assert_eq!(bench.run(&shell("pay", "sleep 1")).stderr, "");
    assert_eq!(breaker.inspect().unwrap().state, State::Closed);
}
