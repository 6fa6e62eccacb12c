//! Adaptive routing: the ports among which a switch may choose for a LID, packet by packet.

use crate::channels::Channels;
use crate::credit_loops::{CreditLoop, loop_of};
use crate::dependencies::Dependencies;
use crate::engine::{Engine, Options, updn};
use crate::graph::Far;
use crate::hops::LeastHops;
use crate::subnet::Subnet;
use crate::tables::{Channel, ForwardingTables};
use crate::topology::NodeKind;

/// The groups of ports of all switches: for each LID those of the least hops, as the routing engine counts them.
#[derive(Clone, Debug)]
pub struct AdaptiveGroups {
    least: LeastHops,
}

impl AdaptiveGroups {
    /// The engines that leave switches a choice: the others have each path on a lane or in an order of dimensions of its own, or take
    /// ways that are not the shortest.
    pub const ENGINES: [Engine; 3] = [Engine::MinHop, Engine::UpDown, Engine::FatTree];

    /// The groups of a subnet that `engine` has routed with these options; none if it leaves no choice.
    pub fn new(subnet: &Subnet, engine: Engine, options: &Options) -> Option<Self> {
        let least = match engine {
            Engine::MinHop | Engine::FatTree => LeastHops::shortest(subnet.graph()),
            Engine::UpDown => updn::least_hops(subnet, options.roots.as_deref()).ok()?,
            _ => return None,
        };
        Some(Self { least })
    }

    /// The ports by which a switch may forward packets to `lid`, ascending: those of the group, if the port of the table is one of
    /// them, else that port alone. Empty if the table has none.
    pub fn ports(
        &self,
        subnet: &Subnet,
        tables: &ForwardingTables,
        switch: usize,
        lid: u16,
    ) -> Vec<u8> {
        let Some(port) = tables.port(switch, lid) else { return Vec::new() };
        let owner = subnet.owner(lid);
        let target = owner.and_then(|owner| subnet.graph().attachment(owner)).map(|at| at.switch);
        let group = target.filter(|&target| target != switch);
        let group: Vec<u8> =
            group.map_or_else(Vec::new, |target| self.least.ports(switch, target).collect());
        if group.contains(&port) { group } else { vec![port] }
    }

    /// A credit loop of each of these `lanes` (bit v), if packets to channel adapters and routers take any ports of their
    /// groups, on all of these lanes.
    pub fn credit_loops(
        &self,
        subnet: &Subnet,
        tables: &ForwardingTables,
        lanes: u16,
    ) -> Vec<CreditLoop> {
        let channels = Channels::new(subnet.graph());
        let mut graph = Dependencies::none(&channels);
        for target in subnet.end_ports().iter().filter(|one| one.kind != NodeKind::Switch) {
            for lid in target.lids.iter() {
                self.add_towards(subnet, tables, lid, (&channels, &mut graph));
            }
        }
        let found = loop_of(&channels, &graph);
        let on = |lane: u8| Some(CreditLoop { lane, channels: found.clone()? });
        (0..16).filter(|lane| lanes & 1 << lane != 0).filter_map(on).collect()
    }

    /// Adds what waits for what on the ways to a LID from all switches that have channel adapters.
    fn add_towards(
        &self,
        subnet: &Subnet,
        tables: &ForwardingTables,
        lid: u16,
        (channels, dependencies): (&Channels, &mut Dependencies),
    ) {
        let graph = subnet.graph();
        let mut is_met = vec![false; graph.len()];
        let begins = |&switch: &usize| graph.attached(switch).next().is_some();
        let mut next: Vec<usize> = (0..graph.len()).filter(begins).collect();
        next.iter().for_each(|&switch| is_met[switch] = true);
        while let Some(switch) = next.pop() {
            for port in self.ports(subnet, tables, switch, lid) {
                let far = graph.ports(switch).get(usize::from(port));
                let Some(&Far::Switch { switch: far, .. }) = far else { continue };
                let channel = channels.number(Channel { switch, port });
                for on in self.ports(subnet, tables, far, lid) {
                    if let Some(Far::Switch { .. }) = graph.ports(far).get(usize::from(on)) {
                        dependencies.add(channel, usize::from(on));
                    }
                }
                if !std::mem::replace(&mut is_met[far], true) {
                    next.push(far);
                }
            }
        }
    }
}
