//! Whether a priority exists.

use crate::scenario::{Fault, ensure};

/// Refuses priorities beyond the eight of IEEE 802.1Q; `key` is the absolute key of the value.
pub(super) fn check_priority(key: &str, priority: u8) -> Result<(), Fault> {
    ensure(priority <= 7, || {
        Fault::at(key, format!("priority {priority} does not exist"))
            .value(priority)
            .help("use a priority from 0 to 7")
    })
}
