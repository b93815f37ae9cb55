//! Stores that cannot be used: the message, the exit code, and that nothing is started or changed.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use halfopen_tests::privileges;
use rusqlite::Connection;

use crate::bench::{Bench, all, ran};

/// Runs a command that would leave a trace, and shows the status; both are refused.
fn refused_with(bench: &Bench, store: &str) -> [String; 2] {
    [
        bench.refused(&["--store", store, "run", "pay", "--", "touch", "started"]),
        bench.refused(&["--store", store, "status"]),
    ]
}

#[test]
fn an_invalid_address_is_refused() {
    let bench = Bench::with_records();
    let addresses = ["", "sqlite:", "mysql://me:hush@localhost/db", ":memory:", "memory"];
    insta::assert_snapshot!(all(addresses.iter().flat_map(|address| refused_with(&bench, address))));
}

#[test]
fn a_store_that_is_a_directory_or_in_none_is_refused() {
    let bench = Bench::with_records();
    let folder = bench.folder().to_str().unwrap().to_owned();
    let places = [folder, bench.at("none/store.db"), bench.at("store.db/store.db")];
    insta::assert_snapshot!(all(places.iter().flat_map(|place| refused_with(&bench, place))));
}

#[test]
fn a_store_without_the_right_to_write_is_refused() {
    let bench = Bench::with_records();
    let mut refusals = Vec::new();
    for (folder, file) in [(0o700, 0o400), (0o700, 0o000), (0o500, 0o600)] {
        let own = Bench::with_records();
        fs::set_permissions(own.store(), Permissions::from_mode(file)).unwrap();
        fs::set_permissions(own.folder(), Permissions::from_mode(folder)).unwrap();
        // In the other bench, whose folder is compared before and afterwards.
        let store = own.store().to_str().unwrap().to_owned();
        let mut command = bench.command(&["--store", &store, "run", "pay", "--", "touch", "started"]);
        let shown = format!("run pay -- touch started (folder {folder:o}, store {file:o})");
        let refusal = bench.refused_of(privileges::without(&mut command), &shown);
        refusals.push(refusal.replace(own.folder().to_str().unwrap(), "[other]"));
        fs::set_permissions(own.folder(), Permissions::from_mode(0o700)).unwrap();
        assert_eq!(fs::read_dir(own.folder()).unwrap().count(), 1, "something was left beside the store");
    }
    insta::assert_snapshot!(all(refusals));
}

