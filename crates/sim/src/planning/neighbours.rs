//! `[roce.neighbours]`: what can be wrong with it, and what follows.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use rocelab_fabric::{NodeId, Topology};
use rocelab_transport::Marking;
use rocelab_units::Duration;
use rocelab_wire::{Arp, CRC_LEN, Ethernet, Ipv6, MIN_FRAME_LEN, NeighbourMessage, VlanTag};

use super::addresses::Prefix;
use super::markings::too_many;
use crate::plan::{Markings, NeighbourPlan, RocePlan};
use crate::scenario::{Fault, IpVersion, RoceConfig, RoceVersion, Scenario, ensure};
use crate::workload::HostDirectory;

/// The longest time of an entry.
const LONGEST: Duration = Duration::from_ms(1_000_000);

/// The first thing that is wrong with it.
pub(super) fn check(roce: &RoceConfig) -> Result<(), Fault> {
    let Some(config) = &roce.neighbours else { return Ok(()) };
    let at = |key: &str, problem: &str| Fault::at(format!("roce.neighbours.{key}"), problem);
    for (key, time) in
        [("retransmit", config.retransmit), ("reachable_time", config.reachable_time)]
    {
        ensure(time > Duration::ZERO, || {
            at(key, "nobody answers in no time").help("give a time above 0s, such as \"1s\"")
        })?;
    }
    for (key, time) in [
        ("reachable_time", config.reachable_time),
        ("delay", config.delay),
        ("retransmit", config.retransmit),
    ] {
        ensure(time <= LONGEST, || {
            at(key, "nobody waits that long").help(format!("give at most {LONGEST}"))
        })?;
    }
    ensure(config.attempts > 0, || {
        at("attempts", "nobody answers who was not asked").help("give 1 to 255")
    })
}

/// What hosts do. RoCE v1 has no IP addresses to ask for.
pub(super) fn build(
    scenario: &Scenario,
    topology: &Topology,
    hosts: &HostDirectory,
    (roce, markings): (&RocePlan, &mut Markings),
) -> Result<Option<NeighbourPlan>, Fault> {
    let config = scenario.roce.neighbours.filter(|_| scenario.roce.version == RoceVersion::V2);
    let Some(config) = config else { return Ok(None) };
    check_stale(scenario)?;
    let ip = scenario.roce.ip;
    let content = match ip {
        IpVersion::Ipv4 => Arp::LEN,
        IpVersion::Ipv6 => Ipv6::LEN + NeighbourMessage::LEN,
    };
    let tag = if roce.tagged { VlanTag::LEN } else { 0 };
    let len = (Ethernet::LEN + tag + content + CRC_LEN).max(MIN_FRAME_LEN);
    // ARP has no IP header.
    let marking = Marking { has_ip: ip == IpVersion::Ipv6, ..markings.of(0) };
    let mut subnets = vec![0; topology.nodes.len()];
    for (number, subnet) in (1u32..).zip(&scenario.subnet) {
        for host in hosts.selected("hosts", Some(&subnet.hosts))? {
            subnets[host as usize] = number;
        }
    }
    let mut far = vec![NodeId::MAX; topology.nodes.len()];
    for link in &topology.links {
        (far[link.a as usize], far[link.b as usize]) = (link.b, link.a);
    }
    let routers = match ip {
        IpVersion::Ipv4 => routers(scenario, topology, hosts, (roce, &subnets))?,
        IpVersion::Ipv6 => BTreeMap::new(),
    };
    Ok(Some(NeighbourPlan {
        ip,
        frame_len: u16::try_from(len).unwrap_or(u16::MAX),
        marking: markings.number(marking).ok_or_else(|| {
            let frames = if ip == IpVersion::Ipv4 { "ARP" } else { "Neighbour Discovery" };
            too_many("roce.neighbours", &format!(", with that of {frames}")).value("")
        })?,
        reachable_time: config.reachable_time,
        delay: config.delay,
        retransmit: config.retransmit,
        attempts: config.attempts,
        far,
        subnets,
        routers,
    }))
}

/// Who is asked for by an address that it does not have would have to be in the same subnet, and the host would fail, not its frames.
fn check_stale(scenario: &Scenario) -> Result<(), Fault> {
    if scenario.subnet.is_empty() && scenario.layer3.is_none() {
        return Ok(());
    }
    let stale = scenario.address.iter().position(|one| one.stale_gid.is_some());
    stale.map_or(Ok(()), |index| {
        Err(Fault::at(
            format!("address[{index}].stale_gid"),
            "with `[roce.neighbours]` it is not known whether this address is in the subnet of those who ask for it",
        )
        .help("leave out `roce.neighbours`, or the stale GID"))
    })
}

