//! What single links do otherwise.

use std::collections::BTreeMap;

/// The links that differ from all others, by their place in the topology.
pub type LinkPlans = BTreeMap<u32, LinkPlan>;

/// What a link does otherwise, in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkPlan {
    /// The largest frame that its ends take, FCS included (bytes).
    pub largest_frame: Option<u32>,
    /// The probability that one bit changes on its way, above 0.
    pub bit_error_rate: Option<f64>,
}
