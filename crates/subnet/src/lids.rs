//! Local identifiers (LIDs), as OpenSM gives them in a subnet that has none yet.

use crate::subnet::{EndPort, SubnetError};
use crate::topology::{NodeKind, PortId, Topology};

/// The greatest unicast LID (IBTA 4.1.3).
pub const LAST_UNICAST_LID: u16 = 0xbfff;

/// The LIDs of a port: so many, from the base LID on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LidRange {
    /// The base LID, which is a multiple of the count.
    pub base: u16,
    /// How many there are: 2 to the power of the LMC.
    pub count: u16,
}

impl LidRange {
    /// All LIDs of the port.
    pub fn iter(self) -> impl Iterator<Item = u16> + use<> {
        (0..self.count).map(move |offset| self.base + offset)
    }

    /// The last one.
    pub const fn last(self) -> u16 {
        self.base + (self.count - 1)
    }
}

/// End ports in the order of the sweep, and for each LID the index of its end port.
pub(crate) type Assigned = (Vec<EndPort>, Vec<Option<u32>>);

/// Gives LIDs to `ports`: first to `own`, which is the manager's, then to the others in the order of the sweep. Each
/// takes the next LIDs that are free and aligned; LIDs that are skipped so are not used.
pub(crate) fn assign(
    topology: &Topology,
    ports: Vec<PortId>,
    own: PortId,
    lmc: u8,
) -> Result<Assigned, SubnetError> {
    let unnumbered = LidRange { base: 0, count: 0 };
    let end_port = |id: PortId| {
        let node = &topology.nodes()[id.node];
        let guid = node.port(id.port).map_or(node.guid, |port| port.guid);
        EndPort { id, guid, kind: node.kind, lids: unnumbered }
    };
    let mut end_ports: Vec<_> = ports.into_iter().map(end_port).collect();
    end_ports.sort_by_key(|end_port| end_port.guid.sweep_key());
    let mut order: Vec<usize> = (0..end_ports.len()).collect();
    order.sort_by_key(|&index| end_ports[index].id != own);
    let mut owners: Vec<Option<u32>> = vec![None];
    for index in order {
        let end_port = &mut end_ports[index];
        let count = if end_port.kind == NodeKind::Switch { 1 } else { 1 << lmc };
        let base = owners.len().next_multiple_of(count);
        let last = base + count - 1;
        if last > usize::from(LAST_UNICAST_LID) {
            return Err(SubnetError::NotEnoughLids);
        }
        owners.resize(base, None);
        owners.resize(last + 1, u32::try_from(index).ok());
        end_port.lids = LidRange { base: number(base), count: number(count) };
    }
    Ok((end_ports, owners))
}

/// A number that is at most the last LID.
fn number(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(LAST_UNICAST_LID)
}
