//! A bridge: it learns where source addresses are and floods what is for others (IEEE 802.1Q, the learning and the
//! forwarding process).

use rocelab_units::SimTime;
use rocelab_wire::Encapsulation;

use super::address_table::{AddressTable, Location};
use super::{Forward, ForwardedFrame, Forwarding, ForwardingDrop, KnownHosts, MacEntries};

/// The bridge in one switch.
#[derive(Debug)]
pub struct Plane {
    table: AddressTable,
}

rocelab_state::state!(Plane { states: table });

impl Forward for Plane {
    /// A frame with a GRH has no other address that a switch looks at than its MAC address.
    fn forwards(encapsulation: Encapsulation) -> bool {
        encapsulation == Encapsulation::V1
    }

    fn new(ports: usize) -> Self {
        Self { table: AddressTable::new(ports) }
    }

    fn forward(&mut self, known: &KnownHosts, frame: &ForwardedFrame) -> Forwarding {
        let ForwardedFrame { now, source, destination, ingress, route, .. } = *frame;
        if frame.has_source_mac {
            self.table.hear(known, Location { host: source, port: ingress }, now);
        }
        let Some(port) = route else { return Forwarding::AsRouted };
        match self.table.port_of(known, Location { host: destination, port }, now) {
            Some(port) if port == ingress && (known.learning.is_some() || frame.was_flooded) => {
                Forwarding::Drop(ForwardingDrop::Filtered)
            }
            Some(port) => Forwarding::By(port),
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

#[cfg(test)]
mod tests {
    use super::super::tests::frame;
    use super::*;
    use crate::forwarding::{LearningConfig, MissingEntries};

    #[test]
    fn an_unknown_destination_is_flooded_until_it_is_heard_of() {
        let known = KnownHosts {
            missing: [(2, MissingEntries { mac: true, arp: false })].into(),
            learning: Some(LearningConfig::default()),
            ..KnownHosts::default()
        };
        let mut bridge = Plane::new(4);
        assert_eq!(bridge.forward(&known, &frame(1)), Forwarding::Flood);
        let back = ForwardedFrame { source: 2, destination: 1, ingress: 3, ..frame(2) };
        assert_eq!(bridge.forward(&known, &back), Forwarding::By(0));
        assert_eq!(bridge.forward(&known, &frame(3)), Forwarding::By(3));
        let reflected = ForwardedFrame { ingress: 3, ..frame(4) };
        let filtered = Forwarding::Drop(ForwardingDrop::Filtered);
        assert_eq!(bridge.forward(&known, &reflected), filtered);
    }
}
