//! The wait that a responder without a receive request asks for.

use core::fmt;

use rocelab_units::Duration;
use rocelab_wire::rnr_timer_ns;
use schemars::JsonSchema;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// The timer code of RNR NAKs, 0 to 31: written as the code, or as a time, which is rounded up to
/// the next one that has a code (IBTA table 45: 10us with code 1 to 491.52ms with code 31, and
/// 655.36ms with code 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct RnrTimer(u8);

impl RnrTimer {
    /// The timer of this code, if there is one.
    pub const fn new(code: u8) -> Option<Self> {
        if code < 32 { Some(Self(code)) } else { None }
    }

    /// The shortest timer that is at least as long, if there is one.
    pub fn at_least(time: Duration) -> Option<Self> {
        // The longest has code 0.
        let codes = (1..32).chain([0]);
        codes.map(Self).find(|timer| timer.duration() >= time)
    }

    /// Its code.
    pub const fn code(self) -> u8 {
        self.0
    }

    /// How long the requester waits.
    pub const fn duration(self) -> Duration {
        Duration::from_ns(rnr_timer_ns(self.0))
    }
}

impl<'de> Deserialize<'de> for RnrTimer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CodeOrTime)
    }
}

/// Reads either form.
struct CodeOrTime;

impl Visitor<'_> for CodeOrTime {
    type Value = RnrTimer;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a code from 0 to 31, or a time such as \"640us\"")
    }

    fn visit_i64<E: de::Error>(self, code: i64) -> Result<RnrTimer, E> {
        let timer = u8::try_from(code).ok().and_then(RnrTimer::new);
        timer.ok_or_else(|| {
            E::custom(format!(
                "RNR timer code {code} does not exist: use 0 to 31, or a time such as \"640us\""
            ))
        })
    }

    fn visit_u64<E: de::Error>(self, code: u64) -> Result<RnrTimer, E> {
        self.visit_i64(i64::try_from(code).unwrap_or(i64::MAX))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<RnrTimer, E> {
        let time: Duration = text.parse().map_err(E::custom)?;
        RnrTimer::at_least(time).ok_or_else(|| {
            E::custom(format!("no RNR timer is as long as {time}: give at most 655.36ms"))
        })
    }
}

impl JsonSchema for RnrTimer {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RnrTimer".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "The timer code of RNR NAKs, or a time.",
            "anyOf": [{ "type": "integer", "minimum": 0, "maximum": 31 }, { "type": "string" }],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_round_up_to_the_next_code() {
        let code = |time: Duration| RnrTimer::at_least(time).map(RnrTimer::code);
        assert_eq!(code(Duration::ZERO), Some(1));
        assert_eq!(code(Duration::from_us(10)), Some(1));
        assert_eq!(code(Duration::from_us(11)), Some(2));
        assert_eq!(code(Duration::from_us(640)), Some(12));
        assert_eq!(code(Duration::from_us(641)), Some(13));
        assert_eq!(code(Duration::from_us(491_520)), Some(31));
        assert_eq!(code(Duration::from_us(491_521)), Some(0));
        assert_eq!(code(Duration::from_us(655_360)), Some(0));
        assert_eq!(code(Duration::from_us(655_361)), None);
    }
}
