//! A NIC's cache of address translations, and where payload lands.

use std::collections::BTreeMap;

use rocelab_fabric::NodeId;
use rocelab_transport::Packet;
use rocelab_units::Duration;

use super::mix;
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
    /// By queue pair: the PSN of the first packet of the message that arrives.
    messages: BTreeMap<u32, u32>,
}

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
        let opcode = packet.opcode();
        if opcode.is_first() || opcode.is_only() {
            self.messages.insert(packet.dest_qp(), packet.psn());
        }
        let first = self.messages.get(&packet.dest_qp()).copied().unwrap_or_else(|| packet.psn());
        let chunk = self.config.chunk.get();
        let packets_a_chunk = (chunk / self.path_mtu).max(1);
        let number = u64::from(packet.psn().wrapping_sub(first) & 0x00ff_ffff);
        let (piece, within) = (number / packets_a_chunk, number % packets_a_chunk);
        let name = u64::from(packet.dest_qp()) << 32 ^ u64::from(first);
        let place = mix(mix(self.seed ^ name) ^ piece) % (self.config.memory.get() / chunk);
        place * chunk + within * self.path_mtu
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
