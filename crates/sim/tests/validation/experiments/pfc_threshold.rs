//! How low XOFF may be: `scenarios/pfc-threshold.toml`. The expectations stand in
//! `docs/experiments/pfc-threshold.md`, which was written before the first run.

use rocelab_sim::network::PauseEvent;
use rocelab_units::SimTime;

use super::PS_PER_MS;
use crate::support::{Run, shipped};

/// Thresholds of the sweep (KB).
const SWEEP: [u32; 14] = [3, 5, 8, 10, 12, 14, 16, 18, 20, 25, 30, 50, 100, 200];

/// How far throughput may be from the formula (share of the link).
const THROUGHPUT_BAND: f64 = 0.03;

/// How far the number of pauses may be from the formula.
const PAUSE_BAND: f64 = 0.1;

/// Where the cliff is (KB).
const CLIFF: std::ops::RangeInclusive<f64> = 15.5..=20.0;

/// Bytes of a full frame, and on the wire.
const FRAME: f64 = 1_102.0;
const ON_WIRE: f64 = 1_122.0;

/// Rates of frame bytes (bytes/us): of the sender, and of the link behind the switch.
const FILLS: f64 = 100e3 / 8.0 * FRAME / ON_WIRE;
const DRAINS: f64 = 40e3 / 8.0 * FRAME / ON_WIRE;

/// From a pause or resumption to its effect (us): two propagation delays, a PFC frame and a data
/// frame.
const EFFECT: f64 = 2.0 * 1.5 + (84.0 + ON_WIRE) * 8.0 / 100e3;

/// XON is so far below XOFF (bytes).
const XON_OFFSET: f64 = 2_496.0;

/// Share of the link, and pauses a millisecond.
fn expected(xoff: f64) -> (f64, f64) {
    let xon = xoff - XON_OFFSET;
    let left = (xon - DRAINS * EFFECT).max(0.0);
    let on = (xoff - left) / (FILLS - DRAINS) + EFFECT;
    let peak = xoff + (FILLS - DRAINS) * EFFECT;
    let off = (peak - xon) / DRAINS + EFFECT;
    ((FILLS * on / (on + off) / DRAINS).min(1.0), 1e3 / (on + off))
}

/// The same, of a run: from 1 ms to its end.
fn measured(xoff: u32) -> (f64, f64) {
    let xoff = format!("{xoff}KB");
    let mut run = Run::new(shipped("pfc-threshold.toml", &[("switch.xoff", &*xoff)]));
    let from = SimTime::from_ps(PS_PER_MS);
    run.run_until(from);
    let before = run.sent("switch-0", 1);
    run.finish();
    assert_eq!(run.totals().frames_dropped, 0);
    let bytes = run.sent("switch-0", 1) - before;
    let pauses = run.pauses();
    let pauses = pauses
        .iter()
        .filter(|(time, change)| *time > from && matches!(change.event, PauseEvent::Pause));
    (bytes as f64 / (DRAINS * 9e3), pauses.count() as f64 / 9.0)
}

#[test]
fn throughput_falls_off_where_the_queue_runs_dry() {
    let mut rows = Vec::new();
    println!("| XOFF | throughput | expected | pauses/ms | expected |\n|---|---|---|---|---|");
    for xoff in SWEEP {
        let (share, pauses) = measured(xoff);
        let (due_share, due_pauses) = expected(f64::from(xoff) * 1e3);
        println!(
            "| {xoff} KB | {:.1} % | {:.1} % | {pauses:.1} | {due_pauses:.1} |",
            share * 100.0,
            due_share * 100.0
        );
        rows.push((xoff, share, pauses, due_share, due_pauses));
    }
    for &(xoff, share, pauses, due_share, due_pauses) in &rows {
        assert!((share - due_share).abs() < THROUGHPUT_BAND, "{xoff} KB: {share}");
        assert!((pauses / due_pauses - 1.0).abs() < PAUSE_BAND, "{xoff} KB: {pauses}");
        assert!(share > FILLS / (FILLS + DRAINS) - THROUGHPUT_BAND, "{xoff} KB: {share}");
    }
    let cliff = rows.iter().find(|row| row.1 >= 0.99).expect("some threshold suffices").0;
    assert!(CLIFF.contains(&f64::from(cliff)), "{cliff} KB");
    let above: Vec<_> = rows.iter().filter(|row| f64::from(row.0) > *CLIFF.end()).collect();
    for row in &above {
        assert!((row.1 / above[0].1 - 1.0).abs() < 0.01, "{row:?}");
        assert!((row.2 / above[0].2 - 1.0).abs() < 0.05, "{row:?}");
    }
}
