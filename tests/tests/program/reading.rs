//! Reading needs no right to write, and creates nothing.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use halfopen_tests::privileges;

use crate::bench::{Bench, ran, with_program_on_path};

/// The commands that only read.
const READS: [&[&str]; 7] = [
    &["status"],
    &["status", "pay"],
    &["status", "pay", "--json"],
    &["history"],
    &["history", "pay"],
    &["policy", "show", "pay"],
    &["list"],
];

#[test]
fn a_user_who_may_only_read_the_file_can_look() {
    let bench = Bench::with_records();
    for mode in [0o700, 0o500] {
        fs::set_permissions(bench.store(), Permissions::from_mode(0o400)).unwrap();
        fs::set_permissions(bench.folder(), Permissions::from_mode(mode)).unwrap();
        for args in READS {
            let mut command = bench.command(args);
            let ran = ran(privileges::without(&mut command));
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?} in a folder of mode {mode:o}");
            assert!(ran.stdout.contains("pay") || ran.stdout.contains("consecutive"), "{args:?}: {ran:?}");
        }
        fs::set_permissions(bench.folder(), Permissions::from_mode(0o700)).unwrap();
    }
}

#[test]
fn what_another_process_has_just_written_is_read() {
    let bench = Bench::with_records();
    // A host that has the store open: its newest commits are in the log alone.
    let writer = bench.open("mail");
    writer.force(halfopen::Mode::Open, None, "").unwrap();
    fs::set_permissions(bench.store(), Permissions::from_mode(0o400)).unwrap();
    let mut command = bench.command(&["status", "mail"]);
    let shown = ran(privileges::without(&mut command));
    fs::set_permissions(bench.store(), Permissions::from_mode(0o600)).unwrap();
    assert!(shown.stdout.starts_with("mail is forced open"), "{shown:?}");
}

#[test]
fn a_store_that_is_missing_is_not_created() {
    let bench = Bench::new();
    for args in [&["status"][..], &["status", "pay"], &["history"], &["policy", "show", "pay"], &["list"], &["doctor"]]
    {
        let ran = bench.run(args);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}: {ran:?}");
        assert_eq!(fs::read_dir(bench.folder()).unwrap().count(), 0, "{args:?}");
    }
    let mut own = bench.command(&["status"]);
    assert_eq!(ran(own.env_remove("HALFOPEN_STORE")).code, 0);
    assert_eq!(fs::read_dir(bench.folder()).unwrap().count(), 0);
    fs::write(bench.store(), "").unwrap();
    assert_eq!(bench.run(&["status"]).code, 0);
    assert_eq!(fs::metadata(bench.store()).unwrap().len(), 0);
}

/// Only where this user may mount one: as the superuser of a namespace.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_does_not_hide_the_state() {
    let may_mount = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).output();
    if !may_mount.is_ok_and(|output| output.status.success()) {
        eprintln!("not tried: this user may not mount a file system");
        return;
    }
    let bench = Bench::with_records();
    fs::create_dir(bench.path("disk")).unwrap();
    let script = "mount -t tmpfs -o size=256k tmpfs disk && cp store.db disk && { cat /dev/zero > disk/full; true; } 2> /dev/null \
                  && halfopen --store disk/store.db status && halfopen --store disk/store.db history pay";
    let mut shell = Command::new("unshare");
    bench.surround(&mut shell);
    let shown = ran(with_program_on_path(&mut shell).args(["-rm", "sh", "-c", script]));
    assert_eq!((shown.code, shown.stderr.as_str()), (0, ""), "{shown:?}");
    assert!(shown.stdout.contains("1 open") && shown.stdout.contains("consecutive-failures"), "{shown:?}");
}

#[test]
fn the_file_that_refuses_is_named_by_the_error_and_the_doctor() {
    let bench = Bench::with_records();
    // While a host has the store open, SQLite keeps two files beside it.
    let host = bench.host();
    host.breaker("mail").reset("").unwrap();
    let log = bench.at("store.db-wal");
    fs::set_permissions(&log, Permissions::from_mode(0o400)).unwrap();
    let mut reset = bench.command(&["reset", "pay"]);
    let refused = ran(privileges::without(&mut reset));
    assert_eq!(refused.code, 77, "{refused:?}");
    assert!(refused.stderr.contains(&format!("no right to read and write {log};")), "{refused:?}");
    let mut doctor = bench.command(&["doctor"]);
    let found = ran(privileges::without(&mut doctor));
    assert_eq!(found.code, 1, "{found:?}");
    let faults: Vec<&str> = found.stdout.lines().filter(|line| line.starts_with("MEND")).collect();
    assert!(faults.len() == 1 && faults[0].contains(&log) && faults[0].contains("chmod"), "{found:?}");
}

#[test]
fn the_doctor_looks_at_policy_and_component_too() {
    let bench = Bench::with_records();
    let policy = bench.write("policy.toml", "open_msec = 5\n");
    let component = bench.write("no.wasm", "text");
    let found = bench.run(&["doctor", "--default-policy", &policy]);
    assert!(found.code == 1 && found.stdout.contains("MEND  policy"), "{found:?}");
    let found = bench.run(&["doctor", "--component", &component]);
    assert!(found.code == 1 && found.stdout.contains("MEND  component"), "{found:?}");
    let found = bench.run(&["doctor", "--store", &component]);
    assert!(found.code == 1 && found.stdout.contains("MEND  store"), "{found:?}");
}
