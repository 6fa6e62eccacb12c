//! The ideal completion time is a lower bound, and a flow that is alone in the network reaches it.

use std::fmt::Write;

use rocelab_engine::RngStream;
use rocelab_sim::{Ending, ideal_fct};

use crate::support::run;

/// One of a list.
fn one_of<T: Copy>(stream: &mut RngStream, all: &[T]) -> T {
    let place = usize::try_from(stream.below(all.len() as u64)).expect("a list is short");
    all[place]
}

/// Whether something that happens `percent` times of a hundred does.
fn chance(stream: &mut RngStream, percent: u64) -> bool {
    stream.below(100) < percent
}

/// A small topology, its hosts, and its switches.
fn topology(stream: &mut RngStream) -> (String, u64, &'static [&'static str]) {
    let mut link = |name: &str| {
        let rate = one_of(stream, &["3Gbps", "10Gbps", "40Gbps", "100Gbps", "200Gbps", "800Gbps"]);
        let cable = one_of(stream, &["1mm", "3m", "30m", "300m", "2km"]);
        format!("{name} = {{ rate = \"{rate}\", cable = \"{cable}\" }}\n")
    };
    let (host, fabric, core) = (link("host_link"), link("fabric_link"), link("core_link"));
    let single = host.replace("host_link", "link");
    match stream.below(4) {
        0 => (format!("[topology.single-switch]\nhosts = 3\n{single}"), 3, &["switch-0"]),
        1 => (
            format!(
                "[topology.leaf-spine]\nleaves = 3\nspines = 3\nhosts_per_leaf = 2\n{host}{fabric}"
            ),
            6,
            &["leaf-0", "leaf-2", "spine-0", "spine-1"],
        ),
        2 => (
            format!("[topology.fat-tree]\nk = 4\n{host}{fabric}"),
            16,
            &["tor-0", "tor-3", "aggregation-0", "aggregation-1", "aggregation-5", "core-0"],
        ),
        _ => (
            format!(
                "[topology.clos]\npods = 2\nracks_per_pod = 2\nhosts_per_rack = 2\n\
                 aggregations_per_pod = 2\ncores = 2\n{host}{fabric}{core}"
            ),
            8,
            &["tor-0", "tor-3", "aggregation-0", "aggregation-3", "core-0", "core-1"],
        ),
    }
}

/// A network with flows that are far apart, so that each is alone in it, and whether each of them must
/// take its ideal time.
struct Case {
    text: String,
    is_exact: bool,
}

