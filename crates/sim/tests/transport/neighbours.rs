//! ARP and Neighbour Discovery: flows wait for the address of their next hop.

use std::path::{Path, PathBuf};

use rocelab_capture::CaptureReader;
use rocelab_sim::network::{FlowFailure, NeighbourTotals};
use rocelab_sim::{Planning, Scenario};
use rocelab_transport::CompletionStatus;
use rocelab_wire::{Arp, ArpOperation, Body, EtherType, Frame, Ipv6, NeighbourMessage};

use crate::support::{self, Run, run, try_plan};

fn text(roce: &str, more: &str, starts: &[&str]) -> String {
    let flows: Vec<_> = starts
        .iter()
        .map(|start| {
            format!(
                "{{ from = \"host-0\", to = \"host-1\", bytes = \"1KB\", start = \"{start}\" }}"
            )
        })
        .collect();
    format!(
        "[roce]\n{roce}\n[topology.single-switch]\nhosts = 2\n\
         link = {{ rate = \"100Gbps\", delay = \"100ns\" }}\n[congestion_control.none]\n{more}\
         [workload.flows]\nlist = [{}]\n",
        flows.join(", ")
    )
}

/// Frames of neither data nor acknowledgements over links.
fn control(run: &Run) -> u64 {
    run.simulation.network().totals(run.simulation.now()).traversals.control
}

/// A question and an answer, each over one link: (8 + L) x 80 ps and 100 ns. ARP has 14 + 28 bytes and FCS, so 64; Neighbour
/// Discovery 14 + 40 + 32 + 4 = 90; an 802.1Q tag 4 more.
#[test]
fn a_flow_waits_for_one_question_and_its_answer() {
    for (keys, len) in [
        ("ip = \"ipv4\"", 64),
        ("ip = \"ipv6\"", 90),
        ("ip = \"ipv4\"\ntagging = \"tagged\"", 64),
        ("ip = \"ipv6\"\ntagging = \"tagged\"", 94),
    ] {
        let known = run(&text(keys, "", &["0s"]));
        let asked = run(&text(&format!("{keys}\nneighbours = {{}}"), "", &["0s"]));
        let waited = 2 * ((8 + len) * 80 + 100_000);
        let [known, later] = [&known, &asked].map(|run| run.ends[0].finished.ps());
        assert_eq!(later - known, waited, "{keys}");
        assert_eq!(control(&asked), 2);
    }
}

/// RFC 4861: an entry is stale after its time. Its next use waits for nothing, and asks again after the delay.
#[test]
fn a_stale_entry_is_used_and_asked_for_again() {
    for (reachable, questions) in [("1s", 1), ("100us", 2)] {
        let roce = format!("neighbours = {{ reachable_time = \"{reachable}\", delay = \"10us\" }}");
        let run = run(&text(&roce, "", &["0s", "1ms", "2ms"]));
        assert!(run.ends.iter().all(|end| end.status == CompletionStatus::Success));
        let expected = if questions == 1 { 2 } else { 6 };
        assert_eq!(control(&run), expected, "{reachable}");
    }
}

const DOWN: &str = "[[failure]]\nkind = \"link-down\"\nport = \"switch-0:0\"\nat = \"0s\"\n";

/// Questions at 0, 1 and 2 ms; nobody answers by 3 ms.
#[test]
fn a_flow_fails_whose_next_hop_does_not_answer() {
    let run = run(&text("neighbours = { retransmit = \"1ms\" }", DOWN, &["0s", "500us"]));
    for end in &run.ends {
        assert_eq!(end.failure, Some(FlowFailure::AddressUnresolved));
        assert_eq!(end.finished.ps(), 3_000_000_000);
    }
    assert_eq!(run.ends.len(), 2);
}

