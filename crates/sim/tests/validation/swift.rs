//! Swift: the fixed point of its target, its two windows, and the hops that acknowledgements tell.

use std::path::PathBuf;

use rocelab_capture::{CaptureReader, Direction};
use rocelab_sim::network::Totals;
use rocelab_units::SimTime;
use rocelab_wire::{
    EndpointReport, Frame, InfiniBandBody, InfiniBandPacket, Network, Opcode, TelemetryHeader,
    TelemetryKind,
};

use crate::support::{Run, notes, plan, run, try_plan};

/// Payload of a packet, and all that it takes on a link: preamble, Ethernet, IPv4, UDP, BTH, ICRC, FCS and gap (bytes).
const PAYLOAD: f64 = 1_024.0;
const ON_LINK: f64 = PAYLOAD + 8.0 + 14.0 + 20.0 + 8.0 + 12.0 + 4.0 + 4.0 + 12.0;

/// Base target and what a hop adds; flow scaling (us).
const BASE: f64 = 12.0;
const HOP: f64 = 1.0;
const RANGE: f64 = 60.0;
/// The windows between which flow scaling is (packets).
const FEW: f64 = 0.1;
const MANY: f64 = 100.0;

/// The round-trip time at which N flows have the window that their target belongs to: t = base + hops h + clamp(a /
/// sqrt(C t / N mss) + b).
fn fixed_point(flows: f64, hops: f64) -> f64 {
    let a = RANGE / (1.0 / FEW.sqrt() - 1.0 / MANY.sqrt());
    let b = -a / MANY.sqrt();
    // Packets that a link of 100 Gbit/s carries in a microsecond.
    let packets = 100e3 / 8.0 / ON_LINK;
    let target = |t: f64| {
        let window = packets * t / flows;
        BASE + hops * HOP + (a / window.sqrt() + b).clamp(0.0, RANGE)
    };
    // The target falls as the time rises: it is between these.
    let (mut low, mut high) = (0.1, 1_000.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if target(middle) > middle { low = middle } else { high = middle }
    }
    low
}

/// What N flows over one switch into one host have at the fixed point: the mean of what waits for the host (bytes), and the
/// round-trip time of the idle path (us).
fn standing_queue(flows: u64, hops: &str) -> (f64, f64) {
    let text = format!(
        "stop = \"12ms\"\n[roce]\nack_interval = 1\n[switch]\nbuffer = \"64MB\"\n\
         [congestion_control.swift]\nbase_target = \"{BASE}us\"\nhop_scaling = \"{HOP}us\"\n\
         hops = {hops}\nfs_range = \"{RANGE}us\"\nadditive_increase = \"1/10\"\n\
         [topology.single-switch]\nhosts = {}\nlink = {{ rate = \"100Gbps\", delay = \"1us\" }}\n\
         [workload.incast]\nreceiver = \"host-0\"\nsenders = {flows}\nbytes = \"1GB\"\n",
        flows + 1,
    );
    let mut run = Run::new(plan(&text));
    let base = run.plan.queue_pairs[0].base_rtt.ps() as f64 / 1e6;
    let (mut sum, mut count) = (0.0, 0.0);
    for us in (6_000..12_000).step_by(10) {
        run.run_until(SimTime::from_ps(us * 1_000_000));
        let network = run.simulation.network();
        let towards = network.ports().find(|port| port.peer_node == 0).expect("it has a link");
        sum += f64::from(towards.port.waiting_bytes());
        count += 1.0;
    }
    (sum / count, base)
}

#[test]
fn the_queue_is_that_of_the_fixed_point() {
    for flows in [4_u64, 16, 48] {
        let (queue, base) = standing_queue(flows, "1");
        let expected = fixed_point(flows as f64, 1.0);
        // Frames wait without preamble and gap, and leave with them.
        let round_trip = base + queue * (ON_LINK / (ON_LINK - 20.0)) / 12_500.0;
        let ratio = round_trip / expected;
        println!("{flows} flows: a round trip of {round_trip:.2} us, by the formula {expected:.2}");
        assert!((0.95..1.05).contains(&ratio), "{flows}: {round_trip} us, expected {expected}");
    }
}

