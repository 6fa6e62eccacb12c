//! Switches of a fat tree, and their ports in groups: those of a group lead to the same neighbour.

use crate::graph::SwitchGraph;
use crate::subnet::Subnet;

/// A cable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cable {
    /// The port at the neighbour.
    pub(super) port_there: u8,
    /// Ways that were counted.
    pub(super) ways: u32,
}

/// Cables to a neighbour.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) neighbour: usize,
    pub(super) cables: Vec<Cable>,
    /// Ways that were counted: of an upward group those down to this switch, of a downward one those up from the
    /// neighbour.
    pub(super) ways: u32,
}

impl Group {
    /// The cable with the fewest ways, and the first one of those.
    pub(super) fn least(&mut self) -> Option<&mut Cable> {
        match &mut self.cables[..] {
            [only] => Some(only),
            cables => cables.iter_mut().min_by_key(|cable| cable.ways),
        }
    }
}

/// A switch.
#[derive(Clone, Debug, Default)]
pub(super) struct Switch {
    pub(super) rank: u32,
    pub(super) up: Vec<Group>,
    pub(super) down: Vec<Group>,
    /// The groups by their index, from few ways to many.
    pub(super) up_order: Vec<usize>,
    pub(super) down_order: Vec<usize>,
    pub(super) is_leaf: bool,
}

/// All switches of a fat tree.
#[derive(Clone, Debug)]
pub(super) struct Fabric {
    pub(super) switches: Vec<Switch>,
}

impl Fabric {
    /// The switches with these `ranks`; else which cable is not one between neighbouring levels.
    pub(super) fn new(subnet: &Subnet, ranks: &[u32]) -> Result<Self, String> {
        let graph = subnet.graph();
        let mut switches = vec![Switch::default(); graph.len()];
        for (index, switch) in switches.iter_mut().enumerate() {
            switch.rank = ranks[index];
            switch.is_leaf = subnet.adapters(index).next().is_some();
            for (_, neighbour, port_there) in graph.links(index) {
                if ranks[index].abs_diff(ranks[neighbour]) != 1 {
                    return Err(format!(
                        "{} with rank {} and {} with rank {} have a cable",
                        subnet.switch_name(index),
                        ranks[index],
                        subnet.switch_name(neighbour),
                        ranks[neighbour]
                    ));
                }
                let is_up = ranks[neighbour] < ranks[index];
                let groups = if is_up { &mut switch.up } else { &mut switch.down };
                add(groups, neighbour, Cable { port_there, ways: 0 });
            }
            switch.up_order = (0..switch.up.len()).collect();
            switch.down_order = (0..switch.down.len()).collect();
        }
        Ok(Self { switches })
    }

    /// Checks that switches of one rank have as many groups as each other, and groups as many cables; else which do
    /// not. Hosts may be missing.
    pub(super) fn check_is_regular(&self, subnet: &Subnet) -> Result<(), String> {
        let leaf_rank = self.switches.iter().map(|switch| switch.rank).max();
        for rank in 0..=leaf_rank.unwrap_or(0) {
            let of_rank = || (0..).zip(&self.switches).filter(|(_, switch)| switch.rank == rank);
            let Some((first, reference)) = of_rank().next() else { continue };
            let mut others = of_rank();
            let differs = |switch: &Switch| {
                difference(&reference.up, &switch.up, "upward")
                    .or_else(|| difference(&reference.down, &switch.down, "downward"))
            };
            let found = others.find_map(|(index, switch)| Some((index, differs(switch)?)));
            if let Some((index, what)) = found {
                let names = [first, index].map(|switch: usize| subnet.switch_name(switch));
                return Err(format!("{} and {} have {what}", names[0], names[1]));
            }
        }
        Ok(())
    }
}

fn add(groups: &mut Vec<Group>, neighbour: usize, cable: Cable) {
    match groups.iter_mut().find(|group| group.neighbour == neighbour) {
        Some(group) => group.cables.push(cable),
        None => groups.push(Group { neighbour, cables: vec![cable], ways: 0 }),
    }
}

/// In what groups of two switches of one rank differ.
fn difference(reference: &[Group], groups: &[Group], direction: &str) -> Option<String> {
    if reference.len() != groups.len() {
        return Some(format!("different numbers of {direction} port groups"));
    }
    let cables = reference.first()?.cables.len();
    let is_unlike = groups.iter().any(|group| group.cables.len() != cables);
    is_unlike.then(|| format!("different numbers of ports in an {direction} port group"))
}

/// Switches with hosts, in the order of the graph.
pub(super) fn leaves(graph: &SwitchGraph) -> impl Iterator<Item = usize> {
    (0..graph.len()).filter(|&switch| graph.attached(switch).next().is_some())
}
