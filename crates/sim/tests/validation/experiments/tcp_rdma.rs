//! TCP and RDMA side by side: `scenarios/sigcomm16-tcp-rdma.toml`, `docs/experiments/tcp-rdma.md`.
//!
//! Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016: messages over RDMA have a lower
//! 99th percentile than over TCP. The other bands are derived there.

use rocelab_sim::scenario::Transport;

use crate::support::{Run, shipped};

/// What TCP's median loses with the stack (ps).
const STACK: std::ops::RangeInclusive<u64> = 12_000_000..=30_000_000;

/// The most that TCP adds to the 99th percentile over RDMA (ps).
const BESIDE_TCP: u64 = 20_000_000;

const NO_STACK: &[(&str, &str)] =
    &[("tcp.send_delay", "0s"), ("tcp.receive_delay", "0s"), ("tcp.jitter", "0s")];

/// No flow of TCP arrives in so short a time.
const NO_TCP: &[(&str, &str)] =
    &[("workload.poisson[1].duration", "1ps"), ("workload.poisson[3].duration", "1ps")];

/// Median, 99th and 99.9th percentile of the messages' completion times (ps), by nearest rank.
fn percentiles(run: &Run, transport: Transport) -> [u64; 3] {
    let times = run.completion_times();
    let flows = run.plan.flows.iter().zip(times);
    let own = flows.filter(|(flow, _)| flow.bytes <= 512 && flow.transport == transport);
    let mut times: Vec<u64> = own.map(|(_, time)| time).collect();
    times.sort_unstable();
    let rank = |thousandths: usize| (times.len() * thousandths).div_ceil(1_000) - 1;
    let found = [500, 990, 999].map(|thousandths| times[rank(thousandths)]);
    println!("  {} messages over {}: {found:?} ps", times.len(), transport.name());
    found
}

fn run(name: &str, overrides: &[(&str, &str)]) -> Run {
    let mut run = Run::new(shipped("sigcomm16-tcp-rdma.toml", overrides));
    run.finish();
    let drops = run.totals().drops;
    println!("{name}: drops {drops:?}, {} pauses", run.totals().pauses);
    for reason in ["headroom_exceeded", "no_route"] {
        assert_eq!(drops.get(reason), None, "{name}");
    }
    run
}

#[test]
fn messages_are_faster_over_rdma_than_over_tcp() {
    let both = run("both", &[]);
    let (rdma, tcp) = (percentiles(&both, Transport::Rdma), percentiles(&both, Transport::Tcp));
    assert!(rdma.iter().zip(tcp).all(|(rdma, tcp)| *rdma < tcp), "{rdma:?} and {tcp:?}");

    let bare = percentiles(&run("without the stack", NO_STACK), Transport::Tcp);
    assert!(STACK.contains(&tcp[0].saturating_sub(bare[0])), "{tcp:?} and {bare:?}");

    let alone = percentiles(&run("without TCP", NO_TCP), Transport::Rdma);
    assert!(rdma[1] <= alone[1] + BESIDE_TCP, "{rdma:?} and {alone:?}");
    assert_eq!(lossless_drops(&both), 0);
}

/// Frames of priorities 3 and 4 that were dropped.
fn lossless_drops(run: &Run) -> usize {
    use rocelab_sim::network::RecordKind;
    let dropped = run.records.iter().filter(|record| match &record.kind {
        RecordKind::Drop(dropped) => [3, 4].contains(&dropped.priority),
        _ => false,
    });
    dropped.count()
}
