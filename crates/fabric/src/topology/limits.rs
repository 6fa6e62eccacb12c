//! Limits of the size of a network, checked before anything is allocated.

use rocelab_units::{Bandwidth, Duration};

use super::TopologyError;

/// The largest number of nodes: an event's key has 24 bits for its origin node, and one value means
/// "nobody".
pub const MAX_NODES: usize = (1 << 24) - 1;

/// The largest number of ports of a node: a port number has 16 bits, and one value means "none".
pub const MAX_PORTS: usize = u16::MAX as usize - 1;

/// The lowest and highest rate of a link. Within them, times and byte counts do not overflow 64
/// bits.
pub const RATES: std::ops::RangeInclusive<Bandwidth> =
    Bandwidth::from_mbps(1)..=Bandwidth::from_gbps(100_000);

/// The largest number of links: enough for a fat tree of [`MAX_NODES`], and less than the memory of
/// a large machine.
pub const MAX_LINKS: usize = 1 << 26;

/// The longest propagation delay of a link: 1 s, or 200,000 km of cable. Times are picoseconds in
/// 64 bits, and must not come near their end.
pub const MAX_DELAY: Duration = Duration::from_ms(1_000);

/// Checks that a count from the scenario is not below `least`.
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

/// The numbers of nodes, links and ports that some parameters ask for, and the parameter that an
/// error names.
pub(super) struct Size<'a> {
    pub(super) nodes: u128,
    pub(super) links: u128,
    /// The parameter that an error about too many nodes or links names.
    pub(super) from: Parameter,
    /// For each kind of switch: its name, its number of ports, and the parameter that determines
    /// this most.
    pub(super) ports: &'a [(&'static str, u128, Parameter)],
}

impl Size<'_> {
    /// Checks that the network can be represented.
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

/// The product of some counts. It cannot overflow for up to four counts of 32 bits.
pub(super) fn product<const N: usize>(counts: [u32; N]) -> u128 {
    const { assert!(N <= 4) };
    counts.into_iter().map(u128::from).product()
}

/// The parameter with the larger value.
pub(super) fn larger(a: Parameter, b: Parameter) -> Parameter {
    if b.1 > a.1 { b } else { a }
}
