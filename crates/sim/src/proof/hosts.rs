//! Hosts that take time: what bounds them below what their links carry.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use rocelab_fabric::NodeId;
use rocelab_host::HostProfile;
use rocelab_units::{Bandwidth, Duration};
use serde::Serialize;

use crate::Plan;

/// Hosts that are alike, of which something is worth a warning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HostFinding {
    /// How many.
    pub hosts: u64,
    /// The first of them.
    pub example: String,
    /// What bounds them.
    pub limit: HostLimit,
}

/// What bounds a host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum HostLimit {
    /// PCIe carries less payload than the link.
    Pcie {
        /// What reads of the NIC bring (bits a second).
        read_bps: u64,
        /// What its writes carry (bits a second).
        write_bps: u64,
        /// The rate of the link (bits a second).
        link_bps: u64,
    },
    /// Memory takes less than the link brings, even without contention.
    Memory {
        /// What it takes (bits a second).
        memory_bps: u64,
        /// The rate of the link (bits a second).
        link_bps: u64,
    },
    /// The NIC sends or receives fewer packets than the link carries full ones.
    Packets {
        /// Packets with payload that it sends (a second); 0 if nothing bounds them.
        sent: u64,
        /// Packets that it receives (a second); 0 if nothing bounds them.
        received: u64,
        /// Full packets of the link (a second).
        link: u64,
    },
    /// What passes the NIC's buffer stays in it for so long that it takes less than the link brings.
    Buffer {
        /// What the buffer passes on (bits a second).
        buffer_bps: u64,
        /// The rate of the link (bits a second).
        link_bps: u64,
    },
    /// More queue pairs than the NIC keeps contexts of.
    Contexts {
        /// Queue pairs of the scenario at this host.
        queue_pairs: u64,
        /// Contexts that it keeps.
        contexts: u32,
    },
    /// More pages are registered than the NIC keeps translations of.
    Translations {
        /// Pages of registered memory.
        pages: u64,
        /// Translations that it keeps.
        translations: u32,
    },
}

impl HostFinding {
    /// All of a plan.
    pub fn all_of(plan: &Plan) -> Vec<Self> {
        if plan.host_models.is_empty() {
            return Vec::new();
        }
        let (queue_pairs, frame) = (queue_pairs(plan), plan.largest_frame().get());
        let mut kinds: BTreeMap<HostLimit, Self> = BTreeMap::new();
        for (&host, model) in &plan.host_models {
            let count = queue_pairs.get(&host).map_or(0, |all| all.len() as u64);
            for limit in limits(&model.profile, (link_rate(plan, host), frame), count) {
                let example = &plan.topology.nodes[host as usize].name;
                let finding = kinds.entry(limit.clone()).or_insert_with(|| Self {
                    hosts: 0,
                    example: example.clone(),
                    limit,
                });
                finding.hosts += 1;
            }
        }
        kinds.into_values().collect()
    }
}

/// The queue pairs of each host that takes time.
fn queue_pairs(plan: &Plan) -> BTreeMap<NodeId, BTreeSet<u32>> {
    let mut all: BTreeMap<NodeId, BTreeSet<u32>> = BTreeMap::new();
    let mut add = |host: NodeId, qpn: u32| {
        if plan.host_models.contains_key(&host) {
            all.entry(host).or_default().insert(qpn);
        }
    };
    for flow in plan.flows.iter().filter(|flow| !flow.is_tcp()) {
        add(flow.source, flow.source_qpn);
        add(flow.destination, flow.destination_qpn);
    }
    for (_, connection) in crate::plan::network_connections(plan) {
        for end in &connection.ends {
            add(end.host, end.qpn);
        }
    }
    all
}

