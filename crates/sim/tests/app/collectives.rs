//! Collective operations on an ideal switch: times to the picosecond, who sends how much, and what they meet.

use rocelab_collective::{Algorithm, Collective, Kind, Options, Step};

use crate::support::{Run, around_a_switch, run};

/// A link of 100 Gb/s: 80 ps a byte, after which a frame takes 100 ns.
pub(crate) const BYTE: u64 = 80;
pub(crate) const DELAY: u64 = 100_000;
/// Ethernet, IPv4, UDP, BTH, ICRC, FCS; and what comes with the first and last packet of an RDMA WRITE with immediate.
const HEADERS: u64 = 14 + 20 + 8 + 12 + 4 + 4;
const RETH: u64 = 16;
const IMMDT: u64 = 4;
/// Payload of a full packet.
const MTU: u64 = 1_024;
const PREAMBLE: u64 = 8;
const GAP: u64 = 12;

/// Lengths of the frames of a message.
fn frames(bytes: u64) -> Vec<u64> {
    let packets = bytes.div_ceil(MTU).max(1);
    let frame = |number: u64| {
        let payload = (bytes - number * MTU).min(MTU);
        let first = if number == 0 { RETH } else { 0 };
        let last = if number + 1 == packets { IMMDT } else { 0 };
        (HEADERS + first + last + payload.next_multiple_of(4)).max(64)
    };
    (0..packets).map(frame).collect()
}

/// From the post of a message to the arrival of its last byte, over two links and a switch that stores frames
/// (AI-WORKLOADS 1.5): a flow shop of two machines of the same rate.
pub(crate) fn message(bytes: u64) -> u64 {
    let frames = frames(bytes);
    let on_wire: u64 = frames.iter().map(|frame| (PREAMBLE + frame + GAP) * BYTE).sum();
    let longest = frames.iter().max().map_or(0, |frame| (PREAMBLE + frame) * BYTE);
    on_wire - GAP * BYTE + longest + 2 * DELAY
}

/// How long an acknowledgement that is due at the same time holds a message up.
pub(crate) const ACKNOWLEDGEMENT: u64 = (PREAMBLE + 66 + GAP) * BYTE;

fn run_of(hosts: u32, keys: &str) -> Run {
    let last = hosts - 1;
    let text = format!(
        "[roce]\npath_mtu = 1024\nack_interval = 64\n[workload.collective]\nhosts = [\"host-0..host-{last}\"]\n{keys}"
    );
    run(&around_a_switch(hosts, &text))
}

/// Payload that all ranks send, by the schedule (bytes).
fn sent(collective: &Collective, algorithm: Algorithm) -> u64 {
    let schedule = algorithm.schedule(collective, &Options::default()).expect("fits");
    let (mut sent, mut step) = (0, Step::default());
    for rank in 0..collective.ranks() {
        for lane in 0..schedule.lanes() {
            for number in 0..schedule.steps(rank, lane) {
                schedule.step(rank, lane, number, &mut step);
                sent += step.sends.iter().map(|message| message.bytes).sum::<u64>();
            }
        }
    }
    sent
}

/// With equal blocks each step of a ring takes as long as a message. The acknowledgement of the message before it leaves first.
#[test]
fn a_ring_takes_its_steps() {
    for hosts in [2, 3, 4, 7, 16] {
        let block = 4_000;
        let bytes = u64::from(hosts) * block;
        let keys = format!(
            "kind = \"all-reduce\"\nalgorithm = \"ring\"\nbytes = \"{bytes}B\"\nreceiver_ready = false\n"
        );
        let run = run_of(hosts, &keys);
        run.assert_complete(hosts as usize);
        let steps = 2 * (u64::from(hosts) - 1);
        let expected = steps * message(block) + (steps - 1) * ACKNOWLEDGEMENT;
        assert_eq!(run.latencies(), vec![expected; hosts as usize], "{hosts}");
    }
}

/// Every kind and algorithm ends; hosts get what the schedule says, and no more.
#[test]
fn all_that_is_to_be_sent_is_sent() {
    for &algorithm in Algorithm::ALL {
        for &kind in algorithm.kinds() {
            for ranks in [2, 3, 4, 8] {
                check_bytes(kind, algorithm, ranks);
            }
        }
    }
}

fn check_bytes(kind: Kind, algorithm: Algorithm, ranks: u32) {
    let bytes = if kind == Kind::Barrier { 0 } else { 10_003 };
    let Ok(collective) = Collective::new(kind, ranks, bytes) else { return };
    let schedule = algorithm.schedule(&collective, &Options::default());
    if schedule.is_ok_and(|schedule| schedule.switches() == 0) {
        let keys = format!(
            "kind = \"{}\"\nalgorithm = \"{}\"\nbytes = \"{bytes}B\"\nelement = \"1B\"\n\
             receiver_ready = false\niterations = 2\n",
            kind.name(),
            algorithm.name(),
        );
        let run = run_of(ranks, &keys);
        run.assert_complete(2 * ranks as usize);
        let delivered = run.simulation.network().nic_counters().payload_delivered;
        assert_eq!(delivered, 2 * sent(&collective, algorithm), "{kind:?} {algorithm:?} {ranks}");
    }
}