#[test]
fn a_store_that_stays_locked_is_refused_in_time() {
    let bench = Bench::with_records();
    let other = Connection::open(bench.store()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE; DELETE FROM record WHERE dependency = 'none'").unwrap();
    let refusal = bench.refused(&["reset", "pay"]);
    // A command that only reads goes on.
    assert_eq!(bench.run(&["run", "pay", "--", "touch", "started"]).code, 75);
    drop(other);
    assert_eq!(bench.run(&["reset", "pay"]).code, 0);
    insta::assert_snapshot!(refusal);
}

#[test]
fn a_damaged_store_is_refused() {
    let bench = Bench::with_records();
    let whole = fs::read(bench.store()).unwrap();
    let mut scribbled = whole.clone();
    scribbled[100..4_000].fill(0xa5);
    let mut refusals = Vec::new();
    refusals.extend(refused_with(&bench, &bench.write("text.db", "hello ".repeat(1_000))));
    refusals.extend(refused_with(&bench, &bench.write("cut.db", &whole[..whole.len() / 3])));
    refusals.extend(refused_with(&bench, &bench.write("scribbled.db", &scribbled)));
    insta::assert_snapshot!(all(refusals));
}

#[test]
fn a_damaged_record_can_be_reset_and_hides_no_other() {
    let bench = Bench::with_records();
    bench.open("other");
    let damage = "UPDATE record SET data = x'0102' WHERE dependency = 'pay'";
    Connection::open(bench.store()).unwrap().execute_batch(damage).unwrap();
    let refusals = [
        bench.refused(&["run", "pay", "--", "touch", "started"]),
        bench.refused(&["status", "pay"]),
        bench.refused(&["force", "pay", "open"]),
    ];
    let status = bench.run(&["status"]);
    assert_eq!(status.code, 65);
    assert!(status.stdout.contains("unreadable") && status.stdout.contains("other"), "{status:?}");
    let json: serde_json::Value = serde_json::from_str(&bench.run(&["status", "--json"]).stdout).unwrap();
    let [worst, other] = [&json["dependencies"][0], &json["dependencies"][1]];
    assert!(worst["error"].is_string() && other["dependency"] == "other", "{json}");
    assert_eq!(bench.run(&["reset", "pay"]).code, 0);
    assert_eq!(bench.run(&["run", "pay", "--", "true"]).code, 0);
    insta::assert_snapshot!(all(refusals));
}

#[test]
fn a_store_of_a_later_release_or_of_another_program_is_refused() {
    let bench = Bench::with_records();
    let database = |name: &str, sql: &str| {
        Connection::open(bench.path(name)).unwrap().execute_batch(sql).unwrap();
        bench.at(name)
    };
    fs::copy(bench.store(), bench.path("later.db")).unwrap();
    let later = database("later.db", "PRAGMA user_version = 99; PRAGMA journal_mode = delete");
    let other = database("other.db", "CREATE TABLE note (text)");
    insta::assert_snapshot!(all([later, other].iter().flat_map(|store| refused_with(&bench, store))));
}

#[test]
fn without_a_home_it_says_to_give_a_store() {
    let bench = Bench::new();
    let mut command = bench.command(&["run", "pay", "--", "touch", "started"]);
    command.env_remove("HALFOPEN_STORE").env_remove("HOME");
    let mut refusals = vec![bench.refused_of(&mut command, "run pay -- touch started (no HOME)")];
    let mut command = bench.command(&["run", "pay", "--", "touch", "started"]);
    command.env_remove("HALFOPEN_STORE").env("HOME", "/dev/null");
    refusals.push(bench.refused_of(&mut command, "run pay -- touch started (HOME=/dev/null)"));
    // Of no use for anything but its own files.
    let mut named = bench.command(&["--store", &bench.at("store.db"), "run", "pay", "--", "true"]);
    assert_eq!(ran(named.env_remove("HALFOPEN_STORE").env_remove("HOME")).code, 0);
    insta::assert_snapshot!(all(refusals));
}

#[test]
fn a_removed_working_directory_is_named_as_the_fault() {
    let bench = Bench::new();
    let refused = |store: &str| {
        let mut shell = Command::new("sh");
        bench.surround(&mut shell);
        let script = format!("mkdir gone && cd gone && rmdir ../gone && exec halfopen --store {store} status");
        let shell = crate::bench::with_program_on_path(&mut shell).args(["-c", &script]);
        bench.refused_of(shell, &format!("--store {store} status (in a folder that is gone)"))
    };
    insta::assert_snapshot!(all(["store.db", "./inside/store.db"].map(refused)));
}

#[test]
fn an_empty_variable_counts_as_not_set() {
    let bench = Bench::new();
    let mut command = bench.command(&["policy", "set", "pay", "open=1s"]);
    for name in ["HALFOPEN_STORE", "HALFOPEN_COMPONENT", "HALFOPEN_NAMESPACE", "HALFOPEN_POLICY", "XDG_STATE_HOME"] {
        command.env(name, "");
    }
    let ran = ran(&mut command);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    assert!(bench.path("home/.local/state/halfopen/halfopen.db").is_file());
}

#[test]
fn a_variable_that_is_not_utf8_is_named() {
    let bench = Bench::new();
    let refused = |name: &str| {
        let mut command = bench.command(&["status"]);
        command.env(name, OsStr::from_bytes(b"caf\xe9"));
        bench.refused_of(&mut command, &format!("status ({name}=caf\\xe9)"))
    };
    insta::assert_snapshot!(all(["HALFOPEN_STORE", "HALFOPEN_NAMESPACE"].map(refused)));
}

#[test]
fn the_default_store_is_in_the_users_state_folder_and_private() {
    let bench = Bench::new();
    let mut command = bench.command(&["run", "pay", "--", "true"]);
    assert_eq!(ran(command.env_remove("HALFOPEN_STORE")).code, 0);
    let folder = bench.path("home/.local/state/halfopen");
    assert!(folder.join("halfopen.db").is_file());
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);

    let mut command = bench.command(&["run", "pay", "--", "true"]);
    assert_eq!(ran(command.env_remove("HALFOPEN_STORE").env("XDG_STATE_HOME", bench.path("state"))).code, 0);
    assert!(bench.path("state/halfopen/halfopen.db").is_file());
}

