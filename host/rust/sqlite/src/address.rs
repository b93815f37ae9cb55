//! The address of a SQLite store: `sqlite:PATH`, or a bare path.

use halfopen_contract::store::AddressError;

/// The path in an address.
pub(crate) fn path(address: &str) -> Result<&str, AddressError> {
    let path = match address.split_once(':') {
        None => Ok(address),
        Some(("sqlite", path)) => Ok(path),
        Some((scheme, _)) if scheme.eq_ignore_ascii_case("sqlite") => Err("write it as `sqlite:PATH`"),
        // One letter is a drive. The address of another store must not become a file, with a password in its name.
        Some((scheme, _)) if scheme.len() > 1 && !scheme.contains(['/', '\\']) => {
            Err("it is of another kind; a path with a colon is written `sqlite:PATH`")
        }
        Some((_, rest)) if rest.contains('@') => {
            Err("it looks like the address of a server; a path with a colon and an @ is written `sqlite:PATH`")
        }
        Some(_) => Ok(address),
    };
    let checked = path.and_then(|path| match path {
        _ if path.trim().is_empty() => Err("it names no file"),
        // To some this means an absolute path, to others a relative one.
        _ if path.starts_with("//") => Err("write it as `sqlite:PATH`; a full path begins with one slash"),
        _ if path.contains("://") => Err("an address of another kind is no path"),
        // SQLite would read these as a URI, and as a database in memory.
        _ if path.starts_with("file:") => Err("a path is written without `file:`"),
        ":memory:" | "memory:" => Err("a store in memory is written differently"),
        _ if path.contains('\0') => Err("a path holds no NUL character"),
        _ => Ok(path),
    });
    checked.map_err(|why| AddressError::new(address, why))
}

#[cfg(test)]
mod tests;
