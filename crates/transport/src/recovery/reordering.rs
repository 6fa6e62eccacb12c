//! Selective repeat for networks that reorder: a packet is taken for lost only when one arrived that
//! left so many packets later, as TCP does with its duplicate acknowledgements (RFC 5681, section 3.2),
//! with a threshold of choice. It is what a NIC needs whose packets take several paths.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EarlyPackets, Reliability, Selection};
use crate::QueuePairProfile;
use crate::congestion_control::InvalidParameter;

/// `recovery = { reordering = { packets = 32 } }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "ReorderingParameters")]
pub struct Parameters {
    /// Packets by which one may be overtaken before it is taken for lost, 1 to 2^23. What is lost among
    /// the last so many packets waits for the timeout.
    #[schemars(range(min = 1, max = 8_388_608))]
    pub packets: u32,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { packets: 32 }
    }
}

/// Its rules.
pub(super) const fn rules(parameters: Parameters) -> Parameters {
    parameters
}

impl Reliability for Parameters {
    fn validate(&self) -> Result<(), InvalidParameter> {
        let most = QueuePairProfile::MAX_OUTSTANDING;
        InvalidParameter::unless(
            (1..=most).contains(&self.packets),
            "packets",
            &self.packets,
            "is no distance between packets in flight",
            "give 1 to 8388608, or use `recovery = \"selective-repeat\"`",
        )
    }

    fn selection(&self) -> Option<Selection> {
        Some(Selection { tolerance: self.packets })
    }

    fn early_packets(&self, max_outstanding: u32) -> Option<EarlyPackets> {
        Some(EarlyPackets { reach: max_outstanding })
    }
}
