//! What a command line that cannot be parsed gets: help and versions as they are, mistakes as one line.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::exit::Code;
use crate::output::note;

/// Answers it.
pub fn answer(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let _ = write!(io::stdout(), "{}", error.render());
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
    }
}

/// clap's message without its headings and usage, on one line.
fn one_line(error: &clap::Error) -> String {
    if error.kind() == ErrorKind::MissingSubcommand {
        return "a command is missing; --help shows what there is".to_owned();
    }
    let message = error.render().to_string();
    let mut parts: Vec<String> = Vec::new();
    for paragraph in message.split("\n\n") {
        let words = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = words.strip_prefix("error: ").unwrap_or(&words);
        if words.starts_with("Usage:") {
            continue;
        }
        if words.starts_with("For more information") {
            break;
        }
        if !words.is_empty() {
            parts.push(words.strip_prefix("tip: ").unwrap_or(words).to_owned());
        }
    }
    if is_stray_word(error) {
        parts.push("a command to run comes after \"--\"".to_owned());
    }
    parts.push("--help shows what there is".to_owned());
    parts.join("; ")
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
        ] {
            let line = mistake(words);
            assert!(line.contains(wanted) && !line.contains('\n') && !line.contains("Usage"), "{line}");
        }
    }
}
