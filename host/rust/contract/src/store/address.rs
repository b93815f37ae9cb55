use super::StoreError;

/// Why a store could not be opened. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The address names no store.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// An address that names no store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{address}` is no store address: {why}")]
pub struct AddressError {
    /// The address, without passwords; cut where it is long.
    pub address: String,
    /// What is wrong with it, and how it is written.
    pub why: String,
}

impl AddressError {
    /// The error for an address, whose passwords are masked.
    pub fn new(address: &str, why: impl Into<String>) -> Self {
        AddressError { address: masked(address), why: why.into() }
    }
}

/// An address as messages show it: without passwords, even where the address is malformed, and at most 200 characters.
pub fn masked(address: &str) -> String {
    let mut masked = address.to_owned();
    if let Some(start) = address.find("://").map(|at| at + 3) {
        // A password may hold any character, so it ends at the last that can end it.
        if let Some(end) = address[start..].rfind('@').map(|at| start + at)
            && let Some(colon) = address[start..end].find(':').map(|at| start + at)
        {
            masked.replace_range(colon + 1..end, "***");
        }
        if let Some(at) = masked.find('?') {
            let parameters = masked.split_off(at + 1);
            let hidden = parameters.split('&').map(|pair| match pair.split_once('=') {
                Some((key, _)) => format!("{key}=***"),
                None => pair.to_owned(),
            });
            masked.push_str(&hidden.collect::<Vec<_>>().join("&"));
        }
    } else if let Some(colon) = address.find(':')
        && !address.starts_with("sqlite:")
        && address.contains(['@', '='])
    {
        // Meant for a server, in a form that does not show where its password begins.
        masked.replace_range(colon + 1.., "***");
    }
    masked.chars().take(200).collect()
}

#[cfg(test)]
mod tests;
