//! Limits of the system: files, their size, the disk. Each is named as the fault.

use std::process::Command;

use rustix::process::Resource;

use crate::bench::{Bench, all, ignoring, limited, ran, with_program_on_path};

#[test]
fn a_store_that_cannot_grow_is_refused_until_there_is_room() {
    let bench = Bench::with_records();
    let mut refusals = Vec::new();
    // That leaves no room for a log.
    for ignored in [false, true] {
        let mut command = bench.command(&["reset", "pay"]);
        if ignored {
            ignoring(&mut command, libc::SIGXFSZ);
        }
        refusals
            .push(bench.refused_of(limited(&mut command, Resource::Fsize, 4_096), "reset pay (files to 4096 bytes)"));
    }
    assert_eq!(bench.run(&["reset", "pay"]).code, 0);
    insta::assert_snapshot!(all(refusals));
}

#[test]
fn a_command_reaches_the_limit_of_file_size_as_if_alone() {
    let bench = Bench::new();
    let script = "ulimit -f 1; head -c 100000 /dev/zero > large";
    let ran_alone = ran(Command::new("sh").args(["-c", script]).current_dir(bench.folder()));
    let mut command = bench.command(&["run", "--quiet", "pay", "--", "sh", "-c", script]);
    assert_eq!(ran(&mut command).code, ran_alone.code.max(128 + libc::SIGXFSZ));
    // Who has it ignored goes on without it.
    let mut command = bench.command(&["run", "--quiet", "pay", "--", "sh", "-c", script]);
    assert_eq!(ran(ignoring(&mut command, libc::SIGXFSZ)).code, 1);
}

#[test]
fn the_limit_of_open_files_is_named_as_the_fault() {
    let bench = Bench::with_records();
    bench.host().breaker("pay").reset("").unwrap();
    let mut refused = 0;
    for most in 4..=40 {
        let mut command = bench.command(&["run", "pay", "--", "true"]);
        let ran = ran(limited(&mut command, Resource::Nofile, most));
        if ran.code != 0 {
            refused += 1;
            assert_eq!((ran.code, ran.stderr.lines().count()), (69, 1), "{most}: {ran:?}");
            let is_named =
                ["Too many open files", "may open no more files"].iter().any(|fault| ran.stderr.contains(fault));
            assert!(is_named && !ran.stderr.contains("contract"), "{most}: {ran:?}");
        }
    }
    assert!((1..37).contains(&refused), "{refused}");
}

/// Only where this user may mount one: as the superuser of a namespace.
#[test]
#[cfg(target_os = "linux")]
fn a_disk_without_room_is_reported_as_full() {
    let may_mount = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).output();
    if !may_mount.is_ok_and(|output| output.status.success()) {
        eprintln!("not tried: this user may not mount a file system");
        return;
    }
    let bench = Bench::new();
    std::fs::create_dir(bench.path("disk")).unwrap();
    let mut found = Vec::new();
    for options in ["size=8k", "size=16k", "size=32k", "size=48k", "size=1m,nr_inodes=2"] {
        let mut shell = Command::new("unshare");
        bench.surround(&mut shell);
        let script =
            format!("mount -t tmpfs -o {options} tmpfs disk && exec halfopen --store $PWD/disk/store.db reset pay");
        let refusal = bench.refused_of(
            with_program_on_path(&mut shell).args(["-rm", "sh", "-c", &script]),
            &format!("reset pay (a disk of {options})"),
        );
        found.push(refusal);
    }
    insta::assert_snapshot!(all(found));
}

/// Starts a command that can make no memory executable, as a hardened service does; fails where the system has no such limit.
#[cfg(target_os = "linux")]
fn without_executable_memory(command: &mut Command) -> &mut Command {
    use std::os::unix::process::CommandExt as _;
    let refuse = || {
        // SAFETY: this prctl takes plain numbers.
        let refused = unsafe { libc::prctl(libc::PR_SET_MDWE, libc::PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) } == 0;
        refused.then_some(()).ok_or_else(std::io::Error::last_os_error)
    };
    // SAFETY: `refuse` makes one system call and nothing else.
    unsafe { command.pre_exec(refuse) }
}

#[test]
#[cfg(target_os = "linux")]
fn an_engine_that_gets_no_memory_is_named_as_the_fault() {
    let bench = Bench::with_records();
    let words: [&[&str]; 2] = [&["run", "pay", "--", "touch", "started"], &["status"]];
    let fail_open = ["run", "--on-store-error", "fail-open", "pay", "--", "echo", "started"];
    let mut refusals = Vec::new();
    for args in words {
        let shown = args.join(" ");
        let mut small = bench.command(args);
        let small = limited(&mut small, Resource::As, 100 << 20);
        refusals.push(bench.refused_of(small, &format!("{shown} (100 MiB of address space)")));
        let mut hardened = bench.command(args);
        if without_executable_memory(&mut hardened).output().is_err() {
            eprintln!("not tried: this system cannot forbid executable memory");
            continue;
        }
        refusals.push(bench.refused_of(&mut hardened, &format!("{shown} (no executable memory)")));
        let ran = ran(without_executable_memory(&mut bench.command(&fail_open)));
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "started\n"), "{ran:?}");
    }
    let ran = ran(limited(&mut bench.command(&fail_open), Resource::As, 100 << 20));
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "started\n"), "{ran:?}");
    assert!(refusals.iter().all(|refusal| refusal.contains("[78]")), "{refusals:?}");
    insta::assert_snapshot!(all(refusals));
}
