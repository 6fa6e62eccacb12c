//! Several nodes by one text: `all`, `leaf-*`, `host-0..host-7`.

/// What one text of a list of nodes or ports means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeSelector<'a> {
    /// `all`: every node that may be meant.
    All,
    /// Names with `*` for any characters, or none: `leaf-*`.
    Like(&'a str),
    /// From one name to another, both included: `host-0..host-7`.
    Range(&'a str, &'a str),
    /// One name.
    One(&'a str),
}

impl<'a> NodeSelector<'a> {
    /// Reads a text. Spaces around names do not count.
    pub fn new(text: &'a str) -> Self {
        let text = text.trim();
        if text == "all" {
            return Self::All;
        }
        if text.contains('*') {
            return Self::Like(text);
        }
        match text.split_once("..") {
            Some((first, last)) => Self::Range(first.trim(), last.trim()),
            None => Self::One(text),
        }
    }
}

/// Whether a name is like a pattern, in which `*` stands for any characters, or none.
pub fn matches_pattern(name: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    // Each part at the first place where it is leaves the most for those after it.
    for part in parts {
        match name.find(part) {
            Some(place) => name = &name[place + part.len()..],
            None => return false,
        }
    }
    name.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_they_are_meant() {
        assert_eq!(NodeSelector::new(" all "), NodeSelector::All);
        assert_eq!(NodeSelector::new("leaf-*"), NodeSelector::Like("leaf-*"));
        assert_eq!(NodeSelector::new("a .. b"), NodeSelector::Range("a", "b"));
        assert_eq!(NodeSelector::new("host-0"), NodeSelector::One("host-0"));
    }

    #[test]
    fn stars_stand_for_any_characters() {
        for (name, pattern, expected) in [
            ("leaf-12", "leaf-*", true),
            ("leaf-12", "*", true),
            ("leaf-12", "*2", true),
            ("leaf-12", "l*-*2", true),
            ("leaf-12", "l*f*12", true),
            ("leaf-12", "leaf-12*", true),
            ("leaf-12", "leaf-12", true),
            ("leaf-12", "leaf-1", false),
            ("leaf-12", "spine-*", false),
            ("leaf-12", "*1", false),
            ("leaf-12", "leaf-12*2", false),
            ("aab", "a*ab", true),
            ("ab", "ab*b", false),
            ("abcbc", "a*bc", true),
            ("", "*", true),
            ("", "**", true),
            ("é-1", "*-1", true),
        ] {
            assert_eq!(matches_pattern(name, pattern), expected, "{name} {pattern}");
        }
    }
}
