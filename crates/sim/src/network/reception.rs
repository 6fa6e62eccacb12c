//! What arrives at hosts that take time: it is on its way through the NIC before its queue pair has it, and if memory is slow
//! it fills the NIC's buffer, until the NIC asks for pauses or has no room.
//!
//! When each frame gets where is the [host's](rocelab_host::HostPath) arithmetic; here frames are kept until then.

use std::collections::{BTreeMap, VecDeque};

use rocelab_engine::EventKey;
use rocelab_fabric::{Fifo, PacketId};
use rocelab_host::Accepted;
use rocelab_state::{BorshDeserialize, BorshSerialize, Result, load_value, save_value, unfit};
use rocelab_transport::NoRoom;
use rocelab_units::SimTime;

use super::core::Network;
use super::event::Event;
use super::feature::{Arrival, Feature, Scene, SetUp, StateOf, Verdict};
use super::host_pauses::HostPauses;
use super::node::Role;
use super::packet::Body;
use super::passed::Passed;
use super::pauses::PortPauses;
use super::saved_packets::SavedPackets;
use crate::profile::{EndHost, Profile};
use crate::record::DropCause;

/// The hosts of a network that take time.
#[derive(Debug, Default)]
pub(in crate::network) struct Receptions {
    /// By host.
    pub(in crate::network) by_host: BTreeMap<u32, Reception>,
}

/// What is on its way through the NIC of one host.
#[derive(Debug)]
pub(in crate::network) struct Reception {
    /// The port at the other end of its link.
    sending_port: u32,
    /// By [`rocelab_host::Way`].
    ways: [Way; 3],
    /// Bit p: priority p pauses when the buffer is full.
    lossless: u8,
    /// From how many bytes on, and down to how many.
    thresholds: (u64, u64),
    state: Standing,
}

/// What a NIC asks for, and has asked for.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
struct Standing {
    /// Whether the lossless priorities are paused.
    pauses: bool,
    /// Pauses that it has asked for.
    asked: u64,
    /// Bit k: the first frame of way k was due while the host handled nothing.
    stalled: u8,
}

/// Frames that reach their queue pairs one after the other.
#[derive(Debug, Default)]
struct Way {
    frames: Fifo,
    /// When each does.
    due: VecDeque<SimTime>,
}

impl Reception {
    /// Bit p: priority p is to pause.
    pub(in crate::network) fn pausing(&self) -> u8 {
        if self.state.pauses { self.lossless } else { 0 }
    }

    /// Pauses that it has asked for.
    pub(in crate::network) fn pauses(&self) -> u64 {
        self.state.asked
    }

    /// Whether a frame is on its way.
    pub(in crate::network) fn is_busy(&self) -> bool {
        self.ways.iter().any(|way| !way.frames.is_empty())
    }
}

/// The event in which the buffer of a NIC may have room again.
const ROOM: u8 = 3;

impl<P: Profile> Feature<P> for Receptions {
    fn set_up(mut network: SetUp<'_, P>) -> Option<Box<Self>> {
        let plan = network.plan;
        let mut receptions = Self::default();
        for (&node, model) in &plan.host_models {
            let Role::Host(host) = network.nodes[node as usize].role else { continue };
            let port = network.hosts[host as usize].port;
            let sending_port = network.ports[port as usize].far.port;
            network.look_at_arrivals(|port, _| port == sending_port);
            let reception = Reception {
                sending_port,
                ways: Default::default(),
                lossless: model.lossless,
                thresholds: (model.xoff.get(), model.xon.get()),
                state: Standing::default(),
            };
            receptions.by_host.insert(host, reception);
        }
        (!receptions.by_host.is_empty()).then(|| Box::new(receptions))
    }

    /// What is of queue pairs passes the NIC.
    fn judge(&mut self, arrival: &Arrival, scene: Scene<'_, P>) -> Verdict {
        let packet = scene.frames.get(arrival.id);
        let Role::Host(host) = arrival.far.role else { return Verdict::Continue };
        let is_for_it = packet.destination == arrival.far.node;
        if is_for_it && matches!(packet.body, Body::Rdma(_)) && self.by_host.contains_key(&host) {
            Verdict::Enter
        } else {
            Verdict::Continue
        }
    }

    fn save(&self, of: StateOf, packets: &SavedPackets<'_>, to: &mut Vec<u8>) -> Result {
        let StateOf::Host(host) = of else { return Ok(()) };
        let Some(reception) = self.by_host.get(&host) else { return Ok(()) };
        save_value(&reception.state, to)?;
        for way in &reception.ways {
            save_value(&way.due, to)?;
            packets.save_queue(&way.frames, to)?;
        }
        Ok(())
    }

    fn load(&mut self, of: StateOf, packets: &mut SavedPackets<'_>, from: &mut &[u8]) -> Result {
        let StateOf::Host(host) = of else { return Ok(()) };
        let Some(reception) = self.by_host.get_mut(&host) else { return Ok(()) };
        reception.state = load_value(from)?;
        for way in &mut reception.ways {
            way.due = load_value(from)?;
            let frames = packets.load_all(from)?;
            if frames.len() != way.due.len() {
                return Err(unfit("what arrives at a host"));
            }
            way.frames = Fifo::default();
            frames.into_iter().for_each(|id| way.frames.push_back(packets.pool, id));
        }
        Ok(())
    }
}

