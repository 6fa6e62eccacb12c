//! What arrives at hosts that take time: it is on its way through the NIC before its queue pair has it, and if memory is slow
//! it fills the NIC's buffer, until the NIC asks for pauses or has no room.
//!
//! When each frame gets where is the [host's](rocelab_host::HostPath) arithmetic; here frames are kept until then.

mod kept;

use std::collections::BTreeMap;

use rocelab_engine::EventKey;
use rocelab_fabric::PacketId;
use rocelab_host::Accepted;
use rocelab_state::{Result, load_value, save_value, unfit};
use rocelab_transport::{HostSide, NoRoom};
use rocelab_units::SimTime;

use self::kept::{Entered, Standing};
pub(in crate::network) use self::kept::{Reception, Receptions};
use super::event::Event;
use super::feature::{Arrival, Feature, Scene, SetUp, StateOf, Verdict};
use super::host_pauses::HostPauses;
use super::node::Role;
use super::packet::Body;
use super::passed::Passed;
use super::pauses::PortPauses;
use super::receiver::Receiving;
use super::saved_packets::SavedPackets;
use crate::profile::{EndHost, HostPacket, Profile};
use crate::record::DropCause;

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
                frames: BTreeMap::new(),
                lossless: model.lossless,
                thresholds: (model.xoff.get(), model.xon.get()),
                state: Standing { pauses: false, asked: 0, entered: 0, armed: SimTime::NEVER },
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
        let places: Vec<((SimTime, u64), (SimTime, SimTime))> = reception
            .frames
            .iter()
            .map(|(&place, one)| (place, (one.arrived, one.written)))
            .collect();
        let ids: Vec<PacketId> = reception.frames.values().map(|one| one.id).collect();
        save_value(&(&reception.state, places), to)?;
        packets.save_all(&ids, to)
    }

    fn load(&mut self, of: StateOf, packets: &mut SavedPackets<'_>, from: &mut &[u8]) -> Result {
        let StateOf::Host(host) = of else { return Ok(()) };
        let Some(reception) = self.by_host.get_mut(&host) else { return Ok(()) };
        let places: Vec<((SimTime, u64), (SimTime, SimTime))>;
        (reception.state, places) = load_value(from)?;
        let ids = packets.load_all(from)?;
        if ids.len() != places.len() {
            return Err(unfit("what arrives at a host"));
        }
        let frames = places.into_iter().zip(ids);
        let frames = frames
            .map(|((place, (arrived, written)), id)| (place, Entered { id, arrived, written }));
        reception.frames = frames.collect();
        Ok(())
    }
}

