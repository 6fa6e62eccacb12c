//! Dropped frames.

use std::borrow::Cow;

use crate::declaration::record;

record! {
    /// A row of `drops.csv`: one frame that a node dropped, in order of time.
    pub struct DropRecord<'a> as "drops" in "drops.csv" {
        /// When.
        time_ps: u64 => "ps";
        /// Who dropped it.
        node: Cow<'a, str>;
        /// The port where it came in.
        ingress_port: u16;
        /// The port where it would have gone out; empty where none was chosen.
        egress_port: Option<u16>;
        /// Priority, 0 to 7.
        priority: u8;
        /// The frame with its FCS.
        frame_bytes: u32 => "bytes";
        /// The name that `summary.json` counts under.
        reason: Cow<'a, str>;
        /// The condition that failed, with its numbers: `headroom in use 20480 + frame 1078 > headroom 20480`;
        /// of the reason `fault`, the rule's name; empty where none decided.
        inequality: Cow<'a, str> => "bytes";
    }
}
