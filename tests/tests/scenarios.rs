//! Every replay file in a host, a test each: with the component on a store in memory, and with the native engine on a SQLite
//! file. The other stores have theirs in `shared_store`, a platform's own wasmtime in `plugin`, and the bare engine in crate
//! `halfopen-replay`.

use std::process::ExitCode;
use std::sync::Arc;

use halfopen_replay::Replay;
use halfopen_tests::breakers::address;
use halfopen_tests::scenarios::trials;
use libtest_mimic::Arguments;

fn main() -> ExitCode {
    let component = trials("component, memory", Arc::new(|scenario| Ok(Replay::host(|host| host).run(scenario)?)));
    let native = trials(
        "native, sqlite",
        Arc::new(|scenario| {
            let folder = tempfile::tempdir()?;
            let address = address(&folder.path().join("replay.db"));
            let replay = Replay::host(|host| host.native()).open_store(move || halfopen::store::open(&address))?;
            Ok(replay.run(scenario)?)
        }),
    );
    libtest_mimic::run(&Arguments::from_args(), component.into_iter().chain(native).collect()).exit_code()
}
