//! A NIC's cache of address translations, and where payload lands.

use std::collections::{BTreeMap, VecDeque};

use rocelab_engine::mix;
use rocelab_fabric::NodeId;
use rocelab_transport::Packet;
use rocelab_units::Duration;

use crate::Plan;
use crate::scenario::TranslationConfig;

/// The cache, least recently used first out, and the messages whose packets arrive.
#[derive(Debug)]
pub(super) struct Translations {
    config: TranslationConfig,
    path_mtu: u64,
    /// Where the places in memory start from.
    seed: u64,
    /// By page: when it was used last, in uses.
    pages: BTreeMap<u64, u64>,
    /// The same, by last use.
    uses: BTreeMap<u64, u64>,
    used: u64,
    misses: u64,
    /// By queue pair: the PSN of the first packet of each of the last messages, oldest first.
    messages: BTreeMap<u32, VecDeque<u32>>,
}

rocelab_state::state!(Translations {
    values: pages, uses, used, misses, messages;
    kept: config, path_mtu, seed
});

/// Messages of a queue pair whose places are known, as packets of them may come again.
const MESSAGES: usize = 16;

impl Translations {
    pub(super) fn new(config: &TranslationConfig, plan: &Plan, node: NodeId) -> Self {
        Self {
            config: config.clone(),
            path_mtu: plan.common_queue_pair().path_mtu.bytes().into(),
            seed: mix(plan.seed ^ u64::from(node) << 32),
            pages: BTreeMap::new(),
            uses: BTreeMap::new(),
            used: 0,
            misses: 0,
            messages: BTreeMap::new(),
        }
    }

    /// Translations that were needed.
    pub(super) fn used(&self) -> u64 {
        self.used
    }

    /// Those that had to be fetched.
    pub(super) fn misses(&self) -> u64 {
        self.misses
    }

    /// How long it takes to have the translations for a packet's payload.
    pub(super) fn fetch(&mut self, packet: &Packet) -> Duration {
        let len = u64::from(packet.payload_len());
        if len == 0 {
            return Duration::ZERO;
        }
        let address = self.address_of(packet);
        let page_size = self.config.page_size.get();
        let before = self.misses;
        for page in address / page_size..=(address + len - 1) / page_size {
            self.use_page(page);
        }
        self.config.miss * (self.misses - before)
    }

    /// Where a packet's payload lands: each piece of a message somewhere else, and always there.
    fn address_of(&mut self, packet: &Packet) -> u64 {
        let first = self.first_of(packet);
        let chunk = self.config.chunk.get();
        let packets_a_chunk = (chunk / self.path_mtu).max(1);
        let number = u64::from(packet.psn().wrapping_sub(first) & 0x00ff_ffff);
        let (piece, within) = (number / packets_a_chunk, number % packets_a_chunk);
        let name = u64::from(packet.dest_qp()) << 32 ^ u64::from(first);
        let place = mix(mix(self.seed ^ name) ^ piece) % (self.config.memory.get() / chunk);
        place * chunk + within * self.path_mtu
    }

    /// The PSN of the first packet of a packet's message: the last one known that is not behind it.
    fn first_of(&mut self, packet: &Packet) -> u32 {
        let (opcode, psn) = (packet.opcode(), packet.psn());
        let firsts = self.messages.entry(packet.dest_qp()).or_default();
        if (opcode.is_first() || opcode.is_only()) && !firsts.contains(&psn) {
            if firsts.len() == MESSAGES {
                firsts.pop_front();
            }
            firsts.push_back(psn);
        }
        let distance = |first: &u32| psn.wrapping_sub(*first) & 0x00ff_ffff;
        firsts.iter().copied().min_by_key(distance).unwrap_or(psn)
    }

    fn use_page(&mut self, page: u64) {
        self.used += 1;
        match self.pages.insert(page, self.used) {
            Some(last) => {
                self.uses.remove(&last);
            }
            None => self.misses += 1,
        }
        self.uses.insert(self.used, page);
        if self.pages.len() > self.config.entries as usize
            && let Some((_, oldest)) = self.uses.pop_first()
        {
            self.pages.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use rocelab_wire::Opcode;

    use super::*;

    fn translations() -> Translations {
        let config =
            TranslationConfig { chunk: rocelab_units::Bytes::new(4096), ..Default::default() };
        Translations {
            config,
            path_mtu: 1024,
            seed: 1,
            pages: BTreeMap::new(),
            uses: BTreeMap::new(),
            used: 0,
            misses: 0,
            messages: BTreeMap::new(),
        }
    }

    /// Packets of messages of 8 packets each, in the order of their PSNs, from PSN 2^24 - 8 on.
    fn packet(number: u32) -> Packet {
        let opcode = match number % 8 {
            0 => Opcode::RcSendFirst,
            7 => Opcode::RcSendLast,
            _ => Opcode::RcSendMiddle,
        };
        Packet::new(opcode, 17, number.wrapping_sub(8)).with_payload_len(1024)
    }

    #[test]
    fn what_is_sent_again_lands_where_it_was() {
        let mut translations = translations();
        let places: Vec<_> = (0..128).map(|n| translations.address_of(&packet(n))).collect();
        for number in (0..128).rev() {
            let again = translations.address_of(&packet(number));
            assert_eq!(again, places[number as usize], "packet {number}");
        }
        let pieces: std::collections::BTreeSet<_> = places.iter().map(|p| p / 4096).collect();
        assert!(pieces.len() > 24, "32 pieces, {} places", pieces.len());
    }

    #[test]
    fn no_more_messages_are_known_than_may_be() {
        let mut translations = translations();
        for number in 0..8 * 1000 {
            translations.address_of(&packet(number));
        }
        assert_eq!(translations.messages[&17].len(), MESSAGES);
    }
}
