//! `halfopen man`: manual pages.

use std::io::{self, Write as _};

use clap::CommandFactory as _;

use crate::args::Cli;
use crate::exit::{Code, Failure};
use crate::shell::output::written;

/// Prints the page of a command, or that of the program.
pub fn print(words: &[String]) -> anyhow::Result<()> {
    let mut command = Cli::command();
    command.build();
    let mut name = "halfopen".to_owned();
    for word in words {
        name = format!("{name}-{word}");
        let found = command.find_subcommand(word).cloned();
        command = found.ok_or_else(|| Failure::error(Code::Usage, format!("there is no command {word:?}")))?;
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command.display_name(&name)).title(name).render(&mut page)?;
    written(io::stdout().write_all(&page))
}
