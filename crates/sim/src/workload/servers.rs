//! Servers by name: several hosts, each of which is a port of a NIC, that are one machine.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use rocelab_fabric::topology::{describe_names, matches_pattern};
use rocelab_fabric::{NodeId, PortSelection, ServerFlow};

use super::hosts::HostDirectory;
use crate::scenario::{Fault, ServerConfig, ensure};

/// The servers of a scenario.
#[derive(Debug, Default)]
pub(super) struct Servers {
    all: Vec<Server>,
    by_name: BTreeMap<String, usize>,
    /// Names of hosts and switches, and of servers.
    taken: BTreeSet<String>,
    /// By port: its server, and its place there.
    place_of: BTreeMap<NodeId, (usize, usize)>,
}

/// One of them.
#[derive(Debug)]
struct Server {
    name: String,
    ports: Vec<NodeId>,
    select: PortSelection,
    /// Ends of flows here for which a port was chosen.
    chosen: Cell<u64>,
}

impl Servers {
    /// The servers that a scenario describes, of hosts that `hosts` knows.
    pub(super) fn new(configs: &[ServerConfig], hosts: &HostDirectory) -> Result<Self, Fault> {
        let mut servers = Self::default();
        if !configs.is_empty() {
            servers.taken = hosts.names().iter().cloned().collect();
        }
        for (index, config) in configs.iter().enumerate() {
            let place = format!("server[{index}]");
            servers.add(config, hosts).map_err(|fault| fault.within(&place))?;
        }
        Ok(servers)
    }

    fn add(&mut self, config: &ServerConfig, hosts: &HostDirectory) -> Result<(), Fault> {
        let ports = hosts.selected("ports", Some(&config.ports))?;
        ensure(!ports.is_empty(), || {
            Fault::at("ports", "a server has at least one port").help("name hosts")
        })?;
        let Some(size) = config.size else {
            return self.insert(config.name.clone(), &ports, config.select, hosts);
        };
        ensure(size > 0 && ports.len().is_multiple_of(size), || {
            let text = format!("{} ports are no whole number of servers", ports.len());
            Fault::at("size", text).help("give a number that divides the ports")
        })?;
        for (number, ports) in ports.chunks(size).enumerate() {
            self.insert(format!("{}-{number}", config.name), ports, config.select, hosts)?;
        }
        Ok(())
    }

    fn insert(
        &mut self,
        name: String,
        ports: &[NodeId],
        select: PortSelection,
        hosts: &HostDirectory,
    ) -> Result<(), Fault> {
        let is_word =
            !name.is_empty() && name != "all" && !name.contains("..") && !name.contains([':', '*']);
        ensure(is_word && self.taken.insert(name.clone()), || {
            Fault::at("name", format!("a server cannot be called `{name}`")).help(
                "give a name that no host, switch or other server has, without `..`, `:` and `*`",
            )
        })?;
        let number = self.all.len();
        for (place, &port) in ports.iter().enumerate() {
            let before = self.place_of.insert(port, (number, place));
            ensure(before.is_none(), || {
                let text = format!("`{}` is a port of another server", hosts.name(port));
                Fault::at("ports", text).help("put every host into one server")
            })?;
        }
        self.by_name.insert(name.clone(), number);
        self.all.push(Server { name, ports: ports.to_vec(), select, chosen: Cell::new(0) });
        Ok(())
    }

    /// Their names, for messages; `None` if there are no servers.
    pub(super) fn described(&self) -> Option<String> {
        let names = self.all.iter().map(|server| server.name.as_str());
        (!self.all.is_empty()).then(|| describe_names(names))
    }

    /// The ports of the server of this name, if there is one.
    pub(super) fn ports_of(&self, name: &str) -> Option<&[NodeId]> {
        Some(&self.all[*self.by_name.get(name)?].ports)
    }

    /// The ports of the servers from one to another, both included, in the order of the scenario; `None` if one of the two
    /// names is that of no server.
    pub(super) fn range(&self, first: &str, last: &str) -> Option<Vec<NodeId>> {
        let (first, last) = (*self.by_name.get(first)?, *self.by_name.get(last)?);
        let servers = self.all.get(first..=last).unwrap_or_default();
        Some(servers.iter().flat_map(|server| &server.ports).copied().collect())
    }

    /// The ports of the servers whose names are like a pattern, in the order of the scenario.
    pub(super) fn like(&self, pattern: &str) -> Vec<NodeId> {
        let mut numbers: Vec<usize> = self
            .by_name
            .iter()
            .filter(|(name, _)| matches_pattern(name, pattern))
            .map(|(_, &number)| number)
            .collect();
        numbers.sort_unstable();
        numbers.into_iter().flat_map(|number| self.all[number].ports.iter().copied()).collect()
    }

    /// The place of a port in its server, if it belongs to one.
    pub(super) fn place_of(&self, port: NodeId) -> Option<usize> {
        self.place_of.get(&port).map(|&(_, place)| place)
    }

    /// The port that the next flow takes, if `name` is that of a server: `peer_port` is the place of its other port.
    pub(super) fn select(&self, name: &str, peer_port: Option<usize>) -> Option<NodeId> {
        let server = &self.all[*self.by_name.get(name)?];
        let number = server.chosen.get();
        server.chosen.set(number + 1);
        let flow = ServerFlow { number, ports: server.ports.len(), peer_port };
        server.ports.get(server.select.select(&flow)).copied()
    }
}
