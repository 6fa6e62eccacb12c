//! What is counted in every run.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use rocelab_fabric::MacEntries;
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::Duration;
use rocelab_wire::Opcode;

/// Link traversals by kind: one frame over one link each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Traversals {
    /// RDMA requests, read responses, and TCP segments with payload.
    pub data: u64,
    /// ACKs and NAKs, and TCP segments without payload.
    pub ack: u64,
    /// CNPs, CNMs and PFC frames.
    pub control: u64,
}

impl AddAssign for Traversals {
    fn add_assign(&mut self, other: Self) {
        let Self { data, ack, control } = other;
        self.data += data;
        self.ack += ack;
        self.control += control;
    }
}

impl Traversals {
    /// Those of one kind.
    #[inline(always)]
    pub(crate) fn of_mut(&mut self, kind: TrafficKind) -> &mut u64 {
        match kind {
            TrafficKind::Data => &mut self.data,
            TrafficKind::Ack => &mut self.ack,
            TrafficKind::Control => &mut self.control,
        }
    }

    /// All kinds.
    pub fn total(&self) -> u64 {
        self.data + self.ack + self.control
    }
}

/// What a traversal is counted as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrafficKind {
    /// Payload, or a request for it.
    Data,
    /// An acknowledgement, positive or negative.
    Ack,
    /// Flow and congestion control.
    Control,
}

impl TrafficKind {
    #[inline]
    pub(crate) fn of(opcode: Opcode) -> Self {
        match opcode {
            Opcode::RcAcknowledge => Self::Ack,
            Opcode::Cn | Opcode::Cnp => Self::Control,
            _ => Self::Data,
        }
    }
}

/// What was done to find hosts: by switches that do not know every one, and by hosts that ask for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layer2Totals {
    /// Times that a switch sent a frame by all ports of its broadcast domain.
    pub floods: u64,
    /// Frames that came of that.
    pub flooded_frames: u64,
    /// MAC entries that switches learnt, and those that they found too old.
    pub mac_entries: MacEntries,
    /// Frames of ARP and Neighbour Discovery.
    pub neighbours: NeighbourTotals,
}

impl AddAssign for Layer2Totals {
    fn add_assign(&mut self, other: Self) {
        let Self { floods, flooded_frames, mac_entries, neighbours } = other;
        self.floods += floods;
        self.flooded_frames += flooded_frames;
        self.mac_entries.learnt += mac_entries.learnt;
        self.mac_entries.aged += mac_entries.aged;
        self.neighbours += neighbours;
    }
}

/// Frames of ARP and Neighbour Discovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct NeighbourTotals {
    /// Questions that hosts sent; a copy that a bridge makes is none of its own.
    pub solicitations: u64,
    /// Answers that hosts and routers sent.
    pub advertisements: u64,
}

impl AddAssign for NeighbourTotals {
    fn add_assign(&mut self, other: Self) {
        let Self { solicitations, advertisements } = other;
        self.solicitations += solicitations;
        self.advertisements += advertisements;
    }
}

/// What switches sent to notify hosts of congestion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwitchNotifications {
    /// Congestion notification messages (QCN).
    pub cnms: u64,
    /// Congestion notification packets.
    pub cnps: u64,
}

impl AddAssign for SwitchNotifications {
    fn add_assign(&mut self, other: Self) {
        let Self { cnms, cnps } = other;
        self.cnms += cnms;
        self.cnps += cnps;
    }
}

/// Sums over the whole network.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Frames over links.
    pub traversals: Traversals,
    /// Frames that hosts and switches put on their first link.
    pub frames_created: u64,
    /// Frames that ended at the port they were meant for.
    pub frames_delivered: u64,
    /// RDMA packets among them.
    pub packets_delivered: u64,
    /// Frames that were dropped.
    pub frames_dropped: u64,
    /// Dropped frames by cause.
    pub drops: BTreeMap<&'static str, u64>,
    /// Times that a running priority of a port was paused.
    pub pauses: u64,
    /// Times that a watchdog took a queue for one in a storm.
    pub storms: u64,
    /// Times that a paused priority of a port was resumed by a frame.
    pub resumes: u64,
    /// Time that transmitters were paused, summed over ports and priorities.
    pub paused_time: Duration,
    /// What switches sent to notify hosts of congestion.
    pub notifications: SwitchNotifications,
    /// What was done to find hosts: by switches that do not know every one, and by hosts that ask for them.
    pub layer2: Layer2Totals,
    /// Frames that switches added, as they sent one for a multicast group by several ports.
    pub multicast_copies: u64,
    /// Frames marked CE by switches.
    pub ecn_marks: u64,
    /// RDMA packets that hosts sent, by opcode.
    pub opcodes: BTreeMap<&'static str, u64>,
}

impl AddAssign for Totals {
    /// Adds what another part of the network counted.
    fn add_assign(&mut self, other: Self) {
        let Self {
            traversals,
            frames_created,
            frames_delivered,
            packets_delivered,
            frames_dropped,
            drops,
            pauses,
            storms,
            resumes,
            paused_time,
            notifications,
            layer2,
            multicast_copies,
            ecn_marks,
            opcodes,
        } = other;
        self.traversals += traversals;
        self.frames_created += frames_created;
        self.frames_delivered += frames_delivered;
        self.packets_delivered += packets_delivered;
        self.frames_dropped += frames_dropped;
        self.pauses += pauses;
        self.storms += storms;
        self.resumes += resumes;
        self.paused_time += paused_time;
        self.notifications += notifications;
        self.layer2 += layer2;
        self.multicast_copies += multicast_copies;
        self.ecn_marks += ecn_marks;
        for (cause, frames) in drops {
            *self.drops.entry(cause).or_default() += frames;
        }
        for (opcode, packets) in opcodes {
            *self.opcodes.entry(opcode).or_default() += packets;
        }
    }
}
