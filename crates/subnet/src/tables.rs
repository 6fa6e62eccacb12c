//! Forwarding tables and service levels: what a subnet manager decides.

use crate::graph::Far;
use crate::subnet::Subnet;

/// What a forwarding table has where it has no port: packets are dropped.
pub const NO_PORT: u8 = 255;

/// In a file of service levels, a path that no line is about.
pub(crate) const NO_LEVEL: u8 = 255;

/// The linear forwarding tables (LFTs) of all switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardingTables {
    rows: Vec<Vec<u8>>,
}

impl ForwardingTables {
    /// Tables of a subnet that have no port for any LID but that each switch has port 0 for its own.
    pub fn empty(subnet: &Subnet) -> Self {
        let lids = usize::from(subnet.last_lid()) + 1;
        let mut tables = Self { rows: vec![vec![NO_PORT; lids]; subnet.graph().len()] };
        for switch in 0..subnet.graph().len() {
            tables.set(switch, subnet.switch_lid(switch), 0);
        }
        tables
    }

    /// The port by which a switch forwards packets to `lid`.
    pub fn port(&self, switch: usize, lid: u16) -> Option<u8> {
        let port = self.rows[switch].get(usize::from(lid)).copied();
        port.filter(|&port| port != NO_PORT)
    }

    /// The table of a switch: a port or [`NO_PORT`] for each LID from 0 on.
    pub fn row(&self, switch: usize) -> &[u8] {
        &self.rows[switch]
    }

    /// Sets the port by which a switch forwards packets to `lid`, which must be one of the subnet.
    pub(crate) fn set(&mut self, switch: usize, lid: u16, port: u8) {
        self.rows[switch][usize::from(lid)] = port;
    }

    /// The table of a switch, to be filled.
    pub(crate) fn row_mut(&mut self, switch: usize) -> &mut [u8] {
        &mut self.rows[switch]
    }
}

/// The service levels (SLs) that the subnet administrator answers to path queries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceLevels {
    /// SL 0 for all.
    Zero,
    /// One for the switch of the source and each LID of a destination, row by row.
    BySwitchAndLid {
        /// LIDs in a row.
        lids: usize,
        /// The SLs.
        levels: Vec<u8>,
    },
    /// One for each end port as a source and each LID of a destination, row by row: those of a file.
    ByEndPortAndLid {
        /// LIDs in a row.
        lids: usize,
        /// The SLs; 255 where no packets go.
        levels: Vec<u8>,
    },
    /// One for the switch of the source and that of the destination, row by row.
    BySwitches {
        /// Switches in a row.
        switches: usize,
        /// The SLs.
        levels: Vec<u8>,
    },
}

impl ServiceLevels {
    /// Lanes that they ask for, if each has its own: the greatest level, and one more.
    pub(crate) fn lanes(&self) -> u8 {
        let levels = match self {
            Self::Zero => &[][..],
            Self::BySwitchAndLid { levels, .. }
            | Self::ByEndPortAndLid { levels, .. }
            | Self::BySwitches { levels, .. } => levels,
        };
        let greatest = levels.iter().filter(|&&level| level != NO_LEVEL).max();
        greatest.map_or(1, |greatest| greatest + 1)
    }

    /// Whether the end ports of a switch may have different ones for the same path.
    pub const fn are_by_end_port(&self) -> bool {
        matches!(self, Self::ByEndPortAndLid { .. })
    }
}

/// What a subnet manager decides: how switches forward, and the SL of each path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables {
    /// For each switch, the port for each LID.
    pub forwarding: ForwardingTables,
    /// For each path, the SL.
    pub service_levels: ServiceLevels,
    /// Data lanes without which packets could wait for each other in a circle: SLs are below it. Engines that do not
    /// promise freedom from such circles have 1.
    pub lanes: u8,
}

impl Tables {
    /// Tables with SL 0 on all paths.
    pub const fn on_one_lane(forwarding: ForwardingTables) -> Self {
        Self { forwarding, service_levels: ServiceLevels::Zero, lanes: 1 }
    }

