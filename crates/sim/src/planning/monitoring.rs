//! `[monitoring]`: who pings whom.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rocelab_engine::RngStream;
use rocelab_fabric::{NodeId, Topology};
use rocelab_transport::{Algorithm, QueuePairProfile, Service};
use rocelab_units::{Bytes, Duration, SimTime};

use super::numbering::Numbering;
use super::priority::check_priority;
use super::{algorithms, ways};
use crate::plan::{FlowPlan, MAX_PINGS, MonitoringPlan, PingRules, PingingHost};
use crate::scenario::{Fault, MonitoringConfig, PingPairs, ProfileConfig, Scenario, ensure};
use crate::workload::HostDirectory;

/// The most pairs of a mesh.
const MOST_PAIRS: usize = 1 << 20;
/// The shortest time that is taken for one of a mesh: clocks of hosts tell no less.
const SHORTEST: Duration = Duration::from_ns(1);
/// The longest.
const LONGEST: Duration = Duration::from_ms(1_000_000);

/// Numbers of queue pairs that are left for the pings of a host: one for each service level.
const QUEUE_PAIRS: u32 = 8;

/// The hosts that each host pings.
pub(super) type Mesh = BTreeMap<NodeId, Vec<NodeId>>;

/// Who pings whom, if anybody does, and whether the keys can be.
pub(super) fn mesh(
    scenario: &Scenario,
    topology: &Topology,
    hosts: &HostDirectory,
) -> Result<Option<Mesh>, Fault> {
    let Some(config) = &scenario.monitoring else { return Ok(None) };
    let within = |fault: Fault| fault.within("monitoring");
    check(scenario, config).map_err(within)?;
    let members = hosts.selected("hosts", config.hosts.as_deref()).map_err(within)?;
    ensure(members.len() > 1, || {
        Fault::at("monitoring.hosts", "a mesh has two hosts at the least")
            .help("name more hosts, or leave it out for all of them")
    })?;
    let mesh = match &config.pairs {
        PingPairs::All => all(&members),
        PingPairs::Racks => by_rack(&members, topology),
        PingPairs::Random(count) => at_random(&members, *count, scenario.seed)?,
        PingPairs::List(pairs) => listed(pairs, &members, hosts)?,
    };
    let pairs: usize = mesh.values().map(Vec::len).sum();
    ensure(pairs <= MOST_PAIRS, || {
        let message = format!("{pairs} pairs are more than {MOST_PAIRS}");
        Fault::at("monitoring.pairs", message).help("use `\"racks\"`, or `{ random = 8 }`")
    })?;
    check_pings(scenario, config, pairs as u64)?;
    let most = mesh.values().map(Vec::len).max().unwrap_or(0) as u64;
    ensure(config.interval.ps() / most.max(1) >= SHORTEST.ps(), || {
        let least = Duration::from_ps(SHORTEST.ps().saturating_mul(most));
        Fault::at("monitoring.interval", format!("{most} pings of a host do not fit into it"))
            .value(config.interval.to_string())
            .help(format!("give at least {least}"))
    })?;
    Ok(Some(mesh))
}

/// The plan of a mesh, with numbers for the queue pairs of every host.
pub(super) fn build(
    scenario: &Scenario,
    mesh: Mesh,
    numbering: &mut Numbering<'_>,
) -> Option<MonitoringPlan> {
    let config = scenario.monitoring.as_ref()?;
    let priority = config.priority.unwrap_or(scenario.roce.priority);
    let mut pinged_by: BTreeMap<NodeId, u32> = BTreeMap::new();
    for (&host, peers) in &mesh {
        pinged_by.entry(host).or_default();
        peers.iter().for_each(|&peer| *pinged_by.entry(peer).or_default() += 1);
    }
    let hosts = pinged_by.into_iter().map(|(host, pinged_by)| {
        let (qpn, psn) = numbering.number_pings(host, QUEUE_PAIRS);
        let peers = mesh.get(&host).cloned().unwrap_or_default();
        (host, PingingHost { qpn, psn, peers, pinged_by })
    });
    Some(MonitoringPlan {
        rules: PingRules {
            start: config.start,
            until: config.until,
            interval: config.interval,
            timeout: config.timeout,
            window: config.window,
            bytes: u32::try_from(config.bytes.get()).unwrap_or(u32::MAX),
            priority,
        },
        profile: Arc::new(QueuePairProfile {
            service: Service::UnreliableDatagram,
            congestion_control: Algorithm::default_for(false),
            // As other data of the priority: switches treat what cannot be marked otherwise.
            ecn_capable: algorithms::makes_ecn_capable(scenario, priority),
            ..QueuePairProfile::new(scenario.roce.path_mtu)
        }),
        hosts: hosts.collect(),
    })
}

/// A flow that stands for the way of a ping.
pub(super) fn way(pair: (NodeId, NodeId), rules: &PingRules) -> FlowPlan {
    ways::way(pair, rules.start, rules.priority)
}

/// The first key that cannot be what it is.
fn check(scenario: &Scenario, config: &MonitoringConfig) -> Result<(), Fault> {
    let of_other_rules = matches!(scenario.profile, Some(ProfileConfig::HpccNs3(_)));
    ensure(!of_other_rules, || {
        Fault::at("", "HPCC's simulator knows flows and no pings")
            .value("")
            .help("leave `[monitoring]` out, or the profile")
    })?;
    if let Some(priority) = config.priority {
        check_priority("priority", priority)?;
    }
    for (key, time) in
        [("interval", config.interval), ("timeout", config.timeout), ("window", config.window)]
    {
        ensure((SHORTEST..=LONGEST).contains(&time), || {
            Fault::at(key, "it is no time that a mesh can have")
                .value(time.to_string())
                .help(format!("give {SHORTEST} to {LONGEST}, such as \"100us\""))
        })?;
    }
    let mtu = u64::from(scenario.roce.path_mtu.bytes());
    ensure((1..=mtu).contains(&config.bytes.get()), || {
        Fault::at("bytes", "a ping is one packet")
            .value(config.bytes.to_string())
            .help(format!("give 1B to the path MTU, {}", Bytes::new(mtu)))
    })?;
    check_times(scenario, config)
}

