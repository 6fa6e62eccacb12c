//! Dropped frames.

use std::borrow::Cow;

use crate::declaration::record;

record! {
    /// A row of `drops.csv`: one frame that a node dropped, in order of time.
    pub struct DropRecord<'a> as "drops" in "drops.csv" {
        /// When.
        time_ps: u64 => "ps";
        /// The node that dropped it.
        node: Cow<'a, str>;
        /// The port by which it came in.
        ingress_port: u16;
        /// The port by which it would have left; empty if none was chosen.
        egress_port: Option<u16>;
        /// Priority, 0 to 7.
        priority: u8;
        /// Length of the frame with its FCS.
        frame_bytes: u32 => "bytes";
        /// The reason, a key of `drops` in `summary.json`.
        reason: Cow<'a, str>;
        /// The condition that failed, with its numbers: `headroom in use 20480 + frame 1078 >
        /// headroom 20480`; for the reason `fault`, the rule's name; empty if there was no such
        /// condition.
        inequality: Cow<'a, str> => "bytes";
    }
}
