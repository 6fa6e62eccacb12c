//! Sampled queues.

use std::borrow::Cow;

use crate::declaration::record;

record! {
    /// A row of `queues.csv`: one egress queue that was not empty at a sampling time.
    pub struct QueueSample<'a> as "queues" in "queues.csv" and "queues.parquet" {
        /// When.
        time_ps: u64 => "ps";
        /// The node of the queue.
        node: Cow<'a, str>;
        /// Its egress port.
        port: u16;
        /// Number of the egress queue: the number of its priority, unless `switch.queue_of` says
        /// otherwise.
        priority: u8;
        /// Bytes that wait, with the FCS of the frames.
        queue_bytes: u64 => "bytes";
    }
}
