//! A network's tiers and links, for a terminal.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rocelab_results::{MapLink, MapNodeKind, Millionths, TopologyMap};
use rocelab_units::{Bandwidth, Duration};

use crate::numbers::{count, rate};

/// The network in two tables: nodes by tier, highest first, with the capacity of their downward and
/// upward links and the ratio of the two; and links by tiers, rate and delay. Ends with a newline.
/// Links of nodes that do not exist are left out.
pub fn topology_table(map: &TopologyMap) -> String {
    let mut table = tier_table(map);
    table.push('\n');
    table += &link_table(map);
    table
}

/// Nodes of one tier, and the capacity of their links in bit/s.
#[derive(Clone, Copy, Default)]
struct Tier {
    hosts: u64,
    switches: u64,
    down: u64,
    up: u64,
}

fn tier_table(map: &TopologyMap) -> String {
    let mut tiers = BTreeMap::<u8, Tier>::new();
    for node in &map.nodes {
        let tier = tiers.entry(node.tier).or_default();
        match node.kind {
            MapNodeKind::Host => tier.hosts += 1,
            MapNodeKind::Switch => tier.switches += 1,
        }
    }
    for (low, high, link) in tiered_links(map) {
        let bps = link.rate.bits_per_second();
        if low < high {
            tiers.entry(low).or_default().up += bps;
            tiers.entry(high).or_default().down += bps;
        }
    }
    let mut text = format!(
        "Tier  {:<18}{:>14}{:>16}{:>18}\n",
        "Nodes", "Links down", "Links up", "Oversubscription"
    );
    for (number, tier) in tiers.iter().rev() {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{number:>4}  {:<18}{:>14}{:>16}{:>18}",
            nodes(*tier),
            capacity(tier.down),
            capacity(tier.up),
            oversubscription(*tier),
        );
    }
    text
}

fn nodes(tier: Tier) -> String {
    let mut parts = Vec::new();
    if tier.hosts > 0 {
        parts.push(format!("{} host{}", count(tier.hosts), if tier.hosts == 1 { "" } else { "s" }));
    }
    if tier.switches > 0 {
        let plural = if tier.switches == 1 { "" } else { "es" };
        parts.push(format!("{} switch{plural}", count(tier.switches)));
    }
    parts.join(", ")
}

fn capacity(bps: u64) -> String {
    if bps == 0 { "-".to_owned() } else { rate(bps) }
}

/// Downward divided by upward capacity; empty for the highest and the lowest tier.
fn oversubscription(tier: Tier) -> String {
    match Millionths::ratio(tier.down, tier.up) {
        Some(ratio) if tier.down > 0 => format!("{ratio:.2} : 1"),
        _ => "-".to_owned(),
    }
}

fn link_table(map: &TopologyMap) -> String {
    let mut kinds = BTreeMap::<(u8, u8, Bandwidth, Duration), u64>::new();
    for (low, high, link) in tiered_links(map) {
        *kinds.entry((low, high, link.rate, link.delay)).or_default() += 1;
    }
    let mut text = String::from(" Links  Tiers        Rate       Delay\n");
    for ((low, high, rate, delay), links) in &kinds {
        let _ = writeln!(text, "{:>6}  {low} - {high}  {rate:>9}  {delay:>10}", count(*links));
    }
    text
}

/// The links with the tiers of their ends, the lower one first.
fn tiered_links(map: &TopologyMap) -> impl Iterator<Item = (u8, u8, &MapLink)> {
    map.links.iter().filter_map(|link| {
        let a = map.nodes.get(link.a)?.tier;
        let b = map.nodes.get(link.b)?.tier;
        Some((a.min(b), a.max(b), link))
    })
}
