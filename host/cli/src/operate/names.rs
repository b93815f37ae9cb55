//! The dependencies that a command line names: a name, or a pattern.

use glob::Pattern;
use halfopen::Host;

use crate::exit::{Code, Failure};
use crate::shell::text;

/// Whether a word is a pattern: it matches records, and names none.
pub fn is_pattern(word: &str) -> bool {
    word.contains(['*', '?', '['])
}

/// A pattern.
pub fn parse(pattern: &str) -> anyhow::Result<Pattern> {
    Pattern::new(pattern).map_err(|error| {
        Failure::error(Code::Usage, format!("{:?} is no pattern: {}", text::shortened(pattern), error.msg))
    })
}

/// The names that match a pattern, or are it.
///
/// # Errors
/// The pattern has a fault, or no name matches.
pub fn matching(host: &Host, pattern: &str, names: &[String]) -> anyhow::Result<Vec<String>> {
    if names.iter().any(|name| name == pattern) {
        return Ok(vec![pattern.to_owned()]);
    }
    let parsed = parse(pattern)?;
    let found: Vec<String> = names.iter().filter(|name| parsed.matches(name)).cloned().collect();
    if found.is_empty() {
        let message = match is_pattern(pattern) {
            true => format!("no dependency of namespace {} matches {pattern:?}", host.namespace()),
            false => unknown(host, pattern, names),
        };
        return Err(Failure::error(Code::NoInput, message));
    }
    Ok(found)
}

/// The message for a name without a record, with the likeliest name that has one.
pub fn unknown(host: &Host, name: &str, names: &[String]) -> String {
    let hint = similar(name, names).map(|other| format!("; did you mean {other}?")).unwrap_or_default();
    format!("no dependency {name} is known in namespace {}{hint}", host.namespace())
}

/// The name that is likeliest meant by another: at most two typing errors away, and at most a third of it.
pub fn similar<'a>(name: &str, names: &'a [String]) -> Option<&'a str> {
    let fold = |name: &str| name.to_lowercase().replace(['_', '.', ' '], "-");
    let distance = |other: &String| strsim::osa_distance(&fold(name), &fold(other));
    let (distance, nearest) = names.iter().map(|other| (distance(other), other)).min()?;
    (distance <= 2 && distance * 3 <= name.chars().count()).then_some(nearest)
}

#[cfg(test)]
mod tests;
