//! TIMELY has no fixed point, patched TIMELY has one: `scenarios/timely-no-fixed-point.toml` and
//! `scenarios/timely-patched.toml`.
//!
//! Zhu et al., ECN or Delay, CoNEXT 2016, on TIMELY's and patched TIMELY's fixed points, read in the
//! text that its authors have published.

use rocelab_units::SimTime;

use super::{PS_PER_MS, jain, queue, sending_rates};
use crate::support::{Run, shipped};

/// By how much the second flow starts later than the first.
const OFFSETS: [&str; 5] = ["0us", "50us", "1ms", "3ms", "10ms"];

/// TIMELY: the first flow's shares differ by at least this much over the offsets. The paper:
/// starting conditions decide, without a bound; its figures are qualitative, so this is their
/// sign with a margin.
const SHARES_DIFFER: f64 = 0.05;

/// Rates are equal if they differ by at most this share of a fair share. The paper's definition of
/// convergence, for both algorithms.
const CONVERGED: f64 = 0.1;

/// How far patched TIMELY's queue may be from its fixed point. The paper's is of a fluid model,
/// which has no packets: 10 %, as is asked of DCQCN.
const QUEUE_BAND: f64 = 0.1;

const HOSTS: [&str; 2] = ["host-1", "host-2"];

/// Rates [Gb/s] of both flows between two times [ms].
fn rates(scenario: &str, offset: &str, from: u64, to: u64) -> Vec<f64> {
    let mut run = Run::new(shipped(scenario, &[("workload.flows.list[1].start", offset)]));
    sending_rates(&mut run, &HOSTS, from, to)
}

/// How far two rates are apart, as a share of the fair one.
fn apart(rates: &[f64]) -> f64 {
    let fair = (rates[0] + rates[1]) / 2.0;
    (rates[0] - rates[1]).abs() / fair
}

#[test]
fn timely_ends_where_it_began() {
    let mut shares = Vec::new();
    let mut unequal = 0;
    for offset in OFFSETS {
        let rates = rates("timely-no-fixed-point.toml", offset, 120, 149);
        let share = rates[0] / (rates[0] + rates[1]);
        println!(
            "TIMELY, {offset}: {rates:.3?} Gb/s, first flow's share {share:.3}, Jain's index {:.4}",
            jain(&rates)
        );
        unequal += u32::from(apart(&rates) > CONVERGED);
        shares.push(share);
    }
    shares.sort_by(f64::total_cmp);
    assert!(shares[shares.len() - 1] - shares[0] > SHARES_DIFFER, "{shares:?}");
    assert!(unequal > 0, "some start ends unequal after 100 ms: {shares:?}");
}

/// The paper: rates come together as exp(-delta / (2 segment) t) once the queue has settled, from
/// the greatest difference within 76.7 ms (segments of 16,000 bytes; 78.5 ms with 16 KiB).
#[test]
fn patched_timely_comes_to_equal_shares() {
    for offset in OFFSETS {
        let rates = rates("timely-patched.toml", offset, 120, 149);
        println!(
            "patched TIMELY, {offset}: {rates:.3?} Gb/s, {:.3} apart, Jain's index {:.4}",
            apart(&rates),
            jain(&rates)
        );
        assert!(apart(&rates) < CONVERGED, "{offset}: {rates:?}");
    }
}

/// The paper: `q* = N delta q' / (beta C) + q'` of the queue, which is of the round-trip time here,
/// as `t_ref` is one: 50 us (1 + N 10 Mb/s / (0.008 x 10 Gb/s)) = 62.5, 75 and 112.5 us.
///
/// Of which the idle network takes two links each way: 4 x 1 us of delay, two data frames of 1086 + 8
/// bytes and two acknowledgements of 64 + 8 (they have 62, padded), at 0.8 ns a byte: 4 us +
/// 1.7504 us + 0.1152 us. The rest is the queue, 1086 bytes for each 1106 byte times.
#[test]
fn patched_timelys_queue_grows_as_computed() {
    for (flows, rtt) in [(2u32, 62.5), (4, 75.0), (10, 112.5)] {
        let expected = (rtt - 4.0 - 1.7504 - 0.1152) * 1_250.0 * 1086.0 / 1106.0;
        let list: Vec<String> = (1..=flows)
            .map(|host| format!("{{ from = \"host-{host}\", to = \"host-0\", bytes = \"1GB\" }}"))
            .collect();
        let (list, hosts) = (format!("[{}]", list.join(", ")), (flows + 1).to_string());
        let overrides =
            [("workload.flows.list", &*list), ("topology.single-switch.hosts", &*hosts)];
        let mut run = Run::new(shipped("timely-patched.toml", &overrides));
        run.run_until(SimTime::from_ps(149 * PS_PER_MS));
        let samples = queue::samples(&run, 100, 149);
        println!(
            "patched TIMELY, N = {flows}: queue {:.1} KB, computed {:.1} KB, variation {:.3}",
            samples.mean() / 1e3,
            expected / 1e3,
            samples.variation()
        );
        assert!((samples.mean() / expected - 1.0).abs() < QUEUE_BAND, "N = {flows}");
    }
}
