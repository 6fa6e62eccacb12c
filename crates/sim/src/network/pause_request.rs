//! A switch asks the sender behind one of its ports to pause, and notes because of which queue.

use std::cmp::Reverse;

use rocelab_engine::EventKey;
use rocelab_fabric::{BufferPolicy, NodeId};

use super::{Network, NetworkPort, PauseRequest, Record, RecordKind, Role};
use crate::profile::{Profile, Shared};

impl<P: Profile> Network<P> {
    /// Makes the sender behind a switch's ingress port pause. The frame that crossed the threshold is
    /// to leave by port number `crossing`.
    #[cold]
    #[inline(never)] // What it looks through is no part of a frame's way.
    pub(super) fn pause_sender(
        &mut self,
        key: EventKey,
        receiving: u32,
        crossing: u16,
        priority: u8,
    ) {
        let egress = self.fullest_egress(receiving, priority, Some(crossing));
        self.note_request(key, receiving, priority, egress);
        self.shared.on_flow_control();
        self.ports[receiving as usize].port.request_pause(priority);
        self.pump(key, receiving);
    }

    /// A port asks for pauses (bit p) again, which have ended because its link was down: notes because
    /// of which queues a switch does so now. Where nothing waits any more, what was noted first stays;
    /// and hosts always have the same reason.
    #[cold]
    pub(super) fn note_repeated_pauses(&mut self, key: EventKey, receiving: u32, repeated: u8) {
        for priority in (0..8).filter(|priority| repeated & 1 << priority != 0) {
            let egress = self.fullest_egress(receiving, priority, None);
            if egress.is_some() {
                self.note_request(key, receiving, priority, egress);
            }
        }
    }

    /// Notes that a switch's port asks for a pause because of what waits for `egress`.
    fn note_request(&mut self, key: EventKey, receiving: u32, priority: u8, egress: Option<u16>) {
        let NetworkPort { node, number: port, .. } = self.ports[receiving as usize];
        let first = self.nodes[node as usize].first_port;
        let pauses_of = |egress: u16| {
            let out = first + u32::from(egress);
            self.ports[out as usize].port.pauses_of(priority)
        };
        let egress_paused = egress.map_or(0, pauses_of);
        let request = PauseRequest { node, port, priority, egress, egress_paused };
        self.records.keep(node, Record { key, kind: RecordKind::PauseRequest(request) });
    }

    /// The number of the egress port that most of the memory waits for which frames hold that came in
    /// by a port in a priority: they are why its threshold was crossed, whatever the frame did. Of
    /// equals a paused one, then the lowest. If they hold nothing (as their share of a full memory may
    /// be nothing), and where this is no switch, `crossing`.
    fn fullest_egress(
        &mut self,
        receiving: u32,
        priority: u8,
        crossing: Option<u16>,
    ) -> Option<u16> {
        let NetworkPort { node, number: ingress, .. } = self.ports[receiving as usize];
        let Role::Switch(switch) = self.nodes[node as usize].role else { return crossing };
        let buffer = &self.switches[switch as usize].buffer;
        if buffer.held(ingress, priority) == 0 {
            return crossing;
        }
        if let Some(held) = buffer.held_by_egress(ingress, priority) {
            return self.fullest_of(node, priority, held).or(crossing);
        }
        // Frames are looked at once; who has paused is likely to pause again.
        let held = self.count_by_egress((node, switch), ingress, priority);
        let fullest = self.fullest_of(node, priority, &held).or(crossing);
        self.switches[switch as usize].buffer.follow(ingress, priority, held);
        fullest
    }

    /// The egress port of a switch that most is held for; none if nothing is.
    fn fullest_of(&self, node: NodeId, priority: u8, held: &[u32]) -> Option<u16> {
        let first = self.nodes[node as usize].first_port;
        let held = (0u16..).zip(held).filter(|&(_, &held)| held > 0);
        let fullest = held.max_by_key(|&(number, held)| {
            let port = &self.ports[(first + u32::from(number)) as usize].port;
            (held, port.pauses_of(priority) != 0, Reverse(number))
        });
        fullest.map(|(number, _)| number)
    }

    /// Bytes of memory of frames that came in by an ingress port of a switch in a priority, by the
    /// port that they wait at.
    fn count_by_egress(
        &self,
        (node, switch): (NodeId, u32),
        ingress: u16,
        priority: u8,
    ) -> Box<[u32]> {
        let first = self.nodes[node as usize].first_port as usize;
        let of_switch = self.ports[first..].iter().take_while(|port| port.node == node);
        let state = &self.switches[switch as usize];
        let held_at = |port: &NetworkPort<P>| {
            let all = port.port.waiting_in(port.port.queue_of(priority), &self.pool);
            let held = all.map(|id| self.pool.get(id)).filter(|packet| {
                let class =
                    packet.body.priority().map(|one| state.priorities[usize::from(one & 7)]);
                packet.switch_port == ingress && class == Some(priority)
            });
            held.map(|packet| state.buffer.memory_of(packet.frame_len.into())).sum()
        };
        of_switch.map(held_at).collect()
    }
}
