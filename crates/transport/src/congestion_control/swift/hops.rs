//! How many hops a path has.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The switches of a path, as the target counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hops {
    /// So many.
    Given(u32),
    /// As many as took one off the hop limit of the packet that is acknowledged.
    Counted,
}

/// The name of those that are counted.
const COUNTED: &str = "counted";

impl Serialize for Hops {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Given(hops) => serializer.serialize_u32(*hops),
            Self::Counted => serializer.serialize_str(COUNTED),
        }
    }
}

impl<'de> Deserialize<'de> for Hops {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Hint;

        impl Visitor<'_> for Hint {
            type Value = Hops;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("a number of switches or \"counted\"")
            }

            fn visit_i64<E: Error>(self, hops: i64) -> Result<Hops, E> {
                let known = u32::try_from(hops).map(Hops::Given);
                known.map_err(|_| E::invalid_value(Unexpected::Signed(hops), &self))
            }

            fn visit_u64<E: Error>(self, hops: u64) -> Result<Hops, E> {
                let known = u32::try_from(hops).map(Hops::Given);
                known.map_err(|_| E::invalid_value(Unexpected::Unsigned(hops), &self))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Hops, E> {
                if text == COUNTED {
                    return Ok(Hops::Counted);
                }
                Err(E::invalid_value(Unexpected::Str(text), &self))
            }
        }

        deserializer.deserialize_any(Hint)
    }
}

impl JsonSchema for Hops {
    fn schema_name() -> Cow<'static, str> {
        "Hops".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "integer", "minimum": 0, "maximum": u32::MAX },
                { "type": "string", "const": COUNTED },
            ],
            "description": "Switches on a path: a number, or `counted` by the hop limit of each packet that is acknowledged.",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_the_word_come_back_and_others_are_refused() {
        for (text, hops) in [("7", Hops::Given(7)), ("\"counted\"", Hops::Counted)] {
            assert_eq!(serde_json::from_str::<Hops>(text).unwrap(), hops);
            assert_eq!(serde_json::to_string(&hops).unwrap(), text);
        }
        for text in ["-1", "4294967296", "\"ttl\"", "1.5", "true"] {
            let error = serde_json::from_str::<Hops>(text).unwrap_err().to_string();
            assert!(error.contains("a number of switches or \"counted\""), "{error}");
        }
    }
}
