//! What a module says about itself, in JSON.

use rocelab_transport::congestion_control::Feedback;
use rocelab_units::{Bandwidth, Bytes, Duration};
use serde::{Deserialize, Serialize};

use crate::block::{MOST_PARAMETERS, MOST_STATE};
use crate::event::GuestEvent;

/// The most bytes of metadata.
pub const MOST_METADATA: usize = 64 * 1024;
/// The version of the interface between host and guest.
pub const ABI: u32 = 1;

/// What a module says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// The version of the interface that it was written for.
    pub abi: u32,
    /// The algorithm's name, such as `aimd`.
    pub name: String,
    /// Its version, as its writer counts.
    #[serde(default)]
    pub version: String,
    /// What it does, in a line.
    #[serde(default)]
    pub summary: String,
    /// Where it is published.
    #[serde(default)]
    pub reference: String,
    /// What it needs to be told.
    pub feedback: GuestFeedback,
    /// With `cnp`: the least time between two CNPs for a queue pair (ps).
    #[serde(default = "usual_cnp_interval")]
    pub cnp_interval: u64,
    /// Bytes that it keeps for each queue pair.
    pub state: usize,
    /// The events that it wants to be called for, beside `open`.
    #[serde(default = "usual_events")]
    pub events: Vec<GuestEvent>,
    /// What a scenario may set.
    #[serde(default)]
    pub parameters: Vec<GuestParameter>,
}

/// See [`Feedback`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuestFeedback {
    /// See [`Feedback::None`].
    None,
    /// See [`Feedback::Cnp`].
    Cnp,
    /// See [`Feedback::Rtt`].
    Rtt,
    /// As [`Rtt`](Self::Rtt), and what the ends of the path tell in acknowledgements.
    Endpoint,
    /// See [`Feedback::EcnEcho`].
    EcnEcho,
    /// See [`Feedback::Qcn`].
    Qcn,
}

/// A parameter: a whole number in a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestParameter {
    /// Its key in a scenario.
    pub key: String,
    /// What it is, in a line.
    #[serde(default)]
    pub summary: String,
    /// Its unit. For `ps`, `bit/s` and `bytes` scenarios give a text such as "13us", "40Gbps" or "1MB".
    #[serde(default)]
    pub unit: String,
    /// Its value where the scenario has none.
    pub default: i64,
    /// The least value.
    pub min: i64,
    /// The greatest value.
    pub max: i64,
}

/// As DCQCN's preset of NVIDIA has it: 4 us.
const fn usual_cnp_interval() -> u64 {
    4_000_000
}

/// All but `sent`, which costs a call for each packet.
fn usual_events() -> Vec<GuestEvent> {
    GuestEvent::ALL.into_iter().filter(|&event| event != GuestEvent::Sent).collect()
}

/// What is wrong with metadata.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// It is no text in UTF-8.
    #[error("the metadata are no UTF-8")]
    Encoding,
    /// It is no such JSON.
    #[error("the metadata are wrong: {0}")]
    Json(String),
    /// A value that it may not have.
    #[error("the metadata say {key} = {value}: {problem}")]
    Value {
        /// Where.
        key: String,
        /// What is there.
        value: String,
        /// What is wrong, and what to write instead.
        problem: String,
    },
}

impl Metadata {
    /// Reads what a module brought.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn parse(bytes: &[u8]) -> Result<Self, MetadataError> {
        let text = std::str::from_utf8(bytes).map_err(|_| MetadataError::Encoding)?;
        let read: Self =
            serde_json::from_str(text).map_err(|error| MetadataError::Json(error.to_string()))?;
        read.check()?;
        Ok(read)
    }

    fn check(&self) -> Result<(), MetadataError> {
        ensure(self.abi == ABI, "abi", self.abi, || format!("this program has ABI {ABI}"))?;
        ensure(is_word(&self.name), "name", &self.name, || {
            "give 1 to 40 letters, digits, `-` or `_`".into()
        })?;
        let lines = [
            ("version", &self.version),
            ("summary", &self.summary),
            ("reference", &self.reference),
        ];
        for (key, text) in lines {
            let fits = text.len() <= 200 && !text.chars().any(char::is_control);
            ensure(fits, key, text.escape_debug(), || "give a line of at most 200 bytes".into())?;
        }
        ensure(self.state <= MOST_STATE, "state", self.state, || {
            format!("a queue pair has at most {MOST_STATE} bytes")
        })?;
        let most = self.parameters.len();
        ensure(most <= MOST_PARAMETERS, "parameters", format!("{most} of them"), || {
            format!("there are at most {MOST_PARAMETERS}")
        })?;
        for (place, parameter) in self.parameters.iter().enumerate() {
            let earlier = &self.parameters[..place];
            parameter.check(earlier.iter().any(|one| one.key == parameter.key))?;
        }
        Ok(())
    }

    /// Whether it wants to be called for an event.
    pub fn wants(&self, event: GuestEvent) -> bool {
        self.events.contains(&event)
    }

    /// The event that its feedback brings.
    pub const fn feedback_event(&self) -> Option<GuestEvent> {
        match self.feedback {
            GuestFeedback::None => None,
            GuestFeedback::Cnp => Some(GuestEvent::Cnp),
            GuestFeedback::Rtt | GuestFeedback::Endpoint | GuestFeedback::EcnEcho => {
                Some(GuestEvent::Ack)
            }
            GuestFeedback::Qcn => Some(GuestEvent::Cnm),
        }
    }

    /// The events that it is called for: those that it wants, of those that there are with its feedback.
    pub fn told(&self) -> Vec<GuestEvent> {
        let possible = [self.feedback_event(), Some(GuestEvent::Sent), Some(GuestEvent::Loss)];
        let wanted = possible.into_iter().flatten().filter(|&event| self.wants(event));
        wanted.chain([GuestEvent::Timer]).collect()
    }

    /// What queue pairs must collect for it.
    pub const fn feedback(&self) -> Feedback {
        match self.feedback {
            GuestFeedback::None => Feedback::None,
            GuestFeedback::Cnp => {
                Feedback::Cnp { min_interval: Duration::from_ps(self.cnp_interval) }
            }
            GuestFeedback::Rtt => Feedback::Rtt,
            GuestFeedback::Endpoint => Feedback::ENDPOINT,
            GuestFeedback::EcnEcho => Feedback::EcnEcho,
            GuestFeedback::Qcn => Feedback::Qcn,
        }
    }
}

