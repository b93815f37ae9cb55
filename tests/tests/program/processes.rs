//! The processes of `halfopen run`: nothing runs on, and the program ends as its command did.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};

use halfopen::{Decision, State};
use halfopen_tests::breakers::{policy, until};

use crate::bench::{Bench, children, code as exit_code, family, kill, pid, ran, with_program_on_path};

/// A command that starts others: in its group, in a session of their own, and orphaned. Each writes its number.
const JOB: &str = "trap '' TERM; echo $$ >> pids; sh -c 'echo $$ >> pids; exec sleep 600' & \
                   setsid sh -c 'echo $$ >> pids; exec sleep 600' & \
                   (setsid sh -c 'trap \"\" TERM; echo $$ >> pids; exec sleep 600' &); \
                   until [ $(wc -l < pids) = 4 ]; do sleep 0.01; done; touch ready; while :; do sleep 1; done";

/// Starts the program in a session of its own.
fn in_a_session(command: &mut Command) -> Child {
    // SAFETY: setsid is a plain system call.
    unsafe { command.pre_exec(|| rustix::process::setsid().map(drop).map_err(Into::into)) };
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn runs(pid: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

/// Starts the job, ends it in a way, and waits until none of its processes runs.
fn nothing_runs_on_after(bench: &Bench, command: &mut Command, end: impl FnOnce(i32)) -> ExitStatus {
    let _ = fs::remove_file(bench.path("ready"));
    bench.write("pids", "");
    let mut child = in_a_session(command);
    until("the job has started", || bench.path("ready").exists().then_some(()));
    end(pid(&child));
    let pids = fs::read_to_string(bench.path("pids")).unwrap();
    until("nothing of the job runs", || (!pids.lines().any(runs)).then_some(()));
    child.wait().unwrap()
}

#[test]
fn killed_in_any_way_it_leaves_nothing_behind() {
    let bench = Bench::new();
    let breaker = bench.due("pay", &policy().lease_ms(1_000));
    let ways: [fn(i32); 4] = [
        |program| kill(program, libc::SIGKILL),
        |program| kill(-program, libc::SIGKILL),
        // A fault of the program itself. The handlers of Rust and of the engine take the first ones for their own.
        |program| {
            for _ in 0..4 {
                kill(program, libc::SIGSEGV);
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
        },
        |program| {
            kill(program, libc::SIGSTOP);
            kill(program, libc::SIGKILL);
        },
    ];
    for way in ways {
        nothing_runs_on_after(&bench, &mut bench.command(&["run", "pay", "--", "sh", "-c", JOB]), way);
        until("the next caller probes", || matches!(breaker.acquire().unwrap(), Decision::Probe(_)).then_some(()));
    }
}

#[test]
fn a_time_limit_around_it_or_of_its_own_ends_all() {
    let bench = Bench::new();
    let limited = |inner: &[&str]| {
        let mut command = bench.command(&["run", "--timeout", "1s", "--kill-after", "100ms", "db", "--"]);
        command.args(inner).args(["sh", "-c", JOB]);
        command
    };
    let program = halfopen_tests::program::program().to_str().unwrap();
    let mut outer = Command::new("timeout");
    bench.surround(outer.args(["-k", "1", "1", program, "run", "pay", "--", "sh", "-c", JOB]));
    for (mut command, code) in [(limited(&[]), 124), (limited(&[program, "run", "pay", "--"]), 124), (outer, 137)] {
        let ended = nothing_runs_on_after(&bench, &mut command, |_| {});
        assert_eq!(exit_code(ended), code);
    }
}

#[test]
fn a_killed_keeper_takes_its_command_along() {
    let bench = Bench::new();
    let breaker = bench.open("pay");
    let ended = nothing_runs_on_after(&bench, &mut bench.command(&["run", "pay", "--", "sh", "-c", JOB]), |program| {
        kill(children(program)[0], libc::SIGKILL);
    });
    assert_eq!(ended.signal(), Some(libc::SIGKILL));
    assert_eq!(breaker.inspect().unwrap().last_failure.unwrap().cause, "signal 9");
}

#[test]
fn what_a_command_leaves_running_by_itself_runs_on() {
    let bench = Bench::new();
    let script = "sleep 600 >/dev/null 2>&1 & echo $!";
    let ran = bench.run(&["run", "pay", "--", "sh", "-c", script]);
    let pid = ran.stdout.trim();
    assert!(ran.code == 0 && runs(pid), "{ran:?}");
    kill(pid.parse().unwrap(), libc::SIGKILL);
}

#[test]
fn it_ends_by_the_signal_that_ended_the_command() {
    let bench = Bench::new();
    let breaker = bench.host().breaker("pay");
    breaker.configure(&policy().consecutive_failures(0), "").unwrap();
    for signal in [libc::SIGKILL, libc::SIGTERM, libc::SIGINT, libc::SIGSEGV, libc::SIGPIPE, libc::SIGRTMIN() + 3] {
        let script = format!("kill -{signal} $$");
        let status = bench.command(&["run", "--quiet", "pay", "--", "sh", "-c", &script]).status().unwrap();
        assert_eq!((status.signal(), status.core_dumped()), (Some(signal), false));
    }
    assert_eq!(breaker.inspect().unwrap().failures_in_row, 6);
}

#[test]
fn a_stop_of_the_group_ends_the_loop_of_a_script() {
    let bench = Bench::new();
    let script = "for i in 1 2 3; do echo job $i; halfopen run pay -- sleep 600; done; echo went on";
    let mut bash = Command::new("bash");
    bench.surround(&mut bash);
    with_program_on_path(bash.args(["-c", script]));
    let default = || {
        // SAFETY: setting a signal back to its default is allowed between fork and exec.
        unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
        rustix::process::setsid().map(drop).map_err(Into::into)
    };
    // SAFETY: `default` makes two system calls.
    unsafe { bash.pre_exec(default) };
    let mut child = bash.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "job 1");
    until("the command runs", || (family(pid(&child)).len() == 4).then_some(()));
    kill(-pid(&child), libc::SIGINT);
    assert_eq!(lines.map(Result::unwrap).collect::<Vec<_>>(), Vec::<String>::new());
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGINT));
}

