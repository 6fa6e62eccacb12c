//! Gaps that `pcap verify` finds, and rates of `pcap stats`, in captures of whole runs.

use serde_json::Value;

use crate::program::Sandbox;

/// Blocks are read. The snap length cuts the headers of the first packets of writes.
const CUT: &str = r#"
[topology.single-switch]
hosts = 2
link = { rate = "100Gbps", cable = "3m" }
[roce]
path_mtu = 256
[[workload.storage]]
clients = ["host-0"]
servers = ["host-1"]
block = "512B"
read_fraction = 1.0
operations = 32
[capture]
ports = ["host-0"]
snap_length = 64
"#;

/// Reads and sends, also cut, with the capture of a switch.
const CUT_AT_A_SWITCH: &str = r#"
seed = 372996
stop = "2ms"
roce = { version = 2, path_mtu = 256, max_outstanding = 3, rnr_timer = "20us" }
topology = { leaf-spine = { leaves = 3, spines = 1, hosts_per_leaf = 1, host_link = { rate = "100Gbps", cable = "1mm" }, fabric_link = { rate = "100Gbps", cable = "300m" } } }
switch = { lossless = [0, 1, 2, 3, 4, 5, 6, 7], buffer = "2459KB", alpha = "4", cell = "208B", queue_of = { 4 = 3 } }
congestion_control = { none = { rate = "5000Mbps" } }
workload = { storage = [{ clients = ["host-1"], servers = ["host-2"], block = "512B", read_fraction = 1.0, queue_depth = 1, operations = 32 }], flows = [{ list = [{ from = "host-0", to = "host-1", bytes = "64B" }, { from = "host-0", to = "host-1", bytes = "64B", verb = "read", priority = 7 }], verb = "read", priority = 0, message = "4097B" }] }
tcp = { priority = 1, congestion_control = { dctcp = {  } }, delayed_ack = "50us", min_rto = "1ms", initial_rto = "1ms" }
capture = { ports = ["host-0", "leaf-1"], format = "pcap", fcs = false, snap_length = 64 }
sample = { queues = { interval = "10us", ports = ["leaf-1"] }, rates = { interval = "7us" }, utilisation = { interval = "3us", ports = ["host-0"] }, marks = { interval = "5us", ports = ["leaf-0"] } }
"#;

/// Switches learn addresses and forget them: they flood frames for addresses that they have
/// forgotten.
const FLOODED: &str = r#"
seed = 740426
stop = "500us"
roce = { version = 1, path_mtu = 256, ack_interval = 64, max_outstanding = 1 }
topology = { fat-tree = { k = 4, host_link = { rate = "400Gbps", cable = "100m" }, fabric_link = { rate = "100Gbps", cable = "2km" } } }
switch = { lossless = [0, 1, 2, 3, 4, 5, 6, 7], buffer = "100KB", alpha = "1/2", headroom_pool = "50KB", qcn = { set_point = "1KB", weight = 0, sample_base = "10KB", cnm_priority = 2 } }
congestion_control = { qcn = {  } }
workload = { poisson = [{ load = 1.0, distribution = "facebook-hadoop", count = 18, priority = 6 }] }
layer2 = { learning = { mac_ageing = "20us" } }
capture = { ports = ["host-0", "core-0"], format = "pcapng", fcs = false }
sample = { queues = { interval = "10us", ports = ["tor-0"] }, rates = { interval = "7us" }, utilisation = { interval = "3us", ports = ["host-0"] }, marks = { interval = "5us", ports = ["tor-0"] } }
"#;

