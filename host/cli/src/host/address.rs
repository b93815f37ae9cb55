//! The address of the store.

use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use crate::args::Global;
use crate::exit::{Code, Failure};

/// The remedy where there is no default store.
const GIVE_A_STORE: &str = "give --store sqlite:PATH, or set HALFOPEN_STORE";

/// The address that `--store` names, or that of the user's own store, whose folder is made where it is missing.
pub fn of(global: &Global) -> anyhow::Result<String> {
    if let Some(address) = given(global)? {
        return Ok(address.to_owned());
    }
    let StateFolder { variable, folder } = own_folder()?;
    create_private(&folder).map_err(|error| {
        let code = match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Code::Denied,
            // A part of the path is not a directory.
            ErrorKind::NotADirectory | ErrorKind::AlreadyExists | ErrorKind::NotFound => Code::Config,
            _ => Code::Io,
        };
        let folder = folder.display();
        let message = format!(
            "no place for the store: the folder {folder} (from {variable}) cannot be made: {error}; {GIVE_A_STORE}"
        );
        Failure::error(code, message)
    })?;
    in_folder(&folder, variable)
}

/// The same for a command that only reads: without a folder, the user has no records yet.
pub fn to_read(global: &Global) -> anyhow::Result<String> {
    if let Some(address) = given(global)? {
        return Ok(address.to_owned());
    }
    let StateFolder { variable, folder } = own_folder()?;
    if folder.is_dir() { in_folder(&folder, variable) } else { Ok("memory".to_owned()) }
}

fn given(global: &Global) -> anyhow::Result<Option<&str>> {
    let Some(address) = global.store.as_deref() else { return Ok(None) };
    if address == "memory" {
        let message = format!("a store in memory ends with this program; it is for `replay`: {GIVE_A_STORE}");
        return Err(Failure::error(Code::Usage, message));
    }
    // A crontab or a service would make a store of its own in its own folder.
    let path = address.strip_prefix("sqlite:").or_else(|| (!address.contains(':')).then_some(address));
    if let (Some(path), Ok(folder)) = (path.map(str::trim).filter(|path| !path.is_empty()), std::env::current_dir())
        && !folder.join(path).exists()
        && Path::new(path).is_relative()
    {
        let message = format!("there is no store {path} in {}; to make one, give a full path", folder.display());
        return Err(Failure::error(Code::NoInput, message));
    }
    Ok(Some(address))
}

fn own_folder() -> anyhow::Result<StateFolder> {
    state_folder(|name| std::env::var_os(name).map(PathBuf::from)).ok_or_else(|| {
        let message = format!("no place for the store: neither XDG_STATE_HOME nor HOME is a full path; {GIVE_A_STORE}");
        Failure::error(Code::Config, message)
    })
}

fn in_folder(folder: &Path, variable: &str) -> anyhow::Result<String> {
    let file = folder.join("halfopen.db");
    let path = file.to_str().ok_or_else(|| {
        let message = format!("the path {} (from {variable}) is not UTF-8; {GIVE_A_STORE}", file.display());
        Failure::error(Code::Config, message)
    })?;
    Ok(format!("sqlite:{path}"))
}

/// The folder of a program's state, and the variable that it follows from.
#[derive(Debug, PartialEq)]
struct StateFolder {
    variable: &'static str,
    folder: PathBuf,
}

/// The state folder by the XDG base directory rules, which ignore relative paths.
fn state_folder(get: impl Fn(&str) -> Option<PathBuf>) -> Option<StateFolder> {
    [("XDG_STATE_HOME", "halfopen"), ("HOME", ".local/state/halfopen")].into_iter().find_map(|(variable, inside)| {
        let folder = get(variable).filter(|path| path.is_absolute())?.join(inside);
        Some(StateFolder { variable, folder })
    })
}

/// Makes a folder that only its owner may enter; an existing one stays as it is.
fn create_private(folder: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(test)]
mod tests;
