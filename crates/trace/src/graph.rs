//! What one rank does: operations, and which of them wait for which.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::CollectiveKind;

/// Any peer, or any tag, of a receive.
pub const ANY: u32 = u32::MAX;

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "operation")]
pub enum Operation {
    /// Takes no time and moves nothing; other nodes wait for it.
    Marker,
    /// Calculates.
    Compute {
        /// How long it takes (ps).
        duration_ps: u64,
    },
    /// Sends a message.
    Send {
        /// The rank that receives it.
        peer: u32,
        /// What a receive matches it by.
        tag: u32,
        /// Its length (bytes).
        bytes: u64,
    },
    /// Receives a message.
    Receive {
        /// The rank that sends it, or [`ANY`].
        peer: u32,
        /// The tag of the message, or [`ANY`].
        tag: u32,
        /// Its length (bytes).
        bytes: u64,
    },
    /// Takes part in a collective operation.
    Collective {
        /// What is done.
        kind: CollectiveKind,
        /// The group of ranks: an index into [`Trace::groups`](crate::Trace::groups).
        group: u32,
        /// The size in the meaning of nccl-tests: the whole buffer of a rank, for all-gather the whole output (bytes).
        bytes: u64,
    },
    /// Adds one buffer to another.
    Reduce {
        /// The length of one (bytes).
        bytes: u64,
    },
    /// Copies a buffer.
    Copy {
        /// Its length (bytes).
        bytes: u64,
    },
}

impl Operation {
    /// The name of the kind of operation.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Marker => "marker",
            Self::Compute { .. } => "compute",
            Self::Send { .. } => "send",
            Self::Receive { .. } => "receive",
            Self::Collective { .. } => "collective",
            Self::Reduce { .. } => "reduce",
            Self::Copy { .. } => "copy",
        }
    }
}

/// What of a rank carries an operation out. Each does a number of operations at once, which
/// [`Slots`](crate::Slots) say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// A processor.
    Cpu(u8),
    /// The computation of a GPU.
    Compute,
    /// The communication of a GPU.
    Communication,
    /// Nothing: the operation never waits for another.
    Unlimited,
}

/// One operation of a rank. Plain data of 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Node {
    /// What it does.
    #[serde(flatten)]
    pub operation: Operation,
    /// What carries it out.
    pub engine: Engine,
    /// Which processor posts a message.
    pub cpu: u8,
    /// Which NIC of the rank a message uses.
    pub nic: u8,
}

/// What the file calls a node. `Display` is ``node 17 `AllReduce_dp` ``.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Label {
    /// The number in the file.
    pub id: u64,
    /// The name in the file; may be empty.
    pub name: Box<str>,
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", self.id)?;
        if !self.name.is_empty() {
            write!(f, " `{}`", self.name.escape_debug())?;
        }
        Ok(())
    }
}

/// The graph of one rank: nodes by their index from 0, without cycles. [`RankBuilder`](crate::RankBuilder) makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankGraph {
    /// The rank.
    pub(crate) rank: u32,
    /// The file that it comes from.
    pub(crate) source: PathBuf,
    pub(crate) nodes: Vec<Node>,
    pub(crate) labels: Vec<Label>,
    /// How many others each node waits for.
    pub(crate) parents: Vec<u32>,
    pub(crate) on_done: Dependants,
    pub(crate) on_start: Dependants,
    /// Dependencies on nodes that are not in the file, and are ignored.
    pub(crate) dangling: u64,
}

impl RankGraph {
    /// The rank.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// The file that it comes from.
    pub fn source(&self) -> &std::path::Path {
        &self.source
    }

    /// All nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// What the file calls the nodes, in the order of [`nodes`](Self::nodes).
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// How many others each node waits for.
    pub fn parents(&self) -> &[u32] {
        &self.parents
    }

    /// The nodes that wait for `node` to be done.
    pub fn on_done(&self, node: u32) -> &[u32] {
        self.on_done.of(node)
    }

    /// The nodes that wait for `node` to start.
    pub fn on_start(&self, node: u32) -> &[u32] {
        self.on_start.of(node)
    }

    /// How many dependencies were ignored because they name nodes that are not in the file.
    pub fn dangling(&self) -> u64 {
        self.dangling
    }

    /// The nodes in an order in which each comes after those that it waits for; nodes that are free at once by index.
    pub fn order(&self) -> Vec<u32> {
        order(&self.parents, |node| self.on_done(node).iter().chain(self.on_start(node)).copied())
    }
}

/// As many of the nodes as can be put into an order in which each comes after its parents.
pub(crate) fn order<I: Iterator<Item = u32>>(
    parents: &[u32],
    dependants: impl Fn(u32) -> I,
) -> Vec<u32> {
    let mut missing = parents.to_vec();
    let mut order: Vec<u32> = Vec::with_capacity(parents.len());
    order
        .extend((0_u32..).zip(parents).filter(|(_, parents)| **parents == 0).map(|(node, _)| node));
    let mut next = 0;
    while let Some(&node) = order.get(next) {
        next += 1;
        for dependant in dependants(node) {
            let missing = &mut missing[dependant as usize];
            *missing -= 1;
            if *missing == 0 {
                order.push(dependant);
            }
        }
    }
    order
}

/// For each node the nodes that depend on it, one list behind the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dependants {
    /// Where the list of each node begins, and at last where all end.
    begins: Vec<u32>,
    all: Vec<u32>,
}

impl Dependants {
    /// Of pairs (node, dependant), which keep their order.
    pub(crate) fn new(nodes: usize, pairs: &[(u32, u32)]) -> Self {
        let mut begins = vec![0_u32; nodes + 1];
        for &(node, _) in pairs {
            begins[node as usize + 1] += 1;
        }
        for node in 0..nodes {
            begins[node + 1] += begins[node];
        }
        let mut next = begins.clone();
        let mut all = vec![0; pairs.len()];
        for &(node, dependant) in pairs {
            let place = &mut next[node as usize];
            all[*place as usize] = dependant;
            *place += 1;
        }
        Self { begins, all }
    }

    pub(crate) fn of(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.all[self.begins[node] as usize..self.begins[node + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_has_32_bytes() {
        assert_eq!(size_of::<Node>(), 32);
    }
}
