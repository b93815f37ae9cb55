//! `halfopen demo`.

use std::fs;
use std::process::Stdio;
use std::time::Instant;

use halfopen_tests::breakers::until;

use crate::bench::{Bench, ran};

/// The processes with this folder for temporary files.
fn processes_in(folder: &str) -> Vec<String> {
    let wanted = format!("TMPDIR={folder}");
    let here = |entry: fs::DirEntry| {
        let environment = fs::read(entry.path().join("environ")).ok()?;
        let ours = environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes());
        ours.then(|| String::from_utf8_lossy(&fs::read(entry.path().join("cmdline")).unwrap_or_default()).into_owned())
    };
    fs::read_dir("/proc").map(|all| all.flatten().filter_map(here).collect()).unwrap_or_default()
}

fn bench_with_temp() -> (Bench, String) {
    let bench = Bench::new();
    let temp = bench.at("temp");
    fs::create_dir(&temp).unwrap();
    (bench, temp)
}

#[test]
fn the_demo_shows_one_probe_a_recovery_and_leaves_nothing() {
    let (bench, temp) = bench_with_temp();
    let started = Instant::now();
    let ran = ran(bench.command(&["demo"]).env("TMPDIR", &temp));
    println!("the demo took {:.1} s", started.elapsed().as_secs_f64());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("exactly one call, the probe, reached the dependency at each recovery"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains('\u{1b}'), "it is no terminal");
    assert_eq!(processes_in(&temp), Vec::<String>::new());
    assert_eq!(fs::read_dir(&temp).unwrap().count(), 0);
    assert!(!bench.path("home").exists() && !bench.store().exists(), "it went to the user's own store");
}

#[test]
fn a_demo_that_is_killed_leaves_no_process_behind() {
    let (bench, temp) = bench_with_temp();
    let mut command = bench.command(&["demo"]);
    let mut demo = command.env("TMPDIR", &temp).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("its processes are there", || (processes_in(&temp).len() > 8).then_some(()));
    demo.kill().unwrap();
    demo.wait().unwrap();
    until("all of them are gone", || processes_in(&temp).is_empty().then_some(()));
}
