//! Who talks to whom.

use rocelab_fabric::NodeId;

use crate::scenario::workload::app::Pairs;
use crate::scenario::{Fault, ensure};
use crate::workload::site::Site;

/// The hosts of an application, as the scenario names them.
#[derive(Clone, Copy, Debug)]
pub(in crate::workload) struct Peers<'a> {
    pub(in crate::workload) clients: &'a [String],
    pub(in crate::workload) servers: &'a [String],
    pub(in crate::workload) pairs: Pairs,
}

impl Peers<'_> {
    /// Client and server of each connection, in the order of the clients.
    pub(super) fn connections(&self, site: &Site<'_>) -> Result<Vec<(NodeId, NodeId)>, Fault> {
        let clients = hosts(site, "clients", self.clients)?;
        let servers = hosts(site, "servers", self.servers)?;
        let count = match self.pairs {
            Pairs::RoundRobin => clients.len(),
            Pairs::All => clients.len().saturating_mul(servers.len()),
        };
        site.check_connections("clients", count as u64)?;
        let mut connections = Vec::with_capacity(count);
        for (place, &client) in clients.iter().enumerate() {
            match self.pairs {
                Pairs::RoundRobin => connections.push((client, servers[place % servers.len()])),
                Pairs::All => connections.extend(servers.iter().map(|&server| (client, server))),
            }
        }
        let alone = connections.iter().find(|(client, server)| client == server);
        alone.map_or(Ok(connections.clone()), |&(host, _)| {
            let name = site.hosts.name(host);
            let message = format!("`{name}` would be its own server");
            Err(Fault::at("servers", message)
                .help("name hosts that are no clients of theirs, or put them in another order"))
        })
    }
}

fn hosts(site: &Site<'_>, key: &str, names: &[String]) -> Result<Vec<NodeId>, Fault> {
    ensure(!names.is_empty(), || {
        Fault::at(key, "nobody is named here").help("name at least one host, such as \"host-0\"")
    })?;
    site.hosts.selected(key, Some(names))
}