/// Receivers say that they are ready, 64 bytes for each message; two queue pairs share messages or take turns.
#[test]
fn receivers_are_asked_and_queue_pairs_shared() {
    for (split, pieces) in [("round-robin", 1), ("all", 3)] {
        let keys = format!(
            "kind = \"all-reduce\"\nalgorithm = \"ring\"\nbytes = \"400KB\"\nchannels = 2\nchunk = \"16KB\"\n\
             slices = 2\nqueue_pairs = 3\nsplit = \"{split}\"\nwindow = 2\nhost_overhead = \"100ns\"\n\
             reduce_rate = \"1Tbps\"\niterations = 2\ncompute_time = \"1us\"\n"
        );
        let run = run_of(4, &keys);
        run.assert_complete(8);
        assert_eq!(run.plan.connections.len(), 4 * 2 * 3);
        // 200 KB a channel: 3 whole loops of 4 blocks and a rest, 6 messages of 2 slices in each at each rank.
        let messages = 2 * 4 * 2 * 4 * 6 * 2;
        let delivered = run.simulation.network().nic_counters().payload_delivered;
        assert_eq!(delivered, 2 * 2 * 3 * 400_000 + messages * 64);
        let sent = run.opcodes();
        let writes =
            sent["RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE"] + sent["RC_RDMA_WRITE_LAST_WITH_IMMEDIATE"];
        assert_eq!(writes, messages * (pieces + 1), "{split}");
    }
}

/// Each rank adds up what has arrived before it sends it on, and its processor needs time for each message.
#[test]
fn ranks_take_time() {
    let keys = "kind = \"all-reduce\"\nalgorithm = \"ring\"\nbytes = \"12KB\"\nreceiver_ready = false\n\
                host_overhead = \"300ns\"\nreduce_rate = \"8Gbps\"\n";
    let run = run_of(3, keys);
    run.assert_complete(3);
    // 4,000 bytes at 8 Gb/s: 4 us, twice; the acknowledgement has left by then.
    let overhead = 4 * 300_000;
    let expected = 4 * message(4_000) + overhead + 2 * 4_000_000;
    assert_eq!(run.latencies(), [expected; 3]);
}

/// Groups of four ranks have operations of their own.
#[test]
fn groups_do_not_wait_for_each_other() {
    let keys = "kind = \"all-gather\"\nalgorithm = \"ring\"\nbytes = \"16KB\"\ngroup = 4\nreceiver_ready = false\n";
    let run = run_of(8, keys);
    run.assert_complete(8);
    let expected = 3 * message(4_000) + 2 * ACKNOWLEDGEMENT;
    assert_eq!(run.latencies(), [expected; 8]);
    let between =
        run.plan.connections.iter().filter(|one| one.members[0] / 4 != one.members[1] / 4);
    assert_eq!(between.count(), 0);
}

/// LL sends a flag with every 4 bytes.
#[test]
fn protocols_send_more_than_data() {
    for (protocol, bytes) in [("simple", 4_000), ("ll", 8_000), ("ll128", 34 * 128)] {
        let keys = format!(
            "kind = \"broadcast\"\nalgorithm = \"ring\"\nbytes = \"4000B\"\nreceiver_ready = false\n\
             protocol = \"{protocol}\"\n"
        );
        let run = run_of(2, &keys);
        run.assert_complete(2);
        let delivered = run.simulation.network().nic_counters().payload_delivered;
        assert_eq!(delivered, bytes, "{protocol}");
    }
}

/// Small windows let every algorithm end, asked receivers or not; nothing waits in a circle.
#[test]
fn small_windows_hold_nobody_for_ever() {
    for &algorithm in Algorithm::ALL {
        for &kind in algorithm.kinds() {
            for (window, slices) in [(1, 1), (2, 2), (5, 5)] {
                check_window(kind, algorithm, window, slices);
            }
        }
    }
}

fn check_window(kind: Kind, algorithm: Algorithm, window: u32, slices: u32) {
    let (ranks, bytes) = (4, if kind == Kind::Barrier { 0 } else { 9_000 });
    let Ok(collective) = Collective::new(kind, ranks, bytes) else { return };
    let schedule = algorithm.schedule(&collective, &Options::default());
    if schedule.is_ok_and(|schedule| schedule.switches() == 0) {
        let keys = format!(
            "kind = \"{}\"\nalgorithm = \"{}\"\nbytes = \"{bytes}B\"\nelement = \"1B\"\nwindow = {window}\n\
             slices = {slices}\nchunk = \"500B\"\nchannels = 2\nqueue_pairs = 2\niterations = 3\n",
            kind.name(),
            algorithm.name(),
        );
        run_of(ranks, &keys).assert_complete(3 * ranks as usize);
    }
}
