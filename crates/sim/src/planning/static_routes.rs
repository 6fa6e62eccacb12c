//! Static routes, found and checked.

use std::collections::BTreeMap;

use rocelab_fabric::{Domains, NodeId, Routes, StaticRoute, Topology};

use super::{ports, switches};
use crate::scenario::{Fault, RouteConfig, ensure};
use crate::workload::HostDirectory;

/// What the ways of frames follow from, before there is a plan.
pub(super) struct Forwarding<'a> {
    pub(super) topology: &'a Topology,
    pub(super) active: &'a [bool],
    pub(super) by_hand: &'a [StaticRoute],
    /// The LMC of a subnet of InfiniBand, whose switches have these routes and no others.
    pub(super) lmc: Option<u8>,
    /// Where bridges and routers are in one network.
    pub(super) domains: Option<&'a Domains>,
}

impl Forwarding<'_> {
    /// The routes, unless the topology has what they cannot represent, which is reported elsewhere.
    pub(super) fn routes(&self) -> Option<Routes> {
        let routes = Routes::new(self.topology, self.active).ok()?;
        Some(match self.lmc {
            Some(lmc) => routes.with_tables(self.by_hand, self.active, lmc),
            None => routes.with_static_routes(self.by_hand, self.active),
        })
    }
}

/// The static routes of a scenario, one for each switch and host.
pub(super) fn build(
    configs: &[RouteConfig],
    topology: &Topology,
    hosts: &HostDirectory,
    active_links: &[bool],
) -> Result<Vec<StaticRoute>, Fault> {
    let mut routes = BTreeMap::new();
    for (index, config) in configs.iter().enumerate() {
        let named = Named { config, topology, active_links };
        let section = format!("route[{index}]");
        named.add(hosts, &mut routes).map_err(|fault| fault.within(&section))?;
    }
    let route =
        |((switch, destination), ports)| StaticRoute { switch, destination, path_bits: 0, ports };
    Ok(routes.into_iter().map(route).collect())
}

/// An entry, and what its names are names of.
struct Named<'a> {
    config: &'a RouteConfig,
    topology: &'a Topology,
    active_links: &'a [bool],
}

impl Named<'_> {
    fn add(
        &self,
        hosts: &HostDirectory,
        routes: &mut BTreeMap<(NodeId, NodeId), Vec<u16>>,
    ) -> Result<(), Fault> {
        let named = std::slice::from_ref(&self.config.switch);
        let named = switches::named_switches(named, self.topology);
        let named = named.map_err(|fault| fault.moved("[0]", "switch"))?;
        let destinations = hosts.selected("destinations", self.config.destinations.as_deref())?;
        for switch in named {
            let ports = self.ports_of(switch)?;
            for &destination in &destinations {
                self.check_last_hop(switch, destination, &ports)?;
                routes.insert((switch, destination), ports.clone());
            }
        }
        Ok(())
    }

    /// The ports by which the switch is to forward.
    fn ports_of(&self, switch: NodeId) -> Result<Vec<u16>, Fault> {
        let (key, ports) = match (&self.config.next_hop, &self.config.port) {
            (Some(next_hop), None) => ("next_hop", self.towards(switch, next_hop)?),
            (None, Some(port)) => ("port", self.one_port(switch, port)?),
            (None, None) => {
                return Err(Fault::at("", "it does not say where to")
                    .help("give a `next_hop`, such as \"spine-1\", or a `port`"));
            }
            (Some(_), Some(_)) => {
                return Err(Fault::at("port", "`next_hop` says where to")
                    .help("give one of `next_hop` and `port`"));
            }
        };
        let adjacency = self.topology.adjacency();
        let links = adjacency.ports_of(switch);
        let is_active = |port: &u16| self.active_links[links[usize::from(*port)].link as usize];
        ensure(ports.iter().any(is_active), || {
            Fault::at(key, "the spanning tree blocks that link")
                .help("use `layer2.forwarding = \"multipath\"`, or a link of the tree")
        })?;
        Ok(ports)
    }

    /// All ports of the switch that lead to the node of this name.
    fn towards(&self, switch: NodeId, next_hop: &str) -> Result<Vec<u16>, Fault> {
        let adjacency = self.topology.adjacency();
        let neighbours = adjacency.ports_of(switch);
        let far = self.topology.node_by_name(next_hop.trim());
        let ports: Vec<u16> = (0..)
            .zip(neighbours)
            .filter(|(_, port)| Some(port.node) == far)
            .map(|(n, _)| n)
            .collect();
        ensure(!ports.is_empty(), || {
            let mut names: Vec<_> = neighbours.iter().map(|port| self.name(port.node)).collect();
            names.dedup();
            let message = format!("`{}` has no link to `{}`", self.name(switch), next_hop.trim());
            Fault::at("next_hop", message).help(format!("its links lead to {}", names.join(", ")))
        })?;
        Ok(ports)
    }

    fn one_port(&self, switch: NodeId, port: &str) -> Result<Vec<u16>, Fault> {
        let found = ports::named("port", &[port.to_owned()], self.topology);
        let found = found.map_err(|fault| fault.moved("port[0]", "port"))?;
        match found[..] {
            [(node, port)] if node == switch => Ok(vec![port]),
            _ => Err(Fault::at("port", format!("that is no port of `{}`", self.name(switch)))
                .help(format!("name one of its ports, such as \"{}:0\"", self.name(switch)))),
        }
    }

    /// Hosts forward nothing.
    fn check_last_hop(
        &self,
        switch: NodeId,
        destination: NodeId,
        ports: &[u16],
    ) -> Result<(), Fault> {
        let adjacency = self.topology.adjacency();
        let links = adjacency.ports_of(switch);
        let far = ports.iter().map(|&port| links[usize::from(port)].node);
        let other = far.into_iter().find(|&far| far != destination && self.topology.is_host(far));
        other.map_or(Ok(()), |other| {
            let (other, host) = (self.name(other), self.name(destination));
            let key = if self.config.port.is_some() { "port" } else { "next_hop" };
            Err(Fault::at(key, format!("`{other}` is a host, and forwards nothing to `{host}`"))
                .help("forward to a switch, or name that host as the only destination"))
        })
    }

    fn name(&self, node: NodeId) -> &str {
        &self.topology.nodes[node as usize].name
    }
}