fn link_rate(plan: &Plan, host: NodeId) -> u64 {
    let links = plan.topology.links.iter().filter(|link| link.a == host || link.b == host);
    links.map(|link| link.rate.bits_per_second()).max().unwrap_or(0)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rates of links")]
fn limits(
    profile: &HostProfile,
    (link_bps, largest_frame): (u64, u64),
    queue_pairs: u64,
) -> Vec<HostLimit> {
    let mut limits = Vec::new();
    limits.extend(packets(profile, link_bps, largest_frame));
    // Headers take this of a link with full packets of 4,096 bytes.
    let needed = link_bps as f64 * 0.97;
    if let Some(pcie) = profile.pcie {
        let (read, write) = (pcie.read_goodput(), pcie.write_goodput());
        if read.min(write) < needed {
            let (read_bps, write_bps) = (read as u64, write as u64);
            limits.push(HostLimit::Pcie { read_bps, write_bps, link_bps });
        }
    }
    if let Some(memory) = profile.memory.goodput()
        && memory < needed
    {
        limits.push(HostLimit::Memory { memory_bps: memory as u64, link_bps });
    }
    let passes = profile.receive.latency + profile.receive.service;
    if let Some(buffer) = profile.buffer.filter(|_| passes > Duration::ZERO) {
        let rate = buffer as f64 * 8.0 / seconds(passes);
        if rate < needed {
            limits.push(HostLimit::Buffer { buffer_bps: rate as u64, link_bps });
        }
    }
    let caches = &profile.caches;
    if let Some(contexts) = caches.contexts
        && queue_pairs > contexts.into()
    {
        limits.push(HostLimit::Contexts { queue_pairs, contexts });
    }
    let pages = caches.registered.div_ceil(caches.page);
    if let Some(translations) = caches.translations
        && pages > translations.into()
    {
        limits.push(HostLimit::Translations { pages, translations });
    }
    limits
}

/// Bytes of preamble and gap between two frames.
const BETWEEN: u64 = 20;

fn seconds(time: Duration) -> f64 {
    time.ps() as f64 / 1e12
}

/// Packets of which a NIC handles fewer than its link carries.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "numbers of packets")]
fn packets(profile: &HostProfile, link_bps: u64, largest_frame: u64) -> Option<HostLimit> {
    let link = link_bps / (8 * (largest_frame + BETWEEN));
    let rate = |each: Duration, units: u8| match each {
        Duration::ZERO => 0,
        each => (f64::from(units) / seconds(each)).round() as u64,
    };
    let sent = rate(profile.packet_interval, 1);
    let received = rate(profile.receive.service, profile.receive.units);
    let is_low = |rate: u64| rate > 0 && rate < link;
    (is_low(sent) || is_low(received)).then_some(HostLimit::Packets { sent, received, link })
}

impl fmt::Display for HostFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = |bps: u64| {
            let unit = 10_u64.pow(bps.max(1).ilog10().saturating_sub(2));
            Bandwidth::from_bps((bps + unit / 2) / unit * unit)
        };
        write!(f, "{}", self.example)?;
        if self.hosts > 1 {
            write!(f, " and {} more like it", self.hosts - 1)?;
        }
        match self.limit {
            HostLimit::Pcie { read_bps, write_bps, link_bps } => write!(
                f,
                ": PCIe brings {} of payload from memory and {} there, and the link carries {}: give more of `pcie.gen`, \
                 `pcie.lanes` or `pcie.tags`",
                rate(read_bps),
                rate(write_bps),
                Bandwidth::from_bps(link_bps)
            ),
            HostLimit::Memory { memory_bps, link_bps } => write!(
                f,
                ": memory takes {}, and the link brings {}: what arrives waits in the NIC, which pauses its sender, drops, or holds credits",
                rate(memory_bps),
                Bandwidth::from_bps(link_bps)
            ),
            HostLimit::Packets { sent, received, link } => {
                let or_all = |rate: u64| match rate {
                    0 => "any number".to_owned(),
                    rate => rate.to_string(),
                };
                write!(
                    f,
                    ": of packets the NIC sends {} a second and receives {}, and the link carries {link} full ones: give more \
                     of `rates.packets` or `rates.messages`, or a larger `roce.path_mtu`",
                    or_all(sent),
                    or_all(received)
                )
            }
            HostLimit::Buffer { buffer_bps, link_bps } => write!(
                f,
                ": what arrives stays in the NIC's buffer for so long that it passes {}, and the link brings {}: give a larger \
                 `buffer`, or less `rates.receive_latency`",
                rate(buffer_bps),
                Bandwidth::from_bps(link_bps)
            ),
            HostLimit::Contexts { queue_pairs, contexts } => write!(
                f,
                ": {queue_pairs} queue pairs, and the NIC keeps {contexts} contexts: those that it does not keep are read \
                 from memory"
            ),
            HostLimit::Translations { pages, translations } => write!(
                f,
                ": {pages} pages are registered, and the NIC keeps {translations} translations: a larger `caches.page_size` \
                 needs fewer"
            ),
        }
    }
}
