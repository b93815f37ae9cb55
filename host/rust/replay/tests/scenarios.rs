//! The replay files of the repository on the native engine, in a host over a store in memory: a test each.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

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
    let trials = files.into_iter().map(|file| {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Trial::test(name, move || holds(&file))
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

fn holds(file: &Path) -> Result<(), Failed> {
    let summary = Replay::host(|host| host.native()).run(&Scenario::read(file)?)?;
    if summary.holds() {
        return Ok(());
    }
    let failures: Vec<String> = summary.failures.iter().map(Failure::to_string).collect();
    Err(failures.join("; ").into())
}
