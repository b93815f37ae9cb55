//! `halfopen doctor`: what the program needs, each in a line with what to do.

use std::path::{Path, PathBuf};
use std::time::Duration;

use halfopen::store::{self, Key, masked};
use rustix::fs::{Access, access};
use serde::Serialize;

use crate::args::{Format, Global};
use crate::host::{self, address};
use crate::shell::output::{json, line};
use crate::shell::text;

/// The exit code where something is to be mended.
const FAILED: u8 = 1;

/// The largest difference between this machine's clock and that of the store's server that is left unmentioned.
const SKEW: Duration = Duration::from_secs(2);

#[derive(Serialize)]
struct Finding {
    check: &'static str,
    ok: bool,
    found: String,
}

/// Prints the findings; returns the exit code.
pub fn doctor(format: &Format, global: &Global) -> anyhow::Result<u8> {
    let mut findings = Vec::new();
    let mut add = |check, found: anyhow::Result<String>| {
        let (ok, found) = match found {
            Ok(found) => (true, found),
            Err(error) => (false, format!("{error:#}")),
        };
        findings.push(Finding { check, ok, found });
    };
    add("store", readable(global));
    for (check, found) in rights(global) {
        add(check, found);
    }
    add("clock", clock(global));
    add("policy", policy(global));
    add("component", component(global));
    add("cache", cache());
    let failed = findings.iter().any(|finding| !finding.ok);
    if format.json {
        #[derive(Serialize)]
        struct Document {
            findings: Vec<Finding>,
        }
        json(Document { findings })?;
    } else {
        for Finding { check, ok, found } in &findings {
            let verdict = if *ok { "ok" } else { "MEND" };
            line(format_args!("{verdict:<4}  {check:<9}  {}", text::escape(found)))?;
        }
    }
    Ok(if failed { FAILED } else { 0 })
}

/// Opens the store, which checks its schema, and reads from it.
fn readable(global: &Global) -> anyhow::Result<String> {
    let host = host::open_to_read(global)?;
    let count = host.list()?.len();
    let (place, namespace) = (masked(&address::to_read(global)?), host.namespace());
    Ok(format!("{place} is readable; dependencies in namespace {namespace}: {count}"))
}

/// The rights to write: of the file and those that SQLite keeps beside it, or of a server.
fn rights(global: &Global) -> Vec<(&'static str, anyhow::Result<String>)> {
    let Ok(address) = address::to_read(global) else { return Vec::new() };
    if address == "memory" || address.contains("://") {
        return Vec::new();
    }
    let path = PathBuf::from(address.strip_prefix("sqlite:").unwrap_or(&address));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned();
    let beside = ["", "-wal", "-shm"].map(|suffix| PathBuf::from(format!("{}{suffix}", path.display())));
    let mut rights = vec![("rights", may_write(&folder, "chmod g+rwxs, for the users of a group"))];
    for file in beside.iter().filter(|file| file.exists()) {
        rights.push(("rights", may_write(file, "chmod g+rw and chgrp, for the users of a group")));
    }
    if path.exists() && rights.iter().all(|(_, found)| found.is_ok()) {
        rights.push((
            "rights",
            store::open(&address).map(|_| "the store opens for writing".to_owned()).map_err(Into::into),
        ));
    }
    rights
}

fn may_write(path: &Path, remedy: &str) -> anyhow::Result<String> {
    match access(path, Access::READ_OK | Access::WRITE_OK) {
        Ok(()) => Ok(format!("{} is writable", path.display())),
        Err(error) => anyhow::bail!("{} is not writable ({error}); {remedy}", path.display()),
    }
}

fn clock(global: &Global) -> anyhow::Result<String> {
    let host = host::open_to_read(global)?;
    let now = text::now();
    let snapshot = host.store().load(Key { namespace: host.namespace(), dependency: "-" })?;
    let Some(at) = snapshot.at else { return Ok(format!("{}, from this machine", text::instant(now))) };
    let skew = Duration::from_millis(now.abs_diff(at));
    if skew > SKEW {
        let skew = text::duration(skew);
        anyhow::bail!(
            "this machine's clock differs from the store's by {skew}; the store's counts, but set them alike"
        );
    }
    Ok(format!("{}, from the store; this machine's differs by {}", text::instant(at), text::duration(skew)))
}

fn policy(global: &Global) -> anyhow::Result<String> {
    host::in_memory(global)?;
    Ok(match &global.default_policy {
        Some(file) => format!("{} is valid", file.display()),
        None => "the built-in default; HALFOPEN_POLICY names no other".to_owned(),
    })
}

fn component(global: &Global) -> anyhow::Result<String> {
    let component = host::component(global)?;
    let place = global.component.as_ref().map_or_else(|| "built in".to_owned(), |file| file.display().to_string());
    Ok(format!("{place}, sha256 {}", component.sha256()))
}

/// The folder of compiled components: without it each start takes longer.
fn cache() -> anyhow::Result<String> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    let folder = folder.ok_or_else(|| anyhow::anyhow!("no folder: set HOME or XDG_CACHE_HOME"))?.join("halfopen");
    let existing = folder.ancestors().find(|folder| folder.exists()).unwrap_or(&folder);
    may_write(existing, "each start compiles the component anew")?;
    Ok(format!("{} is writable", folder.display()))
}
