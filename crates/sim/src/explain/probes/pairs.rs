//! The pairs that are followed, by what they are asked for.

use std::collections::BTreeMap;
use std::ops::{Index, IndexMut};
use std::rc::Rc;

use super::super::pair::Pair;
use super::super::traffic::Traffic;
use super::super::trail::Trail;
use super::super::turns::Turns;
use crate::Plan;

/// Nothing, where there could be a place among pairs.
const NONE: u32 = u32::MAX;

/// A pair that is followed, and what for.
#[derive(Debug)]
pub(super) struct Followed {
    pub(super) pair: Pair,
    pub(super) what: What,
    /// What arrived last at each of its ends, of hosts that take time.
    pub(super) arrived: [Option<Rc<Trail>>; 2],
}

#[derive(Debug)]
pub(super) enum What {
    /// A flow that started then (picoseconds).
    Flow(u64),
    Operations(Turns),
    /// A connection, of which only pauses are of interest.
    Open,
    /// It is over.
    Nothing,
}

/// All pairs that were ever followed. Each keeps its place.
pub(super) struct Pairs {
    all: Vec<Followed>,
    /// By flow, and by connection: the place, while they are followed.
    of_flow: Vec<u32>,
    of_connection: Vec<u32>,
    /// By the flow that stands for all to a multicast group: the place of the one that is followed.
    of_group: BTreeMap<u32, u32>,
    /// By node: pairs that are followed and have an end there.
    at_node: Vec<Vec<u32>>,
}

impl Pairs {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            all: Vec::new(),
            of_flow: vec![NONE; plan.flows.len()],
            of_connection: vec![NONE; plan.connections.len()],
            of_group: BTreeMap::new(),
            at_node: vec![Vec::new(); plan.topology.nodes.len()],
        }
    }

    /// One more is followed from now on.
    pub(super) fn add(&mut self, plan: &Plan, followed: Followed) {
        let place = u32::try_from(self.all.len()).unwrap_or(NONE);
        for end in &followed.pair.ends {
            self.at_node[end.log.node as usize].push(place);
        }
        match followed.pair.traffic {
            Traffic::Flow(flow) => {
                self.of_flow[flow as usize] = place;
                if plan.group_of_flow(flow).is_some() {
                    self.of_group.insert(plan.posted_flow(flow), place);
                }
            }
            Traffic::Connection(connection) => self.of_connection[connection as usize] = place,
        }
        self.all.push(followed);
    }

    /// The pair of a flow is followed no longer.
    pub(super) fn end_flow(&mut self, place: u32, flow: u32) {
        let Followed { pair, what, .. } = &mut self.all[place as usize];
        *what = What::Nothing;
        self.of_flow[flow as usize] = NONE;
        self.of_group.retain(|_, followed| *followed != place);
        for end in &pair.ends {
            self.at_node[end.log.node as usize].retain(|&other| other != place);
        }
        pair.forget(u64::MAX);
    }

    /// The pair that traffic goes between, while it is followed.
    pub(super) fn place_of(&self, traffic: Traffic) -> Option<u32> {
        let place = match traffic {
            Traffic::Flow(flow) => self.of_flow[flow as usize],
            Traffic::Connection(connection) => self.of_connection[connection as usize],
        };
        (place != NONE).then_some(place)
    }

    /// The pair that frames are followed for which are told as those of this traffic: of what is sent to a multicast group, that of one of its
    /// flows.
    pub(super) fn place_of_frames(&self, traffic: Traffic) -> Option<u32> {
        let of_group = || match traffic {
            Traffic::Flow(flow) => self.of_group.get(&flow).copied(),
            Traffic::Connection(_) => None,
        };
        of_group().or_else(|| self.place_of(traffic))
    }

    /// The places of all pairs, those that are over included.
    pub(super) fn places(&self) -> std::ops::Range<u32> {
        0..u32::try_from(self.all.len()).unwrap_or(NONE)
    }

    /// All pairs, those that are over included, in the order of their places.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Followed> {
        self.all.iter()
    }

    /// The same, to change.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Followed> {
        self.all.iter_mut()
    }

    /// Those that are followed and have an end at a node.
    pub(super) fn at(&self, node: u32) -> &[u32] {
        &self.at_node[node as usize]
    }

    /// Those that are followed, wherever.
    pub(super) fn anywhere(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.at_node.iter().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Since when something is followed that has not ended (picoseconds).
    pub(super) fn earliest(&self) -> Option<u64> {
        let since = |followed: &Followed| match &followed.what {
            What::Flow(start) => Some(*start),
            What::Operations(turns) => turns.earliest(),
            What::Open | What::Nothing => None,
        };
        self.all.iter().filter_map(since).min()
    }
}

impl Index<u32> for Pairs {
    type Output = Followed;

    fn index(&self, place: u32) -> &Followed {
        &self.all[place as usize]
    }
}

impl IndexMut<u32> for Pairs {
    fn index_mut(&mut self, place: u32) -> &mut Followed {
        &mut self.all[place as usize]
    }
}
