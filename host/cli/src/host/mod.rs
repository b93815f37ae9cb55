//! The host that the global options describe.

pub mod address;

use std::path::Path;
use std::sync::Arc;

use halfopen::{Component, Host, HostBuilder, OnStoreError, OpenError, Policy, store};
use rustix::process::{Resource, getrlimit};

use crate::args::Global;
use crate::exit::{Code, Failure};
use crate::policy_file;

/// The longest name of a namespace, in bytes, as for dependencies.
const LONGEST_NAMESPACE: usize = 256;

/// The address space that the engine is sure to get by with, in bytes. Where memory runs out, the process is aborted.
const ADDRESS_SPACE: u64 = 256 << 20;

/// The host for commands that only read. It needs no right to write, and creates no store.
pub fn open_to_read(global: &Global) -> anyhow::Result<Host> {
    let store = store::open_to_read(&address::to_read(global)?).map_err(OpenError::from)?;
    finish(Host::builder().shared_store(store).namespace(namespace(global)?), global)
}

/// The host for the acts of an operator.
pub fn open_for(global: &Global, by: Option<&str>) -> anyhow::Result<Host> {
    build(global, |builder| builder.operator(&by.map_or_else(user_at_host, str::to_owned)))
}

/// Opens a host for `run`, from options that were read once.
pub type Opener = Arc<dyn Fn(OnStoreError) -> anyhow::Result<Host> + Send + Sync>;

/// What opens the host for `run`: for its acquire, for each renewal, and for its report.
pub fn opener(global: &Global) -> anyhow::Result<Opener> {
    let (address, namespace) = (address::of(global)?, namespace(global)?.to_owned());
    let (component, default_policy) = (component(global)?, default_policy(global)?);
    let file = global.default_policy.clone();
    Ok(Arc::new(move |on_store_error| {
        let builder = Host::builder().address(&address).namespace(&namespace).on_store_error(on_store_error);
        made(builder.component(component.clone()).default_policy(default_policy.clone()), file.as_deref())
    }))
}

/// The host without a store of its own, for the default policy.
pub fn in_memory(global: &Global) -> anyhow::Result<Host> {
    finish(Host::builder().address("memory"), global)
}

fn build(global: &Global, options: impl FnOnce(HostBuilder) -> HostBuilder) -> anyhow::Result<Host> {
    let builder = Host::builder().address(&address::of(global)?).namespace(namespace(global)?);
    finish(options(builder), global)
}

fn default_policy(global: &Global) -> anyhow::Result<Policy> {
    Ok(global.default_policy.as_deref().map(policy_file::read).transpose()?.unwrap_or_default())
}

fn finish(builder: HostBuilder, global: &Global) -> anyhow::Result<Host> {
    let builder = builder.component(component(global)?).default_policy(default_policy(global)?);
    made(builder, global.default_policy.as_deref())
}

/// The host; `file` is where its default policy comes from.
fn made(builder: HostBuilder, file: Option<&Path>) -> anyhow::Result<Host> {
    if let Some(limit) = getrlimit(Resource::As).current.filter(|limit| *limit < ADDRESS_SPACE) {
        let message = format!(
            "the address space is limited to {} MiB, and the engine needs {}; raise the limit (ulimit -v)",
            limit >> 20,
            ADDRESS_SPACE >> 20
        );
        return Err(Failure::error(Code::Config, message));
    }
    builder.build().map_err(|error| match (error, file) {
        (OpenError::InvalidPolicy(faults), Some(file)) => policy_file::refused(file, &faults),
        (error, _) => error.into(),
    })
}

/// The component in use: that of `--component`, or the built-in one; with `--component-sha256` only if it has that digest.
pub fn component(global: &Global) -> anyhow::Result<Component> {
    let component = global.component.as_ref().map_or_else(|| Ok(Component::embedded()), Component::from_file)?;
    Ok(match &global.component_sha256 {
        Some(sha256) => component.pinned(sha256)?,
        None => component,
    })
}

fn namespace(global: &Global) -> anyhow::Result<&str> {
    let name = global.namespace.as_str();
    if name.is_empty() || name.len() > LONGEST_NAMESPACE || name.contains(char::is_control) {
        let message = format!("the namespace {name:?} is invalid: 1 to 256 bytes without control characters");
        return Err(Failure::error(Code::Usage, message));
    }
    Ok(name)
}

/// The operator's name where `--by` is left out.
fn user_at_host() -> String {
    let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let user = variable("USER").or_else(|| variable("LOGNAME"));
    let user = user.unwrap_or_else(|| format!("uid {}", rustix::process::getuid().as_raw()));
    format!("{user}@{}", rustix::system::uname().nodename().to_string_lossy())
}
