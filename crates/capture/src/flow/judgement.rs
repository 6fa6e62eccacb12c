//! What may be called a fault where not every packet need pass.

use rocelab_wire::Psn;

use super::requests::Requests;
use crate::dissection::Address;

/// Whether packets that are missing in `here` passed on another way, whose requests of the same flow are
/// `other`.
///
/// Another interface holds them too if it is passed before or after this one. But then it holds what is
/// around them as well, unless what follows has yet to come there. Where a flow moved from one way to another,
/// it does not. The first that are missing may have been lost before they passed any interface; they passed
/// again behind the rest.
pub(super) fn passed_elsewhere(here: &Requests, other: &Requests, first: Psn, count: u32) -> bool {
    let (before, end) = (first.wrapping_sub(1), first.wrapping_add(count));
    if !other.holds(first) && !other.holds(end.wrapping_sub(1)) {
        return false;
    }
    let holds_what_follows = other.holds(end) || other.began_with(here) && other.limit() == end;
    here.holds(before) && !other.holds(before) || here.holds(end) && !holds_what_follows
}

/// Whose port an interface is, as far as its packets tell: the addresses that all of them have, one or two.
///
/// All packets of a host pass its own port. They need not all pass a port between switches, nor that
/// of a host to which a switch floods what is for others: addresses are learned and forgotten, links fail.
/// No packet says which port it passed; but where two packets have no address in common, the interface
/// is not the port of one host alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owners {
    /// None before the first packet. Addresses of different kinds may be of one host.
    of_ipv4: Option<Vec<Address>>,
    of_others: Option<Vec<Address>>,
}

impl Owners {
    /// A flow between these two passes.
    pub(crate) fn add(&mut self, source: Address, destination: Address) {
        let both = [source, destination];
        match self.of_kind(source) {
            Some(common) => common.retain(|address| both.contains(address)),
            none => *none = Some(both.to_vec()),
        }
    }

    /// Whether all packets of such a flow pass, as far as is known.
    pub(super) fn pass(&self, source: Address) -> bool {
        let common = if is_ipv4(source) { &self.of_ipv4 } else { &self.of_others };
        common.as_ref().is_none_or(|common| !common.is_empty())
    }

    fn of_kind(&mut self, address: Address) -> &mut Option<Vec<Address>> {
        if is_ipv4(address) { &mut self.of_ipv4 } else { &mut self.of_others }
    }
}

fn is_ipv4(address: Address) -> bool {
    matches!(address, Address::Gid(gid) if gid.to_ipv4().is_some())
}
