//! A ring of four switches with two flows and with three: `scenarios/hotnets16-ring.toml`.
//!
//! Hu et al., Deadlocks in Datacenter Networks, HotNets 2016, from memory: only signs are tested.
//! `docs/experiments/ring.md` had the bands before the first run.

use rocelab_sim::Ending;

use super::{cycle, sending_rates};
use crate::support::{Run, shipped};

/// Two flows: what each gets of a link that both share [Gb/s], and how far off it may be.
const SHARE: f64 = 20.0;
const SHARE_BAND: f64 = 0.1;

/// Flow 3 limited: the paper's cure must work for a rate of at least this [Mb/s].
const LEAST_CURE: u64 = 1_000;

/// The queues of the cycle: from A to B, B to C, C to D, D to A.
const CYCLE: [&str; 4] = ["switch-6:1", "switch-7:3", "switch-8:3", "switch-9:2"];

const THIRD_START: &str = "workload.flows[1].list[0].start";
const THIRD_RATE: &str = "workload.flows[1].congestion_control.none.rate";

fn network(overrides: &[(&str, &str)]) -> Run {
    Run::new(shipped("hotnets16-ring.toml", overrides))
}

fn finished(overrides: &[(&str, &str)]) -> Run {
    let mut run = network(overrides);
    run.finish();
    let totals = run.totals();
    let began = run.simulation.network().deadlocks().first().map(|deadlock| deadlock.began);
    println!("{overrides:?}: deadlock {began:?}, {} pauses", totals.pauses);
    assert_eq!(totals.frames_dropped, 0);
    run
}

#[test]
fn two_flows_close_the_circle_and_do_not_deadlock() {
    let mut run = network(&[(THIRD_START, "1s")]);
    let rates = sending_rates(&mut run, &["host-0", "host-2"], 10, 40);
    println!("two flows: {rates:.2?} Gb/s");
    run.finish();
    assert_eq!(run.ending, Some(Ending::Stopped));
    assert!(run.simulation.network().deadlocks().is_empty());
    assert!(run.totals().pauses > 0);
    assert_eq!(cycle::of_check(&run.plan)[1].as_deref(), Some(&CYCLE.map(String::from)[..]));
    assert!(rates.iter().all(|rate| (rate / SHARE - 1.0).abs() < SHARE_BAND), "{rates:?}");
}

#[test]
fn a_third_flow_brings_the_deadlock_that_check_printed() {
    let run = finished(&[]);
    assert_eq!(run.ending, Some(Ending::Deadlocked));
    let cycle = cycle::of_run(&run).expect("a deadlock");
    assert_eq!(cycle, CYCLE);
    assert_eq!(cycle::of_check(&run.plan)[1], Some(cycle));
}

#[test]
fn limiting_the_third_flow_avoids_it() {
    let mut highest = 0;
    for mbps in [500, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 8_000, 10_000, 15_000, 20_000] {
        let rate = format!("{mbps}Mbps");
        if finished(&[(THIRD_RATE, &rate)]).ending == Some(Ending::Deadlocked) {
            break;
        }
        highest = mbps;
    }
    println!("flow 3: no deadlock up to {highest} Mb/s");
    assert!(highest >= LEAST_CURE);
}
