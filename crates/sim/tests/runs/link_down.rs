//! `LINK_DOWN` of a configuration of HPCC's ns-3 simulator.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rocelab_results::{Overwrite, Results, ResultsDir, RunInfo};
use rocelab_sim::network::RecordKind;
use rocelab_sim::profile::hpcc_ns3::HpccNs3;
use rocelab_sim::{Ending, Execution, Plan, Planning, Simulation, reference};
use rocelab_units::SimTime;

/// Two hosts under two leaf switches (2, 3) with two spines (4, 5) between them.
const TOPOLOGY: &str = "6 4 6\n2 3 4 5\n0 2 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 4 100Gbps 1us 0\n\
    2 5 100Gbps 1us 0\n4 3 100Gbps 1us 0\n5 3 100Gbps 1us 0\n";
/// Eight flows: the hash sends some over each spine.
const FLOWS: usize = 8;

fn plan(folder: &Path, link_down: &str) -> Arc<Plan> {
    let config = format!(
        "ENABLE_QCN 1\nPACKET_PAYLOAD_SIZE 1000\nTOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\n\
         SIMULATOR_STOP_TIME 2.01\nCC_MODE 0\nRP_TIMER 300\nRATE_AI 20Mb/s\nRATE_HAI 200Mb/s\n\
         L2_CHUNK_SIZE 4000\nL2_ACK_INTERVAL 1\nLINK_DOWN {link_down}\nBUFFER_SIZE 32\n\
         KMAX_MAP 1 100000000000 1600\nKMIN_MAP 1 100000000000 400\n\
         PMAX_MAP 1 100000000000 0.2\n"
    );
    let flows: String = (0..FLOWS).map(|_| "0 1 3 100 1000000 2.000001\n").collect();
    std::fs::write(folder.join("topology.txt"), TOPOLOGY).unwrap();
    std::fs::write(folder.join("flow.txt"), format!("{FLOWS}\n{flows}")).unwrap();
    std::fs::write(folder.join("config.txt"), config).unwrap();
    let loaded = reference::load(&folder.join("config.txt"), &[]).unwrap();
    Arc::new(loaded.scenario.plan().unwrap())
}

fn run(folder: &Path, link_down: &str) -> Simulation<HpccNs3> {
    let mut simulation = Simulation::new(plan(folder, link_down)).unwrap();
    simulation.run_to_end();
    simulation
}

/// Frames over the link from leaf 2 to spine 4.
fn frames_by_spine_4(simulation: &Simulation<HpccNs3>) -> u64 {
    let network = simulation.network();
    let mut to_spine = network.ports().filter(|port| (port.node, port.peer_node) == (2, 4));
    to_spine.next().unwrap().counters.frames
}

#[test]
fn flows_go_on_over_what_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let mut whole = run(folder.path(), "0 0 0");
    let mut broken = run(folder.path(), "200 2 4");
    // 8 MB take 0.65 ms over the hosts' 100 Gbit/s links; the link fails after 0.2 ms.
    let before = frames_by_spine_4(&whole);
    let after = frames_by_spine_4(&broken);
    assert!(before > 0 && after > 0 && after < before / 2, "{after} of {before} frames");
    assert_eq!(whole.network().flow_counts(), (8, 0, 8));
    assert_eq!(whole.network().totals(whole.now()).frames_dropped, 0);

    let totals = broken.network().totals(broken.now());
    assert!(totals.drops["link_down"] > 0, "{:?}", totals.drops);
    let drops: Vec<SimTime> = broken
        .take_records()
        .into_iter()
        .filter(|record| matches!(record.kind, RecordKind::Drop(_)))
        .map(|record| record.key.time)
        .collect();
    assert_eq!(drops.len() as u64, totals.drops["link_down"]);
    // What waited is lost at once, what was on the link when it would have arrived.
    let (first, last) = (drops[0].ps() / 1_000, drops[drops.len() - 1].ps() / 1_000);
    assert!(first >= 2_000_200_000 && last <= 2_000_201_100, "{first} to {last} ns");
    broken.network().audit().unwrap();
    // No timeout: a flow that lost its last packets would never end; these had more to send.
    let (completed, failed, _) = broken.network().flow_counts();
    assert_eq!((completed, failed), (8, 0));
    assert!(whole.take_records().len() >= FLOWS);
    assert_eq!(whole.run_to_end(), Ending::Finished);
}

#[test]
fn the_link_that_failed_was_used_before() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), "200 2 4");
    let place = folder.path().join("results");
    let directory = ResultsDir::create(&place, Overwrite::Refuse).unwrap();
    let mut observe = |_: &_| ControlFlow::Continue(());
    let outcome =
        rocelab_sim::run(plan, (&directory).into(), Execution::SEQUENTIAL, &mut observe).unwrap();
    directory.finish(&outcome.summary, &RunInfo::default()).unwrap();
    let results = Results::open(place).unwrap();
    let mut links = results.links().unwrap().map(Result::unwrap);
    let failed = links.find(|link| (&*link.from, &*link.to) == ("switch-2", "switch-4")).unwrap();
    assert!(failed.frames > 0 && failed.utilisation.as_f64() > 0.0, "{failed:?}");
}
