//! What hosts ask their switches to pause: in storms of their NICs, and as slow receivers whose
//! memory is full.
//!
//! A pause is asked for as long as there is any reason, and no longer.

use rocelab_engine::EventKey;
use rocelab_fabric::NodeId;

use super::{Host, Network, PauseRequest, Record, RecordKind, Role};
use crate::profile::Profile;
use rocelab_state::{BorshDeserialize, BorshSerialize};

/// The pause storms of one NIC that have begun and not ended.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub(super) struct Storms {
    /// How many there are; with any, it handles nothing that arrives.
    count: u32,
    /// By priority: how many of them ask for its pause.
    pausing: [u32; 8],
}

impl Storms {
    /// Bit p: priority p is to pause.
    fn mask(&self) -> u8 {
        priorities(0xff)
            .filter(|&priority| self.pausing[usize::from(priority)] > 0)
            .fold(0, |mask, priority| mask | 1 << priority)
    }

    fn mute(&mut self, mask: u8) {
        for priority in priorities(mask) {
            self.pausing[usize::from(priority)] -= 1;
        }
    }
}

/// The priorities of a mask (bit p).
fn priorities(mask: u8) -> impl Iterator<Item = u8> {
    (0..8).filter(move |priority| mask & 1 << priority != 0)
}

impl<P: Profile> Network<P> {
    /// Whether the NIC of a host that is here asks for pauses in a storm.
    pub(crate) fn is_in_storm(&self, node: NodeId) -> bool {
        let Role::Host(host) = self.nodes[node as usize].role else { return false };
        self.outages.storms.get(&host).is_some_and(|storms| storms.mask() != 0)
    }

    /// A NIC handles nothing any more, and asks for pauses of the priorities of `mask`.
    pub(super) fn begin_storm(&mut self, key: EventKey, node: NodeId, mask: u8) {
        let Role::Host(host) = self.nodes[node as usize].role else { return };
        let storms = self.outages.storms.entry(host).or_default();
        storms.count += 1;
        for priority in priorities(mask) {
            storms.pausing[usize::from(priority)] += 1;
        }
        self.hosts[host as usize].stopped = true;
        self.ask_for_pauses(key, host);
    }

    /// A storm of a NIC asks for pauses of the priorities of `mask` no longer, and goes on.
    pub(super) fn mute_storm(&mut self, key: EventKey, node: NodeId, mask: u8) {
        let Role::Host(host) = self.nodes[node as usize].role else { return };
        self.outages.storms.entry(host).or_default().mute(mask);
        self.ask_for_pauses(key, host);
    }

    /// A storm of a NIC that still asked for pauses of the priorities of `mask` is over.
    pub(super) fn end_storm(&mut self, key: EventKey, node: NodeId, mask: u8) {
        let Role::Host(host) = self.nodes[node as usize].role else { return };
        let storms = self.outages.storms.entry(host).or_default();
        storms.count -= 1;
        storms.mute(mask);
        self.hosts[host as usize].stopped = storms.count > 0;
        self.ask_for_pauses(key, host);
        self.go_on_handling(key, host);
    }

    /// A host tells its switch what is to pause now and was not, and what no longer.
    pub(super) fn ask_for_pauses(&mut self, key: EventKey, host: u32) {
        let by_storms = self.outages.storms.get(&host).map_or(0, Storms::mask);
        let by_receiver = self.receivers.get(&host).map_or(0, super::receiver::Receiver::pausing);
        let Host { node, port, .. } = self.hosts[host as usize];
        let (before, wanted) = (self.ports[port as usize].port.pausing(), by_storms | by_receiver);
        for priority in priorities(wanted & !before) {
            let request = PauseRequest { node, port: 0, priority, egress: None, egress_paused: 0 };
            self.records.keep(node, Record { key, kind: RecordKind::PauseRequest(request) });
            self.ports[port as usize].port.request_pause(priority);
        }
        for priority in priorities(before & !wanted) {
            self.ports[port as usize].port.request_resume(priority);
        }
        self.pump(key, port);
    }
}
