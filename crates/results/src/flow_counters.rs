//! What was counted of flows that were looked at closely.

use std::borrow::Cow;

use crate::declaration::record;

record! {
    /// A row of `flow_counters.csv`: what was counted of one flow, at both ends, in the order of flows. The file exists if
    /// the scenario has `[sample.flows]`. Counters are those of every packet, and not only of samples.
    pub struct FlowCountersRecord<'a> as "flow-counters" in "flow_counters.csv" {
        /// Number of the flow.
        flow: u64;
        /// Its source.
        source: Cow<'a, str>;
        /// Its destination.
        destination: Cow<'a, str>;
        /// CNPs that its ends sent.
        cnps_sent: u64 => "frames";
        /// CNPs that arrived at its ends.
        cnps_received: u64 => "frames";
        /// Congestion notification messages of switches (QCN) that arrived at its source.
        cnms_received: u64 => "frames";
        /// Data packets that arrived while an earlier one was missing; of an unreliable service, those with another PSN than the
        /// one that is due.
        out_of_order: u64 => "packets";
        /// Data packets that arrived again, as the receiver knows; empty for an unreliable service, which cannot tell.
        duplicates: Option<u64> => "packets";
        /// Packets whose round trip was measured.
        rtt_samples: u64 => "packets";
        /// The shortest round trip; empty without any.
        rtt_min_ps: Option<u64> => "ps";
        /// The mean of the round trips, rounded down; empty without any.
        rtt_mean_ps: Option<u64> => "ps";
        /// The longest round trip; empty without any.
        rtt_max_ps: Option<u64> => "ps";
        /// The most payload that was sent and not acknowledged at one time; of a READ, that was asked for and had not come. Empty for an
        /// unreliable service.
        max_in_flight_bytes: Option<u64> => "bytes";
    }
}