    /// The SL of packets from the end port `source` to `lid`.
    pub fn service_level(&self, subnet: &Subnet, source: usize, lid: u16) -> u8 {
        let switch = |end_port: usize| Some(subnet.graph().attachment(end_port)?.switch);
        let level = match &self.service_levels {
            ServiceLevels::Zero => None,
            ServiceLevels::BySwitchAndLid { lids, levels } => {
                switch(source).and_then(|from| levels.get(from * lids + usize::from(lid)))
            }
            ServiceLevels::ByEndPortAndLid { lids, levels } => {
                let level = levels.get(source * lids + usize::from(lid));
                level.filter(|&&level| level != NO_LEVEL)
            }
            ServiceLevels::BySwitches { switches, levels } => {
                let to = subnet.owner(lid).and_then(switch);
                switch(source).zip(to).and_then(|(from, to)| levels.get(from * switches + to))
            }
        };
        level.copied().unwrap_or(0)
    }
}

/// Pairs of channel adapters that tables have no path for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MissingPaths {
    /// Number of pairs, each direction by itself.
    pub pairs: u64,
    /// Of so many.
    pub all: u64,
    /// The first of them: the end ports.
    pub first: Option<(usize, usize)>,
}

impl Tables {
    /// Which channel adapters do not reach which others, by any LID of theirs.
    pub fn missing_paths(&self, subnet: &Subnet) -> MissingPaths {
        let mut missing = MissingPaths::default();
        let switches = 0..subnet.graph().len();
        let sources: Vec<(usize, Vec<usize>)> = switches
            .map(|switch| (switch, subnet.adapters(switch).map(|(_, end_port)| end_port).collect()))
            .filter(|(_, adapters): &(usize, Vec<usize>)| !adapters.is_empty())
            .collect();
        let targets: Vec<usize> =
            sources.iter().flat_map(|(_, adapters)| adapters).copied().collect();
        for (switch, adapters) in &sources {
            for &target in &targets {
                let from = adapters.iter().filter(|&&source| source != target);
                let pairs = from.clone().count() as u64;
                missing.all += pairs;
                let mut lids = subnet.end_ports()[target].lids.iter();
                let is_missing = lids.any(|lid| {
                    self.forwarding.walk(subnet, *switch, lid, |_| ()) != End::Delivered
                });
                if is_missing && pairs > 0 {
                    missing.pairs += pairs;
                    let pair = from.clone().next().map(|&source| (source, target));
                    missing.first = missing.first.or(pair);
                }
            }
        }
        missing
    }
}

/// A port of a switch, from which a packet leaves towards another switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Channel {
    /// The switch.
    pub switch: usize,
    /// Its port.
    pub port: u8,
}

/// How a packet gets from a switch to a LID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Path {
    /// Over these channels; the last switch delivers it.
    Delivered(Vec<Channel>),
    /// A switch has no port for the LID, or one that leads to somebody else, after these channels.
    Dropped(Vec<Channel>),
    /// It comes back to a switch where it has been.
    Looping(Vec<Channel>),
}

impl ForwardingTables {
    /// The path of a packet for `lid` from a switch on.
    pub fn path(&self, subnet: &Subnet, from: usize, lid: u16) -> Path {
        let mut channels = Vec::new();
        match self.walk(subnet, from, lid, |channel| channels.push(channel)) {
            End::Delivered => Path::Delivered(channels),
            End::Dropped => Path::Dropped(channels),
            End::Looping => Path::Looping(channels),
        }
    }

    /// Tells `visit` the channels of that path, and how it ends.
    pub(crate) fn walk(
        &self,
        subnet: &Subnet,
        from: usize,
        lid: u16,
        mut visit: impl FnMut(Channel),
    ) -> End {
        let graph = subnet.graph();
        let owner = subnet.owner(lid);
        let mut switch = from;
        for _ in 0..=graph.len() {
            let Some(port) = self.port(switch, lid) else { return End::Dropped };
            match graph.ports(switch).get(usize::from(port)) {
                Some(&Far::Switch { switch: next, .. }) => {
                    visit(Channel { switch, port });
                    switch = next;
                }
                Some(&Far::EndPort(end_port)) if Some(end_port) == owner => return End::Delivered,
                _ if port == 0 && owner == Some(graph.own_end_port(switch)) => {
                    return End::Delivered;
                }
                _ => return End::Dropped,
            }
        }
        End::Looping
    }
}

/// How a path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Delivered,
    Dropped,
    Looping,
}
