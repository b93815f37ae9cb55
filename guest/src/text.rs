//! The limits of names and of free texts.

use alloc::string::String;

use crate::contract::Error;

/// The longest caller, cause, operator or note, in bytes.
pub const LONGEST: usize = 128;

/// Refuses the name of a dependency that is not 1 to 256 bytes without control characters.
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

/// A free text as a record keeps it: cut at a character to at most [`LONGEST`] bytes, its control characters replaced by
/// spaces.
pub fn clean(text: &str) -> String {
    let end = text.floor_char_boundary(LONGEST);
    text[..end].chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// Whether [`clean`] leaves a text as it is.
pub fn is_clean(text: &str) -> bool {
    text.len() <= LONGEST && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

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
    fn a_free_text_is_cut_at_a_character() {
        assert_eq!(clean(&"x".repeat(129)), "x".repeat(128));
        assert_eq!(clean(&"é".repeat(64)), "é".repeat(64));
        assert_eq!(clean(&format!("x{}", "é".repeat(64))), format!("x{}", "é".repeat(63)));
    }

    #[test]
    fn control_characters_become_spaces() {
        assert_eq!(clean("a\nb\tc\u{85}d\u{7f}"), "a b c d ");
    }

    #[test]
    fn a_cleaned_text_is_clean() {
        for text in ["", "a\nb", &"é".repeat(100), &"\u{85}".repeat(100)] {
            assert!(is_clean(&clean(text)), "{text:?}");
        }
        assert!(!is_clean("a\0"));
        assert!(!is_clean(&"x".repeat(129)));
    }
}