/// When pings begin and end.
fn check_times(scenario: &Scenario, config: &MonitoringConfig) -> Result<(), Fault> {
    ensure(config.start <= SimTime::LATEST, || {
        Fault::at("start", "simulated time does not reach that far")
            .value(config.start.to_string())
            .help(format!("give at most {}", SimTime::LATEST))
    })?;
    if let Some(until) = config.until {
        ensure(until <= SimTime::LATEST && until > config.start, || {
            Fault::at("until", "pings would end before they begin, or never")
                .value(until.to_string())
                .help(format!("give a time after {}, at most {}", config.start, SimTime::LATEST))
        })?;
    }
    let ends = config.until.is_some() || scenario.stop.is_some();
    ensure(ends || scenario.roce.service.is_reliable(), || {
        let text =
            "flows that lose a message end when the network is idle, and pings go on for ever";
        Fault::at("until", text).value("").help("give `until`, or a `stop` for the whole run")
    })
}

/// Refuses more pings than memory has room for. Where the run may end before them, their number is not known.
fn check_pings(scenario: &Scenario, config: &MonitoringConfig, pairs: u64) -> Result<(), Fault> {
    let Some(until) = config.until else { return Ok(()) };
    let end = scenario.stop.unwrap_or(SimTime::NEVER).min(until).max(config.start);
    let time = end.since(config.start).ps();
    let pings = (time / config.interval.ps().max(1)).saturating_mul(pairs);
    ensure(pings <= MAX_PINGS, || {
        let least = time.div_ceil(MAX_PINGS / pairs.max(1));
        let message = format!("{pairs} pairs until {end} are {pings} pings, more than {MAX_PINGS}");
        Fault::at("monitoring.interval", message).value(config.interval.to_string()).help(format!(
            "give at least {}, fewer `pairs`, or an earlier `until`",
            Duration::from_ps(least)
        ))
    })
}

fn all(members: &[NodeId]) -> Mesh {
    let others = |host: NodeId| members.iter().copied().filter(move |&other| other != host);
    members.iter().map(|&host| (host, others(host).collect())).collect()
}

/// The hosts of each switch ping each other, and of every other switch the one that has their place there (Pingmesh, section
/// 3.3.1).
fn by_rack(members: &[NodeId], topology: &Topology) -> Mesh {
    let adjacency = topology.adjacency();
    let switch_of = |host: NodeId| adjacency.ports_of(host).first().map_or(host, |far| far.node);
    let mut racks: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
    for &host in members {
        racks.entry(switch_of(host)).or_default().push(host);
    }
    let mut mesh = Mesh::new();
    for (own, rack) in &racks {
        for (place, &host) in rack.iter().enumerate() {
            let beside = rack.iter().copied().filter(|&other| other != host);
            let others = racks.iter().filter(|(switch, _)| *switch != own);
            let elsewhere = others.map(|(_, rack)| rack[place % rack.len()]);
            mesh.insert(host, beside.chain(elsewhere).collect());
        }
    }
    mesh
}

fn at_random(members: &[NodeId], count: u32, seed: u64) -> Result<Mesh, Fault> {
    let most = members.len() - 1;
    ensure((1..=most).contains(&(count as usize)), || {
        Fault::at("monitoring.pairs.random", format!("a host has {most} others"))
            .value(count.to_string())
            .help(format!("give 1 to {most}"))
    })?;
    let choose = |host: NodeId| {
        let mut others: Vec<NodeId> =
            members.iter().copied().filter(|&other| other != host).collect();
        let mut stream = RngStream::new(seed, &format!("monitoring/{host}"));
        for place in 0..count as usize {
            let left = (others.len() - place) as u64;
            let drawn = usize::try_from(stream.below(left)).unwrap_or(0);
            others.swap(place, place + drawn);
        }
        others.truncate(count as usize);
        others
    };
    Ok(members.iter().map(|&host| (host, choose(host))).collect())
}

fn listed(
    pairs: &[(String, String)],
    members: &[NodeId],
    hosts: &HostDirectory,
) -> Result<Mesh, Fault> {
    ensure(!pairs.is_empty(), || {
        Fault::at("monitoring.pairs.list", "nobody pings anybody")
            .value("[]")
            .help("give pairs, such as `[[\"host-0\", \"host-1\"]]`")
    })?;
    let (mut mesh, mut seen) = (Mesh::new(), BTreeSet::new());
    for (index, (from, to)) in pairs.iter().enumerate() {
        let place = format!("monitoring.pairs.list[{index}]");
        let host = |name: &str| {
            let host = hosts.one(name).map_err(|fault| fault.within(&place))?;
            ensure(members.contains(&host), || {
                Fault::at(&place, format!("`{name}` is none of `monitoring.hosts`"))
                    .value(name)
                    .help("name it there too, or leave `hosts` out")
            })?;
            Ok(host)
        };
        let pair: (NodeId, NodeId) = (host(from)?, host(to)?);
        ensure(pair.0 != pair.1, || {
            Fault::at(&place, "a host would ping itself").value(to).help("name another host")
        })?;
        ensure(seen.insert(pair), || {
            Fault::at(&place, format!("`{from}` pings `{to}` already"))
                .value(to)
                .help("name every pair once")
        })?;
        mesh.entry(pair.0).or_default().push(pair.1);
    }
    Ok(mesh)
}
