//! The scenarios, through platforms of several kinds.

use std::sync::Arc;

use halfopen::{BreakerError, Component, OpenError};
use halfopen_component::wasmtime::Config;
use halfopen_component::{InstantiateError, PluginCtx, PluginCtxBuilder};
use halfopen_contract::engine::{Answer, Request};
use halfopen_replay::{Replay, Setup, Target};
use halfopen_tests::breakers::address;
use halfopen_tests::scenarios;
use libtest_mimic::Trial;

use crate::platform::{Platform, Seat, block_on, pooling};

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
    // Room for all files that run at the same time.
    let pooled = platform(&pooling(64));
    let plain = platform(Config::new().concurrency_support(false));
    [
        ("plain, memory", plain, Style::Plain, Records::InMemory),
        ("async on pooled stacks, sqlite", pooled, Style::Async, Records::InAFile),
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
            let platform = platform.clone();
            let replay = Replay::new(move |setup| seated(&platform, style, setup));
            let replay = match records {
                Records::InMemory => replay,
                Records::InAFile => {
                    let address = address(&folder.path().join("replay.db"));
                    replay.open_store(move || halfopen::store::open(&address))?
                }
            };
            Ok(replay.run(scenario)?)
        }),
    )
}

fn seated(platform: &Platform, style: Style, setup: Setup) -> Result<Box<dyn Target>, OpenError> {
    let Setup { store, namespace, clock, seed, default_policy } = setup;
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
    Ok(Box::new(AsyncSeat(Seat { store, plugin })))
}

impl Target for Seat {
    fn run(&mut self, request: &Request) -> Result<Answer, BreakerError> {
        self.plugin.perform(&mut self.store, request)
    }
}

/// A seat that is called as async code calls it.
struct AsyncSeat(Seat);

impl Target for AsyncSeat {
    fn run(&mut self, request: &Request) -> Result<Answer, BreakerError> {
        block_on(self.0.plugin.perform_async(&mut self.0.store, request))
    }
}
