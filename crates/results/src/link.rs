//! Links.

use std::borrow::Cow;

use crate::Millionths;
use crate::declaration::record;

record! {
    /// A row of `links.csv`: one direction of one link over the whole run.
    pub struct LinkRecord<'a> as "links" in "links.csv" {
        /// Sending node.
        from: Cow<'a, str>;
        /// Its port.
        from_port: u16;
        /// Receiving node.
        to: Cow<'a, str>;
        /// Its port.
        to_port: u16;
        /// Rate, without `link-rate` failures.
        rate_bps: u64 => "bit/s";
        /// Frames sent, of all kinds.
        frames: u64 => "frames";
        /// Bytes of these frames.
        bytes: u64 => "bytes";
        /// Share of the run, or of the measuring window, in which the link was sending, with preamble
        /// and gap, relative to its capacity at the rates that it had; of a frame that is being sent when the run ends, only
        /// the part before the end.
        utilisation: Millionths => "ratio";
        /// Time in which the sending port was paused, summed over priorities; on InfiniBand, in which lanes had a packet and no
        /// credits for it.
        paused_ps: u64 => "ps";
        /// Largest number of bytes that ever waited in one queue of the sending port.
        max_queue_bytes: u64 => "bytes";
        /// Frames marked CE on their way into the sending port's queues; on InfiniBand, packets in which it set FECN.
        ecn_marks: u64 => "frames";
    }
}
