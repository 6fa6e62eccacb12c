//! A NIC that pauses without end: `scenarios/sigcomm16-nic-storm.toml`, `docs/experiments/nic-storm.md`.
//!
//! Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.3: one NIC blocks the whole
//! fabric; a watchdog in the NIC, or in the switch, bounds that. The bands are ours.

use rocelab_sim::network::PauseEvent;
use rocelab_units::SimTime;

use crate::support::{Run, shipped};

/// Without watchdogs: the most that the others get in the end of what they would without the storm.
const BLOCKED: f64 = 0.1;

/// With a watchdog: the least.
const BOUNDED: f64 = 0.8;

/// Bytes that arrive at all hosts but host-0 in the last 10 of 30 ms, and the run.
fn delivered(overrides: &[(&str, &str)]) -> (f64, Run) {
    let mut run = Run::new(shipped("sigcomm16-nic-storm.toml", overrides));
    let arrived = |run: &Run| {
        let storming = run.plan.topology.node_by_name("host-0").expect("it exists");
        let ports = run.simulation.network().ports();
        let to_hosts = ports
            .filter(|view| run.plan.topology.is_host(view.peer_node) && view.peer_node != storming);
        to_hosts.map(|view| view.counters.bytes).sum::<u64>()
    };
    run.run_until(SimTime::from_ps(20_000_000_000));
    let before = arrived(&run);
    run.finish();
    let bytes = arrived(&run) - before;
    assert_eq!(run.totals().drops.get("headroom_exceeded"), None);
    (bytes as f64, run)
}

const NIC: &[(&str, &str)] = &[("watchdog.nic.detect", "5ms")];
const SWITCH: &[(&str, &str)] = &[
    ("watchdog.switch.detect", "5ms"),
    ("watchdog.switch.restore", "5ms"),
    ("watchdog.switch.poll", "1ms"),
];

#[test]
fn one_nic_blocks_the_fabric_and_watchdogs_bound_it() {
    let (usual, _) = delivered(&[("failure", "[]")]);
    let (blocked, run) = delivered(&[]);
    let (by_nic, _) = delivered(NIC);
    let (by_switch, watched) = delivered(SWITCH);
    println!(
        "of {usual} bytes without the storm: {:.4}; NIC's watchdog {:.4}, switch's {:.4}, {} storms",
        blocked / usual,
        by_nic / usual,
        by_switch / usual,
        watched.totals().storms
    );
    let host = run.plan.topology.node_by_name("host-0").expect("it exists");
    let leaf = run.plan.topology.adjacency().ports_of(host)[0].node;
    let own =
        run.pauses().into_iter().filter(|(_, change)| (change.node, change.port) == (leaf, 0));
    let own: Vec<_> = own.collect();
    assert_eq!(own[0].1.event, PauseEvent::Pause);
    assert!(own[1..].iter().all(|(_, change)| change.event == PauseEvent::Refresh), "no end");
    println!("{} pause frames of the NIC in 29 ms", own.len());
    assert!(blocked / usual < BLOCKED, "{}", blocked / usual);
    assert!(by_nic / usual > BOUNDED, "{}", by_nic / usual);
    assert!(by_switch / usual > BOUNDED, "{}", by_switch / usual);
}