#[test]
fn counted_hops_are_the_switches_of_the_path() {
    let [counted, one, four] = ["\"counted\"", "1", "4"].map(|hops| standing_queue(16, hops).0);
    // Acknowledgements have 12 bytes more.
    assert!((0.98..1.02).contains(&(counted / one)), "{counted} {one}");
    assert!(four > counted * 1.15, "{counted} {four}: 3 us of 100 Gbit/s are 37 KB");
}

/// What acknowledgements told, and the hop limits of data packets as they arrived.
fn told(name: &str, text: &str) -> (Vec<EndpointReport>, Vec<u8>) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let mut run = Run::new(plan(text));
    run.simulation.start_capture(&folder).unwrap();
    run.finish();
    run.assert_complete(name);
    run.simulation.finish_capture().unwrap();
    let mut reader = CaptureReader::open(folder.join("capture.pcapng")).unwrap();
    let (mut reports, mut limits) = (Vec::new(), Vec::new());
    while let Some(frame) = reader.next_frame() {
        let frame = frame.unwrap();
        let parsed = Frame::parse(frame.bytes).unwrap();
        let packet = parsed.roce().unwrap();
        assert!(parsed.icrc_ok());
        if frame.direction != Some(Direction::Inbound) {
            continue;
        }
        match packet.extensions.telemetry {
            Some(TelemetryHeader::Endpoint(report)) => {
                assert_eq!(packet.bth.operation_with_telemetry(), Some(Opcode::RcAcknowledge));
                reports.push(report);
            }
            Some(other) => panic!("{other}"),
            None => match packet.network {
                Network::V2Ipv4 { ip, .. } => limits.push(ip.time_to_live),
                other => panic!("{other:?}"),
            },
        }
    }
    assert!(TelemetryKind::Endpoint.is_echo());
    (reports, limits)
}

#[test]
fn acknowledgements_tell_hops_and_data_is_as_long_as_ever() {
    let text = "[roce]\nack_interval = 1\n[congestion_control.swift]\nhops = \"counted\"\n\
        [topology.dumbbell]\nleft = 1\nright = 1\n\
        host_link = { rate = \"100Gbps\", delay = \"1us\" }\n\
        bottleneck = { rate = \"100Gbps\", delay = \"1us\" }\n\
        [workload.flows]\nlist = [{ from = \"host-0\", to = \"host-1\", bytes = \"16KiB\" }]\n\
        [capture]\nports = [\"host-0\", \"host-1\"]\n";
    let (reports, limits) = told("swift-hops", text);
    assert_eq!(limits, [62; 16], "two routers took one each");
    assert_eq!(reports, [EndpointReport { hops: 2, delay_ns: 0, held_ns: 0 }; 16]);
}

#[test]
fn hosts_that_take_time_tell_how_long() {
    // Both NICs take 95 ns to receive and 5 ns to handle a frame; the receiver's answer leaves 95 ns after that, and memory has the
    // packet later.
    let text = "[roce]\nack_interval = 1\n[congestion_control.swift]\nendpoint_target = \"20us\"\n\
        [topology.single-switch]\nhosts = 2\nlink = { rate = \"100Gbps\", delay = \"1us\" }\n\
        [[host_model]]\nprofile = \"cx5\"\n\
        [workload.flows]\nlist = [{ from = \"host-0\", to = \"host-1\", bytes = \"16KiB\" }]\n\
        [capture]\nports = [\"host-0\", \"host-1\"]\n";
    let (reports, _) = told("swift-hosts", text);
    assert_eq!(reports.len(), 16);
    for report in reports {
        // The acknowledgement is captured before the sender's NIC adds its part.
        assert!((100..600).contains(&report.held_ns), "{report:?}");
        assert!(report.delay_ns >= report.held_ns, "{report:?}");
        assert_eq!(report.hops, 1, "{report:?}");
    }
}

