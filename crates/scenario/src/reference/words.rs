//! The words of a text.

use std::ops::Range;

/// A word and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    /// Its bytes in the text.
    pub(super) span: Range<usize>,
}

/// What white space separates.
pub(super) fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let mut from = 0;
    text.split_whitespace().map(move |word| {
        // A word stands no earlier than the end of the one before.
        let start = from + text[from..].find(word).unwrap_or(0);
        from = start + word.len();
        Word { text: word, span: start..from }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_know_their_places() {
        let text = " A 1\n\tAB\u{a0}é 1";
        let found: Vec<_> = words(text).map(|word| (word.text, word.span)).collect();
        assert_eq!(found, [("A", 1..2), ("1", 3..4), ("AB", 6..8), ("é", 10..12), ("1", 13..14)]);
    }
}
