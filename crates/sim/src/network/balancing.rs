//! Switches with load balancing of their own: they choose among several shortest paths as packets arrive.

use rocelab_fabric::{Choice, FlowControl as _, LoadBalancer};
use rocelab_state::{Result, State as _};

use super::feature::{Arrival, Feature, Scene, SetUp, StateOf, Verdict};
use super::node::Role;
use super::packet::{ANY, NO_ROUTE};
use super::saved_packets::SavedPackets;
use crate::profile::{Profile, Routing as _};

/// What chooses among several shortest paths, if not a hash alone, by place among the switches.
#[derive(Debug)]
pub(super) struct Balancing(Vec<Option<LoadBalancer>>);

impl<P: Profile> Feature<P> for Balancing {
    fn set_up(mut network: SetUp<'_, P>) -> Option<Box<Self>> {
        network.look_at_arrivals(|_, far| far.switch.chooses());
        let plan = network.plan;
        let of_switch = |node| plan.load_balancing_of(node).balancer();
        let all: Vec<_> = network.switches.iter().map(|switch| of_switch(switch.node)).collect();
        all.iter().any(Option::is_some).then(|| Box::new(Self(all)))
    }

    fn judge(&mut self, arrival: &Arrival, scene: Scene<'_, P>) -> Verdict {
        let (far, packet) = (&arrival.far, scene.frames.get(arrival.id));
        let (Role::Switch(switch), ANY) = (far.role, packet.switch_port) else {
            return Verdict::Continue;
        };
        let sight = &scene.sight;
        let choice = Choice {
            now: arrival.key.time,
            flow_hash: packet.flow_hash,
            destination: packet.destination,
            ports: sight.routing.next_hops(far.node, packet.destination),
        };
        let priorities = &sight.switches[switch as usize].priorities;
        let priority = priorities.of(packet.body.marking().unwrap_or(0));
        // A port that would drop the packet is no short queue.
        let waiting = |number: u16| {
            let port = &sight.ports[far.first_port as usize + usize::from(number)].port;
            match port.place_of(priority) {
                None => u32::MAX,
                // The lane's own, there and at the other end: a port without credits is no short queue either.
                Some(lane) if port.is_counted() => {
                    port.queued(lane).saturating_add(port.flow_control().bytes_ahead(lane))
                }
                Some(_) => port.waiting_bytes(),
            }
        };
        let balancer = self.0[switch as usize].as_mut();
        let chosen = balancer.and_then(|balancer| balancer.choose(choice, waiting));
        Verdict::Redirect(chosen.unwrap_or(NO_ROUTE))
    }

    fn save(&self, of: StateOf, _: &SavedPackets<'_>, to: &mut Vec<u8>) -> Result {
        match of {
            StateOf::Switch(switch) => {
                self.0[switch as usize].as_ref().map_or(Ok(()), |balancer| balancer.save(to))
            }
            _ => Ok(()),
        }
    }

    fn load(&mut self, of: StateOf, _: &mut SavedPackets<'_>, from: &mut &[u8]) -> Result {
        match of {
            StateOf::Switch(switch) => {
                self.0[switch as usize].as_mut().map_or(Ok(()), |balancer| balancer.load(from))
            }
            _ => Ok(()),
        }
    }
}
