//! Translates errors of the TOML reader into the words of descriptions.

use crate::suggestion;

/// Rust's names of TOML's types, and TOML's own names.
const WORDS: [(&str, &str); 12] = [
    ("struct Document", "a table"),
    ("struct Message", "a table"),
    ("struct Vlan", "a table such as { pcp = 3, vid = 5 }"),
    ("a sequence", "a list"),
    ("sequence", "a list"),
    ("map", "a table"),
    ("usize", "a whole number from 0 up"),
    ("u64", "a whole number from 0 up"),
    ("u32", "a whole number up to 4294967295"),
    ("u16", "a whole number up to 65535"),
    ("u8", "a whole number up to 255"),
    ("a boolean", "true or false"),
];

/// The error on one line: the key, what is wrong with it, what to write.
pub(super) fn explained(message: &str, key: Option<&str>, excerpt: &str) -> String {
    if let Some(field) = quoted_after(message, "unknown field") {
        let known: Vec<_> = quoted(message).skip(1).collect();
        return format!("there is no key `{field}`; {}", suggestion::write_one_of(field, &known));
    }
    if let Some(field) = quoted_after(message, "missing field") {
        return format!("the key `{field}` is missing; add {field} = ...");
    }
    let message = message.trim().replace('\n', " ");
    let Some(key) = key else { return format!("{message}; write the file as TOML") };
    match message.split_once(", expected ") {
        Some((_, expected)) => {
            let word = WORDS.iter().find(|(name, _)| *name == expected);
            let fix = word.map_or(expected, |(_, word)| word);
            format!("{key} = {excerpt}: is of another kind; write {fix}")
        }
        None => format!("{key} = {excerpt}: {message}; write another value"),
    }
}

/// The name in backquotes that follows `start`.
fn quoted_after<'a>(message: &'a str, start: &str) -> Option<&'a str> {
    quoted(message.strip_prefix(start)?).next()
}

/// All names in backquotes.
fn quoted(message: &str) -> impl Iterator<Item = &str> {
    message.split('`').skip(1).step_by(2)
}
