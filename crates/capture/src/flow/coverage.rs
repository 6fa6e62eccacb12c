//! Whether all packets of a flow pass the captured interface. Only then a gap is a fault.

use rocelab_wire::Psn;

use super::requests::Requests;
use crate::dissection::Address;

/// Whether packets that are missing in `here` passed on another path. `other` are the requests of
/// the same flow on another interface.
///
/// If another interface is on the same path, it has these packets too, and also those before and
/// after them, unless the later ones have not arrived there yet. If the flow moved from one path to
/// another, it does not have both. The first missing packets may have been lost before they passed
/// any interface; then they passed again after the others.
pub(super) fn passed_elsewhere(here: &Requests, other: &Requests, first: Psn, count: u32) -> bool {
    let (before, end) = (first.wrapping_sub(1), first.wrapping_add(count));
    if !other.holds(first) && !other.holds(end.wrapping_sub(1)) {
        return false;
    }
    let holds_what_follows = other.holds(end) || other.began_with(here) && other.limit() == end;
    here.holds(before) && !other.holds(before) || here.holds(end) && !holds_what_follows
}

/// The addresses, one or two, that all packets of an interface have in common: whose port it is, as
/// far as its packets tell.
///
/// All packets of a host pass its own port. They need not all pass a port between switches, nor the
/// port of another host to which a switch floods them: addresses are learnt and forgotten, links
/// fail. A packet does not say which port it passed; but if two packets have no address in common,
/// the interface is not the port of one host alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedAddresses {
    /// `None` before the first packet. IPv4 addresses are apart from others, because one host may
    /// have both.
    of_ipv4: Option<Vec<Address>>,
    of_others: Option<Vec<Address>>,
}

impl SharedAddresses {
    /// Adds a flow between these two addresses.
    pub(crate) fn add(&mut self, source: Address, destination: Address) {
        let both = [source, destination];
        match self.of_kind(source) {
            Some(common) => common.retain(|address| both.contains(address)),
            none => *none = Some(both.to_vec()),
        }
    }

    /// Whether all packets of a flow from this source pass the interface, as far as is known.
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
