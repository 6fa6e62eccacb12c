//! The addresses of hosts: what subnets and tables give, checked.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use rocelab_fabric::{NodeId, Topology};
use rocelab_wire::{Encapsulation, Gid, MacAddress};

use crate::address::{Addresses, HostAddresses, gid_index, switch_port_mac};
use crate::scenario::{Fault, RoceConfig, Scenario, ensure};
use crate::workload::HostDirectory;

/// A prefix of IP addresses; those of IPv4 count in the lower 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prefix {
    first: u128,
    /// Bits that are not the prefix.
    host_bits: u32,
    is_v4: bool,
}

const RESERVED_V4: &[(&str, &str)] = &[
    ("224.0.0.0/4", "of multicast"),
    ("127.0.0.0/8", "of loopback"),
    ("0.0.0.0/8", "\"this network\""),
    ("240.0.0.0/4", "reserved, or broadcast,"),
];
const RESERVED_V6: &[(&str, &str)] = &[
    ("ff00::/8", "of multicast"),
    ("::1/128", "of loopback"),
    ("::/128", "unspecified"),
    ("fe80::/10", "link-local"),
    ("::ffff:0:0/96", "IPv4-mapped"),
];

/// A subnet as far as addresses go.
struct Subnet {
    /// Its key, such as `subnet[0]`.
    key: String,
    name: String,
    hosts: Vec<NodeId>,
    prefixes: Vec<(&'static str, Prefix)>,
}

impl Prefix {
    pub(super) fn parse(text: &str, is_v4: bool) -> Option<Self> {
        let (address, len) = text.split_once('/')?;
        let (bits, first) = if is_v4 {
            (32, u128::from(u32::from(address.parse::<Ipv4Addr>().ok()?)))
        } else {
            (128, u128::from(address.parse::<Ipv6Addr>().ok()?))
        };
        let host_bits = bits - len.parse::<u32>().ok().filter(|&len| len <= bits)?;
        let prefix = Self { first, host_bits, is_v4 };
        (prefix.first & prefix.mask() == 0).then_some(prefix)
    }

    /// A single address.
    const fn of_one(address: u128, is_v4: bool) -> Self {
        Self { first: address, host_bits: 0, is_v4 }
    }

    const fn mask(self) -> u128 {
        match 1_u128.checked_shl(self.host_bits) {
            Some(addresses) => addresses - 1,
            None => u128::MAX,
        }
    }

    const fn contains(self, address: u128) -> bool {
        address & !self.mask() == self.first
    }

    const fn overlaps(self, other: Self) -> bool {
        self.is_v4 == other.is_v4 && (self.contains(other.first) || other.contains(self.first))
    }

    /// A range of addresses that no single host has (RFC 6890), of which the prefix has some: the range, and what they are.
    fn reserved(self) -> Option<(&'static str, &'static str)> {
        let all = if self.is_v4 { RESERVED_V4 } else { RESERVED_V6 };
        let overlaps =
            |range: &str| Self::parse(range, self.is_v4).is_some_and(|one| one.overlaps(self));
        all.iter().copied().find(|&(range, _)| overlaps(range))
    }

    /// Whether hosts may have this address of the prefix: it is not the one of the subnet itself or the broadcast address of
    /// IPv4 (RFC 3021: a prefix of 31 bits has neither).
    const fn is_of_hosts(self, address: u128) -> bool {
        let place = address & self.mask();
        let last = self.is_v4 && place == self.mask();
        self.host_bits <= 1 || place != 0 && !last
    }

    /// The last address of IPv4 that hosts may have and that is free.
    pub(super) fn last_of_hosts(self, is_free: impl Fn(Ipv4Addr) -> bool) -> Option<Ipv4Addr> {
        let places = (0..=self.mask()).rev().map(|place| self.first + place);
        let addresses = places.filter(|&address| self.is_of_hosts(address));
        let addresses = addresses.filter_map(|address| u32::try_from(address).ok());
        addresses.map(Ipv4Addr::from).find(|&address| is_free(address))
    }

