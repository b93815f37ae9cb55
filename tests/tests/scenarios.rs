//! Every replay file through the real component, on a store in memory and on a SQLite file: a test each.

use std::process::ExitCode;
use std::sync::Arc;

use halfopen::replay::Replay;
use halfopen_tests::breakers::address;
use halfopen_tests::scenarios::trials;
use libtest_mimic::Arguments;

fn main() -> ExitCode {
    let in_memory = trials("memory", Arc::new(|scenario| Ok(Replay::in_memory().run(scenario)?)));
    let on_sqlite = trials(
        "sqlite",
        Arc::new(|scenario| {
            let folder = tempfile::tempdir()?;
            Ok(Replay::at(&address(&folder.path().join("replay.db")))?.run(scenario)?)
        }),
    );
    libtest_mimic::run(&Arguments::from_args(), in_memory.into_iter().chain(on_sqlite).collect()).exit_code()
}
