//! Telemetry on its way: lengths, what captures show, and what a busy port counts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rocelab_capture::{CaptureReader, Direction};
use rocelab_results::{Overwrite, Results, ResultsDir, RunInfo};
use rocelab_sim::ideal_fct;
use rocelab_wire::{Ecn, Frame, IntHop, Network, Opcode, TelemetryHeader, TelemetryKind};

use crate::support::{Run, plan, run};

/// Picoseconds that a byte takes at 100 Gb/s.
const BYTE: u64 = 80;

/// What a captured frame carries, with the direction in which the port saw it.
fn captured(text: &str, name: &str) -> Vec<(Direction, Option<TelemetryHeader>, u8)> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let mut run = Run::new(plan(text));
    run.simulation.start_capture(&folder).unwrap();
    run.finish();
    run.assert_complete(name);
    run.simulation.finish_capture().unwrap();
    let mut reader = CaptureReader::open(folder.join("capture.pcapng")).unwrap();
    let mut frames = Vec::new();
    while let Some(frame) = reader.next_frame() {
        let frame = frame.unwrap();
        let parsed = Frame::parse(frame.bytes).unwrap();
        let Some(packet) = parsed.roce() else { continue };
        assert!(parsed.icrc_ok());
        frames.push((frame.direction.unwrap(), packet.extensions.telemetry, packet.bth.opcode));
    }
    frames
}

#[test]
fn a_message_takes_the_time_of_its_longer_frames() {
    for (name, header) in [("hpcc", 44), ("hpcc-pint", 4)] {
        for version in [1, 2] {
            let run = run(&format!(
                "[roce]\nversion = {version}\n[congestion_control.{name}]\n\
                 [topology.single-switch]\nhosts = 2\n\
                 link = {{ rate = \"100Gbps\", delay = \"1us\" }}\n\
                 [workload.flows]\nlist = [{{ from = \"host-0\", to = \"host-1\", bytes = \"1024B\" }}]\n"
            ));
            // v1: Ethernet, tag, GRH; v2: Ethernet, IPv4, UDP. Then BTH, ICRC and FCS.
            let fixed = if version == 1 { 14 + 4 + 40 + 20 } else { 14 + 20 + 8 + 20 };
            let (data, ack) = (fixed + header + 16 + 1_024, fixed + header + 4);
            let expected = 2 * ((8 + data) + (8 + ack)) * BYTE + 4 * 1_000_000;
            assert_eq!(run.completion_times(), [expected], "{name}, v{version}");
            assert_eq!(ideal_fct(&run.plan, &run.plan.flows[0]).ps(), expected);
        }
    }
}

#[test]
fn captures_show_what_a_packet_has_collected_so_far() {
    let text = |name: &str, port: &str| {
        format!(
            "[congestion_control.{name}]\n[topology.leaf-spine]\nleaves = 2\nspines = 1\n\
             hosts_per_leaf = 1\nhost_link = {{ rate = \"100Gbps\", delay = \"1us\" }}\n\
             fabric_link = {{ rate = \"400Gbps\", delay = \"1us\" }}\n\
             [workload.flows]\nlist = [{{ from = \"host-0\", to = \"host-1\", bytes = \"20KB\" }}]\n\
             [capture]\nports = [\"{port}\"]\n"
        )
    };
    // Data leaves host-0 empty, and has passed two switches at the spine's port to the second leaf;
    // all acknowledgements carry three records.
    for (port, records) in [("host-0", 0), ("spine-0:1", 2), ("host-1", 3)] {
        let frames = captured(&text("hpcc", port), &format!("int-{}", port.replace(':', "-")));
        assert_eq!(frames.len(), 40);
        for (_, telemetry, opcode) in frames {
            let plain = TelemetryKind::operation(opcode).unwrap();
            assert!(TelemetryKind::Int.is_of_opcode(opcode));
            let Some(TelemetryHeader::Int(header)) = telemetry else { panic!("{telemetry:?}") };
            let rates: Vec<_> = header.hops().iter().map(IntHop::rate_bps).collect();
            let all = [400, 400, 100].map(|gbps: u64| gbps * 1_000_000_000);
            let expected = if plain.is_response() { 3 } else { records };
            assert_eq!(rates, all[..expected]);
        }
    }
    for (_, telemetry, opcode) in captured(&text("hpcc-pint", "host-1"), "pint") {
        let Some(TelemetryHeader::Pint(value)) = telemetry else { panic!("{telemetry:?}") };
        assert_eq!(opcode & 0xe0, 0xe0);
        // At most a utilization of about 1: 1.05^129 / 512 is 1.06.
        assert!(value <= 129, "{value}");
    }
}

