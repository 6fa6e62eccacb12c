//! No congestion control: the line rate, a fixed rate, or a fixed window.

use rocelab_units::{Bandwidth, Bytes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CongestionControl, Definition, Feedback, InvalidParameter, Path};

pub(super) const SUMMARY: &str = "packets leave at the line rate, or at a fixed one";
pub(super) const REFERENCE: &str = "";

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "NoneParameters")]
pub struct Parameters {
    /// The rate of each queue pair, preamble and gap included; the line rate if left out or
    /// larger than that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Bandwidth>,
    /// The most unacknowledged payload of each queue pair; unlimited if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Bytes>,
}

impl Definition for Parameters {
    fn feedback(&self, _: Bandwidth) -> Feedback {
        Feedback::None
    }

    fn validate(&self) -> Result<(), InvalidParameter> {
        let rate = self.rate.unwrap_or(Bandwidth::from_bps(1));
        InvalidParameter::unless(
            rate.bits_per_second() > 0,
            "rate",
            &rate,
            "sends nothing",
            "give a rate above 0bps, or leave it out for the line rate",
        )?;
        let window = self.window.unwrap_or(Bytes::new(1));
        InvalidParameter::unless(
            window.get() > 0,
            "window",
            &window,
            "sends nothing",
            "give a window above 0B, or leave it out for no limit",
        )
    }

    fn build(&self, path: &Path) -> Box<dyn CongestionControl> {
        let rate = self.rate.map_or(path.line_rate, |rate| rate.min(path.line_rate));
        Box::new(Fixed { rate, window: self.window.map(Bytes::get) })
    }
}

#[derive(Debug)]
struct Fixed {
    rate: Bandwidth,
    window: Option<u64>,
}

rocelab_state::state!(Fixed { ; kept: rate, window });

impl CongestionControl for Fixed {
    fn rate(&self) -> Bandwidth {
        self.rate
    }

    fn window(&self) -> Option<u64> {
        self.window
    }
}
