//! The unfairness of PFC, and DCQCN's cure: `scenarios/dcqcn-unfairness.toml`.
//!
//! Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, figure 3.

use super::bar_chart::{BarChart, Group};
use super::{jain, port_shares, sending_rates};
use crate::support::{Run, shipped};

/// How far a share may be from what sharing by port gives. Own derivation (`port_shares`); the
/// paper's figure is qualitative.
const SHARE_BAND: f64 = 0.1;

/// Jain's index with DCQCN at the least. The paper: equal shares. 1 within what the dice of marks
/// do in 30 ms, which `fairness.rs` has measured for two flows at 40 Gb/s: 0.98 in 10 ms.
const FAIR: f64 = 0.95;

/// The drawing that `docs/experiments/pfc-unfairness.md` shows.
const FIGURE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/experiments/pfc-unfairness.svg");

const SENDERS: [&str; 4] = ["host-0", "host-1", "host-2", "host-16"];

/// What the senders send with PFC alone (Gb/s), and the run.
fn pfc_alone(seed: u32) -> (Vec<f64>, Run) {
    let mut run = Run::new(shipped("dcqcn-unfairness.toml", &[("seed", &seed.to_string())]));
    (sending_rates(&mut run, &SENDERS, 8, 18), run)
}

/// The same with DCQCN.
fn with_dcqcn(seed: u32) -> Vec<f64> {
    let seed = seed.to_string();
    let overrides = [("seed", &*seed), ("congestion_control.dcqcn", "{}"), ("stop", "61ms")];
    let mut run = Run::new(shipped("dcqcn-unfairness.toml", &overrides));
    sending_rates(&mut run, &SENDERS, 30, 60)
}

#[test]
fn pfc_alone_shares_by_port() {
    for seed in 1..=6u32 {
        let (rates, run) = pfc_alone(seed);
        let expected = port_shares::shares(&run.plan, &[0, 1, 2, 3]);
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
        let rates = with_dcqcn(seed);
        let index = jain(&rates);
        println!("seed {seed}: {rates:.2?} Gb/s with DCQCN, Jain's index {index:.4}");
        assert!(index > FAIR, "seed {seed}: {rates:?}");
    }
}

/// Two draws of hashing with PFC alone, one of each kind, and one with DCQCN.
#[test]
fn the_figure_shows_what_was_measured() {
    let mut chart = BarChart::new(
        "What four senders get of one 40 Gb/s link (Gb/s of frames)",
        40.0,
        &["H1", "H2", "H3", "H4, next to the receiver"],
    );
    // H4 shares the receiver's switch with two uplinks or with one.
    for uplinks in [2, 1] {
        let of = |seed: &u32| {
            let plan = shipped("dcqcn-unfairness.toml", &[("seed", &seed.to_string())]);
            let h4 = port_shares::shares(&plan, &[0, 1, 2, 3])[&3];
            (h4 * f64::from(uplinks + 1) - 1.0).abs() < 1e-9
        };
        let seed = (1..=6).find(of).expect("six draws have both");
        let name = format!("PFC alone, {uplinks} uplink{}", if uplinks > 1 { "s" } else { "" });
        chart.groups.push(Group { name, values: pfc_alone(seed).0 });
    }
    chart.groups.push(Group { name: "DCQCN".to_owned(), values: with_dcqcn(1) });
    chart.check(FIGURE);
}
