//! Sampled marks, utilisation and rates: files in the folder `samples`.

use std::borrow::Cow;

use crate::Millionths;
use crate::declaration::record;

record! {
    /// A row of `samples/marks.csv`: a port that marked frames since the previous sample.
    pub struct MarkSample<'a> as "marks" in "samples/marks.csv" and "samples/marks.parquet" {
        /// End of the interval.
        time_ps: u64 => "ps";
        /// The node of the port.
        node: Cow<'a, str>;
        /// The port.
        port: u16;
        /// Frames marked CE on their way into its queues, in the interval.
        marks: u64 => "frames";
    }
}

record! {
    /// A row of `samples/utilisation.csv`: a port that sent frames since the previous sample.
    pub struct UtilisationSample<'a> as "utilisation" in "samples/utilisation.csv" and "samples/utilisation.parquet" {
        /// End of the interval.
        time_ps: u64 => "ps";
        /// The sending node.
        node: Cow<'a, str>;
        /// The port that sends.
        port: u16;
        /// Its sending rate in the interval, preamble and gap included, rounded down. A frame counts when
        /// it starts.
        rate_bps: u64 => "bit/s";
        /// This rate divided by the link's rate (the mean over the interval if a `link-rate`
        /// failure changes it). It may exceed 1 by one frame, for the same reason.
        utilisation: Millionths => "ratio";
    }
}

record! {
    /// A row of `samples/ingress.csv`: what an ingress port and priority of a switch holds in its memory. Frames count
    /// in whole cells, if the memory has any.
    pub struct IngressSample<'a> as "ingress" in "samples/ingress.csv" and "samples/ingress.parquet" {
        /// When.
        time_ps: u64 => "ps";
        /// The switch.
        node: Cow<'a, str>;
        /// The ingress port.
        port: u16;
        /// Priority, 0 to 7.
        priority: u8;
        /// Bytes that it holds, headroom included.
        held_bytes: u64 => "bytes";
        /// XOFF at that time: a frame that would exceed it outside the headroom goes to the headroom, and the sender
        /// must pause. Empty for a lossy priority.
        xoff_bytes: Option<u64> => "bytes";
        /// XON at that time: with an empty headroom and no more than this, the sender may go on; 0 if it must
        /// hold nothing. Empty for a lossy priority.
        xon_bytes: Option<u64> => "bytes";
        /// Bytes of these that are in its headroom.
        headroom_bytes: u64 => "bytes";
        /// The headroom that is reserved for it; 0 for a lossy priority.
        headroom_limit_bytes: u64 => "bytes";
    }
}

record! {
    /// A row of `samples/memory.csv`: how much of a switch's memory is in use.
    pub struct MemorySample<'a> as "memory" in "samples/memory.csv" and "samples/memory.parquet" {
        /// When.
        time_ps: u64 => "ps";
        /// The switch.
        node: Cow<'a, str>;
        /// Bytes in use of the whole memory.
        held_bytes: u64 => "bytes";
        /// Bytes in use of the shared pool.
        shared_bytes: u64 => "bytes";
        /// The size of the shared pool.
        shared_limit_bytes: u64 => "bytes";
        /// Bytes in use of all headroom.
        headroom_bytes: u64 => "bytes";
        /// All headroom: the sum over ports and lossless priorities, or the `headroom_pool`.
        headroom_limit_bytes: u64 => "bytes";
    }
}

record! {
    /// A row of `samples/flows.csv`: a flow that was open at a sampling time, at its source; or an end of a flow at which
    /// CNPs or packets out of order arrived since the previous sample.
    pub struct FlowSample<'a> as "flow-samples" in "samples/flows.csv" and "samples/flows.parquet" {
        /// When; for `cnps` and `out_of_order`, the end of the interval.
        time_ps: u64 => "ps";
        /// Number of the flow.
        flow: u64;
        /// Its source, or its destination.
        node: Cow<'a, str>;
        /// The port of that host.
        port: u16;
        /// Priority, 0 to 7.
        priority: u8;
        /// At the source: the last round trip that was measured.
        rtt_ps: Option<u64> => "ps";
        /// At the source: unacknowledged payload that its congestion control allows; empty without a limit.
        window_bytes: Option<u64> => "bytes";
        /// At the source: payload that is sent and not acknowledged.
        in_flight_bytes: Option<u64> => "bytes";
        /// At the source: the congestion control's estimate of congestion.
        alpha: Option<Millionths> => "ratio";
        /// CNPs that arrived there in the interval.
        cnps: u64 => "frames";
        /// Data packets that arrived there out of order in the interval.
        out_of_order: u64 => "packets";
    }
}

record! {
    /// A row of `samples/rates.csv`: a flow that was open at a sampling time, at its source; or a flow
    /// whose payload arrived since the previous sample, at the receiving host. A READ is received at
    /// its source.
    pub struct RateSample<'a> as "rates" in "samples/rates.csv" and "samples/rates.parquet" {
        /// When; for `goodput_bps`, the end of the interval.
        time_ps: u64 => "ps";
        /// Number of the flow.
        flow: u64;
        /// Its source, or the host that receives the payload.
        node: Cow<'a, str>;
        /// The port of that host.
        port: u16;
        /// Priority, 0 to 7.
        priority: u8;
        /// At the source: the rate that its congestion control allows at that time, preamble and gap
        /// included; otherwise empty, and for a `read`, which the destination paces.
        rate_bps: Option<u64> => "bit/s";
        /// At the source: unacknowledged payload that its congestion control allows at that time;
        /// empty if it sets no limit, and in rows without `rate_bps`.
        window_bytes: Option<u64> => "bytes";
        /// At the receiver: payload that it accepted in the interval, [each byte once](#goodput),
        /// rounded down; otherwise empty. A packet counts when it ends. So the sum over the rows of
        /// a host is at most its link's rate and one packet more; with go-back-0, which counts
        /// whole messages, it may be larger.
        goodput_bps: Option<u64> => "bit/s";
    }
}
