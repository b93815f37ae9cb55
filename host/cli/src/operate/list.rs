//! `halfopen list`: the names of the dependencies.

use serde::Serialize;

use super::names::matching;
use crate::args::{Global, List};
use crate::host;
use crate::shell::output::{json, line};
use crate::shell::text;

#[derive(Serialize)]
struct Document<'a> {
    namespace: &'a str,
    dependencies: &'a [String],
}

/// Prints the names, one on a line.
pub fn list(args: &List, global: &Global) -> anyhow::Result<()> {
    let host = host::open_to_read(global)?;
    let mut names = host.list()?;
    if let Some(pattern) = &args.dependency {
        names = matching(&host, pattern, &names)?;
    }
    if args.format.json {
        return json(Document { namespace: host.namespace(), dependencies: &names });
    }
    names.iter().try_for_each(|name| line(text::escape(name)))
}
