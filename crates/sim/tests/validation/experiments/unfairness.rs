//! The unfairness of PFC, and DCQCN's cure: `scenarios/dcqcn-unfairness.toml`.
//!
//! Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, figure 3.

use super::{jain, port_shares, sending_rates};
use crate::support::{Run, shipped};

/// How far a share may be from what sharing by port gives. Own derivation (`port_shares`); the
/// paper's figure is qualitative.
const SHARE_BAND: f64 = 0.1;

/// Jain's index with DCQCN at the least. The paper: equal shares. 1 within what the dice of marks
/// do in 30 ms, which `fairness.rs` has measured for two flows at 40 Gb/s: 0.98 in 10 ms.
const FAIR: f64 = 0.95;

const SENDERS: [&str; 4] = ["host-0", "host-1", "host-2", "host-16"];

#[test]
fn pfc_alone_shares_by_port() {
    for seed in 1..=6u32 {
        let mut run = Run::new(shipped("dcqcn-unfairness.toml", &[("seed", &seed.to_string())]));
        let expected = port_shares::shares(&run.plan, &[0, 1, 2, 3]);
        let rates = sending_rates(&mut run, &SENDERS, 8, 18);
        let sum: f64 = rates.iter().sum();
        println!(
            "seed {seed}: {rates:.2?} Gb/s, expected shares {expected:.3?}, Jain's index {:.3}",
            jain(&rates)
        );
        assert!(run.totals().pauses > 0 && run.totals().frames_dropped == 0);
        for (flow, rate) in rates.iter().enumerate() {
            let share = rate / sum;
            assert!((share / expected[&flow] - 1.0).abs() < SHARE_BAND, "seed {seed}: {rates:?}");
        }
        // The sender next to the receiver: a third or a half, and nobody has more.
        assert!(rates[3] / sum > (1.0 - SHARE_BAND) / 3.0, "seed {seed}: {rates:?}");
        assert!(rates[..3].iter().all(|&rate| rate < rates[3] * (1.0 + SHARE_BAND)), "{rates:?}");
    }
}

#[test]
fn dcqcn_shares_by_flow() {
    for seed in 1..=3u32 {
        let seed_text = seed.to_string();
        let overrides =
            [("seed", &*seed_text), ("congestion_control.dcqcn", "{}"), ("stop", "61ms")];
        let mut run = Run::new(shipped("dcqcn-unfairness.toml", &overrides));
        let rates = sending_rates(&mut run, &SENDERS, 30, 60);
        let index = jain(&rates);
        println!("seed {seed}: {rates:.2?} Gb/s with DCQCN, Jain's index {index:.4}");
        assert!(index > FAIR, "seed {seed}: {rates:?}");
    }
}
