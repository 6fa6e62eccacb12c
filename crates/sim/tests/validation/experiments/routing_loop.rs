//! A routing loop of two switches: `scenarios/hotnets16-routing-loop.toml`.
//!
//! Hu et al., Deadlocks in Datacenter Networks, HotNets 2016: deadlock if and only if r > n B / TTL.
//! `docs/experiments/routing-loop.md` derives it again, and had the bands before the first run.

use rocelab_sim::Ending;

use super::cycle;
use crate::support::{Run, shipped};

/// Rate of the links [Mb/s].
const B: u64 = 40_000;

/// Switches in the loop.
const N: u64 = 2;

/// How far the boundary may be from the paper's.
const BAND: f64 = 0.1;

fn run(ttl: u64, mbps: u64) -> Run {
    let (ttl, rate) = (ttl.to_string(), format!("{mbps}Mbps"));
    let overrides = [("roce.hop_limit", &*ttl), ("congestion_control.none.rate", &*rate)];
    let mut run = Run::new(shipped("hotnets16-routing-loop.toml", &overrides));
    run.finish();
    run
}

/// Whether a run ends with a deadlock. Says when, and that all drops are for their TTL.
fn deadlocks(ttl: u64, mbps: u64) -> bool {
    let run = run(ttl, mbps);
    let totals = run.totals();
    assert_eq!(totals.drops.keys().collect::<Vec<_>>(), [&"ttl_expired"], "TTL {ttl}, {mbps} Mb/s");
    let deadlock = run.simulation.network().deadlocks().first();
    let when = deadlock.map_or_else(|| "none".into(), |deadlock| deadlock.began.to_string());
    println!("TTL {ttl}, {mbps} Mb/s: deadlock {when}, {} pauses", totals.pauses);
    assert_eq!(run.ending == Some(Ending::Deadlocked), deadlock.is_some());
    assert!(deadlock.is_some() || totals.pauses == 0 || mbps * ttl >= N * B * 9 / 10);
    deadlock.is_some()
}

/// The lowest rate that is known to deadlock and the highest known not to [Mb/s], 1 % apart.
fn boundary(ttl: u64) -> (u64, u64) {
    let paper = N * B / ttl;
    let (mut without, mut with) = (paper * 4 / 5, paper * 6 / 5);
    assert!(!deadlocks(ttl, without) && deadlocks(ttl, with));
    while with - without > paper / 100 {
        let middle = without.midpoint(with);
        if deadlocks(ttl, middle) {
            with = middle;
        } else {
            without = middle;
        }
    }
    (without, with)
}

#[test]
fn the_boundary_is_where_the_paper_has_it() {
    for ttl in [8, 16, 32, 64] {
        let (without, with) = boundary(ttl);
        let paper = N as f64 * B as f64 / ttl as f64;
        println!(
            "TTL {ttl}: the boundary is between {without} and {with} Mb/s, the paper's {paper}"
        );
        let low = without as f64 / paper - 1.0;
        let high = with as f64 / paper - 1.0;
        assert!(low.abs() < BAND && high.abs() < BAND, "TTL {ttl}: {low} to {high}");
    }
}

#[test]
fn a_sweep_finds_no_exception() {
    let mut outcomes = Vec::new();
    for percent in (50..=200).step_by(10).filter(|percent| percent % 100 != 0 || *percent > 100) {
        let mbps = N * B / 16 * percent / 100;
        outcomes.push((percent, deadlocks(16, mbps)));
    }
    assert!(
        outcomes.iter().all(|&(percent, deadlock)| deadlock == (percent > 100)),
        "{outcomes:?}"
    );
}

#[test]
fn check_prints_the_cycle_of_the_deadlock() {
    let run = run(16, 6_000);
    let cycle = cycle::of_run(&run).expect("a deadlock");
    assert_eq!(cycle, ["switch-0:1", "switch-1:1"]);
    assert_eq!(cycle::of_check(&run.plan), [Some(cycle.clone()), Some(cycle)]);
}
