//! Which components may run: a list of digests.

use std::collections::BTreeSet;
use std::path::Path;

use crate::component::{Component, hex};
use crate::error::{AllowListError, ComponentError};

/// The SHA-256 digests of the components that may run.
///
/// ```
/// use halfopen::{AllowList, Component};
///
/// let list = AllowList::parse(&format!("# what we have reviewed\n{}  halfopen.wasm\n", Component::embedded().sha256()))?;
/// let component = Component::embedded().allowed_by(&list)?;
/// # let _ = component;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowList {
    digests: BTreeSet<[u8; 32]>,
}

impl AllowList {
    /// Reads a list: a digest of 64 hexadecimal digits a line, as `sha256sum` prints them; what follows on the line is not
    /// looked at. Empty lines and lines that begin with `#` say nothing. An empty list allows no component.
    ///
    /// # Errors
    /// [`AllowListError::Malformed`].
    pub fn parse(text: &str) -> Result<AllowList, AllowListError> {
        let said = text.lines().map(str::trim).zip(1..).filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
        let digests = said.map(|(line, number)| {
            let digest = line.split_whitespace().next().unwrap_or_default();
            digits(digest)
                .ok_or_else(|| AllowListError::Malformed { line: number, found: digest.chars().take(80).collect() })
        });
        Ok(AllowList { digests: digests.collect::<Result<_, _>>()? })
    }

    /// Reads a list from a file.
    ///
    /// # Errors
    /// [`AllowListError`].
    pub fn from_file(path: impl AsRef<Path>) -> Result<AllowList, AllowListError> {
        let path = path.as_ref();
        let unreadable = |why: String| AllowListError::Unreadable { path: path.to_owned(), why };
        let bytes = crate::input::read(path).map_err(|error| unreadable(error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8".to_owned()))?;
        AllowList::parse(&text)
    }

    fn holds(&self, digest: &[u8; 32]) -> bool {
        self.digests.contains(digest)
    }
}

impl Component {
    /// The same component, if its SHA-256 is on the list.
    ///
    /// # Errors
    /// [`ComponentError::NotAllowed`].
    pub fn allowed_by(self, list: &AllowList) -> Result<Component, ComponentError> {
        if list.holds(self.digest()) {
            return Ok(self);
        }
        Err(ComponentError::NotAllowed { place: self.place().to_owned(), found: hex(self.digest()) })
    }
}

/// The bytes of 64 hexadecimal digits.
pub(crate) fn digits(text: &str) -> Option<[u8; 32]> {
    let text = text.as_bytes();
    if text.len() != 64 {
        return None;
    }
    let mut digest = [0; 32];
    for (byte, pair) in digest.iter_mut().zip(text.chunks_exact(2)) {
        let digit = |digit: u8| char::from(digit).to_digit(16);
        *byte = u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok()?;
    }
    Some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sha256sum_prints_is_a_list() {
        let ours = Component::embedded();
        let list =
            format!("# reviewed\n\n{}  old.wasm\r\n  {} *halfopen.wasm", "0".repeat(64), ours.sha256().to_uppercase());
        assert!(ours.allowed_by(&AllowList::parse(&list).unwrap()).is_ok());
    }

    #[test]
    fn a_component_that_is_not_on_the_list_is_refused_with_its_digest() {
        let ours = Component::embedded();
        let found = ours.sha256();
        for list in ["".to_owned(), "#\n".to_owned(), "f".repeat(64)] {
            let list = AllowList::parse(&list).unwrap();
            let expected =
                ComponentError::NotAllowed { place: "the embedded component".to_owned(), found: found.clone() };
            assert_eq!(ours.clone().allowed_by(&list).unwrap_err(), expected);
        }
    }

    #[test]
    fn a_line_that_is_no_digest_is_named() {
        let good = "a".repeat(64);
        for (bad, found) in [("sha256:12", "sha256:12"), (&good[1..], &good[1..]), (&"é".repeat(32), &"é".repeat(32))]
        {
            let error = AllowList::parse(&format!("{good}\n{bad} name\n")).unwrap_err();
            assert_eq!(error, AllowListError::Malformed { line: 2, found: found.to_owned() });
        }
    }
}
