//! What hosts ask their switches to pause: in storms of their NICs, and as slow receivers whose
//! memory is full.
//!
//! A pause is asked for as long as there is any reason, and no longer.

use rocelab_engine::EventKey;
use rocelab_fabric::{FlowControl, NodeId};

use super::core::Network;
use super::failure::{Storms, priorities};
use super::node::{Host, Role};
use super::pauses::PortPauses;
use crate::profile::Profile;
use crate::record::{PauseRequest, Record, RecordKind};

/// A network in which a host asks for pauses.
#[derive(Debug)]
pub(super) struct HostPauses<'a, P: Profile>(pub(in crate::network) &'a mut Network<P>);

impl<P: Profile> HostPauses<'_, P> {
    /// A NIC handles nothing any more, and asks for pauses of the priorities of `mask`.
    pub(super) fn begin_storm(&mut self, key: EventKey, node: NodeId, mask: u8) {
        let Role::Host(host) = self.0.nodes[node as usize].role else { return };
        let storms = self.0.failures.outages.storms.entry(host).or_default();
        storms.count += 1;
        for priority in priorities(mask) {
            storms.pausing[usize::from(priority)] += 1;
        }
        self.0.hosts[host as usize].stopped = true;
        self.ask_for_pauses(key, host);
    }

    /// A storm of a NIC asks for pauses of the priorities of `mask` no longer, and goes on.
    pub(super) fn mute_storm(&mut self, key: EventKey, node: NodeId, mask: u8) {
        let Role::Host(host) = self.0.nodes[node as usize].role else { return };
        self.0.failures.outages.storms.entry(host).or_default().mute(mask);
        self.ask_for_pauses(key, host);
    }

    /// A storm of a NIC that still asked for pauses of the priorities of `mask` is over.
    pub(super) fn end_storm(&mut self, key: EventKey, node: NodeId, mask: u8) {
        let Role::Host(host) = self.0.nodes[node as usize].role else { return };
        let storms = self.0.failures.outages.storms.entry(host).or_default();
        storms.count -= 1;
        storms.mute(mask);
        self.0.hosts[host as usize].stopped = storms.count > 0;
        self.ask_for_pauses(key, host);
    }

    /// A host tells its switch what is to pause now and was not, and what no longer.
    pub(super) fn ask_for_pauses(&mut self, key: EventKey, host: u32) {
        let by_storms = self.0.failures.outages.storms.get(&host).map_or(0, Storms::mask);
        let arrivals = &self.0.features.arrivals;
        let by_receiver = arrivals.receiver(host).map_or(0, super::receiver::Receiver::pausing)
            | arrivals.reception(host).map_or(0, super::reception::Reception::pausing);
        let Host { node, port, .. } = self.0.hosts[host as usize];
        let (before, wanted) =
            (self.0.ports[port as usize].port.flow_control().pausing(), by_storms | by_receiver);
        for priority in priorities(wanted & !before) {
            let holds = self.0.ports[port as usize].port.held_by(priority);
            let (egress, egress_paused) = (None, 0);
            let request = PauseRequest { node, port: 0, priority, holds, egress, egress_paused };
            self.0
                .course
                .records
                .keep(node, Record { key, kind: RecordKind::PauseRequest(request) });
            self.0.ports[port as usize].port.request_pause(priority);
        }
        for priority in priorities(before & !wanted) {
            PortPauses(self.0).note_withdrawal(key, port, priority);
            self.0.ports[port as usize].port.request_resume(priority);
        }
        self.0.pump(key, port);
    }
}
