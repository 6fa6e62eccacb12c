//! Virtual lane arbitration of an InfiniBand port (IBTA 7.6.9): two lists of lanes with weights, of which one goes first.

use rocelab_state::{BorshDeserialize, BorshSerialize};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::flow_control::blocks_of;

/// Blocks of 64 bytes in the unit of 4096 bytes that [`high_limit`](VlArbitration::high_limit) counts in.
const LIMIT_UNIT: u32 = 64;

/// The tables of a port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VlArbitration {
    /// The list that goes first: lanes (0 to 7) with their weights.
    pub high: Vec<VlWeight>,
    /// The list that goes where the first has nothing to send, or has sent as much as it may.
    pub low: Vec<VlWeight>,
    /// What the high list may send before the low list has its turn, in units of 4096 bytes; 0 for one packet, 255 for
    /// no limit.
    pub high_limit: u8,
}

/// An entry of a list: a lane (0 to 7), and what it may send in its turn, in units of 64 bytes (0 to 255; 0 skips the
/// entry).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VlWeight(pub u8, pub u8);

impl Default for VlArbitration {
    /// That of OpenSM: lane 0 goes first, and all others share what is left.
    fn default() -> Self {
        let others = (1..8).map(|lane| VlWeight(lane, 4));
        Self { high: vec![VlWeight(0, 4)], low: others.collect(), high_limit: 0 }
    }
}

impl VlArbitration {
    /// Bit v: lane v has a turn in one of the lists.
    pub fn lanes(&self) -> u8 {
        let all = self.high.iter().chain(&self.low).filter(|VlWeight(_, weight)| *weight > 0);
        all.fold(0, |lanes, VlWeight(lane, _)| {
            lanes | 1_u8.checked_shl((*lane).into()).unwrap_or(0)
        })
    }
}

/// Where a list is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
struct Turn {
    /// The present entry.
    entry: u8,
    /// Blocks that its lane may still send; what is overdrawn is forgotten.
    left: u32,
}

/// The arbiter of one port.
#[derive(Clone, Debug)]
pub struct VlArbiter {
    tables: VlArbitration,
    high: Turn,
    low: Turn,
    /// Blocks that the high list has sent since the low list had its turn.
    high_sent: u32,
}

rocelab_state::state!(VlArbiter { values: high, low, high_sent; kept: tables });

impl VlArbiter {
    /// Before the first packet.
    pub fn new(tables: &VlArbitration) -> Self {
        Self { tables: tables.clone(), high: Turn::default(), low: Turn::default(), high_sent: 0 }
    }

    /// The lane that sends next, of those that are `eligible` (bit v, at least one); `head_len` gives the length of a
    /// lane's first frame, delimiters included. Lanes that stand in no list come last.
    pub(crate) fn select(&mut self, eligible: u8, head_len: impl Fn(u8) -> u32) -> u8 {
        let may_send = |list: &[VlWeight]| {
            list.iter().any(|&VlWeight(lane, weight)| weight > 0 && is_in(eligible, lane))
        };
        let (high, low) = (may_send(&self.tables.high), may_send(&self.tables.low));
        let limit = match self.tables.high_limit {
            u8::MAX => u32::MAX,
            units => (u32::from(units) * LIMIT_UNIT).max(1),
        };
        if high && (!low || self.high_sent < limit) {
            let lane = self.high.next(&self.tables.high, eligible, &head_len);
            let sent =
                if low { self.high_sent.saturating_add(blocks_of(head_len(lane))) } else { 0 };
            self.high_sent = sent;
            return lane;
        }
        self.high_sent = 0;
        if low {
            return self.low.next(&self.tables.low, eligible, &head_len);
        }
        let [lane, ..] = eligible.trailing_zeros().to_le_bytes();
        lane
    }
}

impl Turn {
    /// The next lane of a list in which some lane is eligible.
    fn next(&mut self, list: &[VlWeight], eligible: u8, head_len: impl Fn(u8) -> u32) -> u8 {
        let may_send = |entry: u8| {
            let VlWeight(lane, weight) = list[usize::from(entry)];
            weight > 0 && is_in(eligible, lane)
        };
        let [entries, ..] = list.len().to_le_bytes();
        if self.left == 0 || self.entry >= entries || !may_send(self.entry) {
            let from = if self.entry < entries { self.entry } else { 0 };
            let round = (1..=entries).map(|step| (from + step) % entries);
            self.entry = round.into_iter().find(|&entry| may_send(entry)).unwrap_or(0);
            self.left = list[usize::from(self.entry)].1.into();
        }
        let VlWeight(lane, _) = list[usize::from(self.entry)];
        self.left = self.left.saturating_sub(blocks_of(head_len(lane)));
        lane
    }
}

fn is_in(lanes: u8, lane: u8) -> bool {
    lane < 8 && lanes & 1 << lane != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames that each lane sends in so many turns, all lanes always having frames of a length.
    fn sent(
        tables: &VlArbitration,
        eligible: u8,
        len: impl Fn(u8) -> u32,
        turns: usize,
    ) -> [u32; 8] {
        let mut arbiter = VlArbiter::new(tables);
        let mut sent = [0; 8];
        for _ in 0..turns {
            sent[usize::from(arbiter.select(eligible, &len))] += 1;
        }
        sent
    }

    fn tables(high: &[(u8, u8)], low: &[(u8, u8)], high_limit: u8) -> VlArbitration {
        let list = |entries: &[(u8, u8)]| entries.iter().map(|&(v, w)| VlWeight(v, w)).collect();
        VlArbitration { high: list(high), low: list(low), high_limit }
    }

    #[test]
    fn weights_are_blocks_of_64_bytes() {
        // Packets of one block each.
        let tables = tables(&[], &[(0, 6), (1, 2), (2, 0)], 0);
        assert_eq!(sent(&tables, 0b11, |_| 32, 800)[..2], [600, 200]);
        // A turn ends when the weight is used up, and may overshoot: of packets of four blocks two, and one.
        assert_eq!(sent(&tables, 0b11, |_| 258, 300)[..2], [200, 100]);
    }

    #[test]
    fn the_high_list_goes_first_up_to_its_limit() {
        let of_limit = |limit| sent(&tables(&[(0, 4)], &[(1, 4)], limit), 0b11, |_| 4124, 6_500);
        assert_eq!(of_limit(u8::MAX)[..2], [6_500, 0]);
        assert_eq!(of_limit(0)[..2], [3_250, 3_250], "one packet");
        // 4096 x 10 bytes are 640 blocks: ten packets of 65 blocks, and one of the low list.
        assert_eq!(of_limit(10)[..2], [5_910, 590]);
        assert_eq!(sent(&tables(&[(0, 4)], &[(1, 4)], 0), 0b01, |_| 4124, 9)[0], 9);
    }

    #[test]
    fn a_lane_in_no_list_is_last() {
        let tables = tables(&[(3, 1)], &[(4, 1)], 0);
        assert_eq!(sent(&tables, 0b1000_0000, |_| 32, 5)[7], 5);
        assert_eq!(sent(&tables, 0b1001_0000, |_| 32, 5)[4], 5);
        assert_eq!(tables.lanes(), 0b1_1000);
    }

    #[test]
    fn by_default_every_lane_has_a_turn() {
        assert_eq!(VlArbitration::default().lanes(), 0xff);
    }
}
