//! The tree of pauses: which port paused which. Pauses that spread along the same ports are one
//! branch.

use std::collections::BTreeMap;

use serde::Serialize;

use super::pauses::{Pause, Pauses};
use super::ports::Ports;

/// Number of branches that are shown: those with the most paused time.
const MOST_BRANCHES: usize = 400;
/// Number of steps from the root cause that are distinguished. A pause that goes round in a
/// deadlock spreads without end.
const DEEPEST: usize = 24;

/// The tree, in the order in which it is drawn: every branch follows the branch that caused it, or
/// other branches with the same cause.
#[derive(Debug, Default, Serialize)]
pub(crate) struct PauseTree {
    pub(crate) recorded: bool,
    pub(crate) branches: Vec<Branch>,
    /// Number of branches that are left out.
    pub(crate) omitted: usize,
    /// Number of all pauses.
    pub(crate) pauses: usize,
}

/// Pauses of one port with the same chain of causes; or a deadlock.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Branch {
    /// Number of steps from the root cause or the deadlock, which itself has 0.
    pub(crate) depth: usize,
    /// A deadlock, as an index into the list of `summary.json`. No port is paused here; the counts
    /// are of all pauses in the deadlock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) deadlock: Option<usize>,
    /// The node that requested the pauses.
    pub(crate) by: String,
    /// The paused port.
    pub(crate) port: String,
    pub(crate) priority: u8,
    pub(crate) count: u64,
    pub(crate) total_ps: u64,
    pub(crate) longest_ps: u64,
    pub(crate) first_ps: u64,
}

/// The kind of a branch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// Pauses of a priority of a port.
    Queue { direction: usize, priority: u8 },
    /// A deadlock.
    Deadlock(usize),
}

/// A branch while the tree is built.
struct Node {
    depth: usize,
    parent: Option<usize>,
    kind: Kind,
    count: u64,
    total_ps: u64,
    longest_ps: u64,
    first_ps: u64,
    children: Vec<usize>,
}

/// Builds the tree.
pub(crate) fn pause_tree(pauses: &Pauses, ports: &Ports) -> PauseTree {
    let mut nodes = grow(pauses);
    let mut shown: Vec<usize> = (0..nodes.len()).collect();
    // A branch never weighs more than its parent; otherwise it could be shown without the parent.
    let weights = weights(&nodes);
    shown.sort_by_key(|node| (std::cmp::Reverse(weights[*node]), *node));
    let omitted = shown.len().saturating_sub(MOST_BRANCHES);
    shown.truncate(MOST_BRANCHES);
    shown.sort_unstable();

    let mut roots = Vec::new();
    for &node in &shown {
        match nodes[node].parent {
            Some(parent) => nodes[parent].children.push(node),
            None => roots.push(node),
        }
    }
    let heaviest_first = |list: &mut Vec<usize>| {
        list.sort_by_key(|node| (std::cmp::Reverse(weights[*node]), *node));
    };
    heaviest_first(&mut roots);
    for node in &mut nodes {
        heaviest_first(&mut node.children);
    }
    let mut branches = Vec::with_capacity(shown.len());
    let mut next: Vec<usize> = roots.into_iter().rev().collect();
    while let Some(index) = next.pop() {
        let node = &nodes[index];
        branches.push(branch(node, ports));
        next.extend(node.children.iter().rev());
    }
    PauseTree { recorded: pauses.recorded, branches, omitted, pauses: pauses.list.len() }
}

/// Nodes, parents before children, and an index by parent and kind.
#[derive(Default)]
struct Nodes {
    list: Vec<Node>,
    by_chain: BTreeMap<(Option<usize>, Kind), usize>,
}

impl Nodes {
    /// Counts a pause at the node of this kind below `parent`.
    fn count(&mut self, parent: Option<usize>, kind: Kind, pause: &Pause) -> usize {
        let Self { list, by_chain } = self;
        let index = *by_chain.entry((parent, kind)).or_insert_with(|| {
            list.push(Node {
                depth: parent.map_or(0, |parent| list[parent].depth + 1),
                parent,
                kind,
                count: 0,
                total_ps: 0,
                longest_ps: 0,
                first_ps: pause.start_ps,
                children: Vec::new(),
            });
            list.len() - 1
        });
        let node = &mut list[index];
        node.count += 1;
        node.total_ps = node.total_ps.saturating_add(pause.duration_ps());
        node.longest_ps = node.longest_ps.max(pause.duration_ps());
        index
    }
}

/// Builds one node for each chain of ports along which pauses spread, and for each deadlock;
/// parents come before children.
fn grow(pauses: &Pauses) -> Vec<Node> {
    let mut nodes = Nodes::default();
    let mut node_of: Vec<usize> = Vec::with_capacity(pauses.list.len());
    for pause in &pauses.list {
        let mut parent = pause.parent.map(|parent| node_of[parent]);
        if let Some(number) = pause.deadlock {
            let deadlock = nodes.count(None, Kind::Deadlock(number), pause);
            // A cause outside the deadlock does not explain the deadlock.
            let is_within = |&parent: &usize| pauses.list[parent].deadlock == Some(number);
            parent = parent.filter(|_| pause.parent.as_ref().is_some_and(is_within));
            parent = parent.or(Some(deadlock));
        }
        if let Some(above) = parent
            && nodes.list[above].depth >= DEEPEST
        {
            parent = nodes.list[above].parent;
        }
        let kind = Kind::Queue { direction: pause.direction, priority: pause.priority };
        node_of.push(nodes.count(parent, kind, pause));
    }
    nodes.list
}

