//! Multicast groups and what is sent to them: what can be wrong with them, and what follows.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use rocelab_fabric::NodeId;
use rocelab_wire::{Encapsulation, Gid, ipv4_group_gid};

use crate::plan::{MulticastGroup, MulticastPlan, MulticastSending};
use crate::scenario::{
    Fault, IpVersion, MulticastForwarding, MulticastGroupConfig, RoceVersion, Scenario, ensure,
};
use crate::workload::HostDirectory;

/// The most groups: each has an address of its own.
const MAX_GROUPS: usize = 65_534;

/// The groups of a scenario.
pub(super) fn groups(
    scenario: &Scenario,
    hosts: &HostDirectory,
    encapsulation: Encapsulation,
) -> Result<Vec<MulticastGroup>, Fault> {
    let all = &scenario.multicast_group;
    ensure(all.len() <= MAX_GROUPS, || {
        Fault::at("multicast_group", format!("these are {} groups", all.len()))
            .value("")
            .help(format!("a network has at most {MAX_GROUPS}"))
    })?;
    let mut groups: Vec<MulticastGroup> = Vec::with_capacity(all.len());
    let (mut by_name, mut by_gid) = (BTreeMap::new(), BTreeMap::new());
    for (index, config) in all.iter().enumerate() {
        let at = |key: &str| format!("multicast_group[{index}].{key}");
        let name = &config.name;
        ensure(!name.trim().is_empty(), || {
            Fault::at(at("name"), "a group without a name cannot be sent to").help("give it one")
        })?;
        ensure(by_name.insert(name.as_str(), index).is_none(), || {
            Fault::at(at("name"), format!("there are two groups `{name}`"))
                .help("give each a name of its own")
        })?;
        let section = format!("multicast_group[{index}]");
        let members = members(config, hosts).map_err(|fault| fault.within(&section))?;
        let gid = gid(config, index, scenario, encapsulation);
        let gid = gid.map_err(|fault| fault.within(&section))?;
        if let Some(other) = by_gid.insert(gid, name) {
            let (key, whose) = match &config.address {
                Some(_) => ("address", "this address"),
                None => ("name", "the address that it would have"),
            };
            return Err(Fault::at(at(key), format!("the group `{other}` has {whose}, {gid}"))
                .help("give each group an `address` of its own"));
        }
        groups.push(MulticastGroup { name: name.clone(), gid, members });
    }
    Ok(groups)
}

fn members(config: &MulticastGroupConfig, hosts: &HostDirectory) -> Result<Vec<NodeId>, Fault> {
    let mut members = hosts.selected("members", Some(&config.members))?;
    ensure(!members.is_empty(), || {
        Fault::at("members", "a group without members receives nothing")
            .help("name hosts, such as [\"host-0..host-3\"]")
    })?;
    members.sort_unstable();
    Ok(members)
}

/// The address of the group of this place.
fn gid(
    config: &MulticastGroupConfig,
    index: usize,
    scenario: &Scenario,
    encapsulation: Encapsulation,
) -> Result<Gid, Fault> {
    let is_v1 = encapsulation == Encapsulation::V1;
    let Some(text) = &config.address else {
        let number = u16::try_from(index + 1).unwrap_or(u16::MAX);
        let [high, low] = number.to_be_bytes();
        return Ok(if encapsulation == Encapsulation::V2Ipv6 {
            Gid::from(Ipv6Addr::new(0xff15, 0, 0, 0, 0, 0, 0, number))
        } else {
            ipv4_group_gid(encapsulation, Ipv4Addr::new(239, 255, high, low))
        });
    };
    let (wanted, example) = match scenario.roce.ip {
        _ if is_v1 => ("an IPv4 or IPv6 address", "239.255.0.1"),
        IpVersion::Ipv4 => ("an IPv4 address", "239.255.0.1"),
        IpVersion::Ipv6 => ("an IPv6 address", "ff15::1"),
    };
    let address = text
        .parse::<IpAddr>()
        .ok()
        .filter(|address| is_v1 || address.is_ipv4() == (encapsulation == Encapsulation::V2Ipv4));
    let Some(address) = address else {
        return Err(Fault::at("address", format!("this is not {wanted}"))
            .help(format!("give {wanted} of multicast, such as \"{example}\"")));
    };
    ensure(address.is_multicast(), || {
        Fault::at("address", format!("{address} is the address of one host"))
            .help(format!("give one of multicast, such as \"{example}\""))
    })?;
    ensure(is_v1 || !stays_on_link(address), || {
        Fault::at("address", format!("no router forwards what is sent to {address}")).help(format!(
            "give one of 224.0.1.0 to 239.255.255.255, or of IPv6 with a scope of 3 or more, such as \"{example}\""
        ))
    })?;
    Ok(match address {
        IpAddr::V4(address) => ipv4_group_gid(encapsulation, address),
        IpAddr::V6(address) => Gid::from(address),
    })
}

