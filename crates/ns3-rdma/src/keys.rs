//! The keys of a configuration and their words.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use crate::error::{InputError, Source};
use crate::words::Words;

/// Every key, in the order of the simulator's own configuration.
pub(crate) const KEYS: &[&str] = &[
    "ENABLE_QCN",
    "USE_DYNAMIC_PFC_THRESHOLD",
    "PACKET_LEVEL_ECMP",
    "FLOW_LEVEL_ECMP",
    "PAUSE_TIME",
    "DATA_RATE",
    "LINK_DELAY",
    "PACKET_PAYLOAD_SIZE",
    "TOPOLOGY_FILE",
    "FLOW_FILE",
    "TCP_FLOW_FILE",
    "TRACE_FILE",
    "TRACE_OUTPUT_FILE",
    "SEND_IN_CHUNKS",
    "APP_START_TIME",
    "APP_STOP_TIME",
    "SIMULATOR_STOP_TIME",
    "CNP_INTERVAL",
    "ALPHA_RESUME_INTERVAL",
    "NP_SAMPLING_INTERVAL",
    "CLAMP_TARGET_RATE",
    "CLAMP_TARGET_RATE_AFTER_TIMER",
    "RP_TIMER",
    "BYTE_COUNTER",
    "DCTCP_GAIN",
    "KMAX",
    "KMIN",
    "PMAX",
    "FAST_RECOVERY_TIMES",
    "RATE_AI",
    "RATE_HAI",
    "ERROR_RATE_PER_LINK",
    "L2_CHUNK_SIZE",
    "L2_WAIT_FOR_ACK",
    "L2_ACK_INTERVAL",
    "L2_BACK_TO_ZERO",
    "L2_TEST_READ",
];

/// Keys that HPCC's ns-3 simulator, which descends from this one, does not have.
const OWN: &[&str] = &[
    "TCP_FLOW_FILE",
    "SEND_IN_CHUNKS",
    "PACKET_LEVEL_ECMP",
    "FLOW_LEVEL_ECMP",
    "APP_START_TIME",
    "APP_STOP_TIME",
    "CNP_INTERVAL",
    "NP_SAMPLING_INTERVAL",
    "CLAMP_TARGET_RATE_AFTER_TIMER",
    "BYTE_COUNTER",
    "DCTCP_GAIN",
    "KMAX",
    "KMIN",
    "PMAX",
    "L2_WAIT_FOR_ACK",
    "L2_TEST_READ",
];

/// Keys of HPCC's simulator that tell its configurations from those of this one.
const OF_HPCC: &[&str] = &["CC_MODE", "FCT_OUTPUT_FILE", "KMAX_MAP", "KMIN_MAP", "BUFFER_SIZE"];

/// Whether the `text` of a configuration is one of ns3-rdma: it has a key that HPCC's simulator does
/// not have, and none that only that one has.
pub fn is_config(text: &str) -> bool {
    let has = |keys: &[&str]| text.split_whitespace().any(|word| keys.contains(&word));
    has(OWN) && !has(OF_HPCC)
}

/// A configuration's keys, each with where its word stands.
#[derive(Debug)]
pub(crate) struct Entries {
    source: Source,
    entries: BTreeMap<&'static str, Range<usize>>,
}

impl Entries {
    /// Reads the `text` of the configuration at `path`. What is last holds, as in the simulator. It
    /// would skip words that are no keys; here they are errors, because most are slips.
    pub(crate) fn read(path: &Path, text: &str) -> Result<Self, InputError> {
        let mut words = Words::new(path, text);
        let mut entries = BTreeMap::new();
        while let Some(word) = words.next() {
            let Some(key) = KEYS.iter().find(|key| **key == word.text) else {
                let message = "is no key of ns3-rdma, which would skip it";
                return Err(words.blame(word.span, "", message, suggestion(&word.text)));
            };
            let value = words.next().filter(|value| !KEYS.contains(&value.text.as_str()));
            let Some(value) = value else {
                let message = "has no value";
                return Err(words.blame(word.span, key, message, "write one behind it"));
            };
            entries.insert(*key, value.span);
        }
        Ok(Self { source: words.source().clone(), entries })
    }

    /// The word of `key`; none if the file does not have it.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.entries.get(key).map(|span| &self.source.text[span.clone()])
    }

    /// The value of `key`, or the `default` if the file does not have it; `read` makes it of the
    /// word, which should be `what`.
    pub(crate) fn value<V>(
        &self,
        key: &str,
        default: V,
        what: &str,
        read: impl FnOnce(&str) -> Option<V>,
    ) -> Result<V, InputError> {
        match self.get(key) {
            None => Ok(default),
            Some(word) => read(word).ok_or_else(|| {
                self.blame(key, "", format!("is not {what}"), "write one, or leave the key out")
            }),
        }
    }

    /// The word of `key`, which the simulator needs.
    pub(crate) fn needed(&self, key: &str, example: &str) -> Result<&str, InputError> {
        self.get(key).ok_or_else(|| {
            let message = "is missing, and the simulator has no default";
            self.blame(key, "", message, format!("add `{key} {example}`"))
        })
    }

    /// The error that `message` says of `key`; `default` is its value if the file does not have it.
    pub(crate) fn blame(
        &self,
        key: &str,
        default: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> InputError {
        let end = self.source.text.trim_end().len();
        match self.entries.get(key) {
            Some(span) => self.source.blame(span.clone(), key, message, help),
            None => self.source.blame(end..end, key, message, help).with_value(default),
        }
    }
}

/// What to write instead of a word that is no key.
fn suggestion(word: &str) -> String {
    let is_near = |key: &&&str| {
        key.len().abs_diff(word.len()) <= 2
            && key.bytes().zip(word.bytes()).filter(|(a, b)| a != b).count() <= 2
    };
    match KEYS.iter().find(is_near) {
        Some(key) => format!("did you mean `{key}`?"),
        None => "write `KEY value`; docs/ns3-rdma.md lists the keys".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Entries, InputError> {
        Entries::read(Path::new("config.txt"), text)
    }

    #[test]
    fn the_last_value_of_a_key_holds() {
        let entries = read("KMAX 1\r\nKMIN 2 KMAX 3").unwrap();
        assert_eq!((entries.get("KMAX"), entries.get("PMAX")), (Some("3"), None));
    }

    #[test]
    fn words_that_are_no_keys_are_errors() {
        let error = read("KMAX 1\nKMAY 2").unwrap_err().to_string();
        assert!(error.starts_with("config.txt:2:1: KMAY: is no key"), "{error}");
        assert!(error.ends_with("did you mean `KMAX`?"), "{error}");
        assert!(read("KMAX KMIN 2").unwrap_err().to_string().contains("KMAX: has no value"));
        assert!(read("KMAX").unwrap_err().to_string().contains("KMAX: has no value"));
    }

    #[test]
    fn configurations_are_told_by_their_keys() {
        assert!(is_config("ENABLE_QCN 1\nTCP_FLOW_FILE x"));
        assert!(!is_config("ENABLE_QCN 1\nCC_MODE 1\nKMAX_MAP 1 1 1"));
        assert!(!is_config("ENABLE_QCN 1"));
    }
}
