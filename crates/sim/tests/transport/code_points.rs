//! DSCP, traffic class and PCP apart from the priority that they mean.

use std::path::{Path, PathBuf};
use std::process::Command;

use rocelab_capture::CaptureReader;
use rocelab_sim::{Planning, Scenario};
use rocelab_wire::{Frame, Network, Opcode};

use crate::support::{self, run, try_plan};

/// Two hosts at a switch, one flow, captured at host-0.
fn pair(roce: &str, rest: &str) -> String {
    format!(
        "[roce]\n{roce}\n[capture]\nports = [\"host-0\"]\n[topology.single-switch]\nhosts = 2\n\
         link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n{rest}"
    )
}

fn flow(keys: &str) -> String {
    format!(
        "[[workload.flows]]\n{keys}\n\
         list = [{{ from = \"host-0\", to = \"host-1\", bytes = \"4KB\" }}]\n"
    )
}

fn captured(name: &str, text: &str) -> PathBuf {
    support::captured(&format!("code-points-{name}"), text)
}

/// Of each frame: whether it is data, its traffic class, and the PCP of its tag.
fn classes(file: &Path) -> Vec<(bool, u8, Option<u8>)> {
    let mut reader = CaptureReader::open(file).expect("a capture");
    let mut all = Vec::new();
    while let Some(captured) = reader.next_frame() {
        let captured = captured.expect("a frame");
        let frame = Frame::parse(captured.bytes).expect("a whole frame");
        let Some(roce) = frame.roce() else { continue };
        assert!(frame.icrc_ok(), "{frame}");
        let class = match roce.network {
            Network::V1 { grh, .. } => grh.traffic_class,
            Network::V2Ipv4 { ip, .. } => ip.dscp << 2 | ip.ecn as u8,
            Network::V2Ipv6 { ip, .. } => ip.dscp << 2 | ip.ecn as u8,
        };
        let is_data = roce.bth.opcode != Opcode::RcAcknowledge as u8;
        all.push((is_data, class, frame.vlan[0].map(|tag| tag.pcp)));
    }
    all.sort_unstable();
    all.dedup();
    all
}

#[test]
fn workloads_come_before_hosts_and_hosts_before_classes() {
    let class = "[class.3]\nmarking = { dscp = 26 }\n";
    let host = "[[host.marking]]\nhosts = [\"host-0\"]\nmarking = { dscp = 10 }\n";
    let of_four = flow("").replace("4KB\"", "4KB\", priority = 4");
    let of_three = host.replace("marking =", "priorities = [3]\nmarking =");
    let untagged = "version = 1\ntagging = \"untagged\"";
    for (number, (roce, rest, data, ack)) in [
        ("", flow(""), 24 << 2, 24 << 2),
        ("", format!("{class}{}", flow("")), 26 << 2, 26 << 2),
        // Each end of a connection has the traffic class of its own host.
        ("", format!("{class}{host}{}", flow("")), 10 << 2, 26 << 2),
        ("", format!("{class}{host}{}", flow("marking = { dscp = 63 }")), 63 << 2, 63 << 2),
        ("ip = \"ipv6\"", format!("{class}{host}{}", flow("")), 10 << 2, 26 << 2),
        // The lower bits are those of ECN.
        ("", flow("marking = { traffic_class = 107 }"), 26 << 2, 26 << 2),
        (untagged, flow("marking = { traffic_class = 107 }"), 107, 107),
        (untagged, format!("{class}{}", flow("")), 104, 104),
        // What is said of priority 3 is not said of 4.
        ("", format!("{class}{of_three}{of_four}"), 32 << 2, 32 << 2),
        ("", format!("{class}{host}{of_four}"), 10 << 2, 32 << 2),
    ]
    .into_iter()
    .enumerate()
    {
        let found = classes(&captured(&number.to_string(), &pair(roce, &rest)));
        let mut expected = [(false, ack, None), (true, data, None)];
        expected.sort_unstable();
        assert_eq!(found, expected, "{number}");
    }
}

