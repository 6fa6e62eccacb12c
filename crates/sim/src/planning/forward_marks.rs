//! Forward marks of InfiniBand that are not made, or that change nothing.

use std::collections::BTreeMap;

use rocelab_fabric::topology::Adjacency;
use rocelab_fabric::{NodeId, Routes, blocks_of};
use rocelab_transport::Algorithm;
use rocelab_units::Bytes;
use rocelab_wire::CREDIT_BLOCK_LEN;

use super::algorithms;
use crate::plan::{InfiniBandPorts, Plan};
use crate::scenario::{Fault, Scenario, Verb};

/// What a scenario says of them to no effect.
pub(super) fn notes(scenario: &Scenario, plan: &Plan) -> impl Iterator<Item = Fault> {
    let marks = forward_marks(scenario, plan).or_else(|| high_threshold(scenario, plan));
    marks.into_iter().chain(no_index(scenario))
}

/// FECN marks that nobody follows, or a congestion control whose marks are never made.
fn forward_marks(scenario: &Scenario, plan: &Plan) -> Option<Fault> {
    let marks = scenario.infiniband.as_ref()?.congestion_control?;
    let is_followed = plan.algorithms().iter().any(|algorithm| algorithm.needs_ecn());
    let section = "infiniband.congestion_control";
    if !is_followed {
        let text = "switches set FECN, and no congestion control follows it";
        return Some(Fault::at(section, text).help("use `[congestion_control.infiniband]`"));
    }
    if marks.threshold == 0 {
        let text = "no packet is ever marked, and the congestion control follows marks";
        return Some(Fault::at(format!("{section}.threshold"), text).help("give 1 to 15"));
    }
    let longest = blocks_of(u32::try_from(plan.largest_frame().get()).unwrap_or(u32::MAX));
    (u32::from(marks.packet_size) > longest).then(|| {
        let text = format!("no packet is marked: the longest have {longest} blocks of 64 bytes");
        Fault::at(format!("{section}.packet_size"), text)
            .value(marks.packet_size)
            .help(format!("give at most {longest}, or a larger `roce.path_mtu`"))
    })
}

/// A congestion control table of InfiniBand whose index cannot rise.
fn no_index(scenario: &Scenario) -> Option<Fault> {
    let stays = |algorithm: &Algorithm| match algorithm {
        Algorithm::InfiniBand(own) => own.ccti_limit <= own.ccti_min.into(),
        _ => false,
    };
    let usable = algorithms::usable(scenario);
    let named = usable.iter().find(|named| stays(named.algorithm))?;
    let text = "marks change nothing: the index of the table never rises above `ccti_min`";
    let key = format!("{}.ccti_limit", named.section());
    Some(Fault::at(key, text).help("give a larger one, such as 127"))
}

/// A threshold that what waits of one input never exceeds, at a port that only this input feeds.
fn high_threshold(scenario: &Scenario, plan: &Plan) -> Option<Fault> {
    let config = scenario.infiniband.as_ref()?.congestion_control?;
    let adjacency = plan.topology.adjacency();
    let unreachable = |(switch, input): Port| {
        let input = adjacency.ports_of(switch).get(usize::from(input))?;
        let blocks = InfiniBandPorts(plan).lane_buffers(switch, input)[0];
        let buffer = Bytes::new(u64::from(blocks) * BLOCK);
        let threshold = config.threshold_of(buffer)?;
        let waiting = most_waiting(buffer, plan.largest_frame());
        (waiting <= threshold).then_some((threshold, buffer, waiting))
    };
    let routes = plan.routes(&plan.active_links).ok()?;
    let inputs = Inputs::of(plan, &adjacency, &routes);
    let found = inputs
        .of_narrow_ports(plan, &adjacency)
        .find_map(|((switch, port), input)| Some(((switch, port), unreachable((switch, input))?)));
    let ((switch, port), (threshold, buffer, waiting)) = found?;
    let text = format!(
        "no full packet is marked at `{}:{port}`: one input feeds it, of which at most {waiting} wait as one starts, and \
         the threshold is {threshold} of {buffer}",
        plan.topology.nodes[switch as usize].name
    );
    let fault = Fault::at("infiniband.congestion_control.threshold", text).value(config.threshold);
    Some(fault.help("give more, such as 8, or a larger `infiniband.vl_buffer`"))
}

