//! The dependencies that a status shows.

use halfopen::{BreakerError, Host, Inspection};

use crate::args::Status;
use crate::operate::names::matching;

/// A dependency, and its inspection.
pub struct Entry {
    pub namespace: String,
    pub dependency: String,
    pub inspected: Result<Inspection, BreakerError>,
}

/// The dependencies that the words of the command line name.
pub fn entries(host: &Host, args: &Status) -> anyhow::Result<Vec<Entry>> {
    let namespaces = match args.all_namespaces {
        true => host.store().namespaces()?,
        false => vec![host.namespace().to_owned()],
    };
    let mut entries = Vec::new();
    for namespace in namespaces {
        let host = host.in_namespace(&namespace, 1);
        let all = host.list()?;
        let mut names = if args.dependencies.is_empty() { all.clone() } else { Vec::new() };
        for word in &args.dependencies {
            match matching(&host, word, &all) {
                Ok(found) => names.extend(found),
                // Another namespace may have it.
                Err(_) if args.all_namespaces => {}
                Err(error) => return Err(error),
            }
        }
        names.sort_unstable();
        names.dedup();
        entries.extend(names.into_iter().map(|dependency| Entry {
            namespace: namespace.clone(),
            inspected: host.breaker(dependency.as_str()).inspect(),
            dependency,
        }));
    }
    Ok(entries)
}
