//! Hosts, switches and links by name, each as it is written.
//!
//! Nodes are numbered hosts first, in the order of the text; ports in the order of the links. A switch's tier is its
//! distance from the nearest host.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::{MAX_LINKS, MAX_NODES};
use super::tiers::number_tiers;
use super::{
    Generate, LinkConfig, Node, NodeId, NodeKind, NodeSelector, Topology, TopologyError,
    TopologyLink, matches_pattern,
};

/// `[topology.graph]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Names of hosts, or of many by their numbers: `web-0..web-15`.
    pub hosts: Vec<String>,
    /// Names of switches, likewise. None if two hosts are linked to each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub switches: Vec<String>,
    /// Links, in the order that numbers the ports.
    pub links: Vec<Links>,
}

/// Equal links between nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Links {
    /// Nodes: names, ranges such as `web-0..web-15`, patterns such as `web-*`.
    pub from: Vec<String>,
    /// Nodes, each of which is linked to each of `from`.
    pub to: Vec<String>,
    /// Rate and cable of each.
    pub link: LinkConfig,
    /// Links between each two nodes. Default: 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1))]
    pub count: u32,
    /// Whether the links between each two nodes are one for bridges (link aggregation, IEEE 802.1AX): a spanning tree
    /// uses all of them, and each flow takes one by its hash. For routers several links are so in any case.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aggregate: bool,
}

const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_one(count: &u32) -> bool {
    *count == 1
}

impl Generate for Parameters {
    fn generate(&self, _folder: &Path) -> Result<Topology, TopologyError> {
        let mut graph = Graph::default();
        graph.add_nodes("hosts", &self.hosts, NodeKind::Host)?;
        graph.add_nodes("switches", &self.switches, NodeKind::Switch { tier: 0 })?;
        for (index, links) in self.links.iter().enumerate() {
            graph.add_links(&format!("links[{index}]"), links)?;
        }
        let mut topology = graph.topology;
        topology.check().map_err(|fault| {
            let key = fault.link().map_or("links".to_owned(), |link| graph.keys[link].clone());
            let fix =
                "correct the links: each host has one, and every node is reached from every other";
            TopologyError::parameter(key, topology.links.len(), fault.to_string(), fix)
        })?;
        number_tiers(&mut topology);
        Ok(topology)
    }

    fn examples() -> Vec<Self> {
        Vec::new()
    }
}

/// A topology in the making.
#[derive(Default)]
struct Graph {
    topology: Topology,
    by_name: BTreeMap<String, NodeId>,
    /// By link: the key that it comes from.
    keys: Vec<String>,
}

impl Graph {
    fn add_nodes(
        &mut self,
        key: &str,
        texts: &[String],
        kind: NodeKind,
    ) -> Result<(), TopologyError> {
        for (index, text) in texts.iter().enumerate() {
            let key = format!("{key}[{index}]");
            let refuse = |problem: &str, fix: &str| {
                Err(TopologyError::parameter(&key, quoted(text), problem, fix))
            };
            let Some(names) = names(text) else {
                return refuse(
                    "this is no range of names",
                    "write a name and its number on both sides, the lower one first: \"web-0..web-15\"",
                );
            };
            if self.topology.nodes.len() as u64 + names.count() > MAX_NODES as u64 {
                return refuse("there would be too many nodes", "give at most 16777215");
            }
            for name in names.all() {
                if !is_name(&name) {
                    let fix = "use letters, digits, `-`, `_` and `.`, but neither `..` nor the word `all`";
                    return refuse("a node cannot be called so", fix);
                }
                let number = NodeId::try_from(self.topology.nodes.len()).unwrap_or(NodeId::MAX);
                if self.by_name.insert(name.clone(), number).is_some() {
                    return refuse(
                        &format!("there are two nodes called `{name}`"),
                        "give every node a name of its own",
                    );
                }
                self.topology.nodes.push(Node { name, kind });
            }
        }
        Ok(())
    }

