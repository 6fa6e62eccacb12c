//! How lost packets are sent again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a reliable connection recovers from loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// Everything from the lost packet on is sent again.
    #[default]
    #[serde(rename = "go-back-n")]
    GoBackN,
    /// The whole message is sent again from its first packet (SIGCOMM'16, section 4.1).
    #[serde(rename = "go-back-0")]
    GoBackZero,
}