#[test]
fn a_tag_has_its_own_code_point() {
    let rest = flow("marking = { dscp = 26, pcp = 5 }");
    let found = classes(&captured("tag", &pair("tagging = \"tagged\"", &rest)));
    assert_eq!(found, [(false, 26 << 2, Some(5)), (true, 26 << 2, Some(5))]);
    let found = classes(&captured("tag-v1", &pair("version = 1", &flow("marking = { pcp = 6 }"))));
    assert_eq!(found, [(false, 96, Some(6)), (true, 96, Some(6))]);
}

#[test]
fn ecn_is_below_the_dscp() {
    let text = pair("", &format!("[class.3]\nmarking = {{ traffic_class = 105 }}\n{}", flow("")))
        .replace("congestion_control.none", "congestion_control.dcqcn");
    let found = classes(&captured("ecn", &text));
    // ECT(0) of packets whose queue pair needs marks, in place of the two bits that were given.
    assert_eq!(found, [(false, 26 << 2 | 2, None), (true, 26 << 2 | 2, None)]);
}

/// 64 workloads, each with a DSCP of its own.
fn all_64() -> String {
    (0..64).map(|dscp| flow(&format!("marking = {{ dscp = {dscp} }}"))).collect()
}

#[test]
fn all_64_code_points_are_sent_and_read() {
    let file = captured("all", &pair("", &all_64()));
    let found = classes(&file);
    let of = |data| (0..64).map(move |dscp| (data, dscp << 2, None));
    assert_eq!(found, of(false).chain(of(true)).collect::<Vec<_>>());
    if Command::new("tshark").arg("--version").output().is_err() {
        eprintln!("skipped: there is no tshark");
        return;
    }
    let fields = ["-T", "fields", "-e", "ip.dsfield.dscp", "-Y", "infiniband.bth.opcode <= 0x0c"];
    let output = Command::new("tshark").arg("-r").arg(&file).args(fields).output();
    let text = String::from_utf8(output.expect("tshark runs").stdout).expect("text");
    let mut seen: Vec<u8> = text.lines().map(|line| line.parse().expect("a number")).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, (0..64).collect::<Vec<_>>());
    let malformed =
        Command::new("tshark").arg("-r").arg(&file).args(["-Y", "_ws.malformed"]).output();
    assert_eq!(malformed.expect("tshark runs").stdout, b"");
}

/// Three hosts, two of which send to the third what is too much for it; `rest` says with which code points.
fn star(rest: &str) -> String {
    format!(
        "stop = \"2ms\"\n[topology.single-switch]\nhosts = 3\n\
         link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n[switch]\n\
         buffer = \"500KB\"\ntrust = \"dscp\"\npriority_of = {{ 26 = 3 }}\n\
         other_code_points = \"default-priority\"\n[workload.incast]\nsenders = 2\nbytes = \"1MB\"\n{rest}"
    )
}

#[test]
fn a_switch_goes_by_the_code_point() {
    // Priority 3 is lossless, 0 is not.
    let totals = |rest: &str| {
        let run = run(&star(rest));
        run.simulation.network().totals(run.simulation.now())
    };
    let lossless = totals("marking = { dscp = 26 }");
    assert!(lossless.pauses > 0 && lossless.frames_dropped == 0, "{lossless:?}");
    // DSCP 24 is in no map: best effort.
    let other = totals("");
    assert!(other.pauses == 0 && other.frames_dropped > 0, "{other:?}");
    // The same of frames whose host means priority 5 by it, but then the pauses of priority 3 stop nobody.
    let unheard = totals("priority = 5\nmarking = { dscp = 26 }");
    assert!(unheard.pauses > 0 && unheard.frames_dropped > 0, "{unheard:?}");
}

fn notes(text: &str) -> Vec<String> {
    let scenario = Scenario::parse(text, Path::new("notes.toml"), &[]).expect("it reads");
    let plan = scenario.plan().expect("it can run");
    scenario.without_effect(&plan).iter().map(ToString::to_string).collect()
}

