//! A file in another form that a scenario was made of: errors point into it.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::error::{Fault, FilePlace, ScenarioError};

/// The file that a document's text was made of, and which of its words say what.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The file.
    pub file: PathBuf,
    /// Its text.
    pub text: Arc<str>,
    /// The scenario's name, if it is not the file's.
    pub name: Option<String>,
    /// Which scenario keys come from which words.
    pub places: Vec<OriginPlace>,
    /// What is said in the file's own words.
    pub explain: Explain,
}

/// The error that a fault at a key of the scenario is in words of the file; none where its place
/// alone says enough.
pub type Explain = fn(&Origin, &str, &Fault) -> Option<ScenarioError>;

/// Where a key of the scenario comes from.
#[derive(Clone, Debug)]
pub struct OriginPlace {
    /// The scenario's key; it stands for those below it too, that no other place has.
    pub key: String,
    /// The file's own key.
    pub word: &'static str,
    /// The value in the file.
    pub span: Range<usize>,
}

impl Origin {
    /// The error at the word that `key` comes from; at the file as a whole if no word says it.
    pub fn report(&self, key: &str, mut fault: Fault) -> ScenarioError {
        if let Some(error) = (self.explain)(self, key, &fault) {
            return error;
        }
        let place = self.place_of(key);
        let span = place.map_or(0..0, |place| place.span.clone());
        if let Some(place) = place {
            fault.value = Some(self.text[place.span.clone()].to_string());
        }
        let key = place.map_or_else(|| key.to_owned(), |place| place.word.to_owned());
        ScenarioError::new(
            FilePlace { file: self.file.clone(), text: self.text.clone(), span, key },
            fault,
        )
    }

    /// The place of the longest key that `key` is, or is below.
    fn place_of(&self, key: &str) -> Option<&OriginPlace> {
        let holds = |place: &&OriginPlace| {
            key.strip_prefix(&place.key)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        self.places.iter().filter(holds).max_by_key(|place| place.key.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_key_is_blamed() {
        let place = |key: &str, word, span| OriginPlace { key: key.into(), word, span };
        let origin = Origin {
            file: "case/config.txt".into(),
            text: "CC_MODE 1\nMIN_RATE 0Mb/s\n".into(),
            name: None,
            explain: |_, _, _| None,
            places: vec![
                place("congestion_control", "CC_MODE", 8..9),
                place("congestion_control.dcqcn.min_rate", "MIN_RATE", 19..24),
            ],
        };
        let report = |key| origin.report(key, Fault::at(key, "wrong")).to_string();
        assert_eq!(
            report("congestion_control.dcqcn.min_rate"),
            "case/config.txt:2:10: MIN_RATE = 0Mb/s: wrong"
        );
        assert_eq!(report("congestion_control.dcqcn.g"), "case/config.txt:1:9: CC_MODE = 1: wrong");
        assert_eq!(report("workload"), "case/config.txt:1:1: workload: wrong");
    }
}
