//! `halfopen policy show`, `set` and `unset`.

use std::path::Path;

use clap::ValueEnum as _;
use halfopen::{BreakerError, Host, Policy, PolicyFault, PolicyOrigin, Receipt};
use serde::Serialize;

use super::act::{Done, check_new, known};
use crate::args::{Acting, Format, Global, PolicyCommand, Preset};
use crate::exit::{Code, Failure};
use crate::host;
use crate::policy_file::{self, preset};
use crate::shell::output::{json, line};
use crate::shell::text;

#[derive(Serialize)]
struct Document<'a> {
    /// Null for a policy of no dependency.
    dependency: Option<&'a str>,
    /// "default", "custom" or "preset".
    origin: &'a str,
    policy: &'a Policy,
}

/// Runs the command.
pub fn policy(args: &PolicyCommand, global: &Global) -> anyhow::Result<()> {
    match args {
        PolicyCommand::Show { dependency, preset, format } => show(dependency.as_deref(), *preset, format, global),
        PolicyCommand::Set { dependency, changes, preset, new, acting, format } => {
            let host = host::open_for(global, acting.by.as_deref())?;
            // First: the engine checks the name.
            let base = host.breaker(dependency.as_str()).policy()?.policy;
            let all = host.list()?;
            check_new(&host, dependency, &all, new)?;
            let receipt = set(&host, dependency, base, changes, *preset, &acting.note)?;
            let is_new = if all.contains(dependency) { "" } else { " (a new name)" };
            done(dependency, &format!("policy set{is_new}"), &receipt, format)
        }
        PolicyCommand::Unset { dependency, acting, format } => unset(dependency, acting, format, global),
    }
}

fn show(dependency: Option<&str>, chosen: Option<Preset>, format: &Format, global: &Global) -> anyhow::Result<()> {
    let (policy, origin, comment) = match (dependency, chosen) {
        (_, Some(chosen)) => {
            // A host fills in the keys that a preset leaves out.
            let policy = Host::builder().native().default_policy(of_preset(chosen)?).build()?.default_policy();
            (policy, "preset", format!("the preset {}", name(chosen)))
        }
        (None, None) => (host::in_memory(global)?.default_policy(), "default", "the default policy".to_owned()),
        (Some(dependency), None) => {
            let in_force = host::open_to_read(global)?.breaker(dependency).policy()?;
            let shown = text::escape(dependency);
            match in_force.origin {
                PolicyOrigin::Host => (in_force.policy, "default", format!("the default policy, which {shown} has")),
                PolicyOrigin::Dependency => (in_force.policy, "custom", format!("the custom policy of {shown}")),
            }
        }
    };
    if format.json {
        return json(Document { dependency, origin, policy: &policy });
    }
    line(format_args!("# {comment}\n{}", policy_file::to_toml(&policy).trim_end()))
}

fn of_preset(chosen: Preset) -> anyhow::Result<Policy> {
    preset(chosen).map_err(|why| Failure::error(Code::Internal, format!("the preset {}: {why}", name(chosen))))
}

fn name(preset: Preset) -> String {
    preset.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

fn set(
    host: &Host,
    dependency: &str,
    in_force: Policy,
    changes: &[String],
    chosen: Option<Preset>,
    note: &str,
) -> anyhow::Result<Receipt> {
    let (file, assignments) = match changes.split_first() {
        Some((word, _)) if !word.contains(['=', '/']) && !Path::new(word).exists() => {
            let message = format!("{:?} is neither a policy file nor KEY=VALUE", text::shortened(word));
            return Err(Failure::error(Code::Usage, message));
        }
        Some((file, rest)) if !file.contains('=') => (Some(Path::new(file)), rest),
        _ => (None, changes),
    };
    let (base, before) = match (file, chosen) {
        (Some(_), Some(_)) => {
            return Err(Failure::error(Code::Usage, "a file and a preset are both whole policies: give one of them"));
        }
        (Some(file), None) => (policy_file::read(file)?, Policy::default()),
        (None, Some(chosen)) => (of_preset(chosen)?, Policy::default()),
        (None, None) => (in_force.clone(), in_force),
    };
    let policy = policy_file::changed(&base, assignments)?;
    host.breaker(dependency).configure(&policy, note).map_err(|error| match (error, file) {
        (BreakerError::InvalidPolicy(faults), Some(file)) if assignments.is_empty() => {
            policy_file::refused(file, &faults)
        }
        (BreakerError::InvalidPolicy(faults), _) => {
            let hint = hint(&faults, &before, &policy, &host.default_policy());
            Failure::error(Code::Data, format!("{}{hint}", BreakerError::InvalidPolicy(faults)))
        }
        (error, _) => error.into(),
    })
}

/// For faults that name two keys: those that the command leaves as they are.
fn hint(faults: &[PolicyFault], before: &Policy, policy: &Policy, default: &Policy) -> String {
    let is_named = |key: &str| faults.iter().any(|fault| fault.field == key || fault.why.contains(&format!("`{key}`")));
    let keys = default.as_object().iter().filter(|(key, _)| is_named(key) && before.get(key) == policy.get(key));
    let hints = keys.map(|(key, value)| match policy.get(key) {
        Some(kept) if kept != value => format!("`{key}` is as before"),
        _ => format!("`{key}` has its default"),
    });
    let hints: Vec<String> = hints.collect();
    if hints.is_empty() { String::new() } else { format!("; {}: change it too", hints.join(", ")) }
}

fn unset(dependency: &str, acting: &Acting, format: &Format, global: &Global) -> anyhow::Result<()> {
    let host = host::open_for(global, acting.by.as_deref())?;
    known(&host, dependency, &host.list()?)?;
    let receipt = host.breaker(dependency).unset_policy(&acting.note)?;
    done(dependency, "default policy", &receipt, format)
}

fn done(dependency: &str, done: &str, receipt: &Receipt, format: &Format) -> anyhow::Result<()> {
    Done { dependency, done: done.to_owned(), state: receipt.state }.print(format.json)
}
