//! Who gets how much of a bottleneck: PFC alone is unfair, DCQCN is fair.

use rocelab_units::SimTime;

use crate::support::{Run, shipped};

const MS: u64 = 1_000_000_000;

/// Bytes that each host sends between two times [ms], and Jain's index of them.
fn sent_between(run: &mut Run, hosts: &[&str], from: u64, to: u64) -> (Vec<f64>, f64) {
    run.run_until(SimTime::from_ps(from * MS));
    let before: Vec<u64> = hosts.iter().map(|host| run.sent(host, 0)).collect();
    run.run_until(SimTime::from_ps(to * MS));
    let sent: Vec<f64> = hosts
        .iter()
        .zip(before)
        .map(|(host, before)| (run.sent(host, 0) - before) as f64)
        .collect();
    let sum: f64 = sent.iter().sum();
    let squares: f64 = sent.iter().map(|bytes| bytes * bytes).sum();
    let index = sum * sum / (sent.len() as f64 * squares);
    (sent, index)
}

/// Jain's index of the two flows between 90 and 100 ms, and their rates [Gb/s].
fn two_flows(overrides: &[(&str, &str)]) -> (f64, Vec<f64>) {
    let mut all = vec![("stop", "101ms")];
    all.extend(overrides);
    let mut run = Run::new(shipped("dcqcn-two-flows.toml", &all));
    let starts: Vec<u64> = run.plan.flows.iter().map(|flow| flow.start.ps()).collect();
    assert_eq!(starts, [0, 5 * MS], "5 ms apart");
    let (sent, index) = sent_between(&mut run, &["host-1", "host-2"], 90, 100);
    let counters = run.simulation.network().nic_counters();
    assert_eq!(counters.retransmitted.packets, 0, "what was sent was delivered");
    (index, sent.iter().map(|bytes| bytes * 8.0 / 10e-3 / 1e9).collect())
}

#[test]
fn dcqcn_brings_two_flows_together() {
    let (index, rates) = two_flows(&[]);
    println!("DCQCN: Jain's index {index:.6} in 90 to 100 ms; {rates:.2?} Gb/s");
    assert!(index > 0.99, "{index}");
    assert!(rates.iter().sum::<f64>() > 0.9 * 100.0, "the link is used: {rates:?}");
}

/// Marks are thrown with dice, some fifty for each flow in 10 ms, so the index of one run is a draw
/// too. The shipped scenario must not owe its index to its seed.
#[test]
fn dcqcn_is_fair_whatever_the_dice_say() {
    let mut indices: Vec<f64> =
        (1..=9).map(|seed: u32| two_flows(&[("seed", &seed.to_string())]).0).collect();
    indices.sort_by(f64::total_cmp);
    println!("DCQCN: Jain's index of nine seeds {indices:.4?}");
    assert!(indices[0] > 0.98 && indices[4] > 0.995, "{indices:?}");
}

#[test]
fn pfc_alone_favours_the_sender_next_to_the_bottleneck() {
    let mut run = Run::new(shipped("parking-lot.toml", &[]));
    let (sent, index) = sent_between(&mut run, &["host-0", "host-1", "host-2"], 1, 4);
    let sum: f64 = sent.iter().sum();
    let shares: Vec<f64> = sent.iter().map(|bytes| bytes / sum).collect();
    println!("PFC alone: shares {shares:.4?}, Jain's index {index:.4}");
    assert!(run.totals().pauses > 0);
    for (share, expected) in shares.iter().zip([0.25, 0.25, 0.5]) {
        assert!((share / expected - 1.0).abs() < 0.05, "{shares:?}");
    }
}

#[test]
fn dcqcn_heals_the_parking_lot() {
    let overrides = [("congestion_control.dcqcn", "{}"), ("stop", "61ms")];
    let mut run = Run::new(shipped("parking-lot.toml", &overrides));
    let hosts = ["host-0", "host-1", "host-2"];
    let (sent, index) = sent_between(&mut run, &hosts, 3, 6);
    println!("DCQCN in the parking lot: {sent:.0?} bytes in 3 ms, Jain's index {index:.4}");
    let pfc_alone = (1.0f64).powi(2) / (3.0 * (0.0625 + 0.0625 + 0.25));
    assert!(index > pfc_alone, "fairer than PFC alone: {index}");
}