/// Only where this user may make a namespace of processes.
#[test]
fn as_process_1_it_reaps_orphans_and_exits() {
    let bench = Bench::new();
    let in_a_namespace = |script: &str| {
        let mut unshare = Command::new("unshare");
        bench.surround(&mut unshare);
        let program = halfopen_tests::program::program();
        unshare.args(["-r", "--pid", "--fork", "--mount-proc"]).arg(program);
        ran(unshare.args(["run", "--quiet", "pay", "--", "sh", "-c", script]))
    };
    if in_a_namespace("true").code != 0 {
        eprintln!("not tried: this user may not make a namespace of processes");
        return;
    }
    let zombies = in_a_namespace(
        "for i in 1 2 3; do (sleep 0.05 &); done; sleep 0.5; cat /proc/[0-9]*/stat | grep -c ') Z '; exit 7",
    );
    assert_eq!((zombies.code, zombies.stdout.as_str()), (7, "0\n"));
    assert_eq!(in_a_namespace("kill -TERM $$").code, 128 + libc::SIGTERM);
}

#[test]
fn a_process_number_for_the_program_becomes_the_commands() {
    let bench = Bench::new();
    let shown = "halfopen run pay -- sh -c 'test $LISTEN_PID = $$ && echo $OTHER_PID'";
    let ran = bench.shell(&format!("LISTEN_PID=$$ OTHER_PID=7 WATCHDOG_PID=$$ exec {shown}"));
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "7\n"), "{ran:?}");
    let of_another = bench.shell("LISTEN_PID=7 halfopen run pay -- sh -c 'echo $LISTEN_PID'");
    assert_eq!(of_another.stdout, "7\n");
}

#[test]
fn a_script_without_a_first_line_runs_under_sh() {
    let bench = Bench::new();
    let ran = bench.shell("printf 'echo hello $1\\n' > job; chmod +x job; halfopen run pay -- ./job you");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "hello you\n"), "{ran:?}");
}

#[test]
fn a_search_for_the_program_finds_one_process() {
    let bench = Bench::new();
    bench.write("pids", "");
    let name = "dependency-of-one-process";
    let mut child = in_a_session(&mut bench.command(&["run", name, "--", "sh", "-c", "touch ready; exec sleep 600"]));
    until("the command runs", || bench.path("ready").exists().then_some(()));
    let found: HashSet<i32> = family(pid(&child))
        .into_iter()
        .filter(|pid| fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap().contains(name))
        .collect();
    assert_eq!(found, HashSet::from([pid(&child)]));
    kill(pid(&child), libc::SIGTERM);
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGTERM));
    assert_eq!(bench.host().breaker(name).inspect().unwrap().state, State::Closed);
}

#[test]
fn without_a_terminal_streams_or_processes_it_still_runs() {
    let bench = Bench::new();
    let closed = bench.shell("halfopen run pay -- sh -c 'exit 3' <&- >&- 2>&-");
    assert_eq!(closed.code, 3, "{closed:?}");
    let nohup = bench.shell("nohup halfopen run pay -- sh -c 'echo done' </dev/null");
    assert_eq!((nohup.code, nohup.stdout.as_str()), (0, "done\n"), "{nohup:?}");
}
