//! A receiver that translates addresses slowly: `scenarios/sigcomm16-slow-receiver.toml`,
//! `docs/experiments/slow-receiver.md`.
//!
//! Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.4: with pages of 4 KB a
//! server pauses thousands of times a second, with pages of 2 MB it does not, and dynamic thresholds
//! keep its pauses from spreading.

use rocelab_sim::network::{PauseEvent, ReceiverCounts};
use rocelab_units::SimTime;

use crate::support::{Run, shipped};

/// Messages that come before all entries of the cache are in use, with one to spare.
const WARM: usize = 5;
/// Pieces of 4 KiB in a message.
const PIECES: f64 = 512.0;
/// A message of 2 MiB every millisecond.
const INTERVAL_PS: u64 = 1_000_000_000;

/// What a run shows.
struct Shown {
    /// Completion of a message with a warm cache, mean, in ns.
    completion: f64,
    /// Misses for each piece of these.
    misses: f64,
    /// Pauses that the NIC asked for, a second.
    nic_pauses: f64,
    /// Pauses of spines.
    spine_pauses: usize,
}

fn run(overrides: &[(&str, &str)]) -> Shown {
    let mut run = Run::new(shipped("sigcomm16-slow-receiver.toml", overrides));
    let counts = |run: &Run| -> ReceiverCounts {
        run.simulation.network().slow_receivers().next().expect("there is one").1
    };
    run.run_until(SimTime::from_ps(WARM as u64 * INTERVAL_PS - 1));
    let cold = counts(&run);
    run.finish();
    assert_eq!(run.totals().frames_dropped, 0);
    let all = counts(&run);
    let ends: Vec<_> = run.completion_times().into_iter().map(|ps| ps as f64 / 1e3).collect();
    let warm = &ends[WARM..];
    let spine_pauses = run.pauses().into_iter().filter(|(_, change)| {
        let name = &run.plan.topology.nodes[change.node as usize].name;
        change.event == PauseEvent::Pause && name.starts_with("spine-")
    });
    Shown {
        completion: warm.iter().sum::<f64>() / warm.len() as f64,
        misses: (all.misses - cold.misses) as f64 / (PIECES * warm.len() as f64),
        nic_pauses: all.pauses as f64 / (ends.len() as f64 * INTERVAL_PS as f64 / 1e12),
        spine_pauses: spine_pauses.count(),
    }
}

#[test]
fn small_pages_make_a_receiver_pause_and_large_ones_do_not() {
    let hit = 2048.0 / 16384.0;
    let piece = 4.0 * 1086.0 * 8.0 / 50.0 + (1.0 - hit) * 500.0;
    let small = run(&[]);
    println!(
        "4 KiB: {:.1} ns ({:.1}), {:.4} misses, {:.0} pauses/s, {} of spines",
        small.completion,
        PIECES * piece,
        small.misses,
        small.nic_pauses,
        small.spine_pauses
    );
    assert!((small.completion / (PIECES * piece) - 1.0).abs() < 0.02);
    assert!((small.misses - (1.0 - hit)).abs() < 0.02);
    assert!(small.nic_pauses >= 1000.0);
    assert_eq!(small.spine_pauses, 0, "alpha 1/16 absorbs the rest");
    let large = run(&[("slow_receiver[0].translation.page_size", "2MiB")]);
    let line = 2048.0 * 1106.0 * 8.0 / 40.0;
    println!(
        "2 MiB: {:.1} ns ({line:.1}), {:.4} misses, {:.0} pauses/s",
        large.completion, large.misses, large.nic_pauses
    );
    assert!((line..(line + 5_000.0) * 1.02).contains(&large.completion));
    assert!(large.misses < 0.02);
    assert!(large.nic_pauses < 1.0);
    assert_eq!(large.spine_pauses, 0);
}

#[test]
fn a_fixed_threshold_lets_its_pauses_spread() {
    let fixed = run(&[("switch.xoff", "100KB")]);
    println!(
        "fixed: {} pauses of spines, {:.0} of the NIC/s",
        fixed.spine_pauses, fixed.nic_pauses
    );
    assert!(fixed.spine_pauses > 0);
}