/// Pauses that the receiver's NIC asked for, and totals, where four flows come to a host whose PCIe is slower than its link.
fn into_slow_host(swift: &str, rest: &str) -> (u64, Totals, u64) {
    let run = run(&format!(
        "{rest}[congestion_control.swift]\n{swift}\
         [topology.single-switch]\nhosts = 5\nlink = {{ rate = \"100Gbps\", delay = \"1us\" }}\n\
         [[host_model]]\nhosts = [\"host-0\"]\nprofile = \"cx5\"\nbuffer = \"2MiB\"\n\
         pcie = {{ gen = 3, lanes = 4 }}\n\
         [workload.incast]\nreceiver = \"host-0\"\nsenders = 4\nbytes = \"8MB\"\n"
    ));
    let pauses = run.simulation.network().host_counts().iter().map(|host| host.2).sum();
    let last = run.flow_ends().iter().map(|end| end.finished.ps()).max().expect("flows end");
    (pauses, run.totals(), last)
}

#[test]
fn a_slow_host_is_seen_by_the_window_of_the_endpoint_alone() {
    let (asked, totals, slow) = into_slow_host("", "");
    assert!(asked > 20 && totals.pauses > 20, "only the fabric: {asked} {}", totals.pauses);
    let (pauses, totals, with) = into_slow_host("endpoint_target = \"60us\"\n", "");
    assert_eq!((pauses, totals.pauses), (0, 0), "the endpoint's window keeps the buffer short");
    println!("32 MB: {slow} ps with {asked} pauses, {with} ps without");
    // It does not cost the rate of the bus: about 27 Gbit/s of payload.
    assert!(with < slow + slow / 10, "{with} ps, against {slow} ps with pauses");
}

#[test]
fn without_pauses_a_slow_host_drops_what_the_fabric_does_not_see() {
    let lossy = "[switch]\nlossless = []\n";
    let full = |totals: &Totals| totals.drops.get("receiver_full").copied().unwrap_or(0);
    let (_, totals, _) = into_slow_host("", lossy);
    assert!(full(&totals) > 20, "{:?}", totals.drops);
    let (_, totals, _) = into_slow_host("endpoint_target = \"60us\"\n", lossy);
    assert_eq!(full(&totals), 0, "{:?}", totals.drops);
}

#[test]
fn hops_are_refused_where_no_switch_takes_from_a_limit() {
    let network = "[topology.single-switch]\nhosts = 2\nlink = { rate = \"EDR\", delay = \"1us\" }\n\
        [workload.incast]\nsenders = 1\nbytes = \"1MB\"\n\
        [congestion_control.swift]\nhops = \"counted\"\n";
    let ethernet = network.replace("EDR", "100Gbps");
    for (text, why) in [
        (format!("[roce]\nversion = 1\n{ethernet}"), "RoCE v1"),
        (format!("[infiniband]\n{network}"), "InfiniBand"),
    ] {
        let error = try_plan(&text).unwrap_err();
        assert_eq!(error.key(), "congestion_control.swift.hops", "{error}");
        let text = format!("{error:?}");
        assert!(text.contains(why) && text.contains("hops = 5"), "{text}");
    }
}

#[test]
fn more_hops_than_a_packet_takes_are_refused() {
    let with = |hops: u32| {
        try_plan(&format!(
            "[topology.single-switch]\nhosts = 2\nlink = {{ rate = \"100Gbps\", delay = \"1us\" }}\n\
             [workload.incast]\nsenders = 1\nbytes = \"1MB\"\n[congestion_control.swift]\nhops = {hops}\n"
        ))
    };
    assert!(with(255).is_ok());
    let error = format!("{:?}", with(256).unwrap_err());
    assert!(error.contains("hop limit") && error.contains("0 to 255"), "{error}");
}