/// Of a flow of TCP that never began nothing is delivered, and all of another one.
#[test]
fn a_flow_of_tcp_fails_as_one_of_rdma() {
    let run = run(&format!(
        "[roce]\nneighbours = {{ retransmit = \"1ms\" }}\n[topology.single-switch]\nhosts = 3\n\
         link = {{ rate = \"100Gbps\", delay = \"100ns\" }}\n[congestion_control.none]\n{DOWN}\
         [workload.flows]\ntransport = \"tcp\"\nlist = [\
         {{ from = \"host-0\", to = \"host-1\", bytes = \"500KB\" }}, \
         {{ from = \"host-2\", to = \"host-1\", bytes = \"10KB\" }}]\n"
    ));
    run.simulation.network().audit().expect("all that is completed was delivered");
    let mut ends: Vec<_> = run.ends.iter().map(|end| (end.flow, end.failure)).collect();
    ends.sort_by_key(|end| end.0);
    assert_eq!(ends, [(0, Some(FlowFailure::AddressUnresolved)), (1, None)]);
    let failed = run.ends.iter().find(|end| end.flow == 0).expect("it has ended");
    assert_eq!(failed.finished.ps(), 3_000_000_000);
    let delivered = run.simulation.network().tcp_counters().payload_delivered;
    assert_eq!(delivered, 10_000);
}

/// While its link is down, a host keeps its question, and one of them only: it is answered when the link is up.
#[test]
fn a_question_waits_for_the_link() {
    let failure = format!("{DOWN}lasts = \"1500us\"\n");
    let run =
        run(&text("neighbours = { retransmit = \"200us\", attempts = 100 }", &failure, &["0s"]));
    assert_eq!(run.ends[0].status, CompletionStatus::Success);
    assert!((1_500_000_000..1_501_000_000).contains(&run.ends[0].finished.ps()));
    assert_eq!(control(&run), 2);
}

/// RoCE v1 has no IP addresses: nobody asks.
#[test]
fn v1_asks_for_nothing() {
    let run = run(&text("version = 1\nneighbours = {}", "", &["0s"]));
    assert_eq!(control(&run), 0);
}

/// Questions and answers that were sent.
fn sent(run: &Run) -> (u64, u64) {
    let totals = run.simulation.network().totals(run.simulation.now());
    let NeighbourTotals { solicitations, advertisements } = totals.layer2.neighbours;
    (solicitations, advertisements)
}

fn drops(run: &Run) -> Vec<(&'static str, u64)> {
    run.simulation.network().totals(run.simulation.now()).drops.into_iter().collect()
}

/// A bridge floods the question to both others: the peer answers, the third host drops its copy. Question and answer take four
/// links in turn.
#[test]
fn a_bridge_floods_a_question_and_the_peer_answers() {
    let text = |roce: &str| {
        text(roce, "[layer3]\n", &["0s"])
            .replace("single-switch]\nhosts = 2", "single-switch]\nhosts = 3")
    };
    for (keys, len) in [("ip = \"ipv4\"", 64), ("ip = \"ipv6\"", 90)] {
        let known = run(&text(keys));
        let asked = run(&text(&format!("{keys}\nneighbours = {{}}")));
        let waited = 4 * ((8 + len) * 80 + 100_000);
        let [known, later] = [&known, &asked].map(|run| run.ends[0].finished.ps());
        assert_eq!(later - known, waited, "{keys}");
        assert_eq!(sent(&asked), (1, 1));
        // Over links: the question once, its two copies, and the answer twice.
        assert_eq!(control(&asked), 5);
        assert_eq!(drops(&asked), [("foreign_destination", 1)]);
    }
}

/// The peer has heard of the asker: its own flow starts at once, and asks after the delay if that is so (RFC 4861, section 7.2.3).
#[test]
fn who_was_asked_knows_the_asker() {
    let roce = "neighbours = { delay = \"20us\" }";
    let back = "{ from = \"host-1\", to = \"host-0\", bytes = \"1MB\", start = \"10us\" }]";
    let text = |roce: &str| {
        let text = text(roce, "[layer3]\n", &["0s"]);
        format!("{}, {back}\n", text.trim_end().trim_end_matches(']'))
    };
    let (known, asked) = (run(&text("")), run(&text(roce)));
    let end = |run: &Run| run.ends.iter().find(|end| end.flow == 1).expect("it ends").finished;
    // The probe itself takes a little of the link's time; a question and its answer would take 400 ns.
    let [known, later] = [end(&known).ps(), end(&asked).ps()];
    assert!((known..known + 20_000).contains(&later), "it waits for nothing");
    assert_eq!(sent(&asked), (2, 2), "one broadcast, and one probe at the known address");
}

