//! Programs: all-reduce in a ring, to the picosecond, in parts of a network that is not empty, and when it fails.
//!
//! A step in an empty network: the host sends the acknowledgement of the chunk that has arrived, then its own chunk,
//! which is stored by one switch. A frame of L bytes, FCS included, takes (8 + L) x 8 / R + delay over each link, and
//! the next one starts 12 bytes later.

use rocelab_sim::Ending;
use rocelab_transport::CompletionStatus;

use crate::support::{around_a_switch, plan, run};

/// A link of 100 Gb/s: 80 ps a byte.
const BYTE: u64 = 80;
const DELAY: u64 = 100_000;

/// Headers of a frame and its FCS: Ethernet, 802.1Q tag and GRH (v1), or Ethernet, IPv4 and UDP (v2); BTH, ICRC.
const V1: u64 = 14 + 4 + 40 + 12 + 4 + 4;
const V2: u64 = 14 + 20 + 8 + 12 + 4 + 4;
const RETH: u64 = 16;
const IMMDT: u64 = 4;
const AETH: u64 = 4;

/// From the post of a chunk in one packet to its arrival, over two links.
fn step(headers: u64, chunk: u64) -> u64 {
    let len = headers + RETH + IMMDT + chunk.next_multiple_of(4);
    2 * ((8 + len) * BYTE + DELAY)
}

/// How long the acknowledgement of the chunk before it holds it up.
fn acknowledgement(headers: u64) -> u64 {
    (8 + (headers + AETH).max(64) + 12) * BYTE
}

fn all_reduce(hosts: u32, keys: &str) -> String {
    let last = hosts - 1;
    around_a_switch(
        hosts,
        &format!("[workload.all-reduce]\nhosts = [\"host-0..host-{last}\"]\n{keys}"),
    )
}

#[test]
fn an_all_reduce_takes_its_steps() {
    for (version, headers) in [(1, V1), (2, V2)] {
        for hosts in [2, 3, 4, 7] {
            let chunk = 1_000;
            let bytes = u64::from(hosts) * chunk - 1;
            let keys = format!("bytes = \"{bytes}B\"\niterations = 3\ncompute_time = \"5us\"\n");
            let run = run(&format!("[roce]\nversion = {version}\n{}", all_reduce(hosts, &keys)));
            run.assert_complete(3 * hosts as usize);
            let steps = 2 * (u64::from(hosts) - 1);
            let expected = steps * step(headers, chunk) + (steps - 1) * acknowledgement(headers);
            let latencies = run.latencies();
            assert!(
                latencies.iter().all(|&one| one == expected),
                "v{version} {hosts} {latencies:?} {expected}"
            );
            let starts: Vec<_> = run.ends.iter().map(|(_, end)| end.start.ps()).collect();
            let each = expected + 5_000_000;
            let second = hosts as usize;
            assert_eq!([starts[0], starts[second], starts[2 * second]], [0, each, 2 * each]);
            let opcode = run.opcodes()["RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE"];
            assert_eq!(opcode, 3 * u64::from(hosts) * steps);
        }
    }
}

/// Without a pause between them, the acknowledgement of the last chunk is ahead of the next all-reduce.
#[test]
fn all_reduces_follow_each_other_at_once() {
    let run = run(&all_reduce(3, "bytes = \"3KB\"\niterations = 4\n"));
    run.assert_complete(12);
    let (first, later) = (run.latencies()[0], run.latencies()[3..].to_vec());
    assert_eq!(first, 4 * step(V2, 1_000) + 3 * acknowledgement(V2));
    assert_eq!(later, [first + acknowledgement(V2); 9]);
}

#[test]
fn rings_share_hosts_with_flows_and_applications() {
    let more = "[[workload.all-reduce]]\nname = \"other\"\nhosts = [\"host-3\", \"host-0\", \"host-2\"]\n\
                bytes = \"2MB\"\niterations = 2\nstart = \"10us\"\n\
                [workload.incast]\nsenders = 3\nbytes = \"200KB\"\n\
                [workload.ping-pong]\nclients = [\"host-1\"]\nservers = [\"host-2\"]\nbytes = \"64B\"\niterations = 50\n";
    let text = all_reduce(4, "bytes = \"1MB\"\niterations = 5\n");
    let text = text.replace("[workload.all-reduce]", "[[workload.all-reduce]]");
    let run = run(&format!("{text}{more}"));
    run.assert_complete(5 * 4 + 2 * 3 + 50);
    assert_eq!(run.plan.connections.len(), 4 + 3 + 1);
}

#[test]
fn lost_chunks_are_sent_again() {
    let faults =
        "[[faults]]\naction = \"drop\"\nfrom = \"host-1\"\nto = \"switch-0\"\nevery = 17\n";
    let text = all_reduce(4, "bytes = \"400KB\"\niterations = 4\n");
    let run = run(&format!("[roce]\nack_timeout = 8\n{text}{faults}"));
    run.assert_complete(16);
    assert!(run.simulation.network().nic_counters().retransmitted.packets > 0);
}

/// Who cannot send any longer fails; the others wait for ever, as they would without a timeout of their own.
#[test]
fn a_silent_host_fails() {
    let faults =
        "[[faults]]\naction = \"drop\"\nfrom = \"host-1\"\nto = \"switch-0\"\nafter = \"5us\"\n";
    let text = all_reduce(4, "bytes = \"400KB\"\niterations = 4\n");
    let run = run(&format!("[roce]\nack_timeout = 8\n{text}{faults}"));
    assert_eq!(run.ending, Ending::Stalled);
    let failed: Vec<_> = run.ends.iter().map(|(_, end)| end.status).collect();
    assert!(failed.contains(&CompletionStatus::RetryExceeded), "{failed:?}");
    assert!(!run.simulation.network().open_operations().is_empty());
}

#[test]
fn every_host_records_its_own() {
    let plan = plan(&all_reduce(2, "bytes = \"10B\"\n"));
    let ends = |k: usize| plan.connections[k].ends.map(|end| end.host);
    assert_eq!((ends(0), ends(1)), ([0, 1], [1, 0]));
    assert_eq!((plan.apps[0].name.as_str(), plan.apps[0].kinds[0].payload), ("all-reduce[0]", 10));
}
