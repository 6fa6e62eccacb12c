//! NVLink between hosts of a server.

use std::collections::BTreeMap;

use rocelab_fabric::{NodeId, Nvlink};
use rocelab_units::Duration;

/// The domains of NVLink; none in most scenarios.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NvlinkPlan {
    domains: Vec<NvlinkDomain>,
    /// By host: the place of its domain.
    of_host: BTreeMap<NodeId, usize>,
}

/// Hosts of a server that NVLink joins.
#[derive(Clone, Debug, PartialEq)]
pub struct NvlinkDomain {
    /// The server's name.
    pub server: String,
    /// What joins them.
    pub link: Nvlink,
    /// The hosts, in the order of their places in the server.
    pub hosts: Vec<NodeId>,
}

impl NvlinkPlan {
    /// These domains. A host is in one of them at most.
    pub(crate) fn new(domains: Vec<NvlinkDomain>) -> Self {
        let hosts = |(place, domain): (usize, &NvlinkDomain)| {
            domain.hosts.iter().map(move |&host| (host, place)).collect::<Vec<_>>()
        };
        let of_host = domains.iter().enumerate().flat_map(hosts).collect();
        Self { domains, of_host }
    }

    /// All of them, in the order of servers.
    pub fn domains(&self) -> &[NvlinkDomain] {
        &self.domains
    }

    /// The domain of a host, if it is in one.
    pub fn of(&self, host: NodeId) -> Option<&NvlinkDomain> {
        self.of_host.get(&host).map(|&place| &self.domains[place])
    }

    /// Whether two hosts are in the same domain.
    pub fn joins(&self, a: NodeId, b: NodeId) -> bool {
        let place = |host: NodeId| self.of_host.get(&host);
        a != b && place(a).is_some() && place(a) == place(b)
    }

    /// The shortest delay of the domains whose hosts are in several of these places.
    pub(crate) fn lookahead<T: PartialEq>(&self, place: impl Fn(NodeId) -> T) -> Option<Duration> {
        let is_apart = |domain: &&NvlinkDomain| {
            let mut places = domain.hosts.iter().map(|&host| place(host));
            let first = places.next();
            places.any(|other| Some(other) != first)
        };
        self.domains.iter().filter(is_apart).map(|domain| domain.link.delay).min()
    }
}

#[cfg(test)]
mod tests {
    use rocelab_units::Bandwidth;

    use super::*;

    fn domain(server: &str, hosts: &[NodeId], delay: Duration) -> NvlinkDomain {
        let rate = Bandwidth::from_gbps(1_000);
        let link = Nvlink { rate, delay, efficiency: 1.0, packet: None };
        NvlinkDomain { server: server.into(), link, hosts: hosts.to_vec() }
    }

    #[test]
    fn hosts_are_joined_within_a_domain_only() {
        let (long, short) = (Duration::from_ns(300), Duration::from_ns(200));
        let plan = NvlinkPlan::new(vec![domain("a", &[0, 1], long), domain("b", &[2, 3], short)]);
        assert!(plan.joins(0, 1) && plan.joins(3, 2));
        assert!(!plan.joins(0, 2) && !plan.joins(1, 1) && !plan.joins(4, 5));
        assert_eq!(plan.of(3).map(|domain| domain.server.as_str()), Some("b"));
        assert_eq!(plan.of(4), None);
        assert_eq!(plan.lookahead(|_| 0), None, "no domain is cut");
        assert_eq!(plan.lookahead(|host| host), Some(short));
        assert_eq!(plan.lookahead(|host| host == 0), Some(long), "the other one is whole");
    }
}