/// With one wrong bit of a thousand, 0.999^512 = 60 % of the frames of 64 bytes arrive. What is lost is asked for again, and a
/// flow waits for whole times of retransmission.
#[test]
fn a_lost_question_or_answer_is_asked_for_again() {
    let keys = "neighbours = { retransmit = \"1ms\", attempts = 50 }";
    let link = "[[link]]\nports = [\"host-0:0\"]\nbit_error_rate = 0.001\n";
    let mut lost = 0;
    for seed in 1..=8 {
        let run = run(&format!("seed = {seed}\n{}", text(keys, link, &["0s"])));
        let (questions, answers) = sent(&run);
        assert!(answers <= questions && questions >= 1, "{seed}");
        assert_eq!(run.ends[0].failure, None, "{seed}");
        assert!(run.ends[0].finished.ps() >= (questions - 1) * 1_000_000_000, "{seed}");
        lost += questions - 1;
    }
    assert!((3..60).contains(&lost), "each exchange succeeds with 36 %: 14 are expected, {lost}");
}

fn captured(name: &str, text: &str) -> PathBuf {
    support::captured(&format!("neighbours-{name}"), text)
}

/// A question or an answer as text, with the MAC addresses and VLAN of its frame; of data frames the first one of each destination.
fn frames(file: &Path) -> Vec<String> {
    let mut reader = CaptureReader::open(file).expect("a capture");
    let mut all = Vec::new();
    while let Some(captured) = reader.next_frame() {
        let captured = captured.expect("a frame");
        let frame = Frame::parse(captured.bytes).expect("a whole frame");
        let what = match (frame.ethernet.ether_type, &frame.body) {
            (EtherType::ARP, Body::Other(bytes)) => {
                let arp = Arp::parse(bytes).expect("ARP");
                let is_reply = arp.operation == ArpOperation::REPLY;
                let target =
                    if is_reply { format!(" to {}", arp.target_mac) } else { String::new() };
                assert_eq!(arp.sender_mac, frame.ethernet.source);
                format!("{arp}{target}")
            }
            (EtherType::IPV6, Body::Other(bytes)) => {
                let ip = Ipv6::parse(bytes).expect("IPv6");
                let message = NeighbourMessage::parse(&bytes[Ipv6::LEN..]).expect("ND");
                assert_eq!(ip.hop_limit, 255, "RFC 4861, section 7.1");
                let right = message.with_checksum(ip.source, ip.destination);
                assert_eq!(message.checksum, right.checksum);
                format!(
                    "{message} flags {} {} > {}",
                    message.flags >> 29,
                    ip.source,
                    ip.destination
                )
            }
            _ => "data".to_owned(),
        };
        let vlan = frame.vlan[0].map_or(0, |tag| tag.vid);
        let row =
            format!("{} > {} {vlan}: {what}", frame.ethernet.source, frame.ethernet.destination);
        if !all.contains(&row) {
            all.push(row);
        }
    }
    all
}

const RACKS: &str = "[topology.leaf-spine]\nleaves = 2\nspines = 1\nhosts_per_leaf = 2\n\
    host_link = { rate = \"100Gbps\", cable = \"3m\" }\nfabric_link = { rate = \"100Gbps\", cable = \"3m\" }\n\
    [congestion_control.none]\n[capture]\nports = [\"host-0\"]\n\
    [[subnet]]\nhosts = [\"host-0..host-1\"]\nipv4 = \"10.1.0.0/24\"\nipv6 = \"fd00:1::/64\"\n\
    [[subnet]]\nhosts = [\"host-2..host-3\"]\nipv4 = \"10.2.0.0/24\"\nipv6 = \"fd00:2::/64\"\n\
    [[address]]\nhosts = [\"host-0\"]\nmac = \"b8:59:9f:00:00:01\"\nipv4 = \"10.1.0.254\"\n";

fn racks(roce: &str, layer3: &str, to: &str) -> String {
    format!(
        "[roce]\n{roce}\nneighbours = {{}}\n{layer3}{RACKS}\
         [workload.flows]\nlist = [{{ from = \"host-0\", to = \"{to}\", bytes = \"1KB\" }}]\n"
    )
}

