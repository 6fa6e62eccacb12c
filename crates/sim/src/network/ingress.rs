//! What ports of switches ask of frames as they come in: the conditions themselves are those of `fabric`.

use rocelab_fabric::{IngressFlow, IngressFrame, IngressState, IngressVerdict};
use rocelab_state::{Result, State as _};

use super::emission::Emission;
use super::feature::{Arrival, Feature, Scene, SetUp, StateOf, Verdict};
use super::node::Role;
use super::packet::{ANY, Body, NO_ROUTE, Packet, PacketOf};
use super::saved_packets::SavedPackets;
use crate::profile::{HostPacket as _, Profile, Routing as _};
use crate::record::DropCause;

/// The conditions of each port that is here, in the order of the scenario.
#[derive(Debug)]
pub(super) struct Ingress(Vec<Vec<IngressState>>);

impl<P: Profile> Feature<P> for Ingress {
    fn set_up(mut network: SetUp<'_, P>) -> Option<Box<Self>> {
        let plan = network.plan;
        if plan.ingress.is_empty() {
            return None;
        }
        let mut by_port: Vec<Vec<IngressState>> = Vec::new();
        by_port.resize_with(network.ports.len(), Vec::new);
        for planned in &plan.ingress {
            for &(node, number) in &planned.ports {
                if network.layout.part.has(node) {
                    let port = network.nodes[node as usize].first_port + u32::from(number);
                    by_port[port as usize].push(planned.condition.state());
                }
            }
        }
        network.look_at_arrivals(|_, far| {
            by_port.get(far.port as usize).is_some_and(|conditions| !conditions.is_empty())
        });
        Some(Box::new(Self(by_port)))
    }

    fn judge(&mut self, arrival: &Arrival, mut scene: Scene<'_, P>) -> Verdict {
        let conditions = &mut self.0[arrival.far.port as usize];
        let Some(mut frame) = frame(arrival, &scene) else { return Verdict::Continue };
        if conditions.iter().any(IngressState::may_notify) {
            frame.egress_queue = egress_queue(arrival, &scene);
            frame.flow = flow(arrival, &scene);
        }
        for condition in conditions {
            match condition.judge(&frame) {
                IngressVerdict::Pass => {}
                IngressVerdict::Notify => notify(arrival, &mut scene),
                IngressVerdict::Drop(cause) => return Verdict::Drop(DropCause::Ingress(cause)),
            }
        }
        Verdict::Continue
    }

    fn save(&self, of: StateOf, _: &SavedPackets<'_>, to: &mut Vec<u8>) -> Result {
        let StateOf::Port(port) = of else { return Ok(()) };
        self.0[port as usize].iter().try_for_each(|condition| condition.save(to))
    }

    fn load(&mut self, of: StateOf, _: &mut SavedPackets<'_>, from: &mut &[u8]) -> Result {
        let StateOf::Port(port) = of else { return Ok(()) };
        self.0[port as usize].iter_mut().try_for_each(|condition| condition.load(from))
    }
}

/// What a port knows of a frame that has come in; nothing, if it has no priority.
fn frame<P: Profile>(arrival: &Arrival, scene: &Scene<'_, P>) -> Option<IngressFrame> {
    let packet = scene.frames.get(arrival.id);
    let priority = packet.body.priority()?;
    let (now, len) = (arrival.key.time, packet.frame_len.into());
    Some(IngressFrame { now, priority, len, egress_queue: 0, flow: None })
}

/// The flow of a frame that carries data of a queue pair; none of a copy that was flooded, for it may end at the next
/// switch.
fn flow<P: Profile>(arrival: &Arrival, scene: &Scene<'_, P>) -> Option<IngressFlow> {
    let packet = scene.frames.get(arrival.id);
    let Body::Rdma(body) = &packet.body else { return None };
    let rdma = body.as_rdma().filter(|rdma| rdma.payload_len() > 0)?;
    let notes = scene.frames.side.notes.as_ref();
    if notes.is_some_and(|notes| notes.of(arrival.id).flooded) {
        return None;
    }
    let (source, destination) = (packet.source, packet.destination);
    Some(IngressFlow { source, destination, queue_pair: rdma.dest_qp() })
}

/// Bytes that wait where a frame with this priority will wait.
fn egress_queue<P: Profile>(arrival: &Arrival, scene: &Scene<'_, P>) -> u32 {
    let (far, sight) = (&arrival.far, &scene.sight);
    let packet = scene.frames.get(arrival.id);
    let (Role::Switch(switch), Some(marking)) = (far.role, packet.body.marking()) else { return 0 };
    let priority = sight.switches[switch as usize].priorities.of(marking);
    let waiting = |number: u16| {
        let port = &sight.ports[far.first_port as usize + usize::from(number)].port;
        port.place_of(priority).map(|queue| port.queued(queue))
    };
    match packet.switch_port {
        NO_ROUTE => 0,
        ANY => {
            let ports = sight.routing.next_hops(far.node, packet.destination);
            ports.iter().filter_map(|&number| waiting(number)).min().unwrap_or(0)
        }
        number => waiting(number).unwrap_or(0),
    }
}

/// The switch sends a congestion notification packet to the queue pair that has sent a frame. It says, as that of the
/// receiver would, that it comes from where the frame goes: a queue pair takes packets from its peer only.
fn notify<P: Profile>(arrival: &Arrival, scene: &mut Scene<'_, P>) {
    let Role::Switch(switch) = arrival.far.role else { return };
    let packet = scene.frames.get(arrival.id);
    let Body::Rdma(body) = &packet.body else { return };
    let Some(rdma) = body.as_rdma() else { return };
    let (plan, ends) = (scene.sight.plan, (packet.source, packet.destination));
    let Some(owners) = scene.owners else { return };
    let Some(qpn) = owners.sending_queue_pair(plan, ends, rdma.dest_qp()) else { return };
    let profile = owners.profile(plan, packet.destination, rdma.dest_qp());
    let profile = profile.unwrap_or_else(|| plan.common_queue_pair());
    let cnp = PacketOf::<P>::congestion_notification_packet(qpn, plan, profile);
    let Some((cnp, frame_len)) = cnp else { return };
    let mut notification =
        Packet::new(packet.destination, packet.source, frame_len, Body::Rdma(cnp));
    notification.flow_hash = packet.flow_hash;
    scene.frames.totals.notifications.cnps += 1;
    scene.emissions.push(Emission { switch, port: arrival.far.port, packet: notification });
}
