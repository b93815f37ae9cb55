//! The replay files of the repository on the native engine, over a store in memory: each in a host, and on the bare engine.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use halfopen_native::NativeEngine;
use halfopen_replay::{Failure, Replay, Scenario};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../tests/scenarios");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} holds no replay file", folder.display());
    let kinds: [(&str, fn() -> Replay); 2] = [
        ("host", || Replay::host(|host| host.native())),
        ("engine", || Replay::engine(|policy| Ok(Arc::new(NativeEngine::new(policy)?)))),
    ];
    let trials = kinds.into_iter().flat_map(|(kind, replay)| {
        files.iter().cloned().map(move |file| {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            Trial::test(name, move || holds(&file, &replay())).with_kind(kind)
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

fn holds(file: &Path, replay: &Replay) -> Result<(), Failed> {
    let summary = replay.run(&Scenario::read(file)?)?;
    if summary.holds() {
        return Ok(());
    }
    let failures: Vec<String> = summary.failures.iter().map(Failure::to_string).collect();
    Err(failures.join("; ").into())
}