#[test]
fn the_endpoint_window_works_on_infiniband_and_version_1() {
    for network in ["[infiniband]\n", "[roce]\nversion = 1\n"] {
        let rate = if network.contains("infiniband") { "EDR" } else { "100Gbps" };
        let run = run(&format!(
            "{network}[congestion_control.swift]\nendpoint_target = \"20us\"\n\
             [topology.single-switch]\nhosts = 4\nlink = {{ rate = \"{rate}\", delay = \"1us\" }}\n\
             [[host_model]]\nprofile = \"cx5\"\n\
             [workload.incast]\nreceiver = \"host-0\"\nsenders = 3\nbytes = \"1MB\"\n"
        ));
        run.assert_complete(network);
    }
}

#[test]
fn a_flow_recovers_after_timeouts_emptied_its_window() {
    let completion = |rules: &str| {
        let text = format!(
            "stop = \"300ms\"\n[roce]\nack_timeout = 8\nrecovery = \"go-back-n\"\n\
             [topology.single-switch]\nhosts = 2\nlink = {{ rate = \"100Gbps\", delay = \"1us\" }}\n\
             [congestion_control.swift]\n{rules}\n\
             [[failure]]\nkind = \"link-down\"\nport = \"switch-0:1\"\nat = \"50us\"\nlasts = \"5500us\"\n\
             [workload.flows]\nlist = [{{ from = \"host-0\", to = \"host-1\", bytes = \"4MB\" }}]\n"
        );
        let run = run(&text);
        run.assert_complete(rules);
        run.completion_times()[0] as f64 / 1e6
    };
    let (with, without) = (completion("retransmit_reset = 3"), completion(""));
    println!("{with:.0} us with resets, {without:.0} us without");
    assert!(with < 1.25 * without, "{with} us, and {without} us without resets");
}

/// The header of a record of the Extensible Record Format, in which captures have packets of InfiniBand (bytes).
const ERF_HEADER: usize = 16;
/// The type of a record of a packet; others are of credits.
const ERF_PACKET: u8 = 21;

/// Frames of InfiniBand have the telemetry header too.
#[test]
fn endpoint_telemetry_is_captured_on_infiniband() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("swift-infiniband");
    std::fs::create_dir_all(&folder).unwrap();
    let mut run = Run::new(plan(
        "[infiniband]\n[topology.single-switch]\nhosts = 3\nlink = { rate = \"EDR\", delay = \"1us\" }\n\
         [congestion_control.swift]\nendpoint_target = \"20us\"\n\
         [[host_model]]\nhosts = [\"host-0\"]\nprofile = \"cx5\"\n\
         [capture]\nports = [\"host-0\"]\n\
         [workload.incast]\nreceiver = \"host-0\"\nsenders = 2\nbytes = \"100KB\"\n",
    ));
    run.simulation.start_capture(&folder).unwrap();
    run.finish();
    run.simulation.finish_capture().unwrap();
    let mut reader = CaptureReader::open(folder.join("capture.pcapng")).unwrap();
    let mut reports = 0;
    while let Some(frame) = reader.next_frame() {
        let frame = frame.unwrap();
        let (header, bytes) = frame.bytes.split_at(ERF_HEADER);
        if header[8] != ERF_PACKET {
            continue;
        }
        let parsed = InfiniBandPacket::parse(bytes).unwrap();
        let InfiniBandBody::Transport { packet, .. } = parsed.body else { panic!("{parsed}") };
        if let Some(TelemetryHeader::Endpoint(report)) = packet.extensions.telemetry {
            assert!(report.delay_ns > 0);
            reports += 1;
        }
    }
    assert!(reports > 10, "{reports}");
}

#[test]
fn an_endpoint_window_without_effect_is_told_before() {
    let found = |rules: &str| {
        notes(&format!(
            "[topology.single-switch]\nhosts = 2\nlink = {{ rate = \"100Gbps\", delay = \"1us\" }}\n{rules}\n\
             [workload.flows]\nlist = [{{ from = \"host-0\", to = \"host-1\", bytes = \"1KB\" }}]\n"
        ))
    };
    let section = "[congestion_control.swift]\n";
    let keys = |rules: String| found(&rules).into_iter().map(|note| note.0).collect::<Vec<_>>();
    assert_eq!(
        keys(format!("{section}endpoint_gain = \"1/4\"")),
        ["congestion_control.swift.endpoint_gain"]
    );
    let target = format!("{section}endpoint_target = \"20us\"\nendpoint_gain = \"1/4\"\n");
    assert_eq!(keys(target.clone()), ["congestion_control.swift.endpoint_target"]);
    let hosts = "[[host_model]]\nprofile = \"cx5\"\n";
    assert!(!keys(target + hosts).iter().any(|key| key.contains("swift")));
    assert!(keys(section.into()).is_empty());
}