/// Whether a group is of one link, or of one interface (RFC 5771, section 4; RFC 4291, section 2.7).
fn stays_on_link(group: IpAddr) -> bool {
    match group {
        IpAddr::V4(group) => group.octets()[..3] == [224, 0, 0],
        IpAddr::V6(group) => group.octets()[1] & 0xf <= 2,
    }
}

/// The sendings of a plan whose flows are being numbered.
#[derive(Default)]
pub(super) struct Sendings {
    all: Vec<MulticastSending>,
    /// The workload of the last one.
    item: Option<usize>,
}

impl Sendings {
    /// The flow that stands for all to members of a group, if one of the same workload is there.
    pub(super) fn first(&self, item: usize) -> Option<u32> {
        self.all.last().filter(|_| self.item == Some(item)).map(|last| last.flows.start)
    }

    /// The next flow of the plan is of this workload, whose group is that of this place.
    pub(super) fn note(&mut self, item: usize, group: usize, (source, flow): (NodeId, usize)) {
        let flow = u32::try_from(flow).unwrap_or(u32::MAX);
        match self.all.last_mut() {
            Some(last) if self.item == Some(item) => last.flows.end = flow + 1,
            _ => {
                let group = u32::try_from(group).unwrap_or(u32::MAX);
                self.all.push(MulticastSending { group, source, flows: flow..flow + 1 });
                self.item = Some(item);
            }
        }
    }

    /// What the plan has of them; nothing if there are none.
    pub(super) fn plan(
        self,
        scenario: &Scenario,
        groups: Vec<MulticastGroup>,
    ) -> Result<Option<Arc<MulticastPlan>>, Fault> {
        if self.all.is_empty() {
            return Ok(None);
        }
        check(scenario)?;
        let is_flooded = scenario.roce.version == RoceVersion::V1
            && scenario.layer2.multicast == MulticastForwarding::Flooding;
        Ok(Some(Arc::new(MulticastPlan { groups, sendings: self.all, is_flooded })))
    }
}

/// Refuses what multicast is not modelled with.
fn check(scenario: &Scenario) -> Result<(), Fault> {
    ensure(scenario.roce.service.is_datagram(), || {
        Fault::at("roce.service", "only datagrams can be sent to a multicast group")
            .help("use `service = \"ud\"`")
    })?;
    let refuse = |key: &str, what: &str| {
        let problem = format!("{what} is not modelled");
        Fault::at(key, problem).value("").help("leave it out, or `[workload.multicast]`")
    };
    for (key, is_there, what) in [
        (
            "layer3",
            scenario.layer3.is_some(),
            "how bridges and routers in one network forward multicast",
        ),
        (
            "route",
            !scenario.route.is_empty(),
            "how the tree of a multicast group follows static routes",
        ),
        ("switch.qcn", scenario.switch.qcn.is_some(), "QCN for what is sent to a multicast group"),
        (
            "ingress.fast_cnp",
            !scenario.ingress.fast_cnp.is_empty(),
            "of which of its egress queues a switch tells the sender to a multicast group",
        ),
    ] {
        ensure(!is_there, || refuse(key, what))?;
    }
    let stale = scenario.address.iter().position(|one| one.stale_gid.is_some());
    let stale = stale.map(|index| format!("address[{index}].stale_gid"));
    stale.map_or(Ok(()), |key| {
        Err(refuse(&key, "what a stale GID means to members of a multicast group"))
    })
}

/// Groups that nobody sends to, and how bridges forward where there are none.
pub(super) fn unused(scenario: &Scenario) -> impl Iterator<Item = Fault> + '_ {
    let is_sent_to = |name: &str| scenario.workload.multicast.0.iter().any(|one| one.group == name);
    let groups = scenario.multicast_group.iter().enumerate();
    let groups = groups.filter(move |(_, group)| !is_sent_to(&group.name)).map(|(index, group)| {
        let name = &group.name;
        Fault::at(
            format!("multicast_group[{index}].name"),
            format!("nobody sends to the group `{name}`"),
        )
        .value(name)
        .help("leave it out, or add `[workload.multicast]` with its name")
    });
    let is_snooping = scenario.layer2.multicast != MulticastForwarding::default();
    let unused = is_snooping && scenario.roce.version == RoceVersion::V2;
    let forwarding = unused.then(|| {
        Fault::at("layer2.multicast", "routers of RoCE v2 send to members only in any case")
            .help("leave it out, or use `roce.version = 1`")
    });
    groups.chain(forwarding)
}
