//! The command.

use std::io::IsTerminal as _;

use halfopen::Host;

use super::detail;
use super::entries::entries;
use super::overview::Overview;
use super::screen::show;
use crate::args::{Global, Status};
use crate::exit::{Code, Failure};
use crate::host;
use crate::operate::names::is_pattern;
use crate::shell::output::line;
use crate::shell::text;

/// The exit code of `--check` where a dependency is open, forced or unreadable.
const FAILED: u8 = 1;

/// Prints the status, with `--watch` again at each interval; returns the exit code.
pub fn status(args: &Status, global: &Global) -> anyhow::Result<u8> {
    let host = host::open_to_read(global)?;
    let Some(interval) = args.watch else { return print(&host, args) };
    if let Some(word) = args.dependencies.iter().find(|word| humantime::parse_duration(word).is_ok()) {
        let message = format!("{word} is no dependency but an interval: write --watch={word}");
        return Err(Failure::error(Code::Usage, message));
    }
    loop {
        if !args.format.json && !std::io::stdout().is_terminal() {
            line(text::instant(text::now()))?;
        }
        print(&host, args)?;
        std::thread::sleep(interval);
    }
}

fn print(host: &Host, args: &Status) -> anyhow::Result<u8> {
    if let ([name], false) = (args.dependencies.as_slice(), args.all_namespaces)
        && !is_pattern(name)
    {
        let is_bad = detail::print(host, name, args)?;
        return Ok(if args.check && is_bad { FAILED } else { 0 });
    }
    let overview = Overview::new(args, entries(host, args)?);
    match args.format.json {
        true => overview.print_json()?,
        false => show(args, overview.lines(host, args))?,
    }
    // A record that cannot be read makes the program fail at the end.
    let code = if args.check && overview.is_bad() { FAILED } else { 0 };
    if args.watch.is_some() || args.check {
        return Ok(code);
    }
    overview.into_error().map_or(Ok(code), |error| Err(error.into()))
}