#[test]
fn a_port_that_is_always_busy_counts_at_its_rate() {
    let text = "[switch]\nalpha = \"8\"\n[topology.single-switch]\nhosts = 3\n\
        link = { rate = \"100Gbps\", delay = \"1us\" }\n\
        [[workload.flows]]\ncongestion_control = { none = {} }\n\
        list = [{ from = \"host-1\", to = \"host-0\", bytes = \"40MB\" }]\n\
        [[workload.flows]]\ncongestion_control = { hpcc = { int_multiplier = 1 } }\n\
        list = [{ from = \"host-2\", to = \"host-0\", bytes = \"200KB\", start = \"100us\" }]\n\
        [capture]\nports = [\"host-0\"]\n";
    let frames = captured(text, "busy");
    let hops: Vec<_> = frames
        .iter()
        .filter(|(direction, ..)| *direction == Direction::Inbound)
        .filter_map(|(_, telemetry, _)| match telemetry {
            Some(TelemetryHeader::Int(header)) => Some(header.hops()[0]),
            _ => None,
        })
        .collect();
    assert_eq!(hops.len(), 196);
    let (first, last) = (hops[0], hops[hops.len() - 1]);
    let bits = (last.bytes_since(&first, 1) * 8) as f64;
    let rate = bits / last.time_since(&first) as f64;
    // Up to 128 bytes and 1 ns at either end.
    let slack = 100.0 * (1_024.0 / bits + 1.0 / last.time_since(&first) as f64);
    assert!((rate - 100.0).abs() <= slack, "{rate} Gb/s, +- {slack}");
}

/// Two flows of DCQCN and two of TIMELY.
const MIXED: &str = "[congestion_control.dcqcn]\n[topology.single-switch]\nhosts = 5\n\
    link = { rate = \"100Gbps\", delay = \"1us\" }\n\
    [[workload.flows]]\nlist = [{ from = \"host-1\", to = \"host-0\", bytes = \"2MB\" }, \
    { from = \"host-2\", to = \"host-0\", bytes = \"2MB\" }]\n\
    [[workload.flows]]\ncongestion_control = { timely = {} }\n\
    list = [{ from = \"host-3\", to = \"host-0\", bytes = \"2MB\" }, \
    { from = \"host-4\", to = \"host-0\", bytes = \"2MB\" }]\n";

#[test]
fn only_those_who_need_marks_are_marked_and_notified() {
    let text = format!("{MIXED}[capture]\nports = [\"host-0\"]\n");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("mixed");
    std::fs::create_dir_all(&folder).unwrap();
    let mut run = Run::new(plan(&text));
    run.simulation.start_capture(&folder).unwrap();
    run.finish();
    run.assert_complete("mixed");
    run.simulation.finish_capture().unwrap();
    let mut reader = CaptureReader::open(folder.join("capture.pcapng")).unwrap();
    let mut codepoints = BTreeMap::<_, BTreeSet<Ecn>>::new();
    let mut notified = BTreeSet::new();
    while let Some(frame) = reader.next_frame() {
        let frame = frame.unwrap();
        let parsed = Frame::parse(frame.bytes).unwrap();
        let Some(packet) = parsed.roce() else { continue };
        let Network::V2Ipv4 { ip, .. } = packet.network else { panic!("{parsed}") };
        if packet.bth.opcode() == Some(Opcode::Cnp) {
            notified.insert(ip.destination);
        } else if frame.direction == Some(Direction::Inbound) {
            codepoints.entry(ip.source).or_default().insert(ip.ecn);
        }
    }
    let seen: Vec<_> = codepoints.values().cloned().collect();
    let (marked, unmarked) = (BTreeSet::from([Ecn::Ect0, Ecn::Ce]), BTreeSet::from([Ecn::NotEct]));
    // Addresses ascend with the hosts.
    assert_eq!(seen, [marked.clone(), marked, unmarked.clone(), unmarked]);
    let of_dcqcn: BTreeSet<_> = codepoints.keys().take(2).copied().collect();
    assert_eq!(notified, of_dcqcn);
}

#[test]
fn results_say_which_flow_had_which_algorithm() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("mixed-results");
    _ = std::fs::remove_dir_all(&folder);
    let directory = ResultsDir::create(&folder, Overwrite::Refuse).unwrap();
    let plan = std::sync::Arc::new(plan(MIXED));
    let outcome = rocelab_sim::run(
        plan,
        (&directory).into(),
        rocelab_sim::Execution::SEQUENTIAL,
        &mut |_| std::ops::ControlFlow::Continue(()),
    )
    .unwrap();
    directory.finish(&outcome.summary, &RunInfo::default()).unwrap();
    let mut named = BTreeSet::new();
    for flow in Results::open(&folder).unwrap().flows().unwrap() {
        let flow = flow.unwrap();
        named.insert((flow.source.into_owned(), flow.congestion_control.into_owned()));
    }
    let expected =
        [("host-1", "dcqcn"), ("host-2", "dcqcn"), ("host-3", "timely"), ("host-4", "timely")];
    assert_eq!(named, expected.map(|(host, name)| (host.to_owned(), name.to_owned())).into());
}
