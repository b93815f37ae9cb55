//! Opens the host that the global options speak of.

use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use halfopen::replay::Replay;
use halfopen::{AllowList, Component, Host, HostBuilder, OnStoreError, Policy};

use crate::args::Global;
use crate::exit::{Code, Failure};
use crate::policy;

/// The longest name of a namespace, in bytes, as for dependencies.
const LONGEST_NAMESPACE: usize = 256;

/// What to do where there is no default place.
const GIVE_A_STORE: &str = "give --store sqlite:PATH, or set HALFOPEN_STORE";

/// Opens it.
pub fn host(global: &Global) -> anyhow::Result<Host> {
    host_that(global, OnStoreError::FailClosed)
}

/// The same, with a choice of what to do when the store fails.
pub fn host_that(global: &Global, on_store_error: OnStoreError) -> anyhow::Result<Host> {
    let mut builder = builder(global)?.on_store_error(on_store_error);
    if on_store_error == OnStoreError::LastKnown {
        builder = builder.last_known_in(
            own_folder("what was last known", "choose another --on-store-error")?.folder.join("last-known"),
        );
    }
    Ok(builder.build().map_err(policy::in_file_names_open)?)
}

fn builder(global: &Global) -> anyhow::Result<HostBuilder> {
    let builder = Host::builder()
        .address(&address(global)?)
        .namespace(namespace(global)?)
        .default_policy(default_policy(global)?);
    Ok(builder.component(component(global)?))
}

/// What runs replay files: in memory, unless `--store` says otherwise.
pub fn replay(global: &Global) -> anyhow::Result<Replay> {
    Ok(Replay::at(global.store.as_deref().unwrap_or("memory"))?)
}

/// The component that `--component` names, or the built-in one; whichever it is, one that may run.
pub fn component(global: &Global) -> anyhow::Result<Component> {
    let component = global.component.as_ref().map_or_else(|| Ok(Component::embedded()), Component::from_file)?;
    Ok(match &global.allowed_components {
        Some(list) => component.allowed_by(&AllowList::from_file(list)?)?,
        None => component,
    })
}

/// The policy that `--default-policy` names, or the built-in one.
pub fn default_policy(global: &Global) -> anyhow::Result<Policy> {
    global.default_policy.as_deref().map_or_else(|| Ok(Policy::default()), policy::read)
}

fn namespace(global: &Global) -> anyhow::Result<&str> {
    let name = global.namespace.as_str();
    if name.is_empty() || name.len() > LONGEST_NAMESPACE || name.contains(char::is_control) {
        let message = format!("the namespace {name:?} is invalid: 1 to 256 bytes without control characters");
        return Err(Failure::error(Code::Usage, message));
    }
    Ok(name)
}

/// Where the store is, as the library takes it.
fn address(global: &Global) -> anyhow::Result<String> {
    if let Some(address) = &global.store {
        if address == "memory" {
            // What is asked, counted or forced there is gone a moment later, whatever this program would say.
            let message = format!(
                "a store in memory ends with this program, so that nobody shares it; it is for `replay`: {GIVE_A_STORE}"
            );
            return Err(Failure::error(Code::Usage, message));
        }
        return Ok(address.clone());
    }
    let StateFolder { variable, folder } = own_folder("the store", GIVE_A_STORE)?;
    create_private(&folder).map_err(|error| {
        let code = match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Code::Denied,
            // The variable leads to what is no folder.
            ErrorKind::NotADirectory | ErrorKind::AlreadyExists | ErrorKind::NotFound => Code::Config,
            _ => Code::Io,
        };
        let message = format!(
            "no place for the store: the folder {}, as {variable} has it, cannot be made: {error}; {GIVE_A_STORE}",
            folder.display()
        );
        Failure::error(code, message)
    })?;
    let file = folder.join("halfopen.db");
    let path = file.to_str().ok_or_else(|| {
        Failure::error(
            Code::Config,
            format!("the path {}, as {variable} has it, is not UTF-8; {GIVE_A_STORE}", file.display()),
        )
    })?;
    Ok(format!("sqlite:{path}"))
}

/// The user's folder for what the program remembers.
fn own_folder(what: &str, instead: &str) -> anyhow::Result<StateFolder> {
    state_folder(|name| std::env::var_os(name).map(PathBuf::from)).ok_or_else(|| {
        let message = format!("no place for {what}: neither XDG_STATE_HOME nor HOME is set to a full path; {instead}");
        Failure::error(Code::Config, message)
    })
}

/// The folder for what a program remembers, and the variable that it follows from.
#[derive(Debug, PartialEq)]
struct StateFolder {
    variable: &'static str,
    folder: PathBuf,
}

/// By the XDG base directory rules: paths that are not full are left out of account.
fn state_folder(get: impl Fn(&str) -> Option<PathBuf>) -> Option<StateFolder> {
    [("XDG_STATE_HOME", "halfopen"), ("HOME", ".local/state/halfopen")].into_iter().find_map(|(variable, inside)| {
        let folder = get(variable).filter(|path| path.is_absolute())?.join(inside);
        Some(StateFolder { variable, folder })
    })
}

/// Makes a folder that nobody else may look into; one that is there stays as it is.
fn create_private(folder: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_folder_follows_xdg() {
        let with = |xdg: Option<&str>, home: Option<&str>| {
            let of = |name: &str| if name == "HOME" { home } else { xdg };
            state_folder(|name| of(name).map(PathBuf::from)).map(|found| found.folder)
        };
        assert_eq!(with(Some("/state"), Some("/home/me")), Some("/state/halfopen".into()));
        assert_eq!(with(None, Some("/home/me")), Some("/home/me/.local/state/halfopen".into()));
        assert_eq!(with(Some("state"), Some("/home/me")), Some("/home/me/.local/state/halfopen".into()));
        assert_eq!(with(Some(""), Some("")), None);
        assert_eq!(with(None, None), None);
    }
}