#[test]
fn a_map_that_nobody_uses_is_told_of() {
    let found = notes(&star(""));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("switch.priority_of.26") && found[0].contains("hosts send 24"),
        "{found:?}"
    );
    assert!(notes(&star("marking = { dscp = 26 }")).is_empty());
    let v1 = star("").replace("[topology", "[roce]\nversion = 1\n[topology");
    let found = notes(&v1);
    assert!(found.iter().any(|note| note.contains("no frame has that field")), "{found:?}");
}

#[test]
fn code_points_that_no_frame_has_are_told_of_once() {
    // TCP takes those of its class.
    let tcp = "transport = \"tcp\"\nmarking = { dscp = 26 }\n[tcp]\npriority = 2";
    let found = notes(&star(tcp));
    let told: Vec<_> = found.iter().filter(|note| note.contains("frames of TCP")).collect();
    assert!(told.len() == 1 && told[0].contains("class.2.marking"), "{found:?}");
    // A class that nothing is of.
    let found = notes(&star("marking = { dscp = 26 }\n[class.5]\nmarking = { dscp = 33 }"));
    assert!(found.len() == 1 && found[0].contains("class.5"), "{found:?}");
    // An override with the same entry says nothing new.
    let map = "[[switch.override]]\nswitches = [\"switch-0\"]\npriority_of = { 26 = 3, 27 = 3 }";
    let found = notes(&star(map));
    let of = |code: &str| found.iter().filter(|note| note.contains(code)).count();
    assert_eq!((of("priority_of.26"), of("priority_of.27")), (1, 1), "{found:?}");
}

#[test]
fn what_does_not_fit_is_refused() {
    for (rest, key, value, fix) in [
        ("marking = { dscp = 64 }", "workload.incast.marking.dscp", "64", "0 to 63"),
        ("marking = { pcp = 8 }", "workload.incast.marking.pcp", "8", "0 to 7"),
        ("marking = { pcp = 3 }", "workload.incast.marking.pcp", "3", "tagged"),
        (
            "marking = { dscp = 26, traffic_class = 104 }",
            "workload.incast.marking.traffic_class",
            "104",
            "one of them",
        ),
        ("marking = { traffic_class = 256 }", "workload.incast.marking.traffic_class", "256", ""),
        ("[class.3]\nmarking = { dscp = 99 }", "class.3.marking.dscp", "99", "0 to 63"),
        (
            "[[host.marking]]\nhosts = [\"host-9\"]\nmarking = { dscp = 1 }",
            "host.marking[0].hosts[0]",
            "host-9",
            "host-0",
        ),
        ("[[host.marking]]\nmarking = {}", "host.marking[0].marking", "", "dscp"),
        (
            "[[host.marking]]\npriorities = [8]\nmarking = { dscp = 1 }",
            "host.marking[0].priorities[0]",
            "8",
            "0 to 7",
        ),
        (
            "[[host.marking]]\npriorities = []\nmarking = { dscp = 1 }",
            "host.marking[0].priorities",
            "[]",
            "`[3]`",
        ),
        (
            "[[host.marking]]\nhosts = []\nmarking = { dscp = 1 }",
            "host.marking[0].hosts",
            "[]",
            "leave",
        ),
        ("[roce]\ncnp_marking = { dscp = 70 }", "roce.cnp_marking.dscp", "70", "0 to 63"),
        (
            "[[switch.override]]\nswitches = [\"switch-0\"]\nother_code_points = \"none\"",
            "other_code_points",
            "none",
            "upper-bits",
        ),
    ] {
        let error = try_plan(&star(rest)).expect_err(rest).to_string();
        let key = key.replace("workload.incast.", "marking");
        let key = key.rsplit('.').next().expect("a part");
        for part in [key, value, fix] {
            assert!(error.contains(part), "{rest}: {part} is missing in {error}");
        }
    }
}
