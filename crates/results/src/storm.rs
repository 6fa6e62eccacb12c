//! Storms of pauses that the watchdogs of switches detect.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::column::words;
use crate::declaration::record;

record! {
    /// A row of `storms.csv`: a watchdog took an egress queue for one in a storm of pauses, or no longer,
    /// in order of time.
    pub struct StormRecord<'a> as "storms" in "storms.csv" {
        /// When.
        time_ps: u64 => "ps";
        /// The switch of the queue.
        node: Cow<'a, str>;
        /// Its port.
        port: u16;
        /// The priority that was paused for too long, 0 to 7.
        priority: u8;
        /// `detected` or `restored`.
        event: StormEvent;
        /// For `restored`: duration of the storm.
        duration_ps: Option<u64> => "ps";
    }
}

/// What a watchdog detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StormEvent {
    /// The queue has been paused for longer than the detection time.
    Detected,
    /// No pause has arrived for the restoration time.
    Restored,
}

impl StormEvent {
    /// The name in the file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Detected => "detected",
            Self::Restored => "restored",
        }
    }
}

words!(StormEvent);