#[test]
fn fail_open_starts_the_command_although_the_store_fails() {
    let bench = Bench::new();
    for store in [bench.at("none/store.db"), bench.write("text.db", "hello ".repeat(1_000))] {
        let fails = ["--store", &store, "run", "--on-store-error", "fail-open", "pay", "--", "sh", "-c", "exit 7"];
        let ran = bench.run(&fails);
        assert_eq!(ran.code, 7, "{ran:?}");
        assert!(ran.stderr.contains("without recording its outcome (fail-open)"), "{ran:?}");
    }
}

#[test]
fn an_address_with_white_space_at_an_end_is_refused() {
    let bench = Bench::with_records();
    let addresses = ["\n", "\r", " "].map(|end| format!("sqlite:{}{end}", bench.at("store.db")));
    let others = ["postgres://localhost/app\n", " etcd://localhost", "memory\n"].map(str::to_owned);
    let refusals = addresses.iter().chain(&others).map(|address| {
        let mut command = bench.command(&["run", "pay", "--", "touch", "started"]);
        bench.refused_of(command.env("HALFOPEN_STORE", address), &format!("run pay (HALFOPEN_STORE={address:?})"))
    });
    insta::assert_snapshot!(all(refusals));
}

#[test]
fn no_file_is_made_where_none_was_meant() {
    let bench = Bench::with_records();
    let addresses = ["new.db", "sqlite:new.db", "./inside/new.db", "sqlite://new.db", "sqlite:///tmp/new.db"];
    let refusals: Vec<String> = addresses.iter().flat_map(|address| refused_with(&bench, address)).collect();
    assert_eq!(bench.run(&["--store", "store.db", "run", "pay", "--", "true"]).code, 75, "a store that exists is used");
    insta::assert_snapshot!(all(refusals));
}

#[test]
fn a_store_with_two_names_is_refused() {
    let bench = Bench::with_records();
    fs::hard_link(bench.store(), bench.path("other.db")).unwrap();
    insta::assert_snapshot!(all(["store.db", "other.db"]
        .iter()
        .flat_map(|name| refused_with(&bench, &bench.at(name)))));
    fs::remove_file(bench.path("other.db")).unwrap();
    assert_eq!(bench.run(&["status"]).code, 0);
}

/// Only where this user may mount one: as the superuser of a namespace.
#[test]
#[cfg(target_os = "linux")]
fn a_store_mounted_as_a_single_file_is_refused() {
    let bench = Bench::with_records();
    fs::create_dir(bench.path("inside")).unwrap();
    bench.write("inside/store.db", "");
    let mut shell = Command::new("unshare");
    bench.surround(&mut shell);
    let script = "mount --bind store.db inside/store.db || exit 9; exec halfopen --store inside/store.db reset pay";
    let command = crate::bench::with_program_on_path(shell.args(["-rm", "sh", "-c", script]));
    if ran(command).code == 9 {
        eprintln!("not tried: this user may not mount a file");
        return;
    }
    insta::assert_snapshot!(bench.refused_of(command, "--store inside/store.db reset pay (store.db mounted there)"));
}
