//! What the figures were measured on.

use std::fs;

/// The machine in a line.
pub fn described() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = field(&cpu, "model name").unwrap_or("unknown processor");
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib: u64 = field(&memory, "MemTotal").and_then(|text| text.split(' ').next()?.parse().ok()).unwrap_or_default();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "{cores} cores of {model}, {} GiB, {} {}, {}",
        kib.div_ceil(1 << 20),
        std::env::consts::OS,
        kernel.trim(),
        std::env::consts::ARCH
    )
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim())
}

/// A warning, where others keep the machine busy.
pub fn busy() -> Option<String> {
    let load = fs::read_to_string("/proc/loadavg").ok()?;
    let load: f64 = load.split(' ').next()?.parse().ok()?;
    (load > 0.5).then(|| format!("the machine is busy (load {load}): the figures will be noisy"))
}
