//! Round trips over chains of switches, to the picosecond.
//!
//! A frame of L bytes, FCS included, takes (8 + L) x 8 / R + delay over each link, and the next one
//! starts (8 + L + 12) x 8 / R after it (IEEE 802.3: preamble ahead, interpacket gap behind).
//! Every SEND is acknowledged, and the acknowledgement leaves before the answer.

use std::fmt::Write;

use crate::support::{plan, run};

const HEADERS: u64 = 14 + 20 + 8 + 12; // Ethernet, IPv4, UDP, BTH
const RETH: u64 = 16;
const AETH: u64 = 4;
const IMMDT: u64 = 4;
const IETH: u64 = 4;
const ATOMIC_ETH: u64 = 28;
const ATOMIC_ACK_ETH: u64 = 8;

fn frame(extension: u64, payload: u64) -> u64 {
    (HEADERS + extension + payload.next_multiple_of(4) + 4 + 4).max(64)
}

/// A link of 100 Gb/s: 80 ps a byte.
const BYTE: u64 = 80;
const DELAY: u64 = 123_457;

/// When frames, ready at the times given and in this order, reach the end of `links` links.
fn carry(links: usize, frames: &[(u64, u64)]) -> Vec<u64> {
    let mut ready: Vec<u64> = frames.iter().map(|&(_, ready)| ready).collect();
    for _ in 0..links {
        let mut free = 0;
        for (&(len, _), ready) in frames.iter().zip(&mut ready) {
            let start = free.max(*ready);
            free = start + (8 + len + 12) * BYTE;
            *ready = start + (8 + len) * BYTE + DELAY;
        }
    }
    ready
}

/// The frames of a message: extension headers of the first and of the last packet.
fn message(bytes: u64, mtu: u64, first: u64, last: u64) -> Vec<u64> {
    let packets = bytes.div_ceil(mtu);
    let extension =
        |k: u64| (if k == 0 { first } else { 0 }) + (if k + 1 == packets { last } else { 0 });
    (0..packets).map(|k| frame(extension(k), (bytes - k * mtu).min(mtu))).collect()
}

/// When the answer is in, after a message each way; with an acknowledgement of what came before
/// on its way already if `later`.
fn there_and_back(links: usize, frames: &[u64], later: bool) -> u64 {
    let ack = frame(AETH, 0);
    let mut there: Vec<_> = frames.iter().map(|&len| (len, 0)).collect();
    if later {
        there.insert(0, (ack, 0));
    }
    let arrivals = carry(links, &there).split_off(usize::from(later));
    let last = *arrivals.last().expect("a packet");
    let acks = arrivals.iter().map(|&arrival| (ack, arrival));
    let back: Vec<_> = acks.chain(frames.iter().map(|&len| (len, last))).collect();
    *carry(links, &back).last().expect("a packet")
}

/// When what was asked for is in.
fn asked(links: usize, request: u64, responses: &[u64]) -> u64 {
    let arrival = carry(links, &[(request, 0)])[0];
    let responses: Vec<_> = responses.iter().map(|&len| (len, arrival)).collect();
    *carry(links, &responses).last().expect("a packet")
}

/// A chain of switches between two hosts.
fn chain(switches: usize) -> String {
    let name = format!("app-chain-{switches}.txt");
    let links = switches + 1;
    let ids: Vec<String> = (2..2 + switches).map(|id| id.to_string()).collect();
    let mut text = format!("{} {switches} {links}\n{}\n", switches + 2, ids.join(" "));
    for k in 0..links {
        let near = if k == 0 { 0 } else { k + 1 };
        let far = if k + 1 == links { 1 } else { k + 2 };
        writeln!(text, "{near} {far} 100000000000bps {DELAY}ps 0").expect("text grows");
    }
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let draft = folder.join(format!("{}-{name}", std::process::id()));
    std::fs::write(&draft, text).expect("the folder takes files");
    std::fs::rename(draft, folder.join(&name)).expect("the folder takes files");
    name
}

fn ping_pong(switches: usize, mtu: u64, verb: &str, bytes: u64) -> Vec<u64> {
    let file = chain(switches);
    let size = if verb.contains('-') && !verb.contains("with") {
        String::new() // Atomics have their own.
    } else {
        format!("bytes = \"{bytes}B\"\n")
    };
    let run = run(&format!(
        "[roce]\npath_mtu = {mtu}\n[congestion_control.none]\n[topology.file]\npath = \"{file}\"\n\
         [workload.ping-pong]\nclients = [\"host-0\"]\nservers = [\"host-1\"]\n\
         verb = \"{verb}\"\n{size}iterations = 5\n"
    ));
    run.assert_complete(5);
    run.latencies()
}