    /// The address of its host number `place`, from 0, if it has that many.
    fn host(self, place: usize) -> Option<u128> {
        let first = u128::from(self.host_bits > 1);
        let place = (place as u128).checked_add(first).filter(|&place| place <= self.mask())?;
        Some(self.first + place).filter(|&address| self.is_of_hosts(address))
    }
}

/// Finds and checks the addresses of all hosts.
pub(super) fn build(
    scenario: &Scenario,
    topology: &Topology,
    hosts: &HostDirectory,
) -> Result<Addresses, Fault> {
    if scenario.subnet.is_empty() && scenario.address.is_empty() {
        return Ok(Addresses::default());
    }
    let mut given = BTreeMap::new();
    let mut places = BTreeMap::new();
    for index in 0..scenario.address.len() {
        read_table(scenario, index, hosts, (&mut given, &mut places))?;
    }
    let subnets = subnets(scenario, hosts)?;
    let taken = Taken::new(&given);
    for subnet in &subnets {
        number(subnet, (hosts, &taken), &mut given, &mut places)?;
    }
    let addresses = Addresses::new(given);
    check_unique(&addresses, topology, hosts, &places)?;
    check_stale(scenario, &addresses, hosts, &places)?;
    check_outsiders(&addresses, &subnets, hosts)?;
    Ok(addresses)
}

/// Where an address of a host comes from, for messages.
type Places = BTreeMap<(NodeId, &'static str), String>;

fn read_table(
    scenario: &Scenario,
    index: usize,
    hosts: &HostDirectory,
    (given, places): (&mut BTreeMap<NodeId, HostAddresses>, &mut Places),
) -> Result<(), Fault> {
    let table = &scenario.address[index];
    let section = format!("address[{index}]");
    let named = hosts.selected("hosts", Some(&table.hosts)).map_err(|f| f.within(&section))?;
    let is_nothing = [&table.mac, &table.ipv4, &table.ipv6, &table.stale_gid];
    ensure(is_nothing.iter().any(|value| value.is_some()), || {
        Fault::at(&section, "it gives no address")
            .help("give `mac`, `ipv4`, `ipv6` or `stale_gid`, or leave it out")
    })?;
    for (place, host) in named.iter().copied().enumerate() {
        let one = given.entry(host).or_default();
        let mut note = |kind| {
            let key = format!("{section}.{kind}");
            places.insert((host, kind), key.clone());
            key
        };
        if let Some(text) = &table.mac {
            one.mac = Some(nth_mac(&note("mac"), text, place)?);
        }
        if let Some(text) = &table.ipv4 {
            one.ipv4 = Some(nth_ipv4(&note("ipv4"), text, place)?);
        }
        if let Some(text) = &table.ipv6 {
            one.ipv6 = Some(nth_ipv6(&note("ipv6"), text, place)?);
        }
        if let Some(text) = &table.stale_gid {
            one.stale_gid = Some(stale_gid(&note("stale_gid"), text, named.len())?);
        }
    }
    Ok(())
}

/// The MAC address of a table's host number `place`; the text is the first one's.
fn nth_mac(key: &str, text: &str, place: usize) -> Result<MacAddress, Fault> {
    let help = "give one such as \"b8:59:9f:00:00:01\", of a single station";
    let first = mac(text).ok_or_else(|| Fault::at(key, "is no MAC address").help(help))?;
    let next = first + place as u64;
    let [_, _, octets @ ..] = next.to_be_bytes();
    let address = MacAddress(octets);
    let fits = next < 1 << 48 && next != 0 && !address.is_multicast();
    ensure(fits, || Fault::at(key, "is of no single station").value(address).help(help))?;
    Ok(address)
}

fn nth_ipv4(key: &str, text: &str, place: usize) -> Result<Ipv4Addr, Fault> {
    let help = "give one of a single host, such as \"10.1.0.7\"";
    let first: Ipv4Addr =
        text.parse().map_err(|_| Fault::at(key, "is no IPv4 address").help(help))?;
    let next = u32::try_from(place).ok().and_then(|n| u32::from(first).checked_add(n));
    let address = Ipv4Addr::from(next.unwrap_or(u32::MAX));
    let is_reserved = Prefix::of_one(u32::from(address).into(), true).reserved().is_some();
    ensure(!is_reserved, || Fault::at(key, "is of no single host").value(address).help(help))?;
    Ok(address)
}

fn nth_ipv6(key: &str, text: &str, place: usize) -> Result<Ipv6Addr, Fault> {
    let help = "give one of a single host that routers forward, such as \"fd00:1::7\"";
    let first: Ipv6Addr =
        text.parse().map_err(|_| Fault::at(key, "is no IPv6 address").help(help))?;
    let address = Ipv6Addr::from(u128::from(first).saturating_add(place as u128));
    let is_reserved = Prefix::of_one(address.into(), false).reserved().is_some();
    ensure(!is_reserved, || Fault::at(key, "is of no single host").value(address).help(help))?;
    Ok(address)
}

/// What others take for the GID of the only host of a table of so many `hosts`.
fn stale_gid(key: &str, text: &str, hosts: usize) -> Result<Gid, Fault> {
    let help = "give an IP address, or a GID in the form of an IPv6 address";
    ensure(hosts == 1, || Fault::at(key, "is one address of several hosts").help("name one host"))?;
    match text.parse() {
        Ok(IpAddr::V4(address)) => Ok(Gid::from(address)),
        Ok(IpAddr::V6(address)) => Ok(Gid::from(address)),
        Err(_) => Err(Fault::at(key, "is no GID").help(help)),
    }
}

fn mac(text: &str) -> Option<u64> {
    let octets = text.split(':').map(|octet| {
        let is_hex = octet.len() == 2 && octet.bytes().all(|digit| digit.is_ascii_hexdigit());
        u64::from_str_radix(octet, 16).ok().filter(|_| is_hex)
    });
    let octets: Vec<u64> = octets.collect::<Option<_>>()?;
    (octets.len() == 6).then(|| octets.iter().fold(0, |all, octet| all << 8 | octet))
}

fn subnets(scenario: &Scenario, hosts: &HostDirectory) -> Result<Vec<Subnet>, Fault> {
    let mut subnets: Vec<Subnet> = Vec::new();
    let mut subnet_of: BTreeMap<NodeId, String> = BTreeMap::new();
    for (index, config) in scenario.subnet.iter().enumerate() {
        let key = format!("subnet[{index}]");
        let name = config.name.clone().unwrap_or_else(|| format!("subnet-{index}"));
        ensure(subnets.iter().all(|other| other.name != name), || {
            Fault::at(format!("{key}.name"), "is there twice")
                .value(&name)
                .help("give another name")
        })?;
        let named = hosts.selected("hosts", Some(&config.hosts)).map_err(|f| f.within(&key))?;
        for &host in &named {
            if let Some(before) = subnet_of.insert(host, name.clone()) {
                let what = format!("`{}` is already in subnet `{before}`", hosts.name(host));
                let fault = Fault::at(format!("{key}.hosts"), what);
                return Err(fault.help("put every host into one subnet"));
            }
        }
        let mut prefixes = Vec::new();
        for (kind, text, example) in
            [("ipv4", &config.ipv4, "10.1.0.0/24"), ("ipv6", &config.ipv6, "fd00:1::/64")]
        {
            let Some(text) = text else { continue };
            let at = |problem: &str| Fault::at(format!("{key}.{kind}"), problem).value(text);
            let prefix = Prefix::parse(text, kind == "ipv4").ok_or_else(|| {
                at("is no prefix: an address whose bits behind the prefix are 0, `/`, and the length")
                    .help(format!("give one such as \"{example}\""))
            })?;
            if let Some((reserved, of)) = prefix.reserved() {
                let what = format!("has addresses of {reserved}, which are {of} and of no host");
                return Err(at(&what).help(format!("give one of hosts, such as \"{example}\"")));
            }
            let before = subnets
                .iter()
                .find(|other| other.prefixes.iter().any(|(_, one)| one.overlaps(prefix)));
            if let Some(before) = before {
                let what = format!("overlaps the prefix of subnet `{}`", before.name);
                return Err(at(&what).help("give prefixes that have no address in common"));
            }
            prefixes.push((kind, prefix));
        }
        ensure(!prefixes.is_empty(), || {
            Fault::at(&key, "it has no prefix").help("give `ipv4 = \"10.1.0.0/24\"` or `ipv6`")
        })?;
        subnets.push(Subnet { key, name, hosts: named, prefixes });
    }
    Ok(subnets)
}

/// Addresses that hosts were given one by one, in the form of prefixes. What subnets give out has no address in common.
struct Taken {
    ipv4: BTreeSet<u128>,
    ipv6: BTreeSet<u128>,
}

impl Taken {
    fn new(given: &BTreeMap<NodeId, HostAddresses>) -> Self {
        let of = |is_v4| given.values().filter_map(|one| in_bits(one, is_v4)).collect();
        Self { ipv4: of(true), ipv6: of(false) }
    }
}

/// Gives the hosts of a subnet addresses of its prefixes, or checks those that they have.
fn number(
    subnet: &Subnet,
    (hosts, taken): (&HostDirectory, &Taken),
    given: &mut BTreeMap<NodeId, HostAddresses>,
    places: &mut Places,
) -> Result<(), Fault> {
    for &(kind, prefix) in &subnet.prefixes {
        let taken = if prefix.is_v4 { &taken.ipv4 } else { &taken.ipv6 };
        let mut free = (0..).map_while(|place| prefix.host(place));
        let mut free = free.by_ref().filter(|address| !taken.contains(address));
        for &host in &subnet.hosts {
            let one = given.entry(host).or_default();
            if let Some(own) = in_bits(one, prefix.is_v4) {
                let key = places.get(&(host, kind)).cloned().unwrap_or_default();
                ensure(prefix.contains(own) && prefix.is_of_hosts(own), || {
                    let (name, subnet) = (hosts.name(host), &subnet.name);
                    let what = format!(
                        "`{name}` is in subnet `{subnet}`, which has no such address of a host"
                    );
                    Fault::at(key, what)
                        .value(shown(own, prefix.is_v4))
                        .help(format!("give one of {}", range(prefix)))
                })?;
                continue;
            }
            let Some(address) = free.next() else {
                let (name, count) = (&subnet.name, subnet.hosts.len());
                let what = format!("subnet `{name}` has no addresses for all of its {count} hosts");
                let fault = Fault::at(format!("{}.{kind}", subnet.key), what);
                return Err(fault.help("give a shorter prefix"));
            };
            let [.., a, b, c, d] = address.to_be_bytes();
            if prefix.is_v4 {
                one.ipv4 = Some(Ipv4Addr::new(a, b, c, d));
            } else {
                one.ipv6 = Some(Ipv6Addr::from(address));
            }
            places.insert((host, kind), format!("{}.{kind}", subnet.key));
        }
    }
    Ok(())
}

/// The IP address of a version that a host was given, in the form of prefixes.
fn in_bits(given: &HostAddresses, is_v4: bool) -> Option<u128> {
    if is_v4 {
        given.ipv4.map(|own| u128::from(u32::from(own)))
    } else {
        given.ipv6.map(u128::from)
    }
}

fn shown(address: u128, is_v4: bool) -> String {
    let [.., a, b, c, d] = address.to_be_bytes();
    if is_v4 { Ipv4Addr::new(a, b, c, d).to_string() } else { Ipv6Addr::from(address).to_string() }
}

fn range(prefix: Prefix) -> String {
    let first = prefix.host(0).unwrap_or(prefix.first);
    let last = prefix.first + prefix.mask();
    let last = if prefix.is_of_hosts(last) { last } else { last - 1 };
    format!("{} to {}", shown(first, prefix.is_v4), shown(last, prefix.is_v4))
}

/// No two hosts have an address in common, and none has one of a switch.
fn check_unique(
    addresses: &Addresses,
    topology: &Topology,
    hosts: &HostDirectory,
    places: &Places,
) -> Result<(), Fault> {
    let mut macs = BTreeMap::new();
    let adjacency = topology.adjacency();
    for switch in topology.switches() {
        for (port, _) in (0u16..).zip(adjacency.ports_of(switch)) {
            let name = format!("{}:{port}", hosts.name(switch));
            macs.insert(switch_port_mac(switch, port).to_string(), (switch, name));
        }
    }
    let (mut v4, mut v6) = (BTreeMap::new(), BTreeMap::new());
    for &host in hosts.all() {
        let own = [
            ("mac", &mut macs, addresses.mac(host).to_string()),
            ("ipv4", &mut v4, addresses.ipv4(host).to_string()),
            ("ipv6", &mut v6, addresses.ipv6(host).to_string()),
        ];
        for (kind, known, address) in own {
            let name = hosts.name(host).to_owned();
            let Some((other, before)) = known.insert(address.clone(), (host, name.clone())) else {
                continue;
            };
            // One of the two was given, the other one may follow from the number.
            let key = places.get(&(host, kind)).or_else(|| places.get(&(other, kind)));
            let what = format!("`{before}` and `{name}` both have {address}");
            let fault = Fault::at(key.cloned().unwrap_or_default(), what).value(address);
            return Err(fault.help("give every host an address of its own"));
        }
    }
    Ok(())
}

/// What others take for a host's GID is nobody's.
fn check_stale(
    scenario: &Scenario,
    addresses: &Addresses,
    hosts: &HostDirectory,
    places: &Places,
) -> Result<(), Fault> {
    for (host, gid) in addresses.all_given().filter_map(|(host, one)| Some((host, one.stale_gid?)))
    {
        let key = places.get(&(host, "stale_gid")).cloned().unwrap_or_default();
        let (is_v2, is_ipv4) =
            (scenario.roce.version == crate::scenario::RoceVersion::V2, gid.to_ipv4().is_some());
        ensure(
            !is_v2 || is_ipv4 == (scenario.roce.ip == crate::scenario::IpVersion::Ipv4),
            || {
                Fault::at(&key, "no frame of this network has such an address").value(gid).help(
                "give an address of the version that `roce.ip` names, such as \"10.9.9.9\" or \"fd00::9\"",
            )
            },
        )?;
        let has = |&&host: &&NodeId| addresses.gid_table(host).iter().any(|entry| entry.gid == gid);
        if let Some(&owner) = hosts.all().iter().find(has) {
            let what = format!("it is in the GID table of `{}`", hosts.name(owner));
            return Err(Fault::at(key, what).value(gid).help("give one that no host has"));
        }
    }
    Ok(())
}

/// Hosts of no subnet have no address of one.
fn check_outsiders(
    addresses: &Addresses,
    subnets: &[Subnet],
    hosts: &HostDirectory,
) -> Result<(), Fault> {
    for &host in hosts.all() {
        let of_host = [
            ("ipv4", u128::from(u32::from(addresses.ipv4(host)))),
            ("ipv6", u128::from(addresses.ipv6(host))),
        ];
        for subnet in subnets.iter().filter(|subnet| !subnet.hosts.contains(&host)) {
            for &(kind, prefix) in &subnet.prefixes {
                let inside = of_host.iter().find(|(of, own)| *of == kind && prefix.contains(*own));
                let Some(&(_, own)) = inside else { continue };
                let (name, of) = (hosts.name(host), &subnet.name);
                let own = shown(own, prefix.is_v4);
                let what = format!("`{name}` is not in subnet `{of}`, but has {own} of it");
                let fault = Fault::at(format!("{}.{kind}", subnet.key), what);
                return Err(fault.help("put the host into the subnet, or give another prefix"));
            }
        }
    }
    Ok(())
}

/// The GID of an index is the one that the other keys say.
pub(super) fn check_index(roce: &RoceConfig, encapsulation: Encapsulation) -> Result<(), Fault> {
    let Some(index) = roce.gid_index else { return Ok(()) };
    let used = gid_index(encapsulation, roce.gid);
    let is_v1 = encapsulation == Encapsulation::V1;
    let fault =
        |problem: &str, help: &str| Fault::at("roce.gid_index", problem).value(index).help(help);
    let help = if is_v1 { "give 0, 2 or 4" } else { "give 3 or 5" };
    ensure(index <= 5, || fault("the GID tables have 6 entries", help))?;
    ensure(index.is_multiple_of(2) == is_v1, || fault("it is of the other version of RoCE", help))?;
    ensure(index != 1, || fault("no router forwards a link-local address", help))?;
    ensure(index == used, || {
        let key = if is_v1 { "`roce.gid`" } else { "`roce.ip`" };
        fault(&format!("{key} says index {used}"), "give one of the two keys")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_have_addresses_of_hosts() {
        let prefix = |text: &str| Prefix::parse(text, !text.contains(':'));
        let nth = |text: &str, place| {
            let prefix = prefix(text).expect("a prefix");
            prefix.host(place).map(|address| shown(address, prefix.is_v4))
        };
        assert_eq!(nth("10.1.0.0/24", 0).as_deref(), Some("10.1.0.1"));
        assert_eq!(nth("10.1.0.0/24", 253).as_deref(), Some("10.1.0.254"));
        assert_eq!(nth("10.1.0.0/24", 254), None, "the broadcast address");
        assert_eq!(nth("10.1.0.8/31", 0).as_deref(), Some("10.1.0.8"), "RFC 3021");
        assert_eq!(nth("10.1.0.8/31", 1).as_deref(), Some("10.1.0.9"));
        assert_eq!(nth("10.1.0.8/32", 1), None);
        assert_eq!(nth("fd00:1::/64", 9).as_deref(), Some("fd00:1::a"));
        for wrong in ["10.1.0.0", "10.1.0.1/24", "10.1.0.0/33", "x/8", "fd00::1/64", "fd00::/129"] {
            assert_eq!(prefix(wrong), None, "{wrong}");
        }
        let all = prefix("0.0.0.0/0").expect("a prefix");
        assert!(all.overlaps(prefix("10.1.0.0/24").expect("a prefix")));
        assert!(!all.overlaps(prefix("fd00::/8").expect("a prefix")));
    }
}
