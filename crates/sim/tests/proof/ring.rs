//! The cycle that is printed is the one that a run would wait in.

use std::path::Path;

use rocelab_sim::proof::Proof;
use rocelab_sim::{Planning, Scenario};

/// Five switches in a ring with a host at each. Shortest paths go two switches far.
fn ring(flows: &[(u32, u32)]) -> Proof {
    let mut links = "10 5 10\n5 6 7 8 9\n".to_owned();
    for switch in 5..10 {
        links.push_str(&format!("{} {switch} 100Gbps 15ns 0\n", switch - 5));
    }
    for switch in 5..10 {
        links.push_str(&format!("{switch} {} 100Gbps 15ns 0\n", 5 + (switch - 4) % 5));
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = format!("ring-{}.topology.txt", flows.len());
    std::fs::write(folder.join(&file), links).expect("the folder takes files");
    let flow = |&(from, to): &(u32, u32)| {
        format!("{{ from = \"host-{from}\", to = \"host-{to}\", bytes = \"1MB\" }},\n")
    };
    let list: String = flows.iter().map(flow).collect();
    let text = format!("[topology.file]\npath = \"{file}\"\n[workload.flows]\nlist = [\n{list}]\n");
    let scenario = Scenario::parse(&text, &folder.join("ring.toml"), &[]);
    Proof::of(&scenario.and_then(|scenario| scenario.plan()).expect("the scenario is good"))
}

#[test]
fn flows_all_round_close_the_circle_and_one_flow_does_not() {
    let round: Vec<_> = (0..5).map(|host| (host, (host + 2) % 5)).collect();
    let proof = ring(&round);
    let finding = proof.buffer_dependency.as_ref().expect("it was looked into");
    assert_eq!(proof.faults(), 1);
    assert!(finding.failures.is_none(), "there is a cycle before any failure");
    for cycle in [&finding.cycle, &finding.cycle_of_flows] {
        let queues: Vec<_> = cycle.as_ref().expect("a cycle").split(" -> ").collect();
        assert_eq!((queues.len(), queues.first()), (6, queues.last()), "{queues:?}");
    }
    let one = ring(&round[..1]);
    let finding = one.buffer_dependency.as_ref().expect("it was looked into");
    assert!(finding.cycle.is_some() && finding.cycle_of_flows.is_none(), "{finding:?}");
    assert!(one.to_string().contains("own flows close none"), "{one}");
}
