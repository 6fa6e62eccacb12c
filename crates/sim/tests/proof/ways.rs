//! What changes the ways of frames: silent hosts that are flooded for, failures of the scenario's own; and what
//! does not: queues that priorities share, READ, TCP in a lossless priority.

use std::sync::Arc;

use rocelab_sim::Simulation;
use rocelab_sim::proof::{DependencyFinding, Proof};

use crate::plan;

/// What was found of buffer dependency, the text of all, and whether the run ended in a deadlock.
fn proved_and_run(text: &str) -> (DependencyFinding, String, bool) {
    let plan = plan(text);
    let proof = Proof::of(&plan);
    let mut simulation: Simulation = Simulation::new(Arc::new(plan)).expect("it is a network");
    simulation.run_to_end();
    let network = simulation.network();
    network.audit().expect("nothing is lost without a reason");
    let finding = proof.buffer_dependency.clone().expect("it was looked into");
    (finding, proof.to_string(), !network.deadlocks().is_empty())
}

/// Receivers whose acknowledgements wait for 100 us are forgotten after 20 us, and flooded for.
fn silent(layer2: &str) -> String {
    format!(
        "seed = 204373\nstop = \"200us\"\n\
         roce = {{ version = 2, path_mtu = 1024, ack_coalescing = {{ packets = 2, delay = \"100us\" }}, \
         rnr_timer = 5 }}\n\
         topology = {{ fat-tree = {{ k = 4, host_link = {{ rate = \"200Gbps\", cable = \"10m\" }}, \
         fabric_link = {{ rate = \"400Gbps\", cable = \"100m\" }} }} }}\n\
         switch = {{ lossless = [6, 3], buffer = \"1793KB\", alpha = \"64\", xon_offset = \"0B\", \
         pause_response = \"3us\", queue_of = {{ 4 = 3 }}, \
         ecn = {{ kmin = \"100KB\", kmax = \"400KB\", pmax = 1.0, per_rate = \"25Gbps\" }} }}\n\
         congestion_control = {{ none = {{}} }}\n\
         workload = {{ incast = [{{ senders = 7, bytes = \"1MB\", receiver = \"host-10\", \
         verb = \"write\" }}] }}\n\
         layer2 = {{ {layer2} }}\n"
    )
}

#[test]
fn a_deadlock_that_flooding_for_silent_hosts_closes_was_not_said_to_be_impossible() {
    let (finding, text, deadlock) =
        proved_and_run(&silent("learning = { mac_ageing = \"20us\", arp_timeout = \"1s\" }"));
    assert!(deadlock, "the case is worth nothing without");
    assert!(finding.cycle.is_none() && finding.cycle_of_silent.is_some(), "{text}");
    assert!(finding.failures.is_none() && finding.own_failures.is_none(), "{text}");
    assert!(!text.contains("no cycle") && text.contains("not proved: frames for"), "{text}");
    for cure in [
        "learning = { mac_ageing = \"1s\", arp_timeout = \"1s\" }",
        "learning = { mac_ageing = \"20us\", arp_timeout = \"1s\" }, drop_incomplete_arp = true",
    ] {
        let (finding, text, deadlock) = proved_and_run(&silent(cure));
        assert!(!deadlock && finding.cycle_of_silent.is_none(), "{cure}\n{text}");
        assert!(text.contains("no cycle among"), "{text}");
    }
}

/// Four leaves under two spines, some links between them down.
fn broken(links: &[&str]) -> String {
    let failure = |port: &&str| {
        format!("[[failure]]\nkind = \"link-down\"\nport = \"{port}\"\nat = \"10us\"\n")
    };
    let failures: String = links.iter().map(failure).collect();
    format!(
        "stop = \"50us\"\n[topology.leaf-spine]\nleaves = 4\nspines = 2\nhosts_per_leaf = 2\n\
         host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         fabric_link = {{ rate = \"100Gbps\", cable = \"30m\" }}\n\
         [congestion_control.none]\n{failures}\
         [workload.incast]\nsenders = 3\nbytes = \"10KB\"\n"
    )
}

#[test]
fn two_failures_of_the_scenario_that_make_frames_bounce_are_found() {
    // From leaf-0 to leaf-1 over spine-1, another leaf, and spine-0; and back.
    let (finding, text, _) = proved_and_run(&broken(&["leaf-0:2", "leaf-1:3"]));
    assert!(finding.cycle.is_none(), "{text}");
    assert!(finding.failures.is_some_and(|after| after.first.is_none()), "{text}");
    let own = finding.own_failures.expect("routes change");
    // Routes are made anew after the one, and after both.
    assert_eq!((own.changes, own.examined), (2, 2));
    assert!(own.cycle.is_some() && text.contains("WRONG own failures"), "{text}");
    let (finding, text, _) = proved_and_run(&broken(&["leaf-0:2"]));
    let own = finding.own_failures.expect("routes change");
    assert!(own.cycle.is_none() && own.cycle_of_mixed.is_none(), "{text}");
    assert!(text.contains("ok    own failures"), "{text}");
    let (finding, ..) = proved_and_run(&broken(&["host-0"]));
    assert!(finding.own_failures.is_some_and(|own| own.cycle.is_none()));
    assert!(proved_and_run(&broken(&[])).0.own_failures.is_none());
}

#[test]
fn priorities_that_share_a_queue_reads_and_tcp_that_is_lossless_change_no_way() {
    for (switch, roce, verb) in [
        ("queue_of = { 4 = 3, 6 = 3 }", "", "write"),
        ("queue_of = { 0 = 3, 3 = 0 }", "cnp_priority = 3", "read"),
        ("priority_of = { 4 = 3 }\nscheduler = \"round-robin\"", "cnp_priority = 0", "send"),
    ] {
        let text = format!(
            "seed = 3\nstop = \"2ms\"\n[roce]\npath_mtu = 1024\n{roce}\n\
             [topology.leaf-spine]\nleaves = 3\nspines = 2\nhosts_per_leaf = 3\n\
             host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
             fabric_link = {{ rate = \"100Gbps\", cable = \"30m\" }}\n\
             [switch]\nbuffer = \"2MB\"\nlossless = [3, 4]\n{switch}\n\
             [congestion_control.none]\n[tcp]\npriority = 3\n\
             [[workload.permutation]]\nbytes = \"1MB\"\nverb = \"{verb}\"\n\
             [[workload.incast]]\nsenders = 6\nbytes = \"500KB\"\nverb = \"{verb}\"\npriority = 4\n\
             [[workload.incast]]\nsenders = 6\nbytes = \"500KB\"\ntransport = \"tcp\"\n"
        );
        let (finding, proof, deadlock) = proved_and_run(&text);
        assert!(!deadlock && finding.cycle.is_none() && finding.dependencies > 0, "{proof}");
        assert!(proof.contains("no cycle among"), "{proof}");
    }
}
