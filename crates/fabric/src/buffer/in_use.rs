//! The memory in use of a switch, added up from what its ports hold when a checkpoint is loaded.

use rocelab_state::{Result, unfit};

/// Bytes in use of each part of the memory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InUse {
    pub(super) shared: u64,
    pub(super) reserve: u64,
    pub(super) headroom: u64,
}

impl InUse {
    /// Counts `stored` bytes that are not in the headroom: up to `reserve` of them are in the
    /// reserve, the others in the shared part.
    pub(super) fn store(&mut self, stored: u32, reserve: u32) {
        let from_reserve = stored.min(reserve);
        self.reserve += u64::from(from_reserve);
        self.shared += u64::from(stored - from_reserve);
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.shared | self.reserve | self.headroom == 0
    }
}

/// Checks that no more than `limit` bytes of a part are in use.
pub(super) fn within(used: u64, limit: u32) -> Result<u32> {
    let used = u32::try_from(used).ok().filter(|&used| used <= limit);
    used.ok_or_else(|| unfit("more is stored than the switch has memory for"))
}

/// Checks a lossy priority: it has no headroom and pauses nobody, so a pause would never end.
pub(super) fn check_lossy(headroom_used: u32, paused: bool) -> Result {
    if headroom_used != 0 || paused {
        return Err(unfit("a priority is paused that is lossy"));
    }
    Ok(())
}
