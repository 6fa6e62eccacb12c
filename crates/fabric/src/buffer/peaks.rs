//! The ingress side of a switch's memory as it can be looked at: what is held against its thresholds, and the most that
//! ever was.

use super::{Admission, BufferPolicy};

/// What an ingress port and priority holds in a switch's memory, and the limits that apply to it. All values in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// Held in the reserve and in the shared pool.
    pub stored: u32,
    /// Held in the headroom.
    pub headroom: u32,
    /// The headroom that is reserved for it; 0 for a lossy priority.
    pub headroom_limit: u32,
    /// XOFF and XON as they are now; none for a lossy priority.
    pub thresholds: Option<PauseThresholds>,
}

/// When an ingress priority asks its sender to pause, and when it lets it go on. Both limit [`Occupancy::stored`], in
/// bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseThresholds {
    /// A frame that would exceed this goes to the headroom, and the sender must pause.
    pub xoff: u64,
    /// With an empty headroom and at most this held, the sender may go on. With 0 it waits until nothing is held.
    pub xon: u64,
}

impl PauseThresholds {
    /// Of an ingress priority that may hold `threshold` bytes in the shared pool, in which `reachable` bytes are its own
    /// or free, beyond its `reserve`.
    pub(super) const fn new(threshold: u64, reachable: u64, reserve: u64, xon_offset: u64) -> Self {
        let within = if threshold < reachable { threshold } else { reachable };
        let xon = if threshold < xon_offset { 0 } else { threshold - xon_offset + reserve };
        Self { xoff: within + reserve, xon }
    }
}

impl Occupancy {
    /// Everything that is held, headroom included (bytes).
    pub const fn held(&self) -> u64 {
        self.stored as u64 + self.headroom as u64
    }
}

/// Parts of a switch's memory: what is in use of them, or how large they are. All values in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryParts {
    /// The shared pool.
    pub shared: u64,
    /// All headroom: the sum over ports and lossless priorities, or the pool that they share.
    pub headroom: u64,
}

/// The most that an ingress port and priority ever held. All amounts in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IngressPeak {
    /// The most that it held, headroom included.
    pub held: u64,
    /// XOFF at the first moment of that; 0 for a lossy priority.
    pub xoff: u64,
    /// The most that it held in its headroom.
    pub headroom: u32,
    /// How often it asked its sender to pause.
    pub pauses: u64,
    /// Frames that it had no room for.
    pub drops: u64,
    /// Of these, those that the headroom had no room for.
    pub headroom_drops: u64,
}

rocelab_state::state!(IngressPeak { values: held, xoff, headroom, pauses, drops, headroom_drops });

/// The most that was ever in use of a switch's memory: looked at after each frame that was stored, so that no peak between
/// two samples is missed.
#[derive(Clone, Debug, Default)]
pub struct Peaks {
    /// By ingress port x 8 + priority.
    ingress: Vec<IngressPeak>,
    stored: u64,
    shared: u64,
    headroom: u64,
}

rocelab_state::state!(Peaks { values: stored, shared, headroom; states: ingress });

impl Peaks {
    /// Of a switch with so many ports, which has held nothing.
    pub fn new(ports: usize) -> Self {
        Self { ingress: vec![IngressPeak::default(); ports * 8], ..Self::default() }
    }

    /// Number of ports of the switch.
    pub fn ports(&self) -> u16 {
        u16::try_from(self.ingress.len() / 8).unwrap_or(u16::MAX)
    }

    /// Of an ingress port and priority.
    pub fn of(&self, ingress: u16, priority: u8) -> IngressPeak {
        self.ingress.get(place(ingress, priority)).copied().unwrap_or_default()
    }

    /// The most that was in use of the whole memory (bytes).
    pub const fn stored(&self) -> u64 {
        self.stored
    }

    /// The most that was in use of each part, each at its own time.
    pub const fn parts(&self) -> MemoryParts {
        MemoryParts { shared: self.shared, headroom: self.headroom }
    }

    /// Takes account of a frame that `memory` has just decided about.
    pub(super) fn note(
        &mut self,
        memory: &impl BufferPolicy,
        (ingress, priority): (u16, u8),
        admission: Admission,
    ) {
        let Some(peak) = self.ingress.get_mut(place(ingress, priority)) else { return };
        let pauses = matches!(admission, Admission::StoredAndPause | Admission::DroppedAndPause(_));
        peak.pauses += u64::from(pauses);
        if !admission.is_stored() {
            peak.drops += 1;
            peak.headroom_drops += u64::from(admission.exceeds_headroom());
            return;
        }
        let now = memory.occupancy(ingress, priority);
        peak.headroom = peak.headroom.max(now.headroom);
        if now.held() > peak.held {
            peak.held = now.held();
            peak.xoff = now.thresholds.map_or(0, |thresholds| thresholds.xoff);
        }
        self.stored = self.stored.max(memory.stored());
        let now = memory.in_use();
        self.shared = self.shared.max(now.shared);
        self.headroom = self.headroom.max(now.headroom);
    }
}

fn place(ingress: u16, priority: u8) -> usize {
    usize::from(ingress) * 8 + usize::from(priority)
}
