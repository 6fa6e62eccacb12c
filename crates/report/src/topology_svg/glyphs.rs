//! The shapes that are drawn: nodes, or groups of nodes if there are too many.

use std::collections::BTreeMap;

use rocelab_results::{MapNode, MapNodeKind, TopologyMap};
use rocelab_units::{Bandwidth, Duration};

/// Number of hosts up to which each is drawn on its own.
const MAX_HOSTS: usize = 2_000;

/// Number of switches of a tier up to which each is drawn on its own, and otherwise the number of
/// groups. So there are at most 128 x 128 lines of each rate between two tiers.
const MAX_SWITCHES: usize = 128;

/// Glyphs and the bundles of links between them.
pub(super) struct Drawing {
    pub(super) glyphs: Vec<Glyph>,
    pub(super) bundles: Vec<Bundle>,
    pub(super) highest_tier: u8,
    row_lengths: BTreeMap<u8, usize>,
}

/// One or more nodes of a tier.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Glyph {
    pub(super) tier: u8,
    /// Mean position of its nodes.
    pub(super) x: f64,
    pub(super) nodes: usize,
    kind: MapNodeKind,
    /// Names of the first and the last of its nodes.
    first: String,
    last: String,
}

/// Links of one rate and delay between two glyphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bundle {
    pub(super) a: usize,
    pub(super) b: usize,
    pub(super) rate: Bandwidth,
    pub(super) delay: Duration,
    pub(super) links: usize,
}

impl Glyph {
    pub(super) fn is_host(&self) -> bool {
        self.kind == MapNodeKind::Host
    }

    /// The text beside it.
    pub(super) fn label(&self) -> String {
        match (self.nodes, self.kind) {
            (1, _) => self.first.clone(),
            (nodes, MapNodeKind::Host) => format!("{nodes} hosts"),
            (nodes, MapNodeKind::Switch) => format!("{nodes} switches"),
        }
    }

    /// The text shown when hovering.
    pub(super) fn title(&self) -> String {
        match (self.nodes, self.kind) {
            (1, MapNodeKind::Host) => format!("{}: host", self.first),
            (1, MapNodeKind::Switch) => format!("{}: switch, tier {}", self.first, self.tier),
            _ => format!("{}: {} to {}", self.label(), self.first, self.last),
        }
    }
}

impl Drawing {
    pub(super) fn new(map: &TopologyMap) -> Self {
        let groups = Groups::new(map);
        let glyphs = glyphs(map, &groups);
        let mut row_lengths = BTreeMap::new();
        for glyph in &glyphs {
            *row_lengths.entry(glyph.tier).or_default() += 1;
        }
        Self {
            bundles: bundles(map, &groups),
            highest_tier: glyphs.iter().map(|glyph| glyph.tier).max().unwrap_or(0),
            glyphs,
            row_lengths,
        }
    }

    /// Number of glyphs in the row of `tier`.
    pub(super) fn row_length(&self, tier: u8) -> usize {
        self.row_lengths.get(&tier).copied().unwrap_or(0)
    }
}

/// The glyph of each node.
struct Groups {
    of_node: Vec<usize>,
    count: usize,
}

impl Groups {
    fn new(map: &TopologyMap) -> Self {
        let mut groups = Self { of_node: vec![0; map.nodes.len()], count: 0 };
        let mut switches = BTreeMap::<u8, Vec<usize>>::new();
        let mut hosts = Vec::new();
        for (index, node) in map.nodes.iter().enumerate() {
            match node.kind {
                MapNodeKind::Host => hosts.push(index),
                MapNodeKind::Switch => switches.entry(node.tier).or_default().push(index),
            }
        }
        for mut row in switches.into_values() {
            row.sort_by(|a, b| map.nodes[*a].x.total_cmp(&map.nodes[*b].x).then(a.cmp(b)));
            let size = row.len().div_ceil(MAX_SWITCHES).max(1);
            for group in row.chunks(size) {
                groups.add(group);
            }
        }
        if hosts.len() <= MAX_HOSTS {
            for host in &hosts {
                groups.add(&[*host]);
            }
        } else {
            for rack in racks(map, &hosts, &groups) {
                groups.add(&rack);
            }
        }
        groups
    }

    fn add(&mut self, nodes: &[usize]) {
        for node in nodes {
            self.of_node[*node] = self.count;
        }
        self.count += 1;
    }
}

/// Groups hosts by the glyph of their first switch; hosts without a switch are a group of their
/// own.
fn racks(map: &TopologyMap, hosts: &[usize], switches: &Groups) -> Vec<Vec<usize>> {
    let mut switch_of = vec![None; map.nodes.len()];
    for link in &map.links {
        for (host, other) in [(link.a, link.b), (link.b, link.a)] {
            let is_switch = |node: &MapNode| node.kind == MapNodeKind::Switch;
            if host < map.nodes.len() && map.nodes.get(other).is_some_and(is_switch) {
                switch_of[host].get_or_insert(switches.of_node[other]);
            }
        }
    }
    let mut racks = BTreeMap::<Option<usize>, Vec<usize>>::new();
    for host in hosts {
        racks.entry(switch_of[*host]).or_default().push(*host);
    }
    racks.into_values().collect()
}

fn glyphs(map: &TopologyMap, groups: &Groups) -> Vec<Glyph> {
    let mut glyphs: Vec<Option<Glyph>> = vec![None; groups.count];
    for (node, group) in map.nodes.iter().zip(&groups.of_node) {
        match &mut glyphs[*group] {
            Some(glyph) => {
                glyph.nodes += 1;
                glyph.x += node.x;
                glyph.last.clone_from(&node.name);
            }
            empty => {
                *empty = Some(Glyph {
                    tier: node.tier,
                    x: node.x,
                    nodes: 1,
                    kind: node.kind,
                    first: node.name.clone(),
                    last: node.name.clone(),
                });
            }
        }
    }
    let mut glyphs: Vec<Glyph> = glyphs.into_iter().flatten().collect();
    for glyph in &mut glyphs {
        glyph.x /= glyph.nodes as f64;
    }
    glyphs
}

fn bundles(map: &TopologyMap, groups: &Groups) -> Vec<Bundle> {
    let mut links = BTreeMap::<(usize, usize, Bandwidth, Duration), usize>::new();
    for link in &map.links {
        let ends = (groups.of_node.get(link.a), groups.of_node.get(link.b));
        let (Some(a), Some(b)) = ends else { continue };
        // A link inside a group cannot be drawn.
        if a != b {
            *links.entry((*a.min(b), *a.max(b), link.rate, link.delay)).or_default() += 1;
        }
    }
    links
        .into_iter()
        .map(|((a, b, rate, delay), links)| Bundle { a, b, rate, delay, links })
        .collect()
}
