//! What is in use of a switch's memory, added up from what its ports hold.

use rocelab_state::{Result, unfit};

/// Bytes of memory by the part that they are taken from.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InUse {
    pub(super) shared: u64,
    pub(super) reserve: u64,
    pub(super) headroom: u64,
}

impl InUse {
    /// So much is stored beside headroom by one that has this `reserve`.
    pub(super) fn store(&mut self, stored: u32, reserve: u32) {
        let from_reserve = stored.min(reserve);
        self.reserve += u64::from(from_reserve);
        self.shared += u64::from(stored - from_reserve);
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.shared | self.reserve | self.headroom == 0
    }
}

/// What is in use of a part, which is no more than there is of it.
pub(super) fn within(used: u64, limit: u32) -> Result<u32> {
    let used = u32::try_from(used).ok().filter(|&used| used <= limit);
    used.ok_or_else(|| unfit("more is stored than the switch has memory for"))
}

/// A lossy priority has no headroom and pauses nobody: nothing would ever end a pause.
pub(super) fn check_lossy(headroom_used: u32, paused: bool) -> Result {
    if headroom_used != 0 || paused {
        return Err(unfit("a priority is paused that is lossy"));
    }
    Ok(())
}
