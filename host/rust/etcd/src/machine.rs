/// The name of this machine, as far as it is known.
pub(crate) fn machine() -> String {
    let named = std::fs::read_to_string("/proc/sys/kernel/hostname").ok().map(|name| name.trim().to_owned());
    let named = named.or_else(|| std::env::var("COMPUTERNAME").ok()).or_else(|| std::env::var("HOSTNAME").ok());
    named.filter(|name| !name.is_empty()).unwrap_or_else(|| "this machine".to_owned())
}
