//! All verbs at once between the same hosts: every flow and every operation ends well.

use rocelab_sim::network::RecordKind;
use rocelab_sim::{Ending, Simulation};
use rocelab_transport::CompletionStatus;

use crate::support::try_plan;

const SERVERS: &str = "servers = [\"host-1\"]\n";

/// Flows of each verb both ways, and applications with atomic operations, between two hosts, and from
/// a third one.
fn text(roce: &str, faults: &str) -> String {
    let verbs = ["send", "write", "write-with-immediate", "read"];
    let flows: String = verbs
        .iter()
        .map(|verb| {
            format!(
                "[[workload.flows]]\nverb = \"{verb}\"\nmessage = \"7KB\"\nlist = [\
                 {{ from = \"host-0\", to = \"host-1\", bytes = \"40KB\" }},\
                 {{ from = \"host-1\", to = \"host-0\", bytes = \"40KB\", start = \"3us\" }},\
                 {{ from = \"host-2\", to = \"host-1\", bytes = \"40KB\" }}]\n"
            )
        })
        .collect();
    let steps = "steps = [{ by = \"client\", verb = \"write\", bytes = \"5KB\" }, \
                 { by = \"client\", verb = \"compare-swap\", swap = 3 }, \
                 { by = \"client\", verb = \"send-with-immediate\", bytes = \"5KB\" }, \
                 { by = \"server\", verb = \"write-with-immediate\", bytes = \"9KB\" }]\n";
    format!(
        "stop = \"50ms\"\n[roce]\n{roce}\nack_timeout = 4\nretry_count = 7\n\
         [topology.single-switch]\nhosts = 3\nlink = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         [congestion_control.none]\n{flows}\
         [[workload.ping-pong]]\nclients = [\"host-0\", \"host-2\"]\n{SERVERS}\
         verb = \"fetch-add\"\niterations = 40\n\
         [[workload.ping-pong]]\nclients = [\"host-1\"]\nservers = [\"host-0\"]\n\
         verb = \"compare-swap\"\niterations = 40\n\
         [[workload.app]]\nclients = [\"host-0\", \"host-2\"]\n{SERVERS}operations = 10\n\
         queue_depth = 3\n{steps}{faults}"
    )
}

/// Flows and operations that ended.
fn ends(text: &str) -> (usize, usize) {
    let plan = try_plan(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut simulation: Simulation =
        Simulation::new(std::sync::Arc::new(plan)).expect("a plan becomes a network");
    assert_eq!(simulation.run_to_end(), Ending::Finished, "{text}");
    simulation.network().audit().unwrap_or_else(|error| panic!("{error}\n{text}"));
    let (mut flows, mut operations) = (0, 0);
    for record in simulation.take_records() {
        match record.kind {
            RecordKind::FlowEnd(end) => {
                assert_eq!(end.status, CompletionStatus::Success, "{end:?}\n{text}");
                flows += 1;
            }
            RecordKind::OperationEnd(end) => {
                assert_eq!(end.status, CompletionStatus::Success, "{end:?}\n{text}");
                operations += 1;
            }
            _ => {}
        }
    }
    (flows, operations)
}

const LOSS: &str = "[[faults]]\naction = \"drop\"\nprobability = 0.005\n";

#[test]
fn nothing_fails_with_all_verbs_on_many_queue_pairs_of_the_same_hosts() {
    for version in ["version = 1", "version = 2", "version = 2\nip = \"ipv6\""] {
        let reordering = "{ reordering = { packets = 8 } }";
        for recovery in ["\"go-back-n\"", "\"go-back-0\"", "\"selective-repeat\"", reordering] {
            for faults in ["", LOSS] {
                let roce = format!("{version}\nrecovery = {recovery}\npath_mtu = 1024");
                assert_eq!(ends(&text(&roce, faults)), (12, 140), "{roce}\n{faults}");
            }
        }
    }
}

/// An application whose messages of several packets arrive beside its own atomic operations.
#[test]
fn writes_and_atomic_operations_of_one_application() {
    let text = "[topology.single-switch]\nhosts = 4\n\
                link = { rate = \"100Gbps\", cable = \"3m\" }\n[congestion_control.none]\n\
                [workload.app]\nclients = [\"host-0..host-2\"]\nservers = [\"host-3\"]\n\
                operations = 20\nqueue_depth = 4\n\
                steps = [{ by = \"client\", verb = \"write\", bytes = \"5KB\" }, \
                { by = \"client\", verb = \"fetch-add\", add = 1 }]\n";
    assert_eq!(ends(text), (0, 60));
}