impl GuestParameter {
    fn check(&self, is_known: bool) -> Result<(), MetadataError> {
        let key = format!("parameters.{}", self.key.escape_debug());
        ensure(is_word(&self.key), "parameters", self.key.escape_debug(), || {
            "give 1 to 40 letters, digits, `-` or `_`".into()
        })?;
        ensure(!is_known, "parameters", format!("{} twice", self.key), || {
            "give each parameter once".into()
        })?;
        ensure(self.min <= self.max, &format!("{key}.min"), self.min, || {
            format!("it is above max = {}", self.max)
        })?;
        let is_in_range = (self.min..=self.max).contains(&self.default);
        ensure(is_in_range, &format!("{key}.default"), self.default, || {
            format!("give {} to {}", self.min, self.max)
        })
    }

    /// The number that a text with a unit is.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn number(&self, text: &str) -> Result<i64, String> {
        let number = match self.unit.as_str() {
            "ps" => text.parse().map(Duration::ps).map_err(|error| error.to_string()),
            "bit/s" => {
                text.parse().map(Bandwidth::bits_per_second).map_err(|error| error.to_string())
            }
            "bytes" => text.parse().map(Bytes::get).map_err(|error| error.to_string()),
            _ => return Err("it is a whole number: leave out the quotes".into()),
        };
        i64::try_from(number?).map_err(|_| "it is too large".into())
    }
}

/// Whether it can be a key, and part of a line.
fn is_word(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=40).contains(&text.len()) && text.bytes().all(fits)
}

fn ensure(
    holds: bool,
    key: &str,
    value: impl ToString,
    problem: impl FnOnce() -> String,
) -> Result<(), MetadataError> {
    if holds {
        return Ok(());
    }
    /// Of a value that fills the screen nobody reads the end.
    const SHOWN: usize = 60;
    let mut value: String = value.to_string();
    if value.chars().count() > SHOWN {
        value = value.chars().take(SHOWN).chain("...".chars()).collect();
    }
    Err(MetadataError::Value { key: key.into(), value, problem: problem() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const AIMD: &str = r#"{"abi": 1, "name": "aimd", "feedback": "ecn-echo", "state": 8,
        "parameters": [{"key": "target", "unit": "ps", "default": 13000000, "min": 1000, "max": 9000000000}]}"#;

    fn error(from: &str, to: &str) -> String {
        assert!(AIMD.contains(from), "{from}");
        Metadata::parse(AIMD.replacen(from, to, 1).as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn what_is_left_out_is_usual() {
        let metadata = Metadata::parse(AIMD.as_bytes()).unwrap();
        assert_eq!(metadata.feedback(), Feedback::EcnEcho);
        assert!(metadata.wants(GuestEvent::Ack) && !metadata.wants(GuestEvent::Sent));
        let target = &metadata.parameters[0];
        assert_eq!(target.number("13us"), Ok(13_000_000));
        assert!(target.number("13").unwrap_err().contains("13"), "a unit is missing");
        assert!(target.number("18000000s").unwrap_err().contains("too large"));
    }

    #[test]
    fn what_cannot_be_is_told() {
        for (from, to, expected) in [
            ("\"abi\": 1", "\"abi\": 2", "the metadata say abi = 2: this program has ABI 1"),
            ("\"aimd\"", "\"\"", "the metadata say name = : give 1 to 40 letters"),
            ("\"aimd\"", "\"a\\nb\"", "give 1 to 40 letters"),
            ("\"state\": 8", "\"state\": 257", "state = 257: a queue pair has at most 256 bytes"),
            ("\"state\": 8", "\"state\": -1", "the metadata are wrong: invalid value"),
            ("\"ecn-echo\"", "\"ecn\"", "unknown variant `ecn`, expected one of `none`, `cnp`"),
            ("\"min\": 1000", "\"min\": 99000000000", "parameters.target.min = 99000000000"),
            (
                "\"default\": 13000000",
                "\"default\": 1",
                "parameters.target.default = 1: give 1000 to",
            ),
            ("\"target\"", "\"a b\"", "the metadata say parameters = a b"),
            (
                "\"parameters\": [",
                "\"parameters\": [{\"key\": \"target\", \"default\": 1, \"min\": 1, \"max\": 1}, ",
                "parameters = target twice: give each parameter once",
            ),
            ("\"abi\"", "\"mystery\": 1, \"abi\"", "unknown field `mystery`"),
            ("}", "", "the metadata are wrong"),
        ] {
            let told = error(from, to);
            assert!(told.contains(expected), "{told}");
        }
        assert_eq!(Metadata::parse(&[0xff]), Err(MetadataError::Encoding));
        let deep = "[".repeat(60_000);
        assert!(Metadata::parse(deep.as_bytes()).is_err(), "deep nesting ends");
    }
}
