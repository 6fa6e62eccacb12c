//! What ports of switches ask of frames as they come in: the conditions themselves are those of `fabric`.

use rocelab_fabric::{IngressFrame, IngressState};
use rocelab_state::{Result, State as _};

use super::feature::{Arrival, Feature, Scene, SetUp, StateOf, Verdict};
use super::saved_packets::SavedPackets;
use crate::profile::Profile;
use crate::record::DropCause;

/// The conditions of each port that is here, in the order of the scenario.
#[derive(Debug)]
pub(super) struct Ingress(Vec<Vec<IngressState>>);

impl<P: Profile> Feature<P> for Ingress {
    fn set_up(network: &mut SetUp<'_, P>) -> Option<Box<Self>> {
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

    fn judge(&mut self, arrival: &Arrival, scene: &mut Scene<'_, P>) -> Verdict {
        let packet = scene.frames.get(arrival.id);
        let Some(priority) = packet.body.priority() else { return Verdict::Continue };
        let (now, len) = (arrival.key.time, packet.frame_len.into());
        let frame = IngressFrame { now, priority, len };
        let conditions = self.0[arrival.far.port as usize].iter_mut();
        let refused = conditions.filter_map(|condition| condition.refuses(&frame)).next();
        refused.map_or(Verdict::Continue, |cause| Verdict::Drop(DropCause::Ingress(cause)))
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
