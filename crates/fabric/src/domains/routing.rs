//! The next hops of routers: those of equal cost on ways with the fewest routers, and the choice among them.

use std::collections::{BTreeMap, VecDeque};

use crate::NodeId;
use crate::routes::hash::{mix, reduce, switch_seed};

/// Where a router sends a frame next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hop {
    /// The broadcast domain that it sends it into.
    pub(super) domain: u32,
    /// The router there that goes on with it; none: the host that it is for.
    pub(super) router: Option<NodeId>,
}

/// The routers of all domains, and their tables.
///
/// Domains with the same routers are equally far from everywhere. They have one table, so that a fabric in which every host has a
/// subnet of its own needs one for each router with hosts, not for each host.
#[derive(Clone, Debug, Default)]
pub(super) struct Routing {
    /// By domain: the routers that have an interface there, ascending.
    routers: Vec<Vec<NodeId>>,
    /// By domain: the number of the table towards it.
    table_of: Vec<u32>,
    tables: Vec<BTreeMap<NodeId, Entry>>,
    hash_seed: u64,
}

/// What a router has of the domains of one table.
#[derive(Clone, Debug)]
struct Entry {
    /// How many routers come behind it.
    distance: u16,
    /// The next hops that have fewer; none where it has an interface in the domain itself.
    hops: Box<[Hop]>,
}

impl Routing {
    /// Those of the routers in each domain.
    pub(super) fn new(routers: Vec<Vec<NodeId>>, hash_seed: u64) -> Self {
        let mut domains_of: BTreeMap<NodeId, Vec<u32>> = BTreeMap::new();
        for (domain, at) in (0u32..).zip(&routers) {
            for &router in at {
                domains_of.entry(router).or_default().push(domain);
            }
        }
        let mut numbers: BTreeMap<&[NodeId], u32> = BTreeMap::new();
        let (mut table_of, mut tables) = (Vec::new(), Vec::new());
        for at in &routers {
            let number = *numbers.entry(at).or_insert_with(|| {
                tables.push(table_towards(at, &routers, &domains_of));
                u32::try_from(tables.len() - 1).unwrap_or(u32::MAX)
            });
            table_of.push(number);
        }
        Self { table_of, tables, hash_seed, routers }
    }

    /// The routers that have an interface in a domain, ascending.
    pub(super) fn routers_of(&self, domain: u32) -> &[NodeId] {
        &self.routers[domain as usize]
    }

    fn entry(&self, router: NodeId, end: u32) -> Option<&Entry> {
        let table = *self.table_of.get(end as usize)?;
        self.tables.get(table as usize)?.get(&router)
    }

    /// How many routers a frame for the domain `end` crosses behind this one; none if there is no way.
    pub(super) fn distance(&self, router: NodeId, end: u32) -> Option<u16> {
        self.entry(router, end).map(|entry| entry.distance)
    }

    /// The router of a domain to which its hosts send what is for the domain `end`: of those with the fewest routers behind them
    /// the lowest.
    pub(super) fn gateway(&self, domain: u32, end: u32) -> Option<NodeId> {
        let routers = self.routers_of(domain).iter();
        let known = routers.filter_map(|&router| Some((self.distance(router, end)?, router)));
        known.min().map(|(_, router)| router)
    }

    /// Where a router sends what is for the domain `end`: all next hops of equal cost.
    pub(super) fn hops(&self, router: NodeId, end: u32) -> Vec<Hop> {
        match self.entry(router, end) {
            None => Vec::new(),
            Some(entry) if entry.distance == 0 => vec![Hop { domain: end, router: None }],
            Some(entry) => entry.hops.to_vec(),
        }
    }

    /// That one of them to which a frame with this hash goes.
    pub(super) fn hop(&self, router: NodeId, end: u32, hash: u32) -> Option<Hop> {
        let entry = self.entry(router, end)?;
        if entry.distance == 0 {
            return Some(Hop { domain: end, router: None });
        }
        let mixed = mix(hash, switch_seed(self.hash_seed, router));
        entry.hops.get(reduce(mixed, entry.hops.len())).copied()
    }
}

/// The table of all routers towards domains with interfaces of `ends`: breadth first from these.
fn table_towards(
    ends: &[NodeId],
    routers: &[Vec<NodeId>],
    domains_of: &BTreeMap<NodeId, Vec<u32>>,
) -> BTreeMap<NodeId, Entry> {
    let mut distances: BTreeMap<NodeId, u16> = ends.iter().map(|&router| (router, 0)).collect();
    let mut open: VecDeque<NodeId> = ends.iter().copied().collect();
    let neighbours = |router: NodeId| {
        let domains = domains_of.get(&router).into_iter().flatten().copied();
        domains
            .flat_map(|domain| routers[domain as usize].iter().map(move |&other| (domain, other)))
    };
    while let Some(router) = open.pop_front() {
        let farther = distances[&router] + 1;
        for (_, other) in neighbours(router) {
            distances.entry(other).or_insert_with(|| {
                open.push_back(other);
                farther
            });
        }
    }
    let entry = |(&router, &distance): (&NodeId, &u16)| {
        let nearer = neighbours(router).filter(|(_, other)| distances[other] + 1 == distance);
        let hops = nearer.map(|(domain, router)| Hop { domain, router: Some(router) });
        (router, Entry { distance, hops: hops.collect() })
    };
    distances.iter().map(entry).collect()
}
