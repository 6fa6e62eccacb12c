//! Finds nodes by name.

use super::{NodeId, Topology};

impl Topology {
    /// The node with this name.
    ///
    /// It is found directly if its name ends in its number (hosts of structured topologies, and all
    /// nodes of an edge list); other switches need a search.
    pub fn node_by_name(&self, name: &str) -> Option<NodeId> {
        let guess = split_number(name).and_then(|(_, number)| number);
        let is_named = |id: &NodeId| self.nodes.get(*id as usize).is_some_and(|n| n.name == name);
        guess.filter(is_named).or_else(|| {
            (0..).zip(&self.nodes).find_map(|(id, node)| (node.name == name).then_some(id))
        })
    }

    /// All names, as people list them: `host-0 to host-31, leaf-0 to leaf-3`.
    pub fn describe_names(&self) -> String {
        describe_names(self.nodes.iter().map(|node| node.name.as_str()))
    }
}

/// Names in the order that they are given in, those with consecutive numbers as `host-0 to host-7`; at most twelve texts.
pub fn describe_names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut runs: Vec<(&str, &str)> = Vec::new();
    for name in names {
        match runs.last_mut() {
            Some((_, last)) if follows(last, name) => *last = name,
            _ => runs.push((name, name)),
        }
    }
    const SHOWN: usize = 12;
    let more = if runs.len() > SHOWN { ", ..." } else { "" };
    let texts: Vec<_> = runs.iter().take(SHOWN).map(|&(first, last)| run(first, last)).collect();
    texts.join(", ") + more
}

fn run(first: &str, last: &str) -> String {
    if first == last { first.into() } else { format!("{first} to {last}") }
}

/// Whether `next` is the name that comes after `name`.
fn follows(name: &str, next: &str) -> bool {
    match (split_number(name), split_number(next)) {
        (Some((a, Some(i))), Some((b, Some(j)))) => a == b && i.checked_add(1) == Some(j),
        _ => false,
    }
}

/// The parts before and after the last hyphen; the second one only if it is a number.
fn split_number(name: &str) -> Option<(&str, Option<u32>)> {
    name.rsplit_once('-').map(|(prefix, number)| (prefix, number.parse().ok()))
}
