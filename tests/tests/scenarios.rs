//! Every replay file through the real component, on a store in memory and on a SQLite file: a test each.
//!
//! The files are those of `tests/scenarios/`, and those of the folder that `HALFOPEN_SCENARIOS` names, if it is set.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use halfopen::replay::{Replay, Scenario};
use halfopen_tests::breakers::address;
use libtest_mimic::{Arguments, Failed, Trial};

/// Names a folder with more files.
const MORE: &str = "HALFOPEN_SCENARIOS";

fn main() -> ExitCode {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let folders = std::iter::once(own).chain(std::env::var_os(MORE).map(PathBuf::from));
    let trials = folders.flat_map(|folder| match files(&folder) {
        Ok(files) if !files.is_empty() => files.iter().flat_map(|file| of_file(&folder, file)).collect(),
        Ok(_) => vec![broken(&folder, "it holds no replay file".to_owned())],
        Err(why) => vec![broken(&folder, why.to_string())],
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

/// The replay files in a folder and in those inside it.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// A folder whose files cannot be run is a failure, not nothing.
fn broken(folder: &Path, why: String) -> Trial {
    Trial::test(folder.display().to_string(), move || Err(why.into()))
}

fn of_file(folder: &Path, file: &Path) -> [Trial; 2] {
    let name = file.strip_prefix(folder).unwrap_or(file).with_extension("");
    let trial = |store: &'static str, test: fn(&Path) -> Result<(), Failed>| {
        let file = file.to_owned();
        Trial::test(name.display().to_string(), move || test(&file)).with_kind(store)
    };
    [trial("memory", in_memory), trial("sqlite", on_sqlite)]
}

fn in_memory(file: &Path) -> Result<(), Failed> {
    holds(file, &Replay::in_memory())
}

fn on_sqlite(file: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    holds(file, &Replay::at(&address(&folder.path().join("replay.db")))?)
}

fn holds(file: &Path, replay: &Replay) -> Result<(), Failed> {
    let report = replay.run(&Scenario::read(file)?)?;
    if report.holds() {
        return Ok(());
    }
    let failures: Vec<String> = report.failures.iter().map(ToString::to_string).collect();
    Err(format!("{}: {}", file.display(), failures.join("; ")).into())
}