    fn add_links(&mut self, key: &str, links: &Links) -> Result<(), TopologyError> {
        let properties = links.link.resolve(&format!("{key}.link"))?;
        if links.count == 0 {
            let fix = "give at least 1, or leave it out";
            return Err(TopologyError::parameter(
                format!("{key}.count"),
                0,
                "there would be no link",
                fix,
            ));
        }
        let from = self.selected(&format!("{key}.from"), &links.from)?;
        let to = self.selected(&format!("{key}.to"), &links.to)?;
        let more = from.len() as u128 * to.len() as u128 * u128::from(links.count);
        if self.topology.links.len() as u128 + more > MAX_LINKS as u128 {
            let problem = format!("{more} links are too many");
            return Err(TopologyError::parameter(
                format!("{key}.count"),
                links.count,
                problem,
                "give fewer",
            ));
        }
        for &a in &from {
            for &b in &to {
                let first = self.topology.links.len();
                for _ in 0..links.count {
                    let (rate, delay) = (properties.rate, properties.delay);
                    self.topology.links.push(TopologyLink { a, b, rate, delay, loss: 0.0 });
                    self.keys.push(key.to_owned());
                }
                if links.aggregate && links.count > 1 {
                    self.topology.aggregates.push(first..self.topology.links.len());
                }
            }
        }
        Ok(())
    }

    /// The nodes that texts name, in their order.
    fn selected(&self, key: &str, texts: &[String]) -> Result<Vec<NodeId>, TopologyError> {
        let mut all = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            let before = all.len();
            match NodeSelector::new(text) {
                NodeSelector::Like(pattern) => {
                    let nodes = (0..).zip(&self.topology.nodes);
                    let like = nodes.filter(|(_, node)| matches_pattern(&node.name, pattern));
                    all.extend(like.map(|(number, _)| number));
                }
                NodeSelector::All => {
                    let problem = "`all` would link nodes to themselves";
                    let fix = "name the nodes, or write a pattern such as \"web-*\"";
                    return Err(TopologyError::parameter(
                        format!("{key}[{index}]"),
                        quoted(text),
                        problem,
                        fix,
                    ));
                }
                _ => {
                    let found = names(text).and_then(|names| {
                        names
                            .all()
                            .map(|name| self.by_name.get(&name).copied())
                            .collect::<Option<Vec<_>>>()
                    });
                    all.extend(found.unwrap_or_default());
                }
            }
            if all.len() == before {
                let fix = format!("the nodes are {}", self.topology.describe_names());
                return Err(TopologyError::parameter(
                    format!("{key}[{index}]"),
                    quoted(text),
                    "there is no such node",
                    fix,
                ));
            }
        }
        if all.is_empty() {
            return Err(TopologyError::parameter(
                key,
                "[]",
                "no node is named",
                "name at least one",
            ));
        }
        Ok(all)
    }
}

fn quoted(text: &str) -> String {
    format!("{text:?}")
}

/// Names can stand in lists, in ports such as `tor:3` and in tables of results.
pub(super) fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && name != "all" && !name.contains("..") && name.chars().all(is_plain)
}

/// One name, or several with consecutive numbers.
enum Names<'a> {
    One(&'a str),
    Numbered(&'a str, std::ops::RangeInclusive<u32>),
}

impl Names<'_> {
    fn count(&self) -> u64 {
        match self {
            Self::One(_) => 1,
            Self::Numbered(_, numbers) => u64::from(numbers.end() - numbers.start()) + 1,
        }
    }

    fn all(&self) -> Box<dyn Iterator<Item = String> + '_> {
        match self {
            Self::One(name) => Box::new(std::iter::once((*name).to_owned())),
            Self::Numbered(start, numbers) => {
                Box::new(numbers.clone().map(move |number| format!("{start}{number}")))
            }
        }
    }
}

