//! `halfopen policy show`, `set` and `unset`.

use std::path::Path;

use halfopen::{BreakerError, PolicyOrigin};

use crate::args::{Acting, Global, PolicyCommand};
use crate::exit::{Code, Failure};
use crate::host;
use crate::policy_file;
use crate::shell::output::line;
use crate::shell::text;

/// Runs the command.
pub fn policy(args: &PolicyCommand, global: &Global) -> anyhow::Result<()> {
    match args {
        PolicyCommand::Show { dependency, json } => show(dependency.as_deref(), *json, global),
        PolicyCommand::Set { dependency, changes, acting } => set(dependency, changes, acting, global),
        PolicyCommand::Unset { dependency, acting } => unset(dependency, acting, global),
    }
}

fn show(dependency: Option<&str>, json: bool, global: &Global) -> anyhow::Result<()> {
    let (policy, comment) = match dependency {
        None => (host::in_memory(global)?.default_policy(), "the default policy".to_owned()),
        Some(name) => {
            let in_force = host::open(global)?.breaker(name).policy()?;
            let comment = match in_force.origin {
                PolicyOrigin::Host => format!("the default policy, which {} has", text::escape(name)),
                PolicyOrigin::Dependency => format!("the custom policy of {}", text::escape(name)),
            };
            (in_force.policy, comment)
        }
    };
    if json {
        return line(text::json(&policy)?);
    }
    line(format_args!("# {comment}"))?;
    line(policy_file::to_toml(&policy).trim_end())
}

fn set(dependency: &str, changes: &[String], acting: &Acting, global: &Global) -> anyhow::Result<()> {
    let breaker = host::open_for(global, acting.by.as_deref())?.breaker(dependency);
    let (file, assignments) = match changes.split_first() {
        Some((word, _)) if !word.contains(['=', '/']) && !Path::new(word).exists() => {
            let message = format!("{:?} is neither a policy file nor KEY=VALUE", text::shortened(word));
            return Err(Failure::error(Code::Usage, message));
        }
        Some((file, rest)) if !file.contains('=') => (Some(Path::new(file)), rest),
        _ => (None, changes),
    };
    let base = match file {
        Some(file) => policy_file::read(file)?,
        None => breaker.policy()?.policy,
    };
    let policy = policy_file::changed(&base, assignments)?;
    let receipt = breaker.configure(&policy, &acting.note).map_err(|error| match (error, file) {
        (BreakerError::InvalidPolicy(faults), Some(file)) => policy_file::refused(file, &faults),
        (error, _) => error.into(),
    })?;
    line(format_args!("{}: policy set; it is {}", text::escape(dependency), receipt.state))
}

fn unset(dependency: &str, acting: &Acting, global: &Global) -> anyhow::Result<()> {
    let breaker = host::open_for(global, acting.by.as_deref())?.breaker(dependency);
    let receipt = breaker.unset_policy(&acting.note)?;
    line(format_args!("{}: default policy; it is {}", text::escape(dependency), receipt.state))
}
