//! The known key nearest to one that is unknown.

/// The known key that differs from `key` in at most two letters, or in dashes for underscores; none where no key is near.
pub fn nearest<'k>(key: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    if key.len() > 40 {
        return None;
    }
    let (distance, name) = known.map(|name| (distance(key, name), name)).min_by_key(|(distance, _)| *distance)?;
    (distance <= 2 && distance < name.len()).then_some(name)
}

/// The Levenshtein distance of two keys, in bytes, where a dash and an underscore are the same.
fn distance(a: &str, b: &str) -> usize {
    const LONGEST: usize = 64;
    let mut row: [usize; LONGEST] = core::array::from_fn(|column| column);
    for (line, left) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, right) in b.bytes().take(LONGEST - 1).enumerate() {
            let left = if left == b'-' { b'_' } else { left };
            let replaced = diagonal + usize::from(left != right);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[b.len().min(LONGEST - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 4] = ["open_ms", "open_max_ms", "ramp", "probes"];

    #[test]
    fn a_misspelt_key_finds_its_neighbour() {
        for (key, name) in
            [("open-ms", "open_ms"), ("opn_ms", "open_ms"), ("open_maxms", "open_max_ms"), ("probe", "probes")]
        {
            assert_eq!(nearest(key, KEYS.into_iter()), Some(name), "{key}");
        }
    }

    #[test]
    fn a_strange_key_finds_none() {
        for key in ["timeout", "", "x", "window_of_opportunity_that_closes_too_soon"] {
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
