//! Integrity mode: whether the network kept the four promises of a reliable connection.

use rocelab_fabric::NodeId;
use rocelab_transport::CompletionStatus;

use super::node::Role;
use super::overview::Overview;
use crate::profile::{Inspect, Profile};
use crate::record::Violation;

impl<P: Profile> Overview<'_, P> {
    /// How a flow ended here, where that is kept and if it has.
    pub(crate) fn end_of_flow(self, flow: u32) -> Option<CompletionStatus> {
        self.0.course.flow_ends.as_ref()?.by_flow.get(&flow).copied()
    }

    /// What integrity mode finds wrong, in the memory of a host that is here, with a flow that has
    /// completed.
    pub(crate) fn violations(self, node: NodeId, flow: u32) -> Vec<Violation> {
        let Role::Host(host) = self.0.nodes[node as usize].role else { return Vec::new() };
        self.0.hosts[host as usize].end_host.violations(&self.0.plan, flow)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use rocelab_transport::Content;

    use crate::record::{IntegrityReport, Promise};
    use crate::{Planning, Scenario, Simulation};

    fn simulation(verb: &str) -> Simulation {
        let text = format!(
            "integrity = true\n[topology.single-switch]\nhosts = 2\n\
             link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[workload.flows]\n\
             verb = \"{verb}\"\nmessage = \"100KB\"\n\
             list = [{{ from = \"host-0\", to = \"host-1\", bytes = \"950KB\" }}]\n"
        );
        let scenario = Scenario::parse(&text, Path::new("integrity.toml"), &[]);
        let plan = scenario.and_then(|scenario| scenario.plan());
        let plan = plan.unwrap_or_else(|error| panic!("{error}"));
        Simulation::new(Arc::new(plan)).expect("a plan becomes a network")
    }

    fn report(simulation: &Simulation) -> IntegrityReport {
        simulation.network().integrity().expect("integrity mode is on")
    }

    /// A bit of payload changes under way, and no check sum tells.
    fn flip_a_bit(simulation: &mut Simulation) -> bool {
        let contents = simulation.network_mut().side.contents.all_mut();
        for content in contents {
            if let Content::Payload(bytes) = content {
                bytes[3] ^= 0x40;
                return true;
            }
        }
        false
    }

    #[test]
    fn an_altered_byte_is_found() {
        for verb in ["send", "write", "write-with-immediate", "read"] {
            let mut simulation = simulation(verb);
            while !flip_a_bit(&mut simulation) {
                assert_eq!(simulation.advance(1), None, "{verb}");
            }
            simulation.run_to_end();
            let report = report(&simulation);
            assert_eq!((report.flows, report.bytes), (1, 950_000));
            let [violation] = &report.violations[..] else { panic!("{verb}: {report:?}") };
            assert_eq!(violation.promise, Promise::NothingAltered, "{verb}");
            // Byte 3 of a packet of some message.
            assert_eq!(violation.offset % 100_000 % 1024, 3, "{verb}: {violation:?}");
            let first = |text: &str| u8::from_str_radix(&text[..2], 16).expect("hexadecimal");
            assert_eq!(first(&violation.expected) ^ first(&violation.found), 0x40);
            assert_eq!(violation.expected[2..], violation.found[2..]);
        }
    }

    #[test]
    fn bytes_that_never_came_are_found() {
        let mut simulation = simulation("write");
        while simulation.network_mut().side.contents.all_mut().next().is_none() {
            assert_eq!(simulation.advance(1), None);
        }
        // The packets arrive, without what they carry.
        simulation.network_mut().side.contents.clear();
        simulation.run_to_end();
        let report = report(&simulation);
        assert!(!report.violations.is_empty());
        for violation in &report.violations {
            assert_eq!(violation.promise, Promise::NothingLost, "{violation:?}");
        }
    }

    #[test]
    fn a_run_without_faults_keeps_all_promises() {
        for verb in ["send", "write", "write-with-immediate", "read"] {
            let mut simulation = simulation(verb);
            assert_eq!(report(&simulation), IntegrityReport::default(), "nothing has ended yet");
            simulation.run_to_end();
            let expected =
                IntegrityReport { flows: 1, bytes: 950_000, ..IntegrityReport::default() };
            assert_eq!(report(&simulation), expected, "{verb}");
            assert_eq!(simulation.network().contents_in_network(), 0);
        }
    }
}
