//! Sets of ports, each kept once.

use std::collections::BTreeMap;

/// The name of a set in its [`PortSets`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct PortSetId(u32);

impl PortSetId {
    /// The set of this port alone.
    #[inline]
    pub(super) const fn single(port: u16) -> Self {
        Self(port as u32)
    }
}

/// Sets of ports, named by where they stand in one list.
///
/// The list begins with every port number in order, so the name of a single port's set is that
/// port, and a switch with one way out needs no further look. The other sets follow, each after
/// its length: the length and the first ports are on one cache line.
#[derive(Clone, Debug)]
pub(super) struct PortSets {
    pool: Vec<u16>,
    /// How many port numbers the list begins with.
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

    /// The only port, if there is just one.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "singles are port numbers of 16 bits")]
    pub(super) fn as_single(&self, PortSetId(at): PortSetId) -> Option<u16> {
        (at < self.singles).then_some(at as u16)
    }

    /// The set without ports.
    pub(super) fn empty(&self) -> PortSetId {
        PortSetId(self.singles)
    }

    /// The name of a set of ports, ascending, whether or not there is one like it.
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

/// Collects sets of ports.
#[derive(Debug)]
pub(super) struct PortSetBuilder {
    sets: PortSets,
    names: BTreeMap<Box<[u16]>, PortSetId>,
    empty: PortSetId,
}

impl PortSetBuilder {
    /// For switches with up to `ports` ports.
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

    /// The name of a set of ports below the number given at first, ascending. `guess` is looked
    /// at before any other set.
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

    /// The sets, without what was needed to collect them.
    pub(super) fn finish(mut self) -> PortSets {
        self.sets.pool.shrink_to_fit();
        self.sets
    }
}
