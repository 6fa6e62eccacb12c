//! Servers by name: several hosts, each of which is a port of a NIC, that are one machine.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use rocelab_fabric::topology::{describe_names, matches_pattern};
use rocelab_fabric::{NodeId, Nvlink, PortSelection, ServerFlow, Topology};

use super::NvlinkDomain;
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
    nvlink: Option<Nvlink>,
    /// Ends of flows here for which a port was chosen.
    chosen: Cell<u64>,
}

/// What servers of one description have in common.
struct Alike {
    select: PortSelection,
    nvlink: Option<Nvlink>,
}

/// The NVLink of the servers that a description is about, if it says that they have any.
fn nvlink(config: &ServerConfig) -> Result<Option<Nvlink>, Fault> {
    if config.nvlink.is_none() && config.preset.is_none() {
        return Ok(None);
    }
    let resolved = config.nvlink.clone().unwrap_or_default().resolve(config.preset);
    resolved.map(Some).map_err(|error| {
        Fault::at(format!("nvlink.{}", error.key), error.problem).value(error.value).help(error.fix)
    })
}

impl Servers {
    /// The servers that a scenario describes, of hosts that `hosts` knows; if it describes none, those that the topology joins by
    /// NVLink.
    pub(super) fn new(
        configs: &[ServerConfig],
        topology: &Topology,
        hosts: &HostDirectory,
    ) -> Result<Self, Fault> {
        let mut servers = Self::default();
        let of_topology = topology.servers.iter().any(|server| server.nvlink.is_some());
        if configs.is_empty() && !of_topology {
            return Ok(servers);
        }
        servers.taken = hosts.names().iter().cloned().collect();
        for (index, config) in configs.iter().enumerate() {
            let place = format!("server[{index}]");
            servers.add(config, topology, hosts).map_err(|fault| fault.within(&place))?;
        }
        if configs.is_empty() {
            let like_all = Alike { select: PortSelection::default(), nvlink: None };
            servers.add_of_topology("server", topology, &like_all, hosts)?;
        }
        Ok(servers)
    }

    fn add(
        &mut self,
        config: &ServerConfig,
        topology: &Topology,
        hosts: &HostDirectory,
    ) -> Result<(), Fault> {
        let alike = Alike { select: config.select, nvlink: nvlink(config)? };
        let name = &config.name;
        if config.ports.is_empty() && !topology.servers.is_empty() {
            ensure(config.size.is_none(), || {
                Fault::at("size", "the topology says which hosts are a server")
                    .help("leave it out, or name `ports`")
            })?;
            return self.add_of_topology(name, topology, &alike, hosts);
        }
        let ports = hosts.selected("ports", Some(&config.ports))?;
        ensure(!ports.is_empty(), || {
            Fault::at("ports", "a server has at least one port").help("name hosts")
        })?;
        // A preset says how many GPUs a server has, so that there may be several.
        let by_preset = config.preset.map(|preset| preset.gpus());
        let Some(size) = config.size.or(by_preset.filter(|&gpus| gpus != ports.len())) else {
            return self.insert(name.clone(), &ports, &alike, hosts);
        };
        ensure(size > 0 && ports.len().is_multiple_of(size), || {
            let text = format!("{} ports are no whole number of servers", ports.len());
            Fault::at("size", text)
                .value(size.to_string())
                .help("give a number that divides the ports")
        })?;
        for (number, ports) in ports.chunks(size).enumerate() {
            self.insert(format!("{name}-{number}"), ports, &alike, hosts)?;
        }
        Ok(())
    }

    /// The servers of the topology, `NAME-0` and so on.
    fn add_of_topology(
        &mut self,
        name: &str,
        topology: &Topology,
        alike: &Alike,
        hosts: &HostDirectory,
    ) -> Result<(), Fault> {
        for (number, server) in topology.servers.iter().enumerate() {
            let alike = Alike { nvlink: alike.nvlink.or(server.nvlink), ..*alike };
            self.insert(format!("{name}-{number}"), &server.hosts, &alike, hosts)?;
        }
        Ok(())
    }

    /// The domains of NVLink, in the order of servers.
    pub(super) fn domains(&self) -> Vec<NvlinkDomain> {
        let domain = |server: &Server| {
            let (link, hosts) = (server.nvlink?, server.ports.clone());
            Some(NvlinkDomain { server: server.name.clone(), link, hosts })
        };
        self.all.iter().filter_map(domain).collect()
    }

    fn insert(
        &mut self,
        name: String,
        ports: &[NodeId],
        alike: &Alike,
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
        let Alike { select, nvlink } = *alike;
        self.all.push(Server { name, ports: ports.to_vec(), select, nvlink, chosen: Cell::new(0) });
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
