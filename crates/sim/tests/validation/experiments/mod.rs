//! Experiments of papers, run as the scenarios that the project ships for them.
//!
//! The bands stand in the constants at the top of each file, with where they come from. They were
//! written down before the experiment ran for the first time, unless they say otherwise, and none has
//! been moved since. `docs/validation.md` has the first results, and what was outside.

mod alpha;
mod bar_chart;
mod cycle;
mod fixed_point;
mod flooding;
mod fluid;
mod livelock;
mod nic_storm;
mod pfc_threshold;
mod port_shares;
mod qcn;
mod queue;
mod reaction_point;
mod ring;
mod routing_loop;
mod shared_queue;
mod slow_receiver;
mod stability;
mod tcp_rdma;
mod timely;
mod unfairness;
mod victim_flow;

use rocelab_units::SimTime;

use crate::support::Run;

const PS_PER_MS: u64 = 1_000_000_000;

/// What each host sends between two times [ms], as a rate [Gb/s] of frames, preambles and gaps
/// not counted.
fn sending_rates(run: &mut Run, hosts: &[&str], from: u64, to: u64) -> Vec<f64> {
    run.run_until(SimTime::from_ps(from * PS_PER_MS));
    let started = run.simulation.progress().now;
    let before: Vec<u64> = hosts.iter().map(|host| run.sent(host, 0)).collect();
    run.run_until(SimTime::from_ps(to * PS_PER_MS));
    let seconds = run.simulation.progress().now.since(started).as_secs_f64();
    let bits = |(host, before): (&&str, u64)| (run.sent(host, 0) - before) as f64 * 8.0;
    hosts.iter().zip(before).map(|sent| bits(sent) / seconds / 1e9).collect()
}

/// Jain's index: 1 if all are equal, 1/n if one has everything.
fn jain(rates: &[f64]) -> f64 {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    sum * sum / (rates.len() as f64 * squares)
}

/// The middle one of an odd number of values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