/// A network with hosts that take time.
#[derive(Debug)]
pub(super) struct Entering<'a, P: Profile>(pub(in crate::network) &'a mut Network<P>);

impl<P: Profile> Entering<'_, P> {
    /// A frame that came over the link of a port enters the NIC of its host.
    #[cold]
    pub(super) fn enter(&mut self, arrival: &Arrival) {
        let &Arrival { key, port, far, id } = arrival;
        let Role::Host(host) = far.role else { return };
        let packet = *self.0.pool.get(id);
        let Body::Rdma(body) = packet.body else { return };
        let credited = self.0.ports[far.port as usize].port.is_counted();
        let end_host = &mut self.0.hosts[host as usize].end_host;
        match end_host.accept(key.time, &body, packet.frame_len.into(), credited) {
            Ok(None) => self.0.deliver_specially(key, port, id),
            Ok(Some(accepted)) => self.keep(key, host, id, accepted),
            Err(NoRoom) => {
                PortPauses(self.0).discard_with_credits(key, &far, id, DropCause::ReceiverFull);
            }
        }
        self.look_at_room(key, host);
    }

    /// The first frame of a way reaches its queue pair, or the buffer may have room again.
    #[cold]
    pub(super) fn due(&mut self, key: EventKey, host: u32, way: u8) {
        if way == ROOM {
            return self.room(key, host);
        }
        let handles_nothing = self.0.hosts[host as usize].handles_nothing();
        let Some(reception) = self.0.features.arrivals.reception_mut(host) else { return };
        if handles_nothing {
            reception.state.stalled |= 1 << way;
            return;
        }
        let port = reception.sending_port;
        let way_of_it = &mut reception.ways[usize::from(way)];
        let Some(id) = way_of_it.frames.pop_front(&self.0.pool) else { return };
        way_of_it.due.pop_front();
        let next = way_of_it.due.front().copied();
        self.0.deliver_specially(key, port, id);
        if let Some(next) = next {
            self.arm(key, host, (next, way));
        }
    }

    /// A host that handled nothing may work again.
    pub(super) fn go_on(&mut self, key: EventKey, host: u32) {
        if self.0.hosts[host as usize].handles_nothing() {
            return;
        }
        let Some(reception) = self.0.features.arrivals.reception_mut(host) else { return };
        let stalled = std::mem::take(&mut reception.state.stalled);
        for way in (0..ROOM).filter(|way| stalled & 1 << way != 0) {
            self.arm(key, host, (key.time, way));
        }
    }

    fn keep(&mut self, key: EventKey, host: u32, id: PacketId, accepted: Accepted) {
        let Accepted { mut at, way } = accepted;
        let way = way as u8;
        let Some(reception) = self.0.features.arrivals.reception_mut(host) else { return };
        let state = &mut reception.ways[usize::from(way)];
        at = at.max(state.due.back().copied().unwrap_or_default());
        if at == key.time && state.frames.is_empty() {
            let port = reception.sending_port;
            return self.0.deliver_specially(key, port, id);
        }
        let begins = state.frames.is_empty();
        state.due.push_back(at);
        state.frames.push_back(&mut self.0.pool, id);
        if let Some(passed) = &mut self.0.features.passed {
            passed.push(Passed::Kept { packet: id });
        }
        if begins {
            self.arm(key, host, (at, way));
        }
    }

    /// Asks for pauses, or no longer, by what is in the buffer now.
    fn look_at_room(&mut self, key: EventKey, host: u32) {
        let end_host = &mut self.0.hosts[host as usize].end_host;
        let stored = end_host.buffered(key.time);
        let Some(reception) = self.0.features.arrivals.reception_mut(host) else { return };
        let (xoff, xon) = reception.thresholds;
        if !reception.state.pauses && stored > xoff && reception.lossless != 0 {
            reception.state.pauses = true;
            reception.state.asked += 1;
            let at = self.0.hosts[host as usize].end_host.drained_to(xon);
            self.arm(key, host, (at, ROOM));
            HostPauses(self.0).ask_for_pauses(key, host);
        } else if reception.state.pauses && stored <= xon {
            reception.state.pauses = false;
            HostPauses(self.0).ask_for_pauses(key, host);
        }
    }

    /// The buffer may have room again: what has come meanwhile may have filled it anew.
    fn room(&mut self, key: EventKey, host: u32) {
        self.look_at_room(key, host);
        let Some(reception) = self.0.features.arrivals.reception_mut(host) else { return };
        if reception.state.pauses {
            let xon = reception.thresholds.1;
            let at = self.0.hosts[host as usize].end_host.drained_to(xon);
            self.arm(key, host, (at, ROOM));
        }
    }

    fn arm(&mut self, key: EventKey, host: u32, (at, way): (SimTime, u8)) {
        let tie = self.0.reserve(self.0.hosts[host as usize].node);
        let time = at.max(key.time);
        self.0.queue.push(EventKey { time, tie }, Event::Entered { host, way });
    }
}
