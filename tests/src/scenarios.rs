//! The replay files, a test each.
//!
//! They are those of `tests/scenarios/`, and those of the folder that `HALFOPEN_SCENARIOS` names, if it is set.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use halfopen_replay::{Scenario, Summary};
use libtest_mimic::{Failed, Trial};

/// Names a folder with more files.
const MORE: &str = "HALFOPEN_SCENARIOS";

/// Runs a file on a store.
pub type Run = dyn Fn(&Scenario) -> Result<Summary, Box<dyn Error>> + Send + Sync;

/// A test for each file, on one kind of store.
pub fn trials(store: &str, run: Arc<Run>) -> Vec<Trial> {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let folders = std::iter::once(own).chain(std::env::var_os(MORE).map(PathBuf::from));
    let of_folder = |folder: PathBuf| match files(&folder) {
        Ok(files) if !files.is_empty() => files.iter().map(|file| of_file(&folder, file, store, &run)).collect(),
        Ok(_) => vec![broken(&folder, "it holds no replay file".to_owned())],
        Err(why) => vec![broken(&folder, why.to_string())],
    };
    folders.flat_map(of_folder).collect()
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

fn of_file(folder: &Path, file: &Path, store: &str, run: &Arc<Run>) -> Trial {
    let name = file.strip_prefix(folder).unwrap_or(file).with_extension("");
    let (file, run) = (file.to_owned(), Arc::clone(run));
    Trial::test(name.display().to_string(), move || holds(&file, &*run)).with_kind(store)
}

fn holds(file: &Path, run: &Run) -> Result<(), Failed> {
    let summary = run(&Scenario::read(file)?)?;
    if summary.holds() {
        return Ok(());
    }
    let failures: Vec<String> = summary.failures.iter().map(ToString::to_string).collect();
    Err(format!("{}: {}", file.display(), failures.join("; ")).into())
}