/// In one subnet the peer is asked for, by another one the router, by the last address that no host has; data goes where the answer says.
#[test]
fn hosts_ask_for_the_peer_in_their_subnet_and_else_for_the_router() {
    let own = "b8:59:9f:00:00:01";
    let layer3 = "[layer3]\nrouters = [\"spine-0\"]\n[layer2]\nvlans = [{ id = 10, hosts = [\"host-0..host-1\"] }]\n";
    let tagged = "tagging = \"tagged\"";
    let peer = "02:00:00:00:00:01";
    let expected = |far: &str, far_ip: &str, vlan: u16| {
        [
            format!("{own} > ff:ff:ff:ff:ff:ff {vlan}: ARP who has {far_ip}? tell 10.1.0.254"),
            format!("{far} > {own} {vlan}: ARP {far_ip} is at {far} to {own}"),
            format!("{own} > {far} {vlan}: data"),
            format!("{far} > {own} {vlan}: data"),
        ]
    };
    let found = frames(&captured("peer", &racks(tagged, layer3, "host-1")));
    assert_eq!(found, expected(peer, "10.1.0.1", 10));
    // Nodes: hosts 0 to 3, leaves 4 and 5, the spine 6; its port 0 leads to leaf-0.
    let found = frames(&captured("router", &racks(tagged, layer3, "host-2")));
    assert_eq!(found, expected("06:00:00:00:00:06", "10.1.0.253", 10));
    // Without `[layer3]` every switch is a router, which answers for hosts of the same subnet too.
    let found = frames(&captured("proxy", &racks("", "", "host-1")));
    assert_eq!(found, expected("06:00:00:00:00:04", "10.1.0.1", 0));
    let found = frames(&captured("gateway", &racks("", "", "host-2")));
    assert_eq!(found, expected("06:00:00:00:00:04", "10.1.0.253", 0));
}

/// The same by Neighbour Discovery: routers by their link-local addresses, and questions to the group of the solicited node. Flags: 7 of
/// routers, 3 of hosts, and 2 of who answers in place of another.
#[test]
fn neighbour_discovery_has_the_addresses_of_the_standard() {
    let own = "b8:59:9f:00:00:01";
    let layer3 = "[layer3]\nrouters = [\"spine-0\"]\n";
    let expected = |far: &str, far_ip: &str, group: &str, flags: u32| {
        let low = group.rsplit(':').next().expect("a number");
        let mac = format!("33:33:ff:00:00:{:0>2}", low);
        [
            format!(
                "{own} > {mac} 0: neighbour solicitation for {far_ip} flags 0 fd00:1::1 > {group}"
            ),
            format!(
                "{far} > {own} 0: neighbour advertisement: {far_ip} is at {far} flags {flags} {far_ip} > fd00:1::1"
            ),
            format!("{own} > {far} 0: data"),
            format!("{far} > {own} 0: data"),
        ]
    };
    let ip = "ip = \"ipv6\"";
    let found = frames(&captured("peer-6", &racks(ip, layer3, "host-1")));
    assert_eq!(found, expected("02:00:00:00:00:01", "fd00:1::2", "ff02::1:ff00:2", 3));
    let found = frames(&captured("router-6", &racks(ip, layer3, "host-2")));
    assert_eq!(found, expected("06:00:00:00:00:06", "fe80::400:ff:fe00:6", "ff02::1:ff00:6", 7));
    let found = frames(&captured("proxy-6", &racks(ip, "", "host-1")));
    assert_eq!(found, expected("06:00:00:00:00:04", "fd00:1::2", "ff02::1:ff00:2", 2));
}

/// Hosts of RoCE v1 ask for nothing in a network of both versions, but for their TCP.
#[test]
fn of_both_versions_v2_asks() {
    let text = |more: &str| {
        racks("v1_hosts = [\"host-0..host-1\"]", "[layer3]\nrouters = [\"spine-0\"]\n", "host-1")
            .replace("bytes = \"1KB\" }", &format!("bytes = \"1KB\" }}{more}"))
    };
    assert_eq!(sent(&run(&text(""))), (0, 0));
    let more = ", { from = \"host-2\", to = \"host-3\", bytes = \"1KB\" }";
    assert_eq!(sent(&run(&text(more))), (1, 1));
    let tcp = "\n[workload.flows]\ntransport = \"tcp\"";
    assert_eq!(sent(&run(&text("").replace("\n[workload.flows]", tcp))), (1, 1));
}

/// A bridge learns from questions and answers: one of an unknown host goes to all, its answer to one port.
#[test]
fn bridges_learn_from_them() {
    let text = text(
        "neighbours = {}",
        "[layer3]\n[layer2]\nlearning = {}\nentry = [{ hosts = [\"host-0\", \"host-1\"], mac = \"gone\" }]\n",
        &["0s"],
    );
    let text = text.replace("single-switch]\nhosts = 2", "single-switch]\nhosts = 3");
    let run = run(&text);
    let totals = run.simulation.network().totals(run.simulation.now());
    assert_eq!(totals.layer2.floods, 1, "only the question: data finds both entries");
    assert_eq!(totals.layer2.mac_entries.learnt, 2);
}