/// Paused time of each node and all its descendants (ps).
fn weights(nodes: &[Node]) -> Vec<u64> {
    let own = |node: &Node| match node.kind {
        Kind::Queue { .. } => node.total_ps,
        Kind::Deadlock(_) => 0, // Its descendants have all of it.
    };
    let mut weights: Vec<u64> = nodes.iter().map(own).collect();
    for index in (0..nodes.len()).rev() {
        if let Some(parent) = nodes[index].parent {
            weights[parent] = weights[parent].saturating_add(weights[index]);
        }
    }
    weights
}

fn branch(node: &Node, ports: &Ports) -> Branch {
    let (deadlock, by, port, priority) = match node.kind {
        Kind::Queue { direction, priority } => {
            let by = ports.nodes[ports.directions[direction].to].clone();
            (None, by, ports.label(direction), priority)
        }
        Kind::Deadlock(number) => (Some(number), String::new(), String::new(), 0),
    };
    Branch {
        depth: node.depth,
        deadlock,
        by,
        port,
        priority,
        count: node.count,
        total_ps: node.total_ps,
        longest_ps: node.longest_ps,
        first_ps: node.first_ps,
    }
}

#[cfg(test)]
mod tests {
    use super::super::pauses::tests::led;
    use super::super::ports::tests::network;
    use super::*;

    #[test]
    fn pauses_along_the_same_ports_are_one_branch() {
        let ports = network(&[("a", 0, "left", 0), ("left", 1, "right", 0), ("right", 1, "b", 0)]);
        let at = |node, port| ports.direction(node, port).unwrap();
        let list = vec![
            led(at("left", 1), 0, 10, None),
            led(at("a", 0), 5, 25, Some(0)),
            led(at("left", 1), 30, 35, None),
            led(at("a", 0), 32, 40, Some(2)),
            // The same port without that cause is another branch.
            led(at("a", 0), 50, 51, None),
        ];
        let tree = pause_tree(&Pauses::of(list, Vec::new(), &ports), &ports);
        let drawn: Vec<_> = tree
            .branches
            .iter()
            .map(|one| (one.depth, &*one.by, &*one.port, one.count, one.total_ps, one.longest_ps))
            .collect();
        let expected = [
            (0, "right", "left:1", 2, 15, 10),
            (1, "left", "a:0", 2, 28, 20),
            (0, "left", "a:0", 1, 1, 1),
        ];
        assert_eq!(drawn, expected);
        assert_eq!((tree.omitted, tree.pauses), (0, 5));
    }

    #[test]
    fn pauses_in_a_deadlock_hang_on_it() {
        let ports = network(&[("a", 0, "b", 0), ("b", 1, "c", 0), ("c", 1, "a", 1)]);
        let at = |node, port| ports.direction(node, port).unwrap();
        let mut list = vec![
            led(at("a", 0), 0, 100, None),
            led(at("c", 1), 1, 100, Some(0)),
            led(at("b", 1), 2, 100, Some(1)),
            // It was over before the deadlock closed, so it is drawn below its own cause.
            led(at("b", 0), 3, 4, Some(2)),
        ];
        list[1].deadlock = Some(5);
        list[2].deadlock = Some(5);
        let tree = pause_tree(&Pauses::of(list, Vec::new(), &ports), &ports);
        let drawn =
            tree.branches.iter().map(|one| (one.depth, one.deadlock, &*one.port, one.count));
        let expected = [
            (0, Some(5), "", 2),
            (1, None, "c:1", 1),
            (2, None, "b:1", 1),
            (3, None, "b:0", 1),
            (0, None, "a:0", 1),
        ];
        assert_eq!(drawn.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_pause_that_goes_round_and_round_stays_bounded() {
        let ports = network(&[("a", 0, "b", 0), ("b", 1, "c", 0), ("c", 1, "a", 1)]);
        let ring = [("a", 0), ("c", 1), ("b", 1)];
        let list = (0..10_000_usize)
            .map(|index| {
                let (node, port) = ring[index % 3];
                let start_ps = index as u64;
                Pause {
                    direction: ports.direction(node, port).unwrap(),
                    priority: 0,
                    start_ps,
                    end_ps: 20_000,
                    parent: index.checked_sub(1),
                    deadlock: None,
                }
            })
            .collect();
        let mut pauses = Pauses::of(list, Vec::new(), &ports);
        pauses.recorded = true;
        let tree = pause_tree(&pauses, &ports);
        assert!(tree.branches.len() <= DEEPEST + 3, "{}", tree.branches.len());
        assert_eq!(tree.branches.iter().map(|branch| branch.count).sum::<u64>(), 10_000);
    }
}
