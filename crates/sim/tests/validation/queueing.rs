//! Queueing delay as switches tell it, and algorithms that follow it.

use std::path::PathBuf;

use rocelab_capture::{CaptureReader, Direction};
use rocelab_sim::ideal_fct;
use rocelab_wire::{Frame, Opcode, TelemetryHeader, TelemetryKind};

use crate::support::{Run, plan, run};

/// Payload of a packet, and packets of a message (bytes).
const PAYLOAD: u64 = 1_024;
const PACKETS: usize = 64;
/// A middle packet: Ethernet, IPv4, UDP, BTH, telemetry, payload, ICRC and FCS (bytes).
const FRAME: u64 = 14 + 20 + 8 + 12 + 8 + PAYLOAD + 4 + 4;
/// Preamble before a frame and gap after it (byte times).
const PREAMBLE: u64 = 8;
const GAP: u64 = 12;
/// Picoseconds that a byte takes at 40 and at 25 Gb/s.
const IN: u64 = 200;
const OUT: u64 = 320;

/// What the packets of a message wait that comes at 40 Gb/s and leaves at 25 Gb/s, by a model of the
/// queue (ns): what has arrived in full as a frame begins to leave, and is behind it.
fn waits() -> Vec<u32> {
    // The first has a RETH.
    let len: Vec<u64> =
        (0..PACKETS).map(|place| if place == 0 { FRAME + 16 } else { FRAME }).collect();
    let on_link = |len: &u64| PREAMBLE + len + GAP;
    let arrivals: Vec<u64> = (0..PACKETS)
        .map(|place| (len[..=place].iter().map(on_link).sum::<u64>() - GAP) * IN)
        .collect();
    let mut free = 0;
    (0..PACKETS)
        .map(|place| {
            let start = free.max(arrivals[place]);
            free = start + on_link(&len[place]) * OUT;
            let behind = (place + 1..PACKETS).filter(|&other| arrivals[other] <= start);
            assert!(behind.clone().all(|other| arrivals[other] < start), "no ties");
            let bytes: u64 = behind.map(|other| len[other]).sum();
            u32::try_from(bytes * OUT / 1_000).unwrap()
        })
        .collect()
}

#[test]
fn packets_collect_what_the_model_says_and_acknowledgements_bring_it_back() {
    let text = "[roce]\nack_interval = 1\n\
        [congestion_control.timely]\ndelay = \"queueing\"\nt_low = \"1ms\"\nt_high = \"2ms\"\n\
        [topology.dumbbell]\nleft = 1\nright = 1\n\
        host_link = { rate = \"40Gbps\", delay = \"1us\" }\n\
        bottleneck = { rate = \"25Gbps\", delay = \"1us\" }\n\
        [workload.flows]\nlist = [{ from = \"host-0\", to = \"host-1\", bytes = \"65536B\" }]\n\
        [capture]\nports = [\"host-0\", \"host-1\"]\n";
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("queueing");
    std::fs::create_dir_all(&folder).unwrap();
    let mut run = Run::new(plan(text));
    run.simulation.start_capture(&folder).unwrap();
    run.finish();
    run.assert_complete("queueing");
    run.simulation.finish_capture().unwrap();
    let mut reader = CaptureReader::open(folder.join("capture.pcapng")).unwrap();
    let (mut data, mut acks) = (Vec::new(), Vec::new());
    while let Some(frame) = reader.next_frame() {
        let frame = frame.unwrap();
        let parsed = Frame::parse(frame.bytes).unwrap();
        let packet = parsed.roce().unwrap();
        assert!(parsed.icrc_ok());
        assert!(TelemetryKind::Queueing.is_of_opcode(packet.bth.opcode));
        let Some(TelemetryHeader::Queueing(sum)) = packet.extensions.telemetry else {
            panic!("{parsed}");
        };
        if frame.direction != Some(Direction::Inbound) {
            continue;
        }
        match packet.bth.operation_with_telemetry() {
            Some(Opcode::RcAcknowledge) => acks.push(sum),
            _ => data.push(sum),
        }
    }
    let expected = waits();
    assert!(expected.iter().any(|wait| *wait > 6_000), "{expected:?}");
    assert_eq!(data, expected);
    assert_eq!(acks, expected);
}

/// A flow whose acknowledgements meet a queue on their way back; the idle path has a round trip of 6.2 us.
fn with_reverse_traffic(delay: &str, version: u32) -> (u64, u64) {
    let run = run(&format!(
        "[roce]\nversion = {version}\n[congestion_control.timely]\n{delay}\n\
         t_low = \"8us\"\nt_high = \"12us\"\n\
         [topology.dumbbell]\nleft = 4\nright = 4\n\
         host_link = {{ rate = \"100Gbps\", delay = \"1us\" }}\n\
         bottleneck = {{ rate = \"200Gbps\", delay = \"1us\" }}\n\
         [[workload.flows]]\n\
         list = [{{ from = \"host-0\", to = \"host-4\", bytes = \"12MB\" }}]\n\
         [[workload.flows]]\ncongestion_control = {{ none = {{}} }}\n\
         list = [{{ from = \"host-5\", to = \"host-1\", bytes = \"3MB\" }},\n\
         {{ from = \"host-6\", to = \"host-2\", bytes = \"3MB\" }},\n\
         {{ from = \"host-7\", to = \"host-3\", bytes = \"3MB\" }}]\n"
    ));
    (run.completion_times()[0], ideal_fct(&run.plan, &run.plan.flows[0]).ps())
}

#[test]
fn a_queue_on_the_way_back_does_not_count() {
    for version in [1, 2] {
        // Data goes at the line rate, which is half of the bottleneck's. It may wait there for
        // acknowledgements of the three other flows, one each, and never catches that up: the last link is
        // always busy. They are of 102 bytes at the most, v1's with preamble and gap, at 200 Gb/s.
        let acknowledgements = 3 * 102 * 40;
        let (took, ideal) = with_reverse_traffic("delay = \"queueing\"", version);
        assert!(
            (ideal..=ideal + acknowledgements).contains(&took),
            "v{version}: {took} of {ideal}"
        );
        // The round-trip time rises by the queue on the way back, which costs the flow its rate.
        let (took, ideal) = with_reverse_traffic("", version);
        assert!(took > ideal + ideal / 20, "v{version}: {took} of {ideal}");
    }
}

#[test]
fn all_that_follow_a_delay_run_with_it() {
    for algorithm in ["timely", "patched-timely", "swift"] {
        for workload in [
            "[workload.incast]\nsenders = 4\nbytes = \"500KB\"\n",
            "[workload.incast]\nsenders = 4\nbytes = \"500KB\"\nverb = \"read\"\n",
        ] {
            let run = run(&format!(
                "[congestion_control.{algorithm}]\ndelay = \"queueing\"\n\
                 [topology.single-switch]\nhosts = 5\n\
                 link = {{ rate = \"100Gbps\", delay = \"1us\" }}\n{workload}"
            ));
            run.assert_complete(algorithm);
        }
    }
}
