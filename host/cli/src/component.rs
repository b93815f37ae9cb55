//! `halfopen component`: the state machine as a file.

use std::io::{self, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use halfopen::Component;
use serde_json::json;

use crate::args::{ComponentCommand, Global};
use crate::exit::{Code, Failure};
use crate::shell::output::{self, line, written};
use crate::shell::text;

/// Runs the command.
pub fn component(action: Option<&ComponentCommand>, global: &Global) -> anyhow::Result<()> {
    match action {
        None => show(None, false, global),
        Some(ComponentCommand::Show { file, format }) => show(file.as_deref(), format.json, global),
        Some(ComponentCommand::Write { file, force }) => write(file, *force),
    }
}

fn show(file: Option<&Path>, json: bool, global: &Global) -> anyhow::Result<()> {
    let file = file.or(global.component.as_deref());
    let component = file.map_or_else(|| Ok(Component::embedded()), Component::from_file)?;
    let place = file.map_or_else(|| "built in".to_owned(), |file| file.display().to_string());
    let (imports, exports) = (component.imports()?, component.exports()?);
    let (bytes, gzipped, sha256) = (component.bytes().len(), gzipped(component.bytes())?, component.sha256());
    if json {
        let all = json!({
            "bytes": bytes, "gzipped_bytes": gzipped, "sha256": sha256, "imports": imports, "exports": exports,
        });
        return output::json(all);
    }
    line(format_args!("component  {}", text::escape(&place)))?;
    line(format_args!("bytes      {bytes}"))?;
    line(format_args!("gzipped    {gzipped}"))?;
    line(format_args!("sha256     {sha256}"))?;
    for (heading, names) in [("imports", imports), ("exports", exports)] {
        for (index, name) in names.iter().enumerate() {
            let heading = if index == 0 { heading } else { "" };
            line(format_args!("{heading:<10} {}", text::escape(name)))?;
        }
    }
    Ok(())
}

/// The size after `gzip -9`.
fn gzipped(bytes: &[u8]) -> io::Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.len())
}

fn write(file: &Path, force: bool) -> anyhow::Result<()> {
    let component = Component::embedded();
    if file == Path::new("-") {
        let mut out = io::stdout();
        return written(out.write_all(component.bytes()).and_then(|()| out.flush()));
    }
    let place = file.display();
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).create_new(!force);
    let written = options.open(file).and_then(|mut file| file.write_all(component.bytes()));
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::error(Code::Usage, format!("{place} exists; give --force to replace it, or another name"))
        }
        io::ErrorKind::PermissionDenied => Failure::error(Code::Denied, format!("cannot write {place}: {error}")),
        _ => Failure::error(Code::Io, format!("cannot write {place}: {error}")),
    })?;
    let (bytes, sha256) = (component.bytes().len(), component.sha256());
    line(format_args!("{}: {bytes} bytes, sha256 {sha256}", text::escape(&place.to_string())))
}
