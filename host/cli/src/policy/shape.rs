//! Which keys a policy has and what kind of value each takes. Typing mistakes are found here, with the line and the
//! nearest key; whether numbers are in range is for the component to say.

use super::tree::{Entry, Value};

/// What a key takes.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Number,
    Word(&'static [&'static str]),
    /// A table with these keys, all of them numbers.
    Table {
        keys: &'static [&'static str],
        form: Form,
    },
}

/// How the keys of a table go together.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// All of them, or the whole is off.
    AllOrOff,
    /// Exactly one of them.
    One,
}

const KEYS: &[(&str, Shape)] = &[
    ("consecutive_failures", Shape::Number),
    ("failure_rate", Shape::Table { keys: &["percent", "minimum_calls"], form: Form::AllOrOff }),
    ("slow_calls", Shape::Table { keys: &["slower_than_ms", "percent", "minimum_calls"], form: Form::AllOrOff }),
    ("window", Shape::Table { keys: &["ms", "calls"], form: Form::One }),
    ("open_ms", Shape::Number),
    ("open_multiplier", Shape::Number),
    ("open_max_ms", Shape::Number),
    ("jitter_percent", Shape::Number),
    ("stable_after_ms", Shape::Number),
    ("lease_ms", Shape::Number),
    ("probe_max_ms", Shape::Number),
    ("probes", Shape::Number),
    ("successes_to_close", Shape::Number),
    ("lost_probe", Shape::Word(&["reprobe", "reopen"])),
    ("ramp", Shape::Table { keys: &["over_ms", "from_percent"], form: Form::AllOrOff }),
    ("fresh_ms", Shape::Number),
];

/// The keys of a policy in the order in which it is shown.
pub fn keys() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|(key, _)| *key)
}

/// The keys inside a table, in their order; none for a key that is no table.
pub fn keys_of(table: &str) -> &'static [&'static str] {
    match shape_of(table) {
        Some(Shape::Table { keys, .. }) => keys,
        _ => &[],
    }
}

fn shape_of(key: &str) -> Option<Shape> {
    KEYS.iter().find(|(known, _)| *known == key).map(|(_, shape)| *shape)
}

/// Whether this is a key, or one inside a table with the table's name before it.
pub fn is_key(name: &str) -> bool {
    match name.split_once('.') {
        None => shape_of(name).is_some(),
        Some((table, inner)) => keys_of(table).contains(&inner),
    }
}

/// Whether no policy follows from setting both keys: they are the same, a table and a key inside it, or keys inside a
/// table that holds one of them.
pub fn excludes(one: &str, other: &str) -> bool {
    match (one.split_once('.'), other.split_once('.')) {
        (None, None) => one == other,
        (Some((table, _)), None) => table == other,
        (None, Some((table, _))) => table == one,
        (Some((table, inner)), Some((other_table, other_inner))) => {
            table == other_table && (inner == other_inner || is_choice(table))
        }
    }
}

/// Whether setting one key of this table takes the place of the others.
pub fn is_choice(table: &str) -> bool {
    matches!(shape_of(table), Some(Shape::Table { form: Form::One, .. }))
}

