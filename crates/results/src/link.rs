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
        /// Rate, where no `link-rate` failure lowers it.
        rate_bps: u64 => "bit/s";
        /// Frames sent, of all kinds.
        frames: u64 => "frames";
        /// Their bytes.
        bytes: u64 => "bytes";
        /// Share of the run in which the link was sending, with preamble and gap: of what it could carry at
        /// the rates that it had; of a frame that is being sent when the run ends, the part before that.
        utilisation: Millionths => "ratio";
        /// Time in which the sending port was paused, added up over priorities.
        paused_ps: u64 => "ps";
        /// Most that one queue ever had waiting at the sending port.
        max_queue_bytes: u64 => "bytes";
        /// Frames marked CE on their way into the sending port's queues.
        ecn_marks: u64 => "frames";
    }
}