/// The same, with switches that cut through.
const CUT_THROUGH: &str = r#"
seed = 103883
stop = "2ms"
roce = { version = 2, path_mtu = 1024, ip = "ipv6", ack_coalescing = { packets = 1, delay = "0s" }, tagging = "tagged" }
topology = { leaf-spine = { leaves = 2, spines = 2, hosts_per_leaf = 3, host_link = { rate = "800Gbps", cable = "1km" }, fabric_link = { rate = "200Gbps", cable = "1km" } } }
switch = { lossless = [0, 1, 2, 3, 4, 5, 6, 7], buffer = "91016KB", alpha = "1/16", pause_response = "10ns", latency = "500ns", forwarding = "cut-through", cell = "208B" }
congestion_control = { patched-timely = {  } }
workload = { ping-pong = [{ clients = ["host-5"], servers = ["host-0"], verb = "read", iterations = 27, bytes = "4KB" }], incast = [{ senders = 3, bytes = "300KB", receiver = "host-2", verb = "send", priority = 1, congestion_control = { none = {  } } }], permutation = [{ bytes = "1B", start = "5us", verb = "write-with-immediate" }] }
layer2 = { learning = { mac_ageing = "1us", arp_timeout = "5us" }, vlans = [{ id = 10, hosts = ["host-0..host-5"] }] }
capture = { ports = ["host-0", "spine-0"], format = "pcap", fcs = true }
"#;

/// Slow NICs answer a frame when they handle it, so answers are sent at that instant.
const SLOW_RECEIVERS: &str = r#"
stop = "20us"
slow_receiver = [{}]
topology = { single-switch = { hosts = 2, link = { rate = "100Gbps", cable = "10m" } } }
workload = { storage = [{ clients = ["host-1"], servers = ["host-0"], block = "1B", operations = 9 }] }
capture = { ports = ["host-0"], format = "pcap" }
"#;

/// A link failure moves a flow to the other uplink of its leaf, and back. Other flows begin after
/// it has come back.
const MOVED: &str = r#"
convergence = "1us"
[topology.leaf-spine]
leaves = 2
spines = 2
hosts_per_leaf = 4
host_link = { rate = "100Gbps", cable = "3m" }
fabric_link = { rate = "100Gbps", cable = "30m" }
[congestion_control.none]
[workload.flows]
list = [{ from = "host-0", to = "host-4", bytes = "10MB" }OTHERS]
[[failure]]
kind = "link-down"
port = "leaf-0:4"
at = "100us"
lasts = "50us"
[[failure]]
kind = "link-down"
port = "leaf-0:5"
at = "300us"
lasts = "50us"
[capture]
ports = ["leaf-0:4", "leaf-0:5"]
format = "FORMAT"
"#;

/// The captures of a run.
fn captures(sandbox: &Sandbox, scenario: &str) -> Vec<String> {
    sandbox.write("scenario.toml", scenario);
    sandbox.rocelab(&["run", "scenario.toml", "--out", "results", "--force", "--quiet"]);
    let is_capture = |file: &String| file.starts_with("capture");
    let files: Vec<_> = sandbox.files("results").into_keys().filter(is_capture).collect();
    assert!(!files.is_empty());
    files.into_iter().map(|file| format!("results/{file}")).collect()
}

