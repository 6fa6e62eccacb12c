//! How large a network may be, checked before anything is allocated.

use rocelab_units::{Bandwidth, Duration};

use super::TopologyError;

/// Most nodes of a network: an event's key names its origin node in 24 bits, and one value is kept
/// for "nobody".
pub const MAX_NODES: usize = (1 << 24) - 1;

/// Most ports of a node: ports are named in 16 bits, and one value is kept for "none".
pub const MAX_PORTS: usize = u16::MAX as usize - 1;

/// Slowest and fastest link: times and byte counts of either end stay far from the ends of 64 bits.
pub const RATES: std::ops::RangeInclusive<Bandwidth> =
    Bandwidth::from_mbps(1)..=Bandwidth::from_gbps(100_000);

/// Most links of a network: enough for a fat tree of [`MAX_NODES`], and not yet all the memory of
/// a large machine.
pub const MAX_LINKS: usize = 1 << 26;

/// Longest propagation delay of a link: 1 s, or 200,000 km of cable. Times are picoseconds in 64
/// bits, so an absurd delay must not come near their end.
pub const MAX_DELAY: Duration = Duration::from_ms(1_000);

/// A count that the scenario gives, which must not be below `least`.
pub(super) fn at_least(key: &str, value: u32, least: u32) -> Result<(), TopologyError> {
    if value >= least {
        return Ok(());
    }
    let problem =
        if value == 0 { "there would be none".into() } else { format!("{value} is too few") };
    Err(TopologyError::parameter(key, value, problem, format!("give at least {least}")))
}

/// A parameter: its key below `[topology.NAME]` and its value.
pub(super) type Parameter = (&'static str, u32);

/// How many nodes, links and ports some parameters ask for, and which parameter to blame.
pub(super) struct Size<'a> {
    pub(super) nodes: u128,
    pub(super) links: u128,
    /// What makes the network large.
    pub(super) from: Parameter,
    /// Kinds of switches, their numbers of ports, and what these follow from most.
    pub(super) ports: &'a [(&'static str, u128, Parameter)],
}

impl Size<'_> {
    /// Whether the network can be represented.
    pub(super) fn check(&self) -> Result<(), TopologyError> {
        let network = |count, what, most| check_limit("the network", count, what, most, self.from);
        network(self.nodes, "nodes", MAX_NODES)?;
        network(self.links, "links", MAX_LINKS)?;
        for &(switch, count, from) in self.ports {
            check_limit(switch, count, "ports", MAX_PORTS, from)?;
        }
        Ok(())
    }
}

fn check_limit(
    whole: &str,
    count: u128,
    parts: &str,
    most: usize,
    (key, value): Parameter,
) -> Result<(), TopologyError> {
    if count <= most as u128 {
        return Ok(());
    }
    let problem = format!("{whole} would have {count} {parts}, more than {most}");
    Err(TopologyError::parameter(key, value, problem, format!("give a smaller `{key}`")))
}

/// The product of some counts, which cannot overflow for four of 32 bits.
pub(super) fn product<const N: usize>(counts: [u32; N]) -> u128 {
    const { assert!(N <= 4) };
    counts.into_iter().map(u128::from).product()
}

/// The parameter with the larger value.
pub(super) fn larger(a: Parameter, b: Parameter) -> Parameter {
    if b.1 > a.1 { b } else { a }
}