/// What waits of one input, at the most, as one of its packets of this length starts: the room that the packet before has
/// left is not filled yet, as credits for it are on their way.
fn most_waiting(buffer: Bytes, packet: Bytes) -> Bytes {
    let blocks = u64::from(blocks_of(u32::try_from(packet.get()).unwrap_or(u32::MAX)));
    let room = buffer.get() / BLOCK / blocks.max(1);
    Bytes::new(room.saturating_sub(1) * packet.get())
}

/// Bytes of a block of credits.
const BLOCK: u64 = CREDIT_BLOCK_LEN as u64;

/// A port: its node, and its number there.
type Port = (NodeId, u16);

/// By which ports of a switch data come in that leave by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Partners {
    One(u16),
    Several,
}

/// By which ports of switches data come in, by the port by which they leave.
#[derive(Debug, Default)]
struct Inputs(BTreeMap<Port, Partners>);

impl Inputs {
    /// Those of the data of all flows and connections.
    fn of(plan: &Plan, adjacency: &Adjacency, routes: &Routes) -> Self {
        let mut all = Self::default();
        for flow in &plan.flows {
            let (source, destination) = (flow.source, flow.destination);
            let is_read = flow.verb == Verb::Read;
            let ways = if is_read { (destination, source) } else { (source, destination) };
            all.follow(adjacency, routes, ways, plan.flow_hash(ways.0, ways.1, flow.entropy));
        }
        for connection in &plan.connections {
            let [client, server] = connection.ends.map(|end| end.host);
            for ways in [(client, server), (server, client)] {
                let hash = plan.flow_hash(ways.0, ways.1, connection.entropy);
                all.follow(adjacency, routes, ways, hash);
            }
        }
        all
    }

    fn follow(
        &mut self,
        adjacency: &Adjacency,
        routes: &Routes,
        (from, to): (NodeId, NodeId),
        hash: u32,
    ) {
        let Some(mut at) = adjacency.ports_of(from).first().copied() else { return };
        // Tables may lead in a circle.
        for _ in 0..MOST_HOPS {
            let Some(input) = adjacency.port_of_link(at.node, at.link) else { return };
            let Some(output) = routes.egress(at.node, to, hash) else { return };
            let Ok(input) = u16::try_from(input) else { return };
            let partners = self.0.entry((at.node, output)).or_insert(Partners::One(input));
            if *partners != Partners::One(input) {
                *partners = Partners::Several;
            }
            let Some(&next) = adjacency.ports_of(at.node).get(usize::from(output)) else { return };
            if next.node == to {
                return;
            }
            at = next;
        }
    }

    /// The ports that one faster input feeds, with that input.
    fn of_narrow_ports<'a>(
        &'a self,
        plan: &'a Plan,
        adjacency: &'a Adjacency,
    ) -> impl Iterator<Item = (Port, u16)> + 'a {
        let rate = |(node, port): Port| {
            let neighbour = adjacency.ports_of(node).get(usize::from(port));
            neighbour.map(|port| plan.topology.links[port.link as usize].rate)
        };
        self.0.iter().filter_map(move |(&output, &partners)| {
            let Partners::One(input) = partners else { return None };
            (rate(output) < rate((output.0, input))).then_some((output, input))
        })
    }
}

/// The most links of a way.
const MOST_HOPS: usize = 64;

#[cfg(test)]
mod tests {
    use rocelab_fabric::FecnConfig;

    use super::*;

    /// Packets of 2108 bytes have 33 blocks.
    #[test]
    fn weights_up_to_4_are_beyond_a_buffer_of_four_packets() {
        let packet = Bytes::new(2_108);
        let weights = |packets: u64| {
            let buffer = Bytes::new(packets * 33 * 64);
            let is_beyond = |&threshold: &u8| {
                let config = FecnConfig { threshold, ..FecnConfig::default() };
                config.threshold_of(buffer).is_some_and(|most| most_waiting(buffer, packet) <= most)
            };
            (0..=15).filter(is_beyond).collect::<Vec<_>>()
        };
        assert_eq!(weights(4), [1, 2, 3, 4]);
        assert_eq!(weights(8), [1, 2]);
        assert!(weights(64).is_empty());
    }
}
