//! The scenarios, through platforms of several kinds.

use std::sync::Arc;
use std::time::Duration;

use halfopen::plugin::{InstantiateError, PluginCtx, PluginCtxBuilder};
use halfopen::replay::{Decision, Ground, Replay, Target};
use halfopen::wasmtime::Config;
use halfopen::{BreakerError, Component, Inspection, Mode, OpenError, Outcome, Permit, Policy, Receipt, Tally};
use halfopen_tests::breakers::address;
use halfopen_tests::scenarios;
use libtest_mimic::Trial;

use crate::platform::{AsyncSeat, Platform, Seat, block_on, pooling};

#[derive(Clone, Copy)]
enum Style {
    Plain,
    Async,
}

#[derive(Clone, Copy)]
enum Records {
    InMemory,
    InAFile,
}

pub fn trials() -> Vec<Trial> {
    let platform = |config: &Config| Platform::new(config, &Component::embedded());
    // The smallest room that serves the files that run at the same time.
    let pooled = platform(&pooling(64));
    let plain = platform(Config::new().concurrency_support(false));
    [
        ("plain, memory", plain.clone(), Style::Plain, Records::InMemory),
        ("plain, sqlite", plain, Style::Plain, Records::InAFile),
        ("pooled, memory", pooled.clone(), Style::Plain, Records::InMemory),
        ("async on pooled stacks, memory", pooled, Style::Async, Records::InMemory),
        ("async, sqlite", platform(&Config::new()), Style::Async, Records::InAFile),
    ]
    .into_iter()
    .flat_map(|(name, platform, style, records)| of(name, platform, style, records))
    .collect()
}

fn of(name: &str, platform: Platform, style: Style, records: Records) -> Vec<Trial> {
    scenarios::trials(
        name,
        Arc::new(move |scenario| {
            let folder = tempfile::tempdir()?;
            let replay = match records {
                Records::InMemory => Replay::in_memory(),
                Records::InAFile => Replay::at(&address(&folder.path().join("replay.db")))?,
            };
            let platform = platform.clone();
            Ok(replay.through(move |ground| seated(&platform, style, ground)).run(scenario)?)
        }),
    )
}

fn seated(platform: &Platform, style: Style, ground: Ground) -> Result<Box<dyn Target>, OpenError> {
    let Ground { store, namespace, clock, seed, default_policy } = ground;
    let context = PluginCtx::builder(store).namespace(&namespace).clock(clock).seed(seed);
    let context = context.default_policy(default_policy);
    match style {
        Style::Plain => seat(platform, &context),
        Style::Async => block_on(async_seat(platform, &context)),
    }
    .map_err(|error| match error {
        InstantiateError::InvalidPolicy(faults) => OpenError::InvalidPolicy(faults),
        other => panic!("{other}"),
    })
}

fn seat(platform: &Platform, context: &PluginCtxBuilder) -> Result<Box<dyn Target>, InstantiateError> {
    let mut store = platform.store(context);
    let plugin = platform.pre.instantiate(&mut store)?;
    Ok(Box::new(Seat { store, plugin }))
}

async fn async_seat(platform: &Platform, context: &PluginCtxBuilder) -> Result<Box<dyn Target>, InstantiateError> {
    let mut store = platform.store(context);
    let plugin = platform.in_async.instantiate_async(&mut store).await?;
    Ok(Box::new(AsyncSeat { store, plugin }))
}

/// Both handles have the same operations; those of one are futures.
macro_rules! target {
    ($seat:ty, $done:expr; $($name:ident($($arg:ident: $of:ty),*) -> $answer:ty;)*) => {
        impl Target for $seat {$(
            fn $name(&mut self, dependency: &str, $($arg: $of),*) -> Result<$answer, BreakerError> {
                $done(self.plugin.$name(&mut self.store, dependency, $($arg),*))
            }
        )*}
    };
    ($seat:ty, $done:expr) => {
        target! { $seat, $done;
            acquire(caller: &str) -> Decision;
            report(permit: Permit, outcome: Outcome, took: Option<Duration>) -> Receipt;
            report_tally(permit: Permit, tally: Tally) -> Receipt;
            renew(permit: Permit) -> Receipt;
            release(permit: Permit) -> Receipt;
            inspect() -> Inspection;
            configure(policy: &Policy) -> Receipt;
            force(mode: Mode, lasting: Option<Duration>, note: &str) -> Receipt;
            reset() -> Receipt;
            forget() -> Receipt;
        }
    };
}

target!(Seat, std::convert::identity);
target!(AsyncSeat, block_on);