/// The IPv4 addresses of routers, by the host that knows them so: the last ones of its subnet that neither a host nor another router
/// has, else those from 10.128.0.1 on.
fn routers(
    scenario: &Scenario,
    topology: &Topology,
    hosts: &HostDirectory,
    (roce, subnets): (&RocePlan, &[u32]),
) -> Result<BTreeMap<(NodeId, NodeId), Ipv4Addr>, Fault> {
    const FIRST: u32 = 0x0a80_0001;
    let adjacency = topology.adjacency();
    let mut taken = Taken {
        hosts: hosts.all().iter().map(|&host| (roce.addresses.ipv4(host), host)).collect(),
        ..Taken::default()
    };
    let mut numbers: BTreeMap<(u32, NodeId), u32> = BTreeMap::new();
    let mut all = BTreeMap::new();
    for &host in hosts.all() {
        let (domain, near): (u32, Vec<NodeId>) = match &roce.domains {
            Some(domains) => (domains.of(host).unwrap_or(0), domains.routers_at(host).to_vec()),
            None => {
                let far = adjacency.ports_of(host).first().map(|far| far.node);
                (host, far.into_iter().filter(|&far| topology.is_switch(far)).collect())
            }
        };
        let subnet = subnets[host as usize].checked_sub(1).map(|number| number as usize);
        let prefix = subnet.and_then(|index| {
            let text = scenario.subnet[index].ipv4.as_ref()?;
            Some((index, text, Prefix::parse(text, true)?))
        });
        for router in near {
            let address = if let Some((index, text, prefix)) = &prefix {
                taken.in_subnet((*index, *prefix), router).ok_or_else(|| {
                    let name = hosts.name(router);
                    let what = format!("no address is left for the router `{name}`");
                    Fault::at(format!("subnet[{index}].ipv4"), what)
                        .value(text)
                        .help("give a shorter prefix, or leave out `roce.neighbours`")
                })?
            } else {
                let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
                let number = *numbers.entry((domain, router)).or_insert(next);
                let address = Ipv4Addr::from(FIRST.saturating_add(number));
                if let Some(other) = taken.by_other(address, router) {
                    let (name, other) = (hosts.name(router), hosts.name(other));
                    let what =
                        format!("`{other}` has the address of the router `{name}`, {address}");
                    return Err(Fault::at("roce.neighbours", what)
                        .value("")
                        .help("give the host another address, or put the hosts of the router into a `[[subnet]]`"));
                }
                taken.routers.insert(address, router);
                address
            };
            all.insert((host, router), address);
        }
    }
    Ok(all)
}

/// Who has an address.
#[derive(Default)]
struct Taken {
    hosts: BTreeMap<Ipv4Addr, NodeId>,
    routers: BTreeMap<Ipv4Addr, NodeId>,
    /// Those of routers in a subnet, which all of their links there share.
    in_subnets: BTreeMap<(usize, NodeId), Ipv4Addr>,
}

impl Taken {
    /// Who else has an address that a router would have.
    fn by_other(&self, address: Ipv4Addr, router: NodeId) -> Option<NodeId> {
        let of_router = self.routers.get(&address).filter(|&&other| other != router);
        self.hosts.get(&address).or(of_router).copied()
    }

    /// The address of a router in a subnet: the last one that nobody has.
    fn in_subnet(&mut self, (subnet, prefix): (usize, Prefix), router: NodeId) -> Option<Ipv4Addr> {
        if let Some(&known) = self.in_subnets.get(&(subnet, router)) {
            return Some(known);
        }
        let is_free =
            |address| !self.hosts.contains_key(&address) && !self.routers.contains_key(&address);
        let address = prefix.last_of_hosts(is_free)?;
        self.routers.insert(address, router);
        self.in_subnets.insert((subnet, router), address);
        Some(address)
    }
}

/// Where nobody asks.
pub(super) fn unused(roce: &RoceConfig) -> Option<Fault> {
    let unused = roce.neighbours.is_some() && roce.version == RoceVersion::V1;
    unused.then(|| {
        Fault::at("roce.neighbours", "RoCE v1 has no IP addresses to ask for")
            .value("")
            .help("leave it out, or use `roce.version = 2`")
    })
}