fn case(stream: &mut RngStream) -> Case {
    let (topology, hosts, switches) = topology(stream);
    let mut is_exact = true;
    let service = one_of(stream, &["rc", "rc", "rc", "uc", "ud"]);
    let mut text = format!("seed = {}\n[roce]\nservice = \"{service}\"\n", stream.below(1 << 20));
    text += one_of(stream, &["version = 1\n", "version = 2\n", "version = 2\nip = \"ipv6\"\n"]);
    text += one_of(stream, &["", "tagging = \"tagged\"\n", "tagging = \"untagged\"\n"]);
    let mtu: u64 = one_of(stream, &[256, 512, 1024, 2048, 4096]);
    writeln!(text, "path_mtu = {mtu}").expect("text grows");
    if service == "rc" {
        text += one_of(
            stream,
            &["", "recovery = \"go-back-0\"\n", "recovery = \"selective-repeat\"\n"],
        );
        text += one_of(
            stream,
            &["", "ack_interval = 1\n", "ack_interval = 3\n", "ack_interval = 64\n"],
        );
        if text.contains("selective-repeat") {
            text += "max_outstanding = 8388608\n";
        }
        if chance(stream, 25) {
            text += one_of(
                stream,
                &[
                    "ack_coalescing = { packets = 2, delay = \"60us\" }\n",
                    "ack_coalescing = { packets = 64, delay = \"1us\" }\n",
                ],
            );
            is_exact = false;
        }
    }
    text += &topology;
    let latency = one_of(stream, &["0ns", "1ns", "500ns", "2us"]);
    let forwarding = one_of(stream, &["cut-through", "store-and-forward"]);
    write!(text, "[switch]\nlatency = \"{latency}\"\nforwarding = \"{forwarding}\"\n")
        .expect("text grows");
    // One of equal paths may be slower than another from now on.
    for _ in 0..stream.below(3) {
        let switch = one_of(stream, switches);
        let value = one_of(stream, &["latency = \"1us\"", "latency = \"10ns\""]);
        write!(text, "[[switch.override]]\nswitches = [\"{switch}\"]\n{value}\n")
            .expect("text grows");
        is_exact &= switches.len() == 1;
    }
    text += if service != "rc" || text.contains("version = 1") || chance(stream, 70) {
        "[congestion_control.none]\n"
    } else {
        is_exact = false;
        one_of(
            stream,
            &[
                "[congestion_control.timely]\n",
                "[congestion_control.swift]\n",
                "[congestion_control.dctcp]\n",
            ],
        )
    };
    let verbs: &[&str] = match service {
        "rc" => &["send", "write", "write-with-immediate", "read"],
        "uc" => &["send", "write", "write-with-immediate"],
        _ => &["send"],
    };
    for number in 0..6 {
        let from = stream.below(hosts);
        let to = (from + 1 + stream.below(hosts - 1)) % hosts;
        let packets = one_of(stream, &[0, 1, 2, 3, 9, 20]);
        let bytes = packets * mtu + one_of(stream, &[1, 71, 200, mtu]);
        let verb = one_of(stream, verbs);
        // Not more READs than a queue pair has in flight.
        let message = if service == "ud" {
            Some(one_of(stream, &[mtu, mtu.min(1000)]))
        } else {
            chance(stream, 30).then(|| bytes.div_ceil(3))
        };
        let start = number * 20;
        let is_tcp = service == "rc" && chance(stream, 10);
        let kind = if is_tcp { "transport = \"tcp\"".into() } else { format!("verb = \"{verb}\"") };
        write!(
            text,
            "[[workload.flows]]\n{kind}\nlist = [{{ from = \"host-{from}\", to = \"host-{to}\", \
             bytes = \"{bytes}B\", start = \"{start}ms\" }}]\n"
        )
        .expect("text grows");
        if let Some(message) = message.filter(|_| !is_tcp) {
            writeln!(text, "message = \"{message}B\"").expect("text grows");
        }
    }
    Case { text, is_exact }
}

#[test]
fn no_flow_is_faster_than_its_ideal_and_one_alone_reaches_it() {
    let mut stream = RngStream::new(20, "flows alone");
    let (mut compared, mut exact) = (0, 0);
    for _ in 0..400 {
        let Case { text, is_exact } = case(&mut stream);
        let run = run(&text);
        assert_eq!(run.ending, Some(Ending::Finished), "{text}");
        assert_eq!(run.flow_ends().len(), run.plan.flows.len(), "{text}");
        for (flow, measured) in run.plan.flows.iter().zip(run.completion_times()) {
            let ideal = ideal_fct(&run.plan, flow).ps();
            assert!(measured >= ideal, "{measured} ps, ideal {ideal} ps: {flow:?}\n{text}");
            if is_exact && !flow.is_tcp() {
                assert_eq!(measured, ideal, "{flow:?}\n{text}");
                exact += 1;
            }
            compared += 1;
        }
    }
    println!("{compared} flows, {exact} of which take exactly their ideal time");
    assert!(compared == 2400 && exact > 500, "{exact} of {compared}");
}

/// A packet that arrives up to 100 ns behind another one, and an acknowledgement of both 100 ns behind that,
/// without the telemetry that one for the second packet would have: 44 bytes less on each link.
#[test]
fn an_acknowledgement_that_is_put_off_carries_no_telemetry() {
    for bytes in [3_115, 3_135, 3_155] {
        let text = format!(
            "[roce]\npath_mtu = 2048\nack_coalescing = {{ packets = 4, delay = \"100ns\" }}\n\
             [congestion_control.hpcc]\n[topology.single-switch]\nhosts = 2\n\
             link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[workload.flows]\n\
             list = [{{ from = \"host-0\", to = \"host-1\", bytes = \"{bytes}B\" }}]\n"
        );
        let run = run(&text);
        let ideal = ideal_fct(&run.plan, &run.plan.flows[0]).ps();
        let measured = run.completion_times()[0];
        assert!(measured >= ideal, "{bytes} bytes: {measured} ps, ideal {ideal} ps");
        assert!(measured < ideal + 10_000, "{bytes} bytes: {measured} ps, ideal {ideal} ps");
    }
}
