//! The same scenario and seed give the same run; another seed gives another.

use std::fmt::Write;

use rocelab_sim::Plan;

use crate::support::{Run, plan};

fn scenario(seed: u64, hosts_per_leaf: u32) -> String {
    format!(
        "seed = {seed}\n[topology.leaf-spine]\nleaves = 3\nspines = 2\n\
         hosts_per_leaf = {hosts_per_leaf}\nhost_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         fabric_link = {{ rate = \"100Gbps\", cable = \"30m\" }}\n\
         [switch]\nbuffer = \"1MB\"\necn = {{ kmin = \"5KB\", kmax = \"50KB\", pmax = 0.1 }}\n\
         [congestion_control.dcqcn]\n[workload.poisson]\nload = 0.6\n\
         distribution = \"facebook-hadoop\"\ncount = 300\n[workload.incast]\nsenders = 6\n\
         bytes = \"50KB\"\n[sample.queues]\ninterval = \"10us\"\nports = [\"leaf-0\"]\n"
    )
}

/// The digest, and all records and totals as text.
fn outcome(text: &str, budget: u64) -> (u64, String) {
    let mut run = Run::new(plan(text));
    while run.step(budget) {}
    let mut all = format!("{:?}\n", run.totals());
    for record in &run.records {
        writeln!(all, "{record:?}").expect("text grows");
    }
    (run.simulation.network().digest(), all)
}

#[test]
fn ten_runs_are_the_same_run() {
    let text = scenario(7, 4);
    let first = outcome(&text, 1 << 20);
    assert!(first.1.contains("Pause(") && first.1.contains("Queue("), "there is something to see");
    for repetition in 1..10 {
        // Where a run is looked at does not matter either.
        assert!(outcome(&text, 1 << (2 * repetition)) == first, "repetition {repetition}");
    }
    println!("ten runs, digest {:016x}", first.0);
}

#[test]
fn another_seed_is_another_run() {
    let digests: Vec<u64> = (1..=5).map(|seed| outcome(&scenario(seed, 4), 1 << 20).0).collect();
    for (index, digest) in digests.iter().enumerate() {
        assert!(!digests[..index].contains(digest), "{digests:x?}");
    }
}

#[test]
fn a_host_more_does_not_change_the_numbers_of_flows() {
    let with_hosts = |hosts: u32| -> Plan {
        plan(&format!(
            "[topology.single-switch]\nhosts = {hosts}\n\
             link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[workload.flows]\nlist = [\n\
             {{ from = \"host-0\", to = \"host-1\", bytes = \"1MB\" }},\n\
             {{ from = \"host-2\", to = \"host-0\", bytes = \"1MB\" }},\n]\n"
        ))
    };
    assert_eq!(with_hosts(3).flows, with_hosts(8).flows);
}

#[test]
fn a_flow_more_does_not_change_the_numbers_of_flows_between_other_hosts() {
    let with = |more: &str| -> Plan {
        plan(&format!(
            "[topology.single-switch]\nhosts = 4\n\
             link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[workload.flows]\nlist = [\n{more}\
             {{ from = \"host-0\", to = \"host-1\", bytes = \"1MB\", start = \"1us\" }},\n]\n"
        ))
    };
    let more = with("{ from = \"host-2\", to = \"host-3\", bytes = \"1KB\" },\n");
    assert_eq!(with("").flows[0], more.flows[1]);
}

/// Packets that never arrive anywhere, dropped here or there.
#[test]
fn runs_that_deliver_the_same_and_drop_elsewhere_are_not_the_same() {
    let digest_of = |link: &str| {
        let run = crate::support::run(&format!(
            "stop = \"10us\"\n[topology.single-switch]\nhosts = 2\n\
             link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
             [[faults]]\naction = \"drop\"\n{link}\n[workload.flows]\nlist = [\n\
             {{ from = \"host-0\", to = \"host-1\", bytes = \"10KB\" }}]\n"
        ));
        let totals = run.totals();
        assert_eq!((totals.packets_delivered, totals.frames_dropped), (0, 10), "{link}");
        run.simulation.network().digest()
    };
    assert_ne!(digest_of("from = \"host-0\""), digest_of("to = \"host-1\""));
    assert_eq!(digest_of("to = \"host-1\""), digest_of("to = \"host-1\""));
}