/// A flow to a host that takes time, with this target.
fn to_a_host_that_takes_time(target: &str) -> String {
    format!(
        "stop = \"2ms\"\n[topology.single-switch]\nhosts = 2\nlink = {{ rate = \"100Gbps\", delay = \"1us\" }}\n\
         [congestion_control.swift]\nendpoint_target = \"{target}\"\n[[host_model]]\nprofile = \"cx5\"\n\
         [workload.flows]\nlist = [{{ from = \"host-0\", to = \"host-1\", bytes = \"20MB\" }}]\n"
    )
}

#[test]
fn an_endpoint_target_that_an_idle_host_does_not_keep_is_told_before() {
    let told = notes(&to_a_host_that_takes_time("100ns"));
    let (key, text) = told.first().expect("a note");
    assert_eq!(key, "congestion_control.swift.endpoint_target");
    assert!(text.contains("the endpoint delay of host-1 is "), "{text}");
    // The note's own figure is the edge: below it little arrives after the first windows, and above it there is no note.
    let idle = text.split(" is ").nth(1).and_then(|rest| rest.split("ns").next()).expect("a time");
    let idle: f64 = idle.parse().expect("nanoseconds");
    let target = |more: f64| format!("{}ns", (idle + more).round());
    assert!(notes(&to_a_host_that_takes_time(&target(2.0))).is_empty());
    let arrived =
        |more: f64| run(&to_a_host_that_takes_time(&target(more))).totals().packets_delivered;
    let (short, long) = (arrived(-2.0), arrived(100.0));
    assert!(short * 4 < long, "{short} and {long} packets with a target around {idle} ns");
}

#[test]
fn reads_that_no_acknowledgement_controls_are_told_before() {
    let found = |algorithm: &str, verb: &str| {
        notes(&format!(
            "[congestion_control.{algorithm}]\n[topology.single-switch]\nhosts = 2\nlink = {{ rate = \"100Gbps\", delay = \"1us\" }}\n\
             [workload.flows]\nlist = [{{ from = \"host-0\", to = \"host-1\", bytes = \"1KB\", verb = \"{verb}\" }}]\n"
        ))
    };
    for algorithm in ["swift", "timely", "dctcp", "hpcc"] {
        let notes = found(algorithm, "read");
        assert_eq!(notes[0].0, format!("congestion_control.{algorithm}"));
        assert!(notes[0].1.contains("1 flow is a READ"), "{notes:?}");
        assert!(!found(algorithm, "write").iter().any(|note| note.1.contains("READ")));
    }
    assert!(found("dcqcn", "read").is_empty() && found("none", "read").is_empty());
}

#[test]
fn a_short_host_congestion_does_not_starve_what_follows() {
    // Four flows of 8 MB into a host whose memory is ten times slower for 300 us. Without a target they take 2.8 ms.
    let run = run(
        "stop = \"100ms\"\n[roce]\npath_mtu = 4096\n[topology.single-switch]\nhosts = 5\nlink = { rate = \"100Gbps\", cable = \"3m\" }\n\
         [congestion_control.swift]\nendpoint_target = \"20us\"\n[[host_model]]\nprofile = \"cx5\"\n\
         contention = [{ at = \"200us\", lasts = \"300us\", factor = 10 }]\n\
         [workload.incast]\nsenders = 4\nreceiver = \"host-0\"\nbytes = \"8MB\"\n",
    );
    let end = run.simulation.now().ps() / 1_000_000;
    println!("32 MB: {end} us");
    assert!(end < 6_000, "{end} us");
}
