//! What a command line that cannot be parsed gets: help and versions as they are, mistakes as one line.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::args;
use crate::exit::Code;
use crate::output::{note, written};

/// Answers it.
///
/// # Errors
///
/// When help that was asked for cannot be written.
pub fn answer(error: &clap::Error) -> anyhow::Result<ExitCode> {
    Ok(match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let mut out = io::stdout();
            written(write!(out, "{}", error.render()).and_then(|()| out.flush()))?;
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = write!(io::stderr(), "{}", error.render());
            ExitCode::from(Code::Usage as u8)
        }
        _ => {
            note(one_line(error));
            ExitCode::from(Code::Usage as u8)
        }
    })
}

/// clap's message without its headings and usage, on one line.
fn one_line(error: &clap::Error) -> String {
    if error.kind() == ErrorKind::MissingSubcommand {
        return "a command is missing; --help shows what there is".to_owned();
    }
    if let (ErrorKind::InvalidUtf8, Some(name)) = (error.kind(), args::variable_that_is_no_text()) {
        return format!("the variable {name} is not UTF-8; set it to text, or unset it");
    }
    if let Some(word) = negative(error) {
        return format!(
            "{word:?} begins a number or a length of time below 0, and none is; --help shows what there is"
        );
    }
    let message = error.render().to_string();
    let mut parts: Vec<&str> = Vec::new();
    let mut of_run = false;
    let paragraphs: Vec<String> =
        message.split("\n\n").map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for words in &paragraphs {
        if words.starts_with("For more information") {
            break;
        }
        of_run |= words.starts_with("Usage: halfopen run");
        if words.is_empty() || words.starts_with("Usage:") {
            continue;
        }
        let words = words.strip_prefix("error: ").or_else(|| words.strip_prefix("tip: ")).unwrap_or(words);
        // That a flag could be meant as a value helps nobody here.
        parts.extend(words.split(" tip: ").filter(|tip| !tip.starts_with("to pass '")));
    }
    if of_run && is_stray_word(error) {
        parts.push("a command to run comes after \"--\"");
    }
    parts.push("--help shows what there is");
    parts.join("; ")
}

/// What was taken for an option and is meant as a value, as in `--timeout -5s`.
fn negative(error: &clap::Error) -> Option<&str> {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) if error.kind() == ErrorKind::UnknownArgument => {
            word.strip_prefix('-')?.starts_with(|c: char| c.is_ascii_digit()).then_some(word)
        }
        _ => None,
    }
}

/// Whether there is a word too many, as when "--" is forgotten in `halfopen run pay curl`.
fn is_stray_word(error: &clap::Error) -> bool {
    let word = error.get(ContextKind::InvalidArg);
    error.kind() == ErrorKind::UnknownArgument
        && matches!(word, Some(ContextValue::String(word)) if !word.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::Parser as _;

    fn mistake(words: &[&str]) -> String {
        one_line(&Cli::try_parse_from(words).unwrap_err())
    }

    #[test]
    fn mistakes_are_one_line() {
        for (words, wanted) in [
            (
                &["halfopen", "--stor", "x", "status"][..],
                "unexpected argument '--stor' found; a similar argument exists",
            ),
            (&["halfopen", "statu"], "unrecognized subcommand 'statu'"),
            (&["halfopen", "reset"], "<DEPENDENCY>"),
            (&["halfopen", "-v"], "a command is missing"),
            (&["halfopen", "run", "pay", "curl"], "comes after \"--\""),
            (&["halfopen", "run", "pay", "--timeout", "5", "--", "x"], "time unit needed"),
            (&["halfopen", "run", "pay", "--timeout", "-5s", "--", "x"], "a length of time below 0"),
            (&["halfopen", "history", "pay", "-n", "-5"], "a number or a length of time below 0"),
        ] {
            let line = mistake(words);
            assert!(line.contains(wanted) && !line.contains('\n') && !line.contains("Usage"), "{line}");
        }
    }
}
