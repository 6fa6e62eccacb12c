//! Notifications of congestion points find the queue pair that they are for, whoever it is.

use rocelab_transport::Counters;

use crate::support::{Run, run};

/// Four hosts to one over two switches.
const CROWD: &str = "\
seed = 1
[roce]
version = 1
[topology.dumbbell]
left = 4
right = 2
host_link = { rate = \"40Gbps\", cable = \"10m\" }
bottleneck = { rate = \"40Gbps\", cable = \"10m\" }
[congestion_control.qcn]
";

/// Flows of the crowd, each with some keys more.
fn flows(keys: [&str; 4]) -> String {
    let flow = |(host, keys): (usize, &str)| {
        format!("{{ from = \"host-{host}\", to = \"host-4\", bytes = \"2MB\"{keys} }},\n")
    };
    let list: String = keys.into_iter().enumerate().map(flow).collect();
    format!("[workload.flows]\nlist = [\n{list}]\n")
}

/// All notifications have arrived where somebody waits for them.
#[track_caller]
fn assert_delivered(run: &Run) -> (u64, Counters) {
    let sent = run.totals().notifications.cnms;
    let nics = run.simulation.network().nic_counters();
    assert!(sent > 4, "{sent} are too few to say something");
    assert_eq!(run.totals().frames_dropped, 0);
    assert_eq!((nics.cnms_received, nics.unknown_qp), (sent, 0));
    assert_eq!(nics.cnps_received, 0);
    (sent, nics)
}

#[test]
fn senders_hear_of_their_frames() {
    for keys in ["", ", verb = \"send\"", ", verb = \"write-with-immediate\""] {
        let run = run(&format!("{CROWD}{}", flows([keys; 4])));
        run.assert_complete(keys);
        assert_delivered(&run);
    }
}

#[test]
fn responders_hear_of_read_data() {
    let list = (0..4).map(|host| {
        let to = format!("from = \"host-4\", to = \"host-{host}\"");
        format!("{{ {to}, bytes = \"2MB\", verb = \"read\" }},\n")
    });
    let list: String = list.collect();
    let run = run(&format!("{CROWD}[workload.flows]\nlist = [\n{list}]\n"));
    run.assert_complete("reads");
    assert_delivered(&run);
}

#[test]
fn connections_by_messages_and_other_services_are_notified_too() {
    for roce in ["connect = \"cm\"", "service = \"uc\""] {
        let text = CROWD.replace("version = 1", &format!("version = 1\n{roce}"));
        let run = run(&format!("{text}{}", flows([""; 4])));
        assert_delivered(&run);
    }
}

#[test]
fn applications_are_notified_too() {
    let app = "[[workload.app]]\nname = \"writes\"\nclients = [\"host-0..host-3\"]\n\
               servers = [\"host-4\"]\nqueue_depth = 2\noperations = 8\n\
               steps = [{ by = \"client\", verb = \"write\", bytes = \"500KB\" }]\n";
    let run = run(&format!("{CROWD}{app}"));
    assert_delivered(&run);
}

#[test]
fn only_those_who_ask_are_notified() {
    let list = |rest: &str, hosts: std::ops::Range<u32>| {
        let flow =
            |host| format!("{{ from = \"host-{host}\", to = \"host-4\", bytes = \"2MB\" }},");
        let list: String = hosts.map(flow).collect();
        format!("[[workload.flows]]\nlist = [{list}]\n{rest}")
    };
    let deaf = list("congestion_control = { none = {} }\n", 0..3);
    let alone = run(&format!("{CROWD}{deaf}"));
    assert_eq!(alone.totals().notifications.cnms, 0);
    let mixed = run(&format!("{CROWD}{deaf}{}", list("", 3..4)));
    let (_, nics) = assert_delivered(&mixed);
    assert!(nics.cnms_received > 0);
}

#[test]
fn equal_seeds_give_equal_runs_and_others_do_not() {
    let digest = |seed: u32| {
        let text = CROWD.replace("seed = 1", &format!("seed = {seed}"));
        run(&format!("{text}{}", flows([""; 4]))).simulation.network().digest()
    };
    assert_eq!(digest(1), digest(1));
    assert_ne!(digest(1), digest(2));
}
