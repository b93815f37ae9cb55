//! The known key nearest to one that is unknown.

use alloc::vec::Vec;

/// A key that differs in more letters than this is another key.
const FAR: usize = 2;

/// The known key that differs least from `key`, in a letter or two, or in dashes for underscores; none where no key is near.
pub fn nearest<'k>(key: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let (_, name) = known
        // Cheap, and it bounds the length of a key whose distance is counted.
        .filter(|name| name.len().abs_diff(key.len()) <= FAR)
        .map(|name| (distance(key, name), name))
        .filter(|(distance, name)| *distance <= FAR && *distance < name.len())
        .min_by_key(|(distance, _)| *distance)?;
    Some(name)
}

/// The Levenshtein distance of two keys, in bytes, where a dash and an underscore are the same.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (line, left) in a.bytes().enumerate() {
        let left = if left == b'-' { b'_' } else { left };
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, right) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(left != right);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[b.len()]
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

    #[test]
    fn the_distance_counts_edits() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("a-b", "a_b"), 0);
    }
}
