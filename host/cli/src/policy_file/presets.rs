//! Policies for kinds of callers. Each is a whole policy: a key that is left out has its built-in default.

use halfopen::Policy;

use super::parse;
use crate::args::Preset;

const CRON: &str = "\
consecutive_failures = 2
failure_rate = 'off'
open = '15m'
open_max = '2h'
stable_after = '1d'
lease = '1m'
probe_max = '1h'
";

const WEB: &str = "\
window = '10s'
slow_calls = { slower_than = '2s', percent = 80, minimum_calls = 20 }
open = '2s'
open_max = '1m'
probe_max = '30s'
";

const QUEUE: &str = "\
open = '30s'
open_max = '10m'
stable_after = '10m'
probe_max = '10m'
ramp = { over = '1m', from_percent = 10 }
";

/// The policy of a preset.
pub fn preset(preset: Preset) -> Result<Policy, String> {
    parse(match preset {
        Preset::Cron => CRON,
        Preset::Web => WEB,
        Preset::Queue => QUEUE,
    })
}