/// Checks a policy and writes "off" as null. Answers with every mistake.
pub fn check(entries: &mut [Entry]) -> Result<(), Vec<String>> {
    let mut faults = Vec::new();
    for entry in entries {
        match shape_of(&entry.key) {
            None => faults.push(unknown(entry, None, &keys().collect::<Vec<_>>())),
            Some(shape) => check_value(entry, shape, &mut faults),
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

fn check_value(entry: &mut Entry, shape: Shape, faults: &mut Vec<String>) {
    match (shape, &mut entry.value) {
        (Shape::Number, Value::Number(_)) => {}
        (Shape::Number, _) => faults.push(wrong(entry, &entry.key, "a number")),
        (Shape::Word(words), Value::Text(text)) if words.contains(&text.as_str()) => {}
        (Shape::Word(words), _) => {
            let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            faults.push(wrong(entry, &entry.key, &words.join(" or ")));
        }
        (Shape::Table { keys, form }, Value::Table(inner)) => {
            for inner in inner.iter() {
                if !keys.contains(&inner.key.as_str()) {
                    faults.push(unknown(inner, Some(&entry.key), keys));
                } else if !matches!(inner.value, Value::Number(_)) {
                    faults.push(wrong(inner, &format!("{}.{}", entry.key, inner.key), "a number"));
                }
            }
            let given = keys.iter().filter(|key| inner.iter().any(|inner| inner.key == **key)).count();
            let (enough, wanted) = match form {
                Form::AllOrOff => (given == keys.len(), "all of"),
                Form::One => (given == 1, "exactly one of"),
            };
            if !enough && inner.iter().all(|inner| keys.contains(&inner.key.as_str())) {
                let place = place(entry);
                faults.push(format!("{place}\"{}\" must have {wanted} {}", entry.key, keys.join(", ")));
            }
        }
        (Shape::Table { form: Form::AllOrOff, .. }, value) if is_off(value) => *value = Value::Null,
        (Shape::Table { keys, form }, _) => {
            let off = if form == Form::AllOrOff { " or \"off\"" } else { "" };
            faults.push(wrong(entry, &entry.key, &format!("a table of {}{off}", keys.join(", "))));
        }
    }
}

fn is_off(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Text(text) => text == "off",
        _ => false,
    }
}

fn place(entry: &Entry) -> String {
    entry.line.map(|line| format!("line {line}: ")).unwrap_or_default()
}

fn wrong(entry: &Entry, key: &str, wanted: &str) -> String {
    format!("{}\"{key}\" must be {wanted}", place(entry))
}

fn unknown(entry: &Entry, table: Option<&str>, known: &[&str]) -> String {
    let full = |key: &str| table.map_or_else(|| key.to_owned(), |table| format!("{table}.{key}"));
    let nearest = halfopen::replay::nearest(&entry.key, known)
        .map_or_else(|| format!("the keys are {}", known.join(", ")), |key| format!("did you mean \"{}\"?", full(key)));
    format!("{}unknown key \"{}\"; {nearest}", place(entry), full(&entry.key))
}

#[cfg(test)]
mod tests {
    use super::super::tree;
    use super::*;
    use halfopen::Policy;

    fn faults(text: &str) -> Vec<String> {
        check(&mut tree::read(text).unwrap()).unwrap_err()
    }

    #[test]
    fn the_keys_are_those_of_a_policy() {
        let policy = serde_json::to_value(Policy::default()).unwrap();
        let mut of_policy: Vec<String> = policy.as_object().unwrap().keys().cloned().collect();
        let mut here: Vec<String> = keys().map(str::to_owned).collect();
        of_policy.sort();
        here.sort();
        assert_eq!(here, of_policy);
    }

    #[test]
    fn typing_mistakes_get_the_nearest_key() {
        let all = faults("open_msec = 1\n[failure_rate]\nprecent = 5\nminimum_calls = 1\n");
        assert_eq!(
            all,
            [
                "line 1: unknown key \"open_msec\"; did you mean \"open_ms\"?",
                "line 3: unknown key \"failure_rate.precent\"; did you mean \"failure_rate.percent\"?",
            ]
        );
        assert!(faults("consecutive-failures = 1\n")[0].contains("did you mean \"consecutive_failures\"?"));
        assert!(faults("zzz = 1\n")[0].contains("the keys are consecutive_failures,"));
    }

    #[test]
    fn values_of_the_wrong_kind_are_named() {
        assert_eq!(faults("open_ms = \"5s\"\n"), ["line 1: \"open_ms\" must be a number"]);
        assert_eq!(faults("lost_probe = \"retry\"\n"), ["line 1: \"lost_probe\" must be \"reprobe\" or \"reopen\""]);
        assert!(faults("window = \"off\"\n")[0].contains("must be a table of ms, calls"));
        assert!(faults("window = { ms = 10, calls = 10 }\n")[0].contains("exactly one of ms, calls"));
        assert!(faults("ramp = { over_ms = 10 }\n")[0].contains("all of over_ms, from_percent"));
        assert!(faults("failure_rate = true\n")[0].contains("or \"off\""));
    }

    #[test]
    fn off_has_three_spellings() {
        for text in ["failure_rate = \"off\"\n", "failure_rate = false\n", "{\"failure_rate\": null}"] {
            let mut entries = tree::read(text).unwrap();
            check(&mut entries).unwrap();
            assert_eq!(entries[0].value, Value::Null, "{text}");
        }
    }
}