/// The objects that `pcap` prints.
fn objects(sandbox: &Sandbox, command: &str, capture: &str) -> Vec<Value> {
    let ended = sandbox.rocelab(&["pcap", command, "--json", capture]);
    ended.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn captures_of_whole_runs_have_no_faults() {
    let sandbox = Sandbox::new();
    for scenario in [CUT, CUT_AT_A_SWITCH, FLOODED, CUT_THROUGH, SLOW_RECEIVERS] {
        for snap in
            ["", "snap_length = 64", "snap_length = 60", "snap_length = 54", "snap_length = 40"]
        {
            let capture = scenario.replace("snap_length = 64", "snap_length = 65535");
            let with_snap = match snap {
                "" => scenario.to_owned(),
                _ if capture.contains("snap_length") => {
                    capture.replace("snap_length = 65535", snap)
                }
                _ => capture.replace("capture = { ", &format!("capture = {{ {snap}, ")),
            };
            for capture in captures(&sandbox, &with_snap) {
                let ended = sandbox.rocelab(&["pcap", "verify", &capture]);
                assert_eq!(ended.code, Some(0), "{snap} {capture}: {}", ended.stdout);
            }
        }
    }
}

/// A classic capture without its frame `number`, from 1.
fn without_frame(capture: &[u8], number: usize) -> Vec<u8> {
    let (mut left, mut rest) = capture.split_at(24);
    let mut out = left.to_vec();
    for frame in 1.. {
        if rest.is_empty() {
            break;
        }
        let length = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        (left, rest) = rest.split_at(16 + length);
        if frame != number {
            out.extend(left);
        }
    }
    out
}

/// A missing packet is found among packets that are cut.
#[test]
fn a_packet_that_is_missing_is_found_among_cut_ones() {
    let sandbox = Sandbox::new();
    let scenario = CUT.replace("snap_length", "format = \"pcap\"\nsnap_length");
    let capture = captures(&sandbox, &scenario).remove(0);
    let frames = objects(&sandbox, "verify", &capture);
    let bytes = std::fs::read(sandbox.path(&capture)).unwrap();
    for opcode in ["RC_RDMA_WRITE_FIRST", "RC_RDMA_WRITE_LAST", "RC_SEND_ONLY"] {
        let is_one = |frame: &&Value| frame["opcode"] == opcode && frame["dest_qp"] == 17;
        let any = |frame: &&Value| frame["opcode"] == opcode;
        let chosen = frames.iter().filter(is_one).nth(5).or(frames.iter().filter(any).nth(9));
        let number = chosen.expect(opcode)["frame"].as_u64().expect("a number");
        sandbox.write("less.pcap", without_frame(&bytes, number.try_into().unwrap()));
        let ended = sandbox.rocelab(&["pcap", "verify", "less.pcap"]);
        assert_eq!(ended.code, Some(1), "{opcode} {number}: {}", ended.stdout);
        assert!(ended.stdout.contains("psn_gap"), "{opcode} {number}: {}", ended.stdout);
    }
}

/// If frames may pass elsewhere, missing ones are an observation, not a fault.
#[test]
fn what_may_have_passed_elsewhere_is_told() {
    let sandbox = Sandbox::new();
    let capture = captures(&sandbox, FLOODED).remove(0);
    let all = objects(&sandbox, "verify", &capture);
    let tells =
        |frame: &Value| frame["observations"].to_string().contains("acknowledges_elsewhere");
    assert!(all.iter().any(tells));
}

/// With one pair of hosts, ports between switches look like ports of hosts. But packets that are
/// missing at one of them pass the other.
#[test]
fn what_another_interface_holds_is_not_missing() {
    let sandbox = Sandbox::new();
    let scenario = MOVED.replace("OTHERS", "").replace("FORMAT", "pcapng");
    let capture = captures(&sandbox, &scenario).remove(0);
    let ended = sandbox.rocelab(&["pcap", "verify", &capture]);
    assert_eq!(ended.code, Some(0), "{}", ended.stdout);
    let all = objects(&sandbox, "verify", &capture);
    let tells =
        |frame: &Value| frame["observations"].to_string().contains("acknowledges_elsewhere");
    assert!(all.iter().any(tells));
}

/// It may become clear only after the gaps that a port is not that of one host.
#[test]
fn the_order_in_which_hosts_appear_does_not_matter() {
    let sandbox = Sandbox::new();
    let mut others = String::new();
    for host in 1..4 {
        let to = host + 4;
        for _ in 0..6 {
            others += &format!(
                ", {{ from = \"host-{host}\", to = \"host-{to}\", bytes = \"20KB\", start = \"600us\" }}"
            );
        }
    }
    let scenario = MOVED.replace("OTHERS", &others).replace("FORMAT", "pcap");
    let captures = captures(&sandbox, &scenario);
    assert_eq!(captures.len(), 2);
    let mut gaps = 0;
    for capture in captures {
        let ended = sandbox.rocelab(&["pcap", "verify", &capture]);
        assert_eq!(ended.code, Some(0), "{capture}: {}", ended.stdout);
        let told = objects(&sandbox, "verify", &capture);
        gaps += told
            .iter()
            .filter(|frame| frame["observations"].to_string().contains("acknowledges_elsewhere"))
            .count() as u64;
    }
    assert!(gaps > 0);
}

/// A pcapng capture without its frame `number`, from 1.
fn without_block(capture: &[u8], number: usize) -> Vec<u8> {
    let (mut out, mut rest, mut frame) = (Vec::new(), capture, 0);
    while !rest.is_empty() {
        let word = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().unwrap());
        let (block, behind) = rest.split_at(word(4) as usize);
        let is_packet = word(0) == 6;
        frame += usize::from(is_packet);
        if !is_packet || frame != number {
            out.extend(block);
        }
        rest = behind;
    }
    out
}

