//! What the system has run out of. Libraries say that something failed; the system, asked anew, says why.

/// Whether nothing more can be opened; if so, what to do.
#[cfg(unix)]
pub(crate) fn of_open_files() -> Option<&'static str> {
    use rustix::io::Errno;
    let error = std::fs::File::open("/dev/null").err()?;
    match Errno::from_io_error(&error)? {
        Errno::MFILE => Some("this process may open no more files; raise its limit (ulimit -n)"),
        Errno::NFILE => Some("the system can open no more files; close some"),
        _ => None,
    }
}

/// Elsewhere nobody is asked.
#[cfg(not(unix))]
pub(crate) fn of_open_files() -> Option<&'static str> {
    None
}
