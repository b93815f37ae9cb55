//! What names and notes may look like.

use crate::contract::Error;

/// Refuses a dependency name that is not 1 to 256 bytes without control characters.
pub fn check_dependency(name: &str) -> Result<(), Error> {
    let why = if name.is_empty() {
        "it is empty; a name is 1 to 256 bytes"
    } else if name.len() > 256 {
        "it is longer than 256 bytes"
    } else if name.chars().any(char::is_control) {
        "it holds a control character"
    } else {
        return Ok(());
    };
    Err(Error::InvalidDependency(why.into()))
}

/// Refuses a caller's name of more than 64 bytes.
pub fn check_caller(caller: &str) -> Result<(), Error> {
    check_length(caller, 64, "the caller's name is longer than 64 bytes")
}

/// Refuses a note of more than 100 bytes.
pub fn check_note(note: &str) -> Result<(), Error> {
    check_length(note, 100, "the note is longer than 100 bytes")
}

fn check_length(text: &str, most: usize, why: &str) -> Result<(), Error> {
    if text.len() > most {
        return Err(Error::InvalidArgument(why.into()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_1_to_256_bytes_without_control_characters() {
        for good in ["a", "a:b", "a b ", "платежи", &"x".repeat(256)] {
            assert_eq!(check_dependency(good), Ok(()), "{good:?}");
        }
        for bad in ["", &"x".repeat(257), "a\nb", "a\0", "\u{7f}", "\u{85}", &"é".repeat(129)] {
            assert!(matches!(check_dependency(bad), Err(Error::InvalidDependency(_))), "{bad:?}");
        }
    }

    #[test]
    fn callers_and_notes_have_a_longest_length_in_bytes() {
        assert_eq!(check_caller(&"é".repeat(32)), Ok(()));
        assert!(matches!(check_caller(&"é".repeat(33)), Err(Error::InvalidArgument(_))));
        assert_eq!(check_note(&"x".repeat(100)), Ok(()));
        assert!(matches!(check_note(&"x".repeat(101)), Err(Error::InvalidArgument(_))));
    }
}
