//! The known key nearest to one that is unknown.

/// A key that differs in more letters than this is another key.
const FAR: usize = 2;

/// The known key that differs least from `key`, in two letters at most; none where no key is near. The order of the letters
/// does not matter, nor do dashes for underscores.
pub fn nearest<'k>(key: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let key = key.replace('-', "_");
    // The first filter bounds the length of a key whose letters are counted.
    let near = known.filter(|name| name.len().abs_diff(key.len()) <= FAR).map(|name| (differing(&key, name), name));
    let near = near.filter(|(number, name)| *number <= FAR && *number < name.len());
    near.min_by_key(|(number, _)| *number).map(|(_, name)| name)
}

/// The number of letters that only one of two keys has.
fn differing(a: &str, b: &str) -> usize {
    let count = |key: &str, byte| key.bytes().filter(|other| *other == byte).count();
    (0..=u8::MAX).map(|byte| count(a, byte).abs_diff(count(b, byte))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 5] = ["open_ms", "open_max_ms", "ramp", "probes", "ms"];

    #[test]
    fn a_misspelt_key_finds_its_neighbour() {
        for (key, name) in [
            ("open-ms", "open_ms"),
            ("opn_ms", "open_ms"),
            ("open_maxms", "open_max_ms"),
            ("prob", "probes"),
            ("m", "ms"),
        ] {
            assert_eq!(nearest(key, KEYS.into_iter()), Some(name), "{key}");
        }
    }

    #[test]
    fn a_strange_key_finds_none() {
        for key in ["timeout", "", "x", "pro", "window_of_opportunity_that_closes_too_soon"] {
            assert_eq!(nearest(key, KEYS.into_iter()), None, "{key}");
        }
    }
}
