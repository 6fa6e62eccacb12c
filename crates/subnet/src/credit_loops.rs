//! Credit loops: packets that wait for each other's buffers in a circle.

use crate::channels::Channels;
use crate::dependencies::{ByPort, CycleSearch, Dependencies};
use crate::subnet::Subnet;
use crate::tables::{Channel, ForwardingTables, Tables};
use crate::topology::NodeKind;

/// Service levels (IBTA 7.6.5).
pub const SERVICE_LEVELS: usize = 16;

/// Channels of a lane, each of which waits for credits of the next one, and the last for those of the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreditLoop {
    /// The lane.
    pub lane: u8,
    /// The channels.
    pub channels: Vec<Channel>,
}

impl CreditLoop {
    /// The loop by the names of its switches: `S1[2] -> S2[1] -> S1[2]`.
    pub fn named(&self, subnet: &Subnet) -> String {
        let name = |one: &Channel| format!("{}[{}]", subnet.switch_name(one.switch), one.port);
        let names = self.channels.iter().chain(self.channels.first()).map(name);
        names.collect::<Vec<_>>().join(" -> ")
    }
}

/// A credit loop of each lane that has one, with packets from all channel adapters and routers to all others.
/// `lane_of` says the lane of each service level; all ports have the same.
pub fn credit_loops(
    subnet: &Subnet,
    tables: &Tables,
    lane_of: &[u8; SERVICE_LEVELS],
) -> Vec<CreditLoop> {
    let by_end_port = tables.service_levels.are_by_end_port();
    credit_loops_by(subnet, (&tables.forwarding, by_end_port), |source, lid| {
        let level = usize::from(tables.service_level(subnet, source, lid));
        lane_of.get(level).map_or(0, |lane| 1_u16.checked_shl((*lane).into()).unwrap_or(0))
    })
}

/// As [`credit_loops`], where `lanes_of` says which lanes (bit v) packets take from an end port to a LID; those from all end ports of a
/// switch take the same, unless lanes are `by_end_port`.
pub fn credit_loops_by(
    subnet: &Subnet,
    (forwarding, by_end_port): (&ForwardingTables, bool),
    lanes_of: impl Fn(usize, u16) -> u16,
) -> Vec<CreditLoop> {
    let channels = Channels::new(subnet.graph());
    let mut graphs = vec![None; 16];
    for source in sources(subnet, by_end_port) {
        for target in subnet.end_ports().iter().filter(|one| one.kind != NodeKind::Switch) {
            for lid in target.lids.iter() {
                let lanes = lanes_of(source.end_port, lid);
                for (lane, graph) in graphs.iter_mut().enumerate() {
                    if lanes & 1 << lane == 0 {
                        continue;
                    }
                    let graph = graph.get_or_insert_with(|| Dependencies::none(&channels));
                    let mut last: Option<usize> = None;
                    forwarding.walk(subnet, source.switch, lid, |channel| {
                        if let Some(last) = last {
                            graph.add(last, usize::from(channel.port));
                        }
                        last = Some(channels.number(channel));
                    });
                }
            }
        }
    }
    let find = |(lane, graph): (u8, Option<Dependencies>)| {
        Some(CreditLoop { lane, channels: loop_of(&channels, &graph?)? })
    };
    (0u8..).zip(graphs).filter_map(find).collect()
}

/// A circle of channels that wait for each other, if there is one.
pub(crate) fn loop_of(channels: &Channels, dependencies: &Dependencies) -> Option<Vec<Channel>> {
    let mut search = CycleSearch::new(channels);
    let cycle = search.next(&ByPort { channels, dependencies })?;
    Some(cycle.iter().map(|step| channels.channel(step.channel)).collect())
}

/// An end port of a switch.
struct Source {
    switch: usize,
    end_port: usize,
}

/// All end ports, or one for all of a switch.
fn sources(subnet: &Subnet, all: bool) -> impl Iterator<Item = Source> {
    let graph = subnet.graph();
    let most = if all { usize::MAX } else { 1 };
    (0..graph.len()).flat_map(move |switch| {
        let attached = graph.attached(switch).take(most);
        attached.map(move |(_, end_port)| Source { switch, end_port })
    })
}