#[test]
fn what_cannot_be_is_refused() {
    for (text, expected) in [
        (
            racks("", "", "host-1").replace("10.1.0.0/24", "10.1.0.252/30"),
            "no address is left for the router `leaf-0`",
        ),
        (
            racks("", "", "host-1")
                .replace("mac = \"b8:59:9f:00:00:01\"", "stale_gid = \"10.9.9.9\""),
            "address[0].stale_gid",
        ),
        (
            text(
                "neighbours = {}",
                "[[address]]\nhosts = [\"host-1\"]\nipv4 = \"10.128.0.1\"\n",
                &["0s"],
            ),
            "`host-1` has the address of the router `switch-0`, 10.128.0.1",
        ),
    ] {
        let error = try_plan(&text).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
        assert!(
            error.contains("help") || error.contains("leave out") || error.contains("give"),
            "{error}"
        );
    }
}

#[test]
fn mistakes_are_refused() {
    for (keys, expected) in [
        ("attempts = 0", "give 1 to 255"),
        ("retransmit = \"0s\"", "roce.neighbours.retransmit"),
        ("reachable_time = \"0s\"", "roce.neighbours.reachable_time"),
        ("delay = \"2000s\"", "roce.neighbours.delay"),
    ] {
        let text = text(&format!("neighbours = {{ {keys} }}"), "", &["0s"]);
        let error = try_plan(&text).expect_err(keys).to_string();
        assert!(error.contains(expected), "{keys}: {error}");
    }
}

/// Two leaves and a spine, each of them a router: the hosts of one subnet are at both leaves, and each leaf has an address of its own.
#[test]
fn no_two_routers_have_one_address() {
    let text = racks("", "", "host-2")
        .replace("hosts = [\"host-0..host-1\"]\nipv4", "hosts = [\"host-0\", \"host-2\"]\nipv4")
        .replace("hosts = [\"host-2..host-3\"]\nipv4", "hosts = [\"host-1\", \"host-3\"]\nipv4");
    let plan = try_plan(&text).unwrap_or_else(|error| panic!("{error}"));
    let routers = &plan.roce.neighbours.as_ref().expect("hosts ask").routers;
    // Nodes: hosts 0 to 3, leaves 4 and 5. host-0 has 10.1.0.254.
    let of = |host, router| routers[&(host, router)].to_string();
    assert_eq!([of(0, 4), of(2, 5)], ["10.1.0.253", "10.1.0.252"]);
    assert_eq!([of(1, 4), of(3, 5)], ["10.2.0.254", "10.2.0.253"]);
    // Six addresses are enough for two hosts and two leaves, and two are not.
    let small = text.replace("10.1.0.0/24", "10.1.0.0/29").replace("10.1.0.254", "10.1.0.6");
    try_plan(&small).unwrap_or_else(|error| panic!("{error}"));
    let smaller = text.replace("10.1.0.0/24", "10.1.0.0/30").replace("10.1.0.254", "10.1.0.2");
    let error = try_plan(&smaller).expect_err("no address is left").to_string();
    assert!(error.contains("no address is left for the router `leaf-0`"), "{error}");
}

/// Code points of Neighbour Discovery are sent where hosts ask: a class that says what they are has an effect there, and no other one.
#[test]
fn code_points_are_sent_by_who_asks() {
    let told = |roce: &str| {
        let text = text(
            &format!("ip = \"ipv6\"\npriority = 3\ncnp_priority = 3\n{roce}"),
            "[layer3]\n[class.0]\nmarking = { dscp = 5 }\n",
            &["0s"],
        );
        let scenario = Scenario::parse(&text, Path::new("asks.toml"), &[]);
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        let plan = scenario.plan().unwrap_or_else(|error| panic!("{error}"));
        let notes = scenario.without_effect(&plan);
        notes.iter().any(|note| note.to_string().contains("class.0"))
    };
    assert!(told(""));
    assert!(!told("neighbours = {}"));
    assert!(told("neighbours = {}\nv1_hosts = [\"host-0\", \"host-1\"]"));
}
