//! A bridge that does not flood: frames for addresses that it does not know are dropped.
//!
//! Operators block unknown unicast like this where a flooded frame does more harm than a lost one: each copy takes the
//! memory of a lossless queue.

use rocelab_units::SimTime;
use rocelab_wire::Encapsulation;

use super::{Forward, ForwardedFrame, Forwarding, ForwardingDrop, KnownHosts, MacEntries, bridge};

/// The bridge in one switch.
#[derive(Debug)]
pub struct Plane {
    bridge: bridge::Plane,
}

rocelab_state::state!(Plane { states: bridge });

impl Forward for Plane {
    const FLOODS: bool = false;

    fn forwards(encapsulation: Encapsulation) -> bool {
        bridge::Plane::forwards(encapsulation)
    }

    fn new(ports: usize) -> Self {
        Self { bridge: bridge::Plane::new(ports) }
    }

    fn forward(&mut self, known: &KnownHosts, frame: &ForwardedFrame) -> Forwarding {
        match self.bridge.forward(known, frame) {
            Forwarding::Flood => Forwarding::Drop(ForwardingDrop::UnknownDestination),
            decided => decided,
        }
    }

    fn flush(&mut self, port: u16, now: SimTime) {
        self.bridge.flush(port, now);
    }

    fn mac_entries(&self) -> MacEntries {
        self.bridge.mac_entries()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::frame;
    use super::*;
    use crate::forwarding::{LearningConfig, MissingEntries};

    #[test]
    fn an_unknown_destination_is_dropped_until_it_is_heard_of() {
        let known = KnownHosts {
            missing: [(2, MissingEntries { mac: true, arp: false })].into(),
            learning: Some(LearningConfig::default()),
            ..KnownHosts::default()
        };
        let mut bridge = Plane::new(4);
        let dropped = Forwarding::Drop(ForwardingDrop::UnknownDestination);
        assert_eq!(bridge.forward(&known, &frame(1)), dropped);
        let back = ForwardedFrame { source: 2, destination: 1, ingress: 3, ..frame(2) };
        assert_eq!(bridge.forward(&known, &back), Forwarding::By(0));
        assert_eq!(bridge.forward(&known, &frame(3)), Forwarding::By(3));
    }
}