/// Hosts that take time receive, too.
impl<P: Profile> Receiving<'_, P> {
    /// A frame that came over the link of a port enters the NIC of its host.
    #[cold]
    pub(super) fn enter(&mut self, arrival: &Arrival) {
        let &Arrival { key, port, far, id } = arrival;
        let Role::Host(host) = far.role else { return };
        let packet = *self.0.pool.get(id);
        let Body::Rdma(body) = packet.body else { return };
        let credited = self.0.ports[far.port as usize].port.is_counted();
        let accepted = match (self.host_side(host), body.as_rdma()) {
            (Some(side), Some(rdma)) => {
                side.accept(key.time, rdma, packet.frame_len.into(), credited)
            }
            _ => Ok(None),
        };
        match accepted {
            Ok(None) => self.0.deliver_specially(key, port, id),
            Ok(Some(accepted)) => {
                if credited {
                    PortPauses(self.0).note_entered(&far, id);
                }
                self.keep(key, host, id, accepted);
            }
            Err(NoRoom) => {
                PortPauses(self.0).discard_with_credits(key, &far, id, DropCause::ReceiverFull);
            }
        }
        self.look_at_room(key, host);
    }

    /// The first frame may reach its queue pair.
    #[cold]
    pub(super) fn entered(&mut self, key: EventKey, host: u32) {
        let Some(reception) = self.0.features.arrivals.reception_mut(host) else { return };
        if reception.state.armed != key.time {
            return; // An earlier one was armed since.
        }
        reception.state.armed = SimTime::NEVER;
        if self.0.hosts[host as usize].handles_nothing() {
            return; // It goes on when the host does.
        }
        self.hand_on(key, host);
    }

    /// A host that handled nothing may work again.
    pub(super) fn go_on_with_entered(&mut self, key: EventKey, host: u32) {
        if !self.0.hosts[host as usize].handles_nothing() {
            self.arm(key, host);
        }
    }

    /// Hands on what is due, and arms an event for the next.
    fn hand_on(&mut self, key: EventKey, host: u32) {
        while let Some(reception) = self.0.features.arrivals.reception_mut(host)
            && let Some(first) = reception.frames.first_entry()
            && first.key().0 <= key.time
        {
            let entered = first.remove();
            let port = reception.sending_port;
            self.reach(key, (host, port), entered);
        }
        self.arm(key, host);
    }

    /// A frame reaches its queue pair.
    fn reach(&mut self, key: EventKey, (host, port): (u32, u32), entered: Entered) {
        let Entered { id, arrived, written } = entered;
        if let Body::Rdma(body) = self.0.pool.get(id).body
            && let (Some(side), Some(rdma)) = (self.host_side(host), body.as_rdma())
        {
            side.note_reached(rdma, written);
            let (held, delay) = (key.time.since(arrived), written.max(key.time).since(arrived));
            if let (Some(telemetry), Some(_)) = (&mut self.0.side.telemetry, rdma.telemetry()) {
                telemetry.note_endpoint(id, (held, delay));
            }
        }
        let far = self.0.ports[port as usize].far;
        if self.0.ports[far.port as usize].port.is_counted() {
            if let Some(passed) = &mut self.0.features.passed {
                passed.push(Passed::arrived(id, port, self.0.pool.get(id)));
            }
            return PortPauses(self.0).deliver_entered(key, &far, id);
        }
        self.0.deliver_specially(key, port, id);
    }

    fn keep(&mut self, key: EventKey, host: u32, id: PacketId, accepted: Accepted) {
        let Accepted { at, written } = accepted;
        let entered = Entered { id, arrived: key.time, written };
        let Some(reception) = self.0.features.arrivals.reception_mut(host) else { return };
        let is_next = reception.frames.first_key_value().is_none_or(|(first, _)| first.0 > at);
        if at <= key.time && is_next {
            let port = reception.sending_port;
            return self.reach(key, (host, port), entered);
        }
        reception.frames.insert((at, reception.state.entered), entered);
        reception.state.entered += 1;
        if let Some(passed) = &mut self.0.features.passed {
            passed.push(Passed::Kept { packet: id });
        }
        self.arm(key, host);
    }

    /// Asks for pauses, or no longer, by what is in the buffer now.
    fn look_at_room(&mut self, key: EventKey, host: u32) {
        let Some(side) = self.host_side(host) else { return };
        let stored = side.buffered(key.time);
        let Some(reception) = self.0.features.arrivals.reception_mut(host) else { return };
        let (xoff, xon) = reception.thresholds;
        if !reception.state.pauses && stored > xoff && reception.lossless != 0 {
            reception.state.pauses = true;
            reception.state.asked += 1;
            self.arm_for_room(key, host, xon);
            HostPauses(self.0).ask_for_pauses(key, host);
        } else if reception.state.pauses && stored <= xon {
            reception.state.pauses = false;
            HostPauses(self.0).ask_for_pauses(key, host);
        }
    }

    /// The buffer may have room again: what has come meanwhile may have filled it anew.
    #[cold]
    pub(super) fn has_room(&mut self, key: EventKey, host: u32) {
        self.look_at_room(key, host);
        let Some(reception) = self.0.features.arrivals.reception_mut(host) else { return };
        if reception.state.pauses {
            let xon = reception.thresholds.1;
            self.arm_for_room(key, host, xon);
        }
    }

    fn arm_for_room(&mut self, key: EventKey, host: u32, xon: u64) {
        let Some(side) = self.host_side(host) else { return };
        let at = side.path().drained_to(xon);
        let tie = self.0.reserve(self.0.hosts[host as usize].node);
        let time = at.max(key.time);
        self.0.queue.push(EventKey { time, tie }, Event::Entered { host, has_room: true });
    }

    /// Arms an event for the first frame, if none is.
    fn arm(&mut self, key: EventKey, host: u32) {
        let Some(reception) = self.0.features.arrivals.reception_mut(host) else { return };
        let Some((&(at, _), _)) = reception.frames.first_key_value() else { return };
        let time = at.max(key.time);
        if time >= reception.state.armed {
            return;
        }
        reception.state.armed = time;
        let tie = self.0.reserve(self.0.hosts[host as usize].node);
        self.0.queue.push(EventKey { time, tie }, Event::Entered { host, has_room: false });
    }

    fn host_side(&mut self, host: u32) -> Option<&mut HostSide> {
        self.0.hosts[host as usize].end_host.host_side()
    }
}