/// If a flow passes both interfaces, each of them must have all of its packets.
#[test]
fn a_gap_at_a_host_is_found_though_another_interface_holds_the_packet() {
    let sandbox = Sandbox::new();
    let scenario = "[topology.single-switch]\nhosts = 2\n\
        link = { rate = \"100Gbps\", cable = \"3m\" }\n[congestion_control.none]\n\
        [capture]\nports = [\"host-0\", \"host-1\"]\n[workload.flows]\n\
        list = [{ from = \"host-0\", to = \"host-1\", bytes = \"100KB\", verb = \"write\" }]\n";
    let capture = captures(&sandbox, scenario).remove(0);
    let is_middle = |frame: &&Value| frame["opcode"] == "RC_RDMA_WRITE_MIDDLE";
    let frames: Vec<_> = objects(&sandbox, "verify", &capture);
    let chosen: Vec<_> = frames.iter().filter(is_middle).skip(20).take(6).collect();
    let interfaces: std::collections::BTreeSet<_> =
        chosen.iter().map(|frame| frame["interface"].to_string()).collect();
    assert_eq!(interfaces.len(), 2, "{interfaces:?}");
    let bytes = std::fs::read(sandbox.path(&capture)).unwrap();
    for frame in chosen {
        let number = frame["frame"].as_u64().expect("a number");
        sandbox.write("less.pcapng", without_block(&bytes, number.try_into().unwrap()));
        let ended = sandbox.rocelab(&["pcap", "verify", "less.pcapng"]);
        assert_eq!(ended.code, Some(1), "{number}: {}", ended.stdout);
        assert!(ended.stdout.contains("psn_gap"), "{number}: {}", ended.stdout);
    }
}

/// A flow that is alone on its link: n packets of 1,024 bytes, each with 82 bytes of headers,
/// preamble and gap (14 + 20 + 8 + 12 + 4 + 4 + 20). Without the last packet's time, the rate would
/// be above that of the link.
#[test]
fn no_rate_is_above_that_of_the_link() {
    let sandbox = Sandbox::new();
    for (verb, bytes) in
        [("write", 2_048_u64), ("write", 1_024_000), ("read", 2_048), ("read", 1_024_000)]
    {
        let scenario = format!(
            "[topology.single-switch]\nhosts = 2\nlink = {{ rate = \"40Gbps\", cable = \"3m\" }}\n\
             [congestion_control.none]\n[capture]\nports = [\"host-0\"]\n\
             [workload.flows]\nlist = [{{ from = \"host-0\", to = \"host-1\", bytes = \"{bytes}B\", \
             verb = \"{verb}\" }}]\n"
        );
        let capture = captures(&sandbox, &scenario).remove(0);
        let mut rates = Vec::new();
        for connection in objects(&sandbox, "stats", &capture) {
            for direction in ["forward", "reverse"] {
                let flow = &connection[direction];
                if flow["new_payload_bytes"].as_u64() == Some(bytes) {
                    rates.extend(flow["goodput_bps"].as_f64());
                }
            }
        }
        assert_eq!(rates.len(), 1, "{verb} {bytes}");
        let expected = 40e9 * 1_024.0 / (1_024.0 + 82.0);
        // The first packet of a write has a RETH of 16 bytes, the first and last of a read response an AETH of 4.
        let tolerance = if bytes > 10_000 { 1e-3 } else { 2e-2 };
        assert!((rates[0] / expected - 1.0).abs() < tolerance, "{verb} {bytes}: {rates:?}");
        assert!(rates[0] <= 40e9, "{verb} {bytes}: {rates:?}");
    }
}