#[test]
fn messages_there_and_back() {
    let mut compared = 0;
    for switches in 1..=3 {
        for (verb, first, last) in [
            ("send", 0, 0),
            ("send-with-immediate", 0, IMMDT),
            ("send-with-invalidate", 0, IETH),
            ("write-with-immediate", RETH, IMMDT),
        ] {
            for (mtu, bytes) in
                [(1024, 1), (1024, 1024), (1024, 1025), (256, 5_000), (4096, 20_000)]
            {
                let frames = message(bytes, mtu, first, last);
                let latencies = ping_pong(switches, mtu, verb, bytes);
                let expected = |later| there_and_back(switches + 1, &frames, later);
                let context = format!("{verb} of {bytes} bytes over {switches} switches");
                assert_eq!(latencies[0], expected(false), "{context}");
                assert_eq!(latencies[1..], [expected(true); 4], "{context}");
                compared += latencies.len();
            }
        }
    }
    assert_eq!(compared, 3 * 4 * 5 * 5);
}

#[test]
fn reads_and_atomics() {
    for switches in 1..=3 {
        for (mtu, bytes) in [(1024_u64, 1_u64), (1024, 1024), (256, 5_000)] {
            let packets = bytes.div_ceil(mtu);
            let mut responses = message(bytes, mtu, AETH, AETH);
            if packets == 1 {
                responses = vec![frame(AETH, bytes)];
            }
            let expected = asked(switches + 1, frame(RETH, 0), &responses);
            assert_eq!(ping_pong(switches, mtu, "read", bytes), [expected; 5]);
        }
        for verb in ["compare-swap", "fetch-add"] {
            let expected =
                asked(switches + 1, frame(ATOMIC_ETH, 0), &[frame(AETH + ATOMIC_ACK_ETH, 0)]);
            assert_eq!(ping_pong(switches, 1024, verb, 8), [expected; 5]);
        }
    }
}

#[test]
fn work_and_thought_add_to_the_time() {
    let app = |times: &str| {
        let file = chain(1);
        let text = format!(
            "[congestion_control.none]\n[topology.file]\npath = \"{file}\"\n[workload.app]\n\
             clients = [\"host-0\"]\nservers = [\"host-1\"]\noperations = 3\n{times}"
        );
        let run = run(&text);
        run.assert_complete(3);
        run
    };
    let steps = |after: &str| {
        format!(
            "start = \"7us\"\nthink_time = \"5us\"\nsteps = [\n\
             {{ by = \"client\", verb = \"send\", bytes = \"64B\" }},\n\
             {{ by = \"server\", verb = \"send\", bytes = \"64B\"{after} }},\n]\n"
        )
    };
    let (at_once, later) = (app(&steps("")), app(&steps(", after = \"2us\"")));
    // While the client thinks, and the server works, the acknowledgement is long gone.
    let len = frame(0, 64);
    let one_way = 2 * ((8 + len) * BYTE + DELAY);
    assert_eq!(later.latencies(), [2 * one_way + 2_000_000; 3]);
    let behind_ack = (8 + frame(AETH, 0) + 12) * BYTE;
    assert_eq!(at_once.latencies(), [2 * one_way + behind_ack; 3]);
    for run in [&at_once, &later] {
        let mut expected = 7_000_000;
        for (time, end) in &run.ends {
            assert_eq!(end.start.ps(), expected);
            expected = time.ps() + 5_000_000;
        }
        assert_eq!(run.simulation.now(), run.ends[2].0);
    }
}

#[test]
fn a_connection_has_numbers_of_its_own_behind_those_of_flows() {
    let text = crate::support::around_a_switch(
        3,
        "[workload.flows]\nlist = [{ from = \"host-0\", to = \"host-1\", bytes = \"1KB\" }]\n\
         [workload.ping-pong]\nclients = [\"host-0\", \"host-2\"]\nservers = [\"host-1\"]\n\
         bytes = \"64B\"\n",
    );
    let plan = plan(&text);
    let qpns: Vec<_> = plan.connections.iter().map(|one| one.ends.map(|end| end.qpn)).collect();
    assert_eq!(qpns, [[0x12, 0x12], [0x11, 0x13]]);
    assert_eq!(plan.apps[0].name, "ping-pong[0]");
}
