//! Memory of switches.

use std::borrow::Cow;

use crate::declaration::record;

record! {
    /// A row of `switches.csv`: the most that an ingress port and priority of a switch ever held in its memory, or, in
    /// the first row of each switch, the most that was ever in use of all. The file exists if the scenario has
    /// `[sample.ingress]`. Peaks are those of every moment, and not only of samples.
    pub struct SwitchRecord<'a> as "switches" in "switches.csv" {
        /// The switch.
        switch: Cow<'a, str>;
        /// The ingress port; empty in the row of the whole switch.
        port: Option<u16>;
        /// Priority, 0 to 7; empty in the row of the whole switch.
        priority: Option<u8>;
        /// The most that was held at one time, headroom included.
        peak_bytes: u64 => "bytes";
        /// XOFF at the moment of this peak; empty for a lossy priority, and for the whole switch.
        xoff_bytes: Option<u64> => "bytes";
        /// Headroom that is reserved; empty for a lossy priority.
        headroom_bytes: Option<u64> => "bytes";
        /// The most that was in use of it at one time; empty for a lossy priority.
        peak_headroom_bytes: Option<u64> => "bytes";
        /// Size of the shared pool; only for the whole switch.
        shared_bytes: Option<u64> => "bytes";
        /// The most that was in use of it at one time; only for the whole switch.
        peak_shared_bytes: Option<u64> => "bytes";
        /// How often the sender was asked to pause.
        pauses: u64;
        /// Frames that the memory had no room for.
        drops: u64 => "frames";
        /// Of these, those that the headroom had no room for.
        headroom_drops: u64 => "frames";
    }
}

impl SwitchRecord<'_> {
    /// `leaf-0:3 p3`, or `leaf-0` for the whole switch.
    #[must_use]
    pub fn place(&self) -> String {
        match (self.port, self.priority) {
            (Some(port), Some(priority)) => format!("{}:{port} p{priority}", self.switch),
            _ => self.switch.to_string(),
        }
    }
}
