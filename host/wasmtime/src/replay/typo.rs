//! What was probably meant by a word that is none of those allowed.

/// The nearest of some words, where one is near enough to have been meant. Case, and `-` in place of `_`, do not matter.
pub fn nearest<'a>(typed: &str, known: &[&'a str]) -> Option<&'a str> {
    let typed = typed.to_lowercase().replace('-', "_");
    let near = known.iter().map(|word| (strsim::jaro_winkler(&typed, word), *word)).filter(|(score, _)| *score > 0.75);
    near.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, word)| word)
}

/// serde's message about a field or word that it does not know, with the nearest in place of all that there are.
pub(super) fn with_nearest(message: &str) -> String {
    // As in: unknown field `open_msec`, expected one of `open_ms`, `open_max_ms`
    let mut words = message.split('`').skip(1).step_by(2);
    let nearest = words.next().filter(|_| message.starts_with("unknown ")).and_then(|typed| {
        let known: Vec<&str> = words.collect();
        Some((typed, nearest(typed, &known)?))
    });
    match nearest {
        Some((typed, meant)) => format!("unknown field `{typed}`; did you mean `{meant}`?"),
        None => message.to_owned(),
    }
}