/// The names that a text means: `tor`, or `web-0..web-15`, whose names end in numbers. `None` if it is no range.
fn names(text: &str) -> Option<Names<'_>> {
    let Some((first, last)) = text.split_once("..") else { return Some(Names::One(text.trim())) };
    let (start, first) = split_number(first.trim())?;
    let (same, last) = split_number(last.trim())?;
    (start == same && first <= last).then_some(Names::Numbered(start, first..=last))
}

/// A name without the number at its end, and that number, which has no leading zero.
fn split_number(name: &str) -> Option<(&str, u32)> {
    let start = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = name.get(start.len()..)?;
    let is_plain = digits == "0" || !digits.starts_with('0');
    is_plain.then(|| digits.parse().ok()).flatten().map(|number| (start, number))
}

#[cfg(test)]
mod tests {
    use rocelab_units::{Bandwidth, Length};

    use super::*;

    fn link(gigabits: u64) -> LinkConfig {
        LinkConfig::with_cable(Bandwidth::from_gbps(gigabits), Length::from_mm(3_000))
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    fn links(from: &[&str], to: &[&str], count: u32, aggregate: bool) -> Links {
        Links { from: texts(from), to: texts(to), link: link(100), count, aggregate }
    }

    fn two_tiers() -> Parameters {
        Parameters {
            hosts: texts(&["web-0..web-2", "db"]),
            switches: texts(&["tor", "core"]),
            links: vec![
                links(&["web-*"], &["tor"], 1, false),
                links(&["db"], &["core"], 1, false),
                links(&["tor"], &["core"], 2, true),
            ],
        }
    }

    #[test]
    fn nodes_have_their_names_and_ports_the_order_of_links() {
        let topology = two_tiers().generate(Path::new("")).unwrap();
        let names: Vec<_> = topology.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["web-0", "web-1", "web-2", "db", "tor", "core"]);
        let ends: Vec<_> = topology.links.iter().map(|link| (link.a, link.b)).collect();
        assert_eq!(ends, [(0, 4), (1, 4), (2, 4), (3, 5), (4, 5), (4, 5)]);
        assert_eq!((topology.aggregates.len(), topology.aggregates[0].clone()), (1, 4..6));
        let kind = |node: usize| topology.nodes[node].kind;
        assert_eq!((kind(3), kind(4)), (NodeKind::Host, NodeKind::Switch { tier: 1 }));
    }

    #[test]
    fn what_cannot_be_is_refused_by_its_key() {
        let refused = |change: fn(&mut Parameters)| {
            let mut parameters = two_tiers();
            change(&mut parameters);
            parameters.generate(Path::new("")).unwrap_err().to_string()
        };
        type Change = fn(&mut Parameters);
        let cases: [(Change, &str); 8] = [
            (|p| p.hosts[1] = "web-1".into(), "hosts[1]"),
            (|p| p.hosts[0] = "web-2..web-0".into(), "hosts[0]"),
            (|p| p.switches[0] = "all".into(), "switches[0]"),
            (|p| p.switches[0] = "t:r".into(), "switches[0]"),
            (|p| p.links[0].to[0] = "tore".into(), "links[0].to[0]"),
            (|p| p.links[2].count = 0, "links[2].count"),
            (|p| p.links[1].count = 2, "links[1]"),
            (|p| p.links.truncate(2), "links"),
        ];
        for (change, key) in cases {
            let error = refused(change);
            assert!(error.contains(key), "{key}: {error}");
        }
    }

    #[test]
    fn two_hosts_may_be_linked_to_each_other() {
        let back_to_back = Parameters {
            hosts: texts(&["a", "b"]),
            switches: Vec::new(),
            links: vec![links(&["a"], &["b"], 1, false)],
        };
        let topology = back_to_back.generate(Path::new("")).unwrap();
        assert_eq!((topology.nodes.len(), topology.links.len()), (2, 1));
    }
}
