//! An algorithm that a user wrote, as a WebAssembly module.
//!
//! Whoever makes a plan loads the module, and puts it into the [parameters](Parameters::module). Until then there is no
//! feedback and no control.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rocelab_units::Bandwidth;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::external::{Loaded, Slot};
use super::{CongestionControl, Definition, Feedback, InvalidParameter, Path};

pub(super) const SUMMARY: &str = "a WebAssembly module that the user wrote";
pub(super) const REFERENCE: &str = "";

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WasmParameters")]
pub struct Parameters {
    /// The module, `.wasm` or `.wat`, as seen from the scenario's folder.
    pub path: PathBuf,
    /// Its SHA-256, in hexadecimal digits: another module is refused. Default: any module.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Its parameters, by the keys that its metadata have: whole numbers, or texts with a unit such as "13us". Those that
    /// are left out have the module's defaults.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Value>,
    /// Instructions that a call may take at the most; a call that needs more ends the run.
    #[serde(default = "usual_fuel")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub fuel: u64,
    /// The module, once it was loaded.
    #[serde(skip)]
    pub module: Slot,
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "no value of a parameter: give a whole number in the unit that `rocelab cc check` shows, or a text with its unit, such as \"13us\""
)]
pub enum Value {
    /// A whole number, in the unit that the module's metadata say.
    Number(i64),
    /// A quantity with its unit.
    Text(String),
}

/// An endless loop of so many instructions takes some 5 ms.
const MOST_FUEL: u64 = 100_000_000;

const fn usual_fuel() -> u64 {
    100_000
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            path: PathBuf::new(),
            sha256: None,
            parameters: BTreeMap::new(),
            fuel: usual_fuel(),
            module: Slot::default(),
        }
    }
}

impl Parameters {
    /// With all that is known of the module.
    pub(super) fn pinned(&self, loaded: &Loaded) -> Self {
        let values = loaded.0.values().into_iter();
        Self {
            sha256: Some(loaded.0.identity().to_owned()),
            parameters: values.map(|(key, value)| (key, Value::Number(value))).collect(),
            ..self.clone()
        }
    }
}

impl Definition for Parameters {
    fn feedback(&self, line_rate: Bandwidth) -> Feedback {
        self.module.feedback(line_rate)
    }

    fn validate(&self) -> Result<(), InvalidParameter> {
        InvalidParameter::unless(
            (1..=MOST_FUEL).contains(&self.fuel),
            "fuel",
            &self.fuel,
            "is no limit that a run can keep",
            "give 1 to 100000000 instructions, such as 100000",
        )
    }

    fn build(&self, path: &Path) -> Box<dyn CongestionControl> {
        self.module.build(path)
    }
}
