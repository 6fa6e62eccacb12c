//! Which delay an algorithm follows that controls by delay.

use std::borrow::Cow;

use rocelab_wire::TelemetryKind;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Feedback;

/// The delay that an algorithm is told as [`Ack::rtt`](super::Ack::rtt). There are as many values as
/// there are kinds of telemetry with a queueing time, and one more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    /// Switches tell how long frames wait; none: the NIC measures the round-trip time.
    told_by: Option<TelemetryKind>,
}

/// The name of what the NIC measures.
const MEASURED: &str = "round-trip";

impl Delay {
    /// All values, the default first.
    fn all() -> impl Iterator<Item = Self> {
        let told = TelemetryKind::ALL.into_iter().filter(|kind| kind.queueing_units().is_some());
        std::iter::once(None).chain(told.map(Some)).map(|told_by| Self { told_by })
    }

    /// The name that a scenario uses.
    fn name(self) -> &'static str {
        self.told_by.map_or(MEASURED, TelemetryKind::name)
    }

    /// Whether it is what the NIC measures.
    pub fn is_measured(&self) -> bool {
        self.told_by.is_none()
    }

    /// What the algorithm needs to be told.
    pub(super) fn feedback(self) -> Feedback {
        let units = self.told_by.and_then(TelemetryKind::queueing_units);
        units.map_or(Feedback::Rtt, Feedback::Telemetry)
    }
}

impl Serialize for Delay {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Delay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::all().find(|one| one.name() == name).ok_or_else(|| {
            let names: Vec<_> = Self::all().map(|one| format!("`{}`", one.name())).collect();
            D::Error::custom(format!("unknown variant `{name}`, expected {}", names.join(" or ")))
        })
    }
}

impl JsonSchema for Delay {
    fn schema_name() -> Cow<'static, str> {
        "Delay".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<_> = Self::all().map(Self::name).collect();
        json_schema!({
            "type": "string",
            "enum": names,
            "description": "The delay that an algorithm follows: `round-trip` as the NIC measures it, or \
                the round-trip time of the idle network and what switches tell.",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_and_others_are_refused() {
        for delay in Delay::all() {
            let text = serde_json::to_string(&delay).unwrap();
            assert_eq!(serde_json::from_str::<Delay>(&text).unwrap(), delay);
            assert_eq!(delay.is_measured(), delay.feedback() == Feedback::Rtt);
        }
        let error = serde_json::from_str::<Delay>("\"rtt\"").unwrap_err().to_string();
        assert!(error.contains("unknown variant `rtt`, expected `round-trip`"), "{error}");
        assert_eq!(Delay::all().next(), Some(Delay::default()));
    }
}
