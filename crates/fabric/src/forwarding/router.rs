//! A router: the last one on the way finds the MAC address of its host by ARP, and that address's port in the MAC table.
//!
//! The two have timers of their own: where the first entry lives and the second is gone, it sends the frame by every port
//! of the broadcast domain (Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.2).

use std::collections::BTreeMap;

use rocelab_units::SimTime;
use rocelab_wire::Encapsulation;

use super::address_table::{AddressTable, Location};
use super::{Forward, ForwardedFrame, Forwarding, ForwardingDrop, KnownHosts, MacEntries};
use crate::NodeId;

/// The router in one switch.
#[derive(Debug)]
pub struct Plane {
    table: AddressTable,
    /// When the IP addresses of hosts were resolved, if they were since the beginning.
    resolved: BTreeMap<NodeId, SimTime>,
}

rocelab_state::state!(Plane { values: resolved; states: table });

impl Forward for Plane {
    /// Frames without an IP header are not routed.
    fn forwards(encapsulation: Encapsulation) -> bool {
        encapsulation != Encapsulation::V1
    }

    fn new(ports: usize) -> Self {
        Self { table: AddressTable::new(ports), resolved: BTreeMap::new() }
    }

    fn forward(&mut self, known: &KnownHosts, frame: &ForwardedFrame) -> Forwarding {
        let ForwardedFrame { now, source, destination, ingress, .. } = *frame;
        if frame.has_source_mac {
            self.table.hear(known, Location { host: source, port: ingress }, now);
        }
        if frame.was_flooded {
            // Its MAC address is that of a host, and not the one of this router.
            return Forwarding::Drop(ForwardingDrop::ForeignDestination);
        }
        let (Some(port), true) = (frame.route, frame.is_last_hop) else {
            return Forwarding::AsRouted; // To the next router, or nowhere.
        };
        let host = Location { host: destination, port };
        if !self.resolve(known, host, frame) {
            return Forwarding::Drop(ForwardingDrop::IncompleteArp);
        }
        match self.table.port_of(known, host, now) {
            Some(port) => Forwarding::By(port),
            None if known.drop_incomplete_arp && frame.is_lossless => {
                self.ask_again(known, host, frame)
            }
            None => Forwarding::Flood,
        }
    }

    fn flush(&mut self, port: u16, now: SimTime) {
        self.table.flush(port, now);
    }

    fn mac_entries(&self) -> MacEntries {
        self.table.counts()
    }
}

impl Plane {
    /// Whether it knows the MAC address of a host's IP address. Where tables change, it asks if it does not, and a host
    /// that is up answers: its frame tells the port too.
    fn resolve(&mut self, known: &KnownHosts, host: Location, frame: &ForwardedFrame) -> bool {
        let ForwardedFrame { now, answers, .. } = *frame;
        let missing = known.lacks_arp(host.host);
        let Some(learning) = &known.learning else { return !missing };
        let first = (!missing).then_some(SimTime::ZERO);
        let since = self.resolved.get(&host.host).copied().or(first);
        if since.is_some_and(|since| now.since(since) < learning.arp_timeout) {
            return true;
        }
        if answers {
            self.resolved.insert(host.host, now);
            self.table.hear(known, host, now);
        }
        answers
    }

    /// Where lossless frames are not flooded, an entry without a port is incomplete, and the router
    /// asks again: a host that is only silent is heard of by its answer.
    fn ask_again(
        &mut self,
        known: &KnownHosts,
        host: Location,
        frame: &ForwardedFrame,
    ) -> Forwarding {
        if !(frame.answers && known.learning.is_some()) {
            return Forwarding::Drop(ForwardingDrop::IncompleteArp);
        }
        self.table.hear(known, host, frame.now);
        Forwarding::By(host.port)
    }
}

#[cfg(test)]
mod tests {
    use rocelab_state::State as _;
    use rocelab_units::Duration;

    use super::super::tests::frame;
    use super::*;
    use crate::forwarding::{LearningConfig, MissingEntries};

    fn known() -> KnownHosts {
        let learning =
            LearningConfig { mac_ageing: Duration::from_us(5), arp_timeout: Duration::from_us(20) };
        KnownHosts {
            missing: [(2, MissingEntries { mac: true, arp: true })].into(),
            learning: Some(learning),
            ..KnownHosts::default()
        }
    }

    #[test]
    fn a_host_that_is_up_is_resolved_again_and_its_port_is_known_then() {
        let (known, mut router) = (known(), Plane::new(4));
        let mut forward =
            |us, answers| router.forward(&known, &ForwardedFrame { answers, ..frame(us) });
        let incomplete = Forwarding::Drop(ForwardingDrop::IncompleteArp);
        assert_eq!(forward(0, false), incomplete);
        assert_eq!(forward(1, true), Forwarding::By(1));
        // Then it dies: its ARP entry outlives its MAC entry.
        assert_eq!(forward(20, false), Forwarding::Flood);
        assert_eq!(forward(21, false), incomplete);
    }

    #[test]
    fn a_router_goes_on_with_what_it_had_resolved() {
        let (known, mut router) = (known(), Plane::new(4));
        router.forward(&known, &frame(15));
        let mut saved = Vec::new();
        router.save(&mut saved).expect("it can be saved");
        let mut loaded = Plane::new(4);
        loaded.load(&mut &saved[..]).expect("it fits");
        // Its ARP entry lives for 20 us more, and the host is silent.
        let silent = ForwardedFrame { answers: false, ..frame(34) };
        assert_eq!(loaded.forward(&known, &silent), Forwarding::Flood);
        assert!(Plane::new(3).load(&mut &saved[..]).is_err(), "a switch with fewer ports");
    }

    #[test]
    fn a_lossless_frame_is_not_flooded_where_that_is_forbidden() {
        let (known, mut router) =
            (KnownHosts { drop_incomplete_arp: true, ..known() }, Plane::new(4));
        let mut forward = |us, is_lossless, answers| {
            router.forward(&known, &ForwardedFrame { is_lossless, answers, ..frame(us) })
        };
        assert_eq!(forward(1, true, true), Forwarding::By(1));
        assert_eq!(forward(7, false, false), Forwarding::Flood);
        let incomplete = Forwarding::Drop(ForwardingDrop::IncompleteArp);
        assert_eq!(forward(7, true, false), incomplete);
        assert_eq!(forward(8, true, true), Forwarding::By(1));
    }

    #[test]
    fn what_was_flooded_is_for_no_router() {
        let mut router = Plane::new(4);
        let flooded = ForwardedFrame { was_flooded: true, ..frame(1) };
        let foreign = Forwarding::Drop(ForwardingDrop::ForeignDestination);
        assert_eq!(router.forward(&KnownHosts::default(), &flooded), foreign);
    }
}
