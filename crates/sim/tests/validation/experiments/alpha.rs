//! How much of its free memory a switch lets one port have: `scenarios/sigcomm16-alpha.toml`,
//! `docs/experiments/alpha.md`.
//!
//! Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 6.2: with alpha 1/64 a switch
//! pauses where it absorbs the same answers with 1/16.

use rocelab_sim::network::PauseEvent;

use crate::support::{Run, shipped};

const ROUNDS: u64 = 10;

fn run_with(alpha: &str) -> Run {
    let mut run = Run::new(shipped("sigcomm16-alpha.toml", &[("switch.alpha", alpha)]));
    run.finish();
    assert_eq!(run.totals().frames_dropped, 0);
    run
}

/// What so many ingress ports may hold together of a shared memory of so many bytes.
fn held_at_most(alpha: f64, ports: f64, shared: f64) -> f64 {
    ports * alpha * shared / (1.0 + ports * alpha)
}

#[test]
fn a_small_alpha_pauses_where_a_large_one_absorbs() {
    // A packet of 1,000 bytes is a frame of 1,078 with its RETH; three of four wait.
    let waits = 1_000.0 * 1_078.0 * 0.75;
    assert!(held_at_most(1.0 / 16.0, 4.0, 8.8e6) > waits);
    assert!(held_at_most(1.0 / 64.0, 4.0, 8.8e6) < waits);
    assert_eq!(run_with("1/16").totals().pauses, 0);
    let run = run_with("1/64");
    let topology = &run.plan.topology;
    let pauses = run.pauses().into_iter().filter(|(_, change)| change.event == PauseEvent::Pause);
    let rounds: std::collections::BTreeSet<u64> = pauses
        .map(|(time, change)| {
            let name = &topology.nodes[change.node as usize].name;
            assert!(name.starts_with("spine-"), "{name} is paused");
            time.ps() / 5_000_000_000
        })
        .collect();
    assert_eq!(rounds.len() as u64, ROUNDS, "each round pauses");
}
