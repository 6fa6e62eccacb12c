//! A switch asks the sender behind one of its ports to pause, and notes because of which queue.

use std::cmp::Reverse;

use rocelab_engine::{EventKey, EventQueue};
use rocelab_fabric::BufferPolicy;

use super::{Event, Network, NetworkPort, PauseRequest, Record, RecordKind, Role};
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
        queue: &mut EventQueue<Event>,
    ) {
        let egress = self.fullest_egress(receiving, priority, Some(crossing));
        self.note_request(key, receiving, priority, egress);
        self.shared.on_flow_control();
        self.ports[receiving as usize].port.request_pause(priority);
        self.pump(key, receiving, queue);
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
    fn fullest_egress(&self, receiving: u32, priority: u8, crossing: Option<u16>) -> Option<u16> {
        let NetworkPort { node, number: ingress, .. } = self.ports[receiving as usize];
        let Role::Switch(switch) = self.nodes[node as usize].role else { return crossing };
        let first = self.nodes[node as usize].first_port as usize;
        let of_switch = self.ports[first..].iter().take_while(|port| port.node == node);
        let has_any = |port: &&NetworkPort<P>| port.port.queued(port.port.queue_of(priority)) > 0;
        let mut waiting: Vec<_> = of_switch.filter(has_any).collect();
        let held = self.switches[switch as usize].buffer.held(ingress, priority);
        // Frames need not be looked at where all that wait are bound for one port.
        if held == 0 || waiting.iter().all(|port| Some(port.number) == crossing) {
            return crossing;
        }
        waiting.sort_by_key(|port| (Some(port.number) != crossing, port.number));
        let (mut found, mut fullest) = (0, None);
        for port in waiting {
            let here = self.held_at(port, (switch, ingress, priority), held / 2);
            if here > held / 2 {
                return Some(port.number);
            }
            let is_paused = port.port.pauses_of(priority) != 0;
            fullest = fullest.max(Some((here, is_paused, Reverse(port.number))));
            found += here;
            if found == held {
                break;
            }
        }
        match fullest {
            Some((1.., _, Reverse(number))) => Some(number),
            _ => crossing,
        }
    }

    /// Bytes of memory of frames that wait at a port and came in by an ingress port of its switch in a
    /// priority; counted no further than beyond `enough`.
    fn held_at(
        &self,
        port: &NetworkPort<P>,
        (switch, ingress, priority): (u32, u16, u8),
        enough: u32,
    ) -> u32 {
        let state = &self.switches[switch as usize];
        let mut held = 0;
        for id in port.port.waiting_in(port.port.queue_of(priority), &self.pool) {
            let packet = self.pool.get(id);
            let class = packet.body.priority().map(|one| state.priorities[usize::from(one & 7)]);
            if packet.switch_port == ingress && class == Some(priority) {
                held += state.buffer.memory_of(packet.frame_len.into());
                if held > enough {
                    break;
                }
            }
        }
        held
    }
}
