//! An algorithm that a user wrote, as a class of Python.
//!
//! Only a run that Python starts has it: it puts the class into the [parameters](Parameters::loaded). Until then there is no
//! feedback and no control.

use rocelab_units::Bandwidth;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::external::Slot;
use super::{CongestionControl, Definition, Feedback, InvalidParameter, Path};

pub(super) const SUMMARY: &str = "a class of Python that the user wrote";
pub(super) const REFERENCE: &str = "";

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PythonParameters")]
pub struct Parameters {
    /// The class, such as `mine.Aimd`. It is written here by a run that Python started with
    /// `Scenario.run(congestion_control=Aimd)`, and by nothing else.
    pub class: String,
    /// The class itself.
    #[serde(skip)]
    pub loaded: Slot,
}

impl Definition for Parameters {
    fn feedback(&self, line_rate: Bandwidth) -> Feedback {
        self.loaded.feedback(line_rate)
    }

    fn validate(&self) -> Result<(), InvalidParameter> {
        Ok(())
    }

    fn build(&self, path: &Path) -> Box<dyn CongestionControl> {
        self.loaded.build(path)
    }
}
