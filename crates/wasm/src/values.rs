//! Values of parameters, as a scenario gives them.

use std::collections::BTreeMap;

use rocelab_transport::congestion_control::wasm::Value;

use crate::metadata::{GuestParameter, Metadata};

/// A parameter that the module does not have, or not so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {problem}; {fix}")]
pub struct InvalidValue {
    /// Its key.
    pub key: String,
    /// What is wrong.
    pub problem: String,
    /// What to write instead.
    pub fix: String,
}

/// The values of all parameters of a module, in the order of its metadata.
///
/// # Errors
/// The first one that cannot be.
pub fn values(
    metadata: &Metadata,
    given: &BTreeMap<String, Value>,
) -> Result<Vec<i64>, InvalidValue> {
    let known: Vec<_> = metadata.parameters.iter().map(|one| one.key.as_str()).collect();
    if let Some(key) = given.keys().find(|key| !known.contains(&key.as_str())) {
        let fix = match known.as_slice() {
            [] => "leave it out: the module has none".into(),
            known => format!("the module has {}", known.join(", ")),
        };
        let problem = format!("the module `{}` has no such parameter", metadata.name);
        return Err(InvalidValue { key: key.clone(), problem, fix });
    }
    let value = |parameter: &GuestParameter| {
        given.get(&parameter.key).map_or(Ok(parameter.default), |value| number(parameter, value))
    };
    metadata.parameters.iter().map(value).collect()
}

fn number(parameter: &GuestParameter, value: &Value) -> Result<i64, InvalidValue> {
    let refused = |problem| {
        let unit =
            if parameter.unit.is_empty() { String::new() } else { format!(" {}", parameter.unit) };
        let fix = format!("give {} to {}{unit}", parameter.min, parameter.max);
        InvalidValue { key: parameter.key.clone(), problem, fix }
    };
    let number = match value {
        Value::Number(number) => *number,
        Value::Text(text) => parameter.number(text).map_err(refused)?,
    };
    if (parameter.min..=parameter.max).contains(&number) {
        Ok(number)
    } else {
        Err(refused("it is outside of what the module takes".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Result<Vec<i64>, String> {
        let metadata =
            br#"{"abi": 1, "name": "aimd", "feedback": "rtt", "state": 8, "parameters": [
            {"key": "target", "unit": "ps", "default": 13000000, "min": 1000, "max": 9000000000},
            {"key": "gain", "default": 3, "min": 1, "max": 9}]}"#;
        let metadata = Metadata::parse(metadata).unwrap();
        let given: BTreeMap<String, Value> = serde_json::from_str(text).unwrap();
        values(&metadata, &given).map_err(|error| error.to_string())
    }

    #[test]
    fn values_are_in_the_order_of_the_metadata() {
        assert_eq!(told("{}"), Ok(vec![13_000_000, 3]));
        assert_eq!(told(r#"{"gain": 4, "target": "20us"}"#), Ok(vec![20_000_000, 4]));
        assert_eq!(
            told(r#"{"target": 5000}"#),
            Ok(vec![5_000, 3]),
            "a number is in the module's unit"
        );
    }

    #[test]
    fn what_cannot_be_names_the_key_and_a_fix() {
        for (text, expected) in [
            (
                r#"{"goin": 4}"#,
                "goin: the module `aimd` has no such parameter; the module has target, gain",
            ),
            (r#"{"gain": 10}"#, "gain: it is outside of what the module takes; give 1 to 9"),
            (r#"{"gain": "4"}"#, "gain: it is a whole number: leave out the quotes; give 1 to 9"),
            (
                r#"{"target": "10s"}"#,
                "target: it is outside of what the module takes; give 1000 to 9000000000 ps",
            ),
        ] {
            assert_eq!(told(text), Err(expected.to_owned()));
        }
    }
}
