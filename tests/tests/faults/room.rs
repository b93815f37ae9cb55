//! Not enough room: a process whose files may not grow beyond a size, and a file system that is full.

use std::path::Path;
use std::process::{Command, Stdio};

use halfopen::{Host, Mode, OpenError};
use halfopen_tests::breakers::{address, policy};
use halfopen_tests::process::{self, Process, order, say};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Writes records until it is told to do otherwise.
pub fn writer(words: &[String]) {
    let file = Path::new(&words[0]);
    let open =
        || -> Result<Host, OpenError> { Host::builder().address(&address(file)).default_policy(policy()).build() };
    let host = match open() {
        Ok(host) => host,
        Err(error) => return say(format_args!("not opened: {error}")),
    };
    say("ready");
    while let Some(order) = order() {
        match order.as_str() {
            "give room" => {
                let hard = getrlimit(Resource::Fsize).maximum;
                setrlimit(Resource::Fsize, Rlimit { current: hard, maximum: hard }).expect("the limit was soft");
                if words.len() > 1 {
                    let grown = ["-o", "remount,size=64m", &words[1]];
                    assert!(Command::new("mount").args(grown).status().expect("mount was there before").success());
                }
                say("there is room");
            }
            "list" => say(open().expect("it opens again").list().expect("it can be read").join(" ")),
            name => match host.breaker(name).force(Mode::Open, None, "a record that takes some room") {
                Ok(_) => say("done"),
                Err(error) => say(format_args!("failed: {error}")),
            },
        }
    }
}

/// Writes until there is no room, and again when there is; exactly what was acknowledged is there.
fn fill(writer: &mut Process, words: &str) {
    let mut done = Vec::new();
    let mut failed = 0;
    for number in 0.. {
        assert!(number < 10_000, "there is always room");
        let name = format!("d{number:04}");
        match writer.ask(&name).as_str() {
            "done" => done.push(name),
            answer => {
                assert!(answer.starts_with("failed: the store ") && answer.contains(words), "{answer}");
                failed += 1;
                if failed == 20 {
                    break;
                }
            }
        }
    }
    assert_eq!(writer.ask("give room"), "there is room");
    assert_eq!(writer.ask("afterwards"), "done");
    let before = done.len();
    done.insert(0, "afterwards".to_owned());
    assert_eq!(writer.ask("list"), done.join(" "));
    println!("{before} records written before there was no room, {failed} writes failed");
}

pub fn where_files_may_grow_no_further_writes_fail_until_they_may() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shared.db");
    let writer = process::command("writer", &[file.to_str().unwrap()]);
    // In blocks of 512 bytes, and soft, so that the process can take it back. Without the trap it would be killed.
    let limited = "trap '' XFSZ; ulimit -S -f 512; exec \"$0\" \"$@\"";
    let mut shell = Command::new("sh");
    shell.args(["-c", limited]).arg(writer.get_program()).args(writer.get_args());
    shell.envs(writer.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut writer = Process::spawn(&mut shell);
    assert_eq!(writer.answer(), "ready");
    fill(&mut writer, "reading or writing failed");
}

pub fn on_a_full_disk_writes_fail_until_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let small = folder.path().to_str().unwrap();
    let file = folder.path().join("shared.db");
    // A file system of its own, which is gone with the process.
    let own = ["--user", "--map-root-user", "--mount", "--"];
    let mount = "mount -t tmpfs -o size=256k small \"$0\"";
    let possible = Command::new("unshare").args(own).args(["sh", "-c", mount, small]).stderr(Stdio::null()).status();
    if !possible.is_ok_and(|status| status.success()) {
        println!("not tried: this user cannot mount a small file system here");
        return;
    }
    let writer = process::command("writer", &[file.to_str().unwrap(), small]);
    let mut shell = Command::new("unshare");
    shell.args(own).args(["sh", "-c", &format!("{mount} && exec \"$@\""), small]);
    shell.arg(writer.get_program()).args(writer.get_args());
    shell.envs(writer.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut writer = Process::spawn(&mut shell);
    assert_eq!(writer.answer(), "ready");
    fill(&mut writer, "the disk is full");
}
