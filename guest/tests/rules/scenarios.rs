//! The replay files of `tests/scenarios`, on the rules alone.

use std::path::Path;

use crate::common::replay;

#[test]
fn each_replay_file_holds_on_the_rules_alone() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/scenarios");
    let entries = std::fs::read_dir(folder).expect("the folder of the replay files");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    assert!(files.len() >= 49, "{} files", files.len());
    let broken: Vec<_> =
        files.iter().filter_map(|path| Some(format!("{}: {}", path.display(), replay::run(path).err()?))).collect();
    assert!(broken.is_empty(), "{broken:#?}");
}
