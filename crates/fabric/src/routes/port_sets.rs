//! Sets of ports, stored without duplicates.

use std::collections::BTreeMap;

/// Identifies a set in its [`PortSets`]: an index into its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct PortSetId(u32);

impl PortSetId {
    /// The set with this port only.
    #[inline]
    pub(super) const fn single(port: u16) -> Self {
        Self(port as u32)
    }
}

/// Sets of ports, identified by their index in one list.
///
/// The list begins with all port numbers in order. So the identifier of a set with a single port is
/// that port, and a switch with one next hop needs no lookup. All other sets follow, each after its
/// length, so that the length and the first ports are on one cache line.
#[derive(Clone, Debug)]
pub(super) struct PortSets {
    pool: Vec<u16>,
    /// Number of port numbers at the beginning of the list.
    singles: u32,
}

impl PortSets {
    /// The ports, ascending.
    #[inline]
    pub(super) fn ports(&self, PortSetId(at): PortSetId) -> &[u16] {
        let start = at as usize;
        if at < self.singles {
            return &self.pool[start..=start];
        }
        let length = usize::from(self.pool[start]);
        &self.pool[start + 1..][..length]
    }

    /// The only port of a set with one port; `None` for other sets.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "singles are port numbers of 16 bits")]
    pub(super) fn as_single(&self, PortSetId(at): PortSetId) -> Option<u16> {
        (at < self.singles).then_some(at as u16)
    }

    /// The set without ports.
    pub(super) fn empty(&self) -> PortSetId {
        PortSetId(self.singles)
    }

    /// Adds a set of ports, ascending, without looking for an equal one.
    pub(super) fn add(&mut self, ports: &[u16]) -> PortSetId {
        match ports {
            [] => self.empty(),
            &[port] => PortSetId::single(port),
            _ => self.append(ports),
        }
    }

    fn append(&mut self, ports: &[u16]) -> PortSetId {
        let length = u16::try_from(ports.len()).expect("a node has at most u16::MAX ports");
        let name = u32::try_from(self.pool.len()).expect("fewer than 2^32 ports in all sets");
        self.pool.push(length);
        self.pool.extend_from_slice(ports);
        PortSetId(name)
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.pool.capacity() * size_of::<u16>()
    }
}

/// Collects sets of ports, and finds equal ones.
#[derive(Debug)]
pub(super) struct PortSetBuilder {
    sets: PortSets,
    names: BTreeMap<Box<[u16]>, PortSetId>,
    empty: PortSetId,
}

impl PortSetBuilder {
    /// A builder for switches with up to `ports` ports.
    pub(super) fn new(ports: u16) -> Self {
        let singles = u32::from(ports);
        let mut pool: Vec<u16> = (0..ports).collect();
        pool.push(0);
        let sets = PortSets { pool, singles };
        Self { sets, names: BTreeMap::new(), empty: PortSetId(singles) }
    }

    /// The set without ports.
    pub(super) fn empty(&self) -> PortSetId {
        self.empty
    }

    /// The identifier of a set of ports, ascending, all below the number given to [`Self::new`].
    /// `guess` is compared first, which saves hashing when it is right.
    pub(super) fn intern(&mut self, ports: &[u16], guess: PortSetId) -> PortSetId {
        match ports {
            [] => self.empty,
            &[port] => PortSetId::single(port),
            _ if self.sets.ports(guess) == ports => guess,
            _ => match self.names.get(ports) {
                Some(&name) => name,
                None => self.add(ports),
            },
        }
    }

    fn add(&mut self, ports: &[u16]) -> PortSetId {
        let name = self.sets.append(ports);
        self.names.insert(ports.into(), name);
        name
    }

    /// The sets, without the data for finding equal ones.
    pub(super) fn finish(mut self) -> PortSets {
        self.sets.pool.shrink_to_fit();
        self.sets
    }
}
