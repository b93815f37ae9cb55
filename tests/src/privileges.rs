//! Rights of the superuser, given up: with them no file is ever read-only, and in containers tests often have them.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Lets a command run with the rights to files that its user has by their modes.
pub fn without(command: &mut Command) -> &mut Command {
    #[cfg(target_os = "linux")]
    if rustix::process::geteuid().is_root() {
        use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};
        let give_up = || {
            for capability in [CapabilitySet::DAC_OVERRIDE, CapabilitySet::DAC_READ_SEARCH] {
                remove_capability_from_bounding_set(capability)?;
            }
            Ok(())
        };
        // SAFETY: the closure makes system calls and nothing else: it allocates nothing and takes no lock.
        unsafe { command.pre_exec(give_up) };
    }
    command
}
