//! A deadlock from flooding, and its cure: `scenarios/sigcomm16-flooding.toml`.
//!
//! Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.2.
//! `docs/experiments/flooding.md` had the expectation before the first run.

use rocelab_sim::Ending;
use rocelab_sim::network::{Record, RecordKind};
use rocelab_units::SimTime;

use super::{PS_PER_MS, cycle};
use crate::support::{Run, shipped};

type Overrides<'a> = &'a [(&'a str, &'a str)];

const CURE: (&str, &str) = ("layer2.drop_incomplete_arp", "true");

/// Nothing is missing from the tables.
const COMPLETE: (&str, &str) = ("layer2.entry", "[]");

/// Tables that learn and age, in scaled time; the servers die after 1 ms.
const TIMERS: [(&str, &str); 5] = [
    COMPLETE,
    ("layer2.learning.mac_ageing", "5ms"),
    ("layer2.learning.arp_timeout", "100ms"),
    ("failure[0].at", "1ms"),
    ("failure[1].at", "1ms"),
];

/// The switches of the circle, in the order in which they wait for each other.
const CIRCLE: [&str; 4] = ["leaf-0", "spine-0", "leaf-1", "spine-1"];

/// No frame is flooded before, with timers: the last frames of the dead are from 1 ms, and their MAC
/// entries live for 5 ms.
const FIRST_FLOOD: u64 = 6 * PS_PER_MS;

/// Packets that arrive, at the least, in 20 ms without a deadlock: what the live server gets in 2 ms.
const LEAST_DELIVERED: u64 = 9_000;

fn network(overrides: Overrides<'_>) -> Run {
    Run::new(shipped("sigcomm16-flooding.toml", overrides))
}

fn finished(overrides: Overrides<'_>) -> Run {
    let mut run = network(overrides);
    run.finish();
    let totals = run.totals();
    let began = run.simulation.network().deadlocks().first().map(|deadlock| deadlock.began);
    println!(
        "{overrides:?}: deadlock {began:?}, {} pauses, {} floods, {:?}, {:?}",
        totals.pauses, totals.layer2.floods, totals.drops, totals.layer2.mac_entries
    );
    run
}

fn assert_circle(run: &Run) {
    assert_eq!(run.ending, Some(Ending::Deadlocked));
    let cycle = cycle::of_run(run).expect("a deadlock");
    let switches: Vec<_> = cycle.iter().filter_map(|queue| queue.split(':').next()).collect();
    assert_eq!(switches, CIRCLE);
    assert_eq!(cycle::of_check(&run.plan)[1], Some(cycle));
}

fn assert_no_deadlock(run: &Run) {
    assert_eq!(run.ending, Some(Ending::Stopped));
    assert!(run.simulation.network().deadlocks().is_empty());
    assert_eq!(cycle::of_check(&run.plan), [None, None]);
    assert!(run.totals().packets_delivered > LEAST_DELIVERED, "{:?}", run.totals());
}

#[test]
fn flooding_closes_a_circle_that_routes_do_not() {
    let run = finished(&[]);
    assert!(run.totals().layer2.floods > 0);
    assert!(cycle::of_check(&run.plan)[0].is_some());
    assert_circle(&run);
}

#[test]
fn dead_servers_alone_are_no_harm() {
    let run = finished(&[COMPLETE]);
    assert_no_deadlock(&run);
    assert_eq!(run.totals().layer2.floods, 0);
    assert_eq!(run.totals().drops.keys().collect::<Vec<_>>(), [&"receiver_stopped"]);
}

#[test]
fn dropping_frames_with_an_incomplete_entry_is_the_cure() {
    let run = finished(&[CURE]);
    assert_no_deadlock(&run);
    assert_eq!(run.totals().drops.keys().collect::<Vec<_>>(), [&"incomplete_arp"]);
}

/// When the first copy came to where it is not wanted.
fn first_copy(run: &Run) -> Option<SimTime> {
    let is_copy = |record: &&Record| match record.kind {
        RecordKind::Drop(drop) => drop.cause.name() == "foreign_destination",
        _ => false,
    };
    run.records.iter().find(is_copy).map(|record| record.key.time)
}

#[test]
fn the_two_timers_alone_lead_to_the_deadlock() {
    let run = finished(&TIMERS);
    let first = first_copy(&run).expect("floods");
    println!("the first copy is dropped at {first}");
    assert!(first >= SimTime::from_ps(FIRST_FLOOD), "{first}");
    assert_circle(&run);
}

#[test]
fn the_cure_holds_where_timers_run() {
    let mut overrides = TIMERS.to_vec();
    overrides.push(CURE);
    let run = finished(&overrides);
    assert_no_deadlock(&run);
    assert_eq!(run.totals().layer2.floods, 0);
}

#[test]
fn arp_entries_that_end_first_flood_nothing() {
    let mut overrides = TIMERS.to_vec();
    overrides[2].1 = "4ms";
    let run = finished(&overrides);
    assert_no_deadlock(&run);
    assert_eq!(run.totals().layer2.floods, 0);
}
