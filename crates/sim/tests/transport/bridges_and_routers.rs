//! Bridges and routers in one network, with hosts of both versions of RoCE.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rocelab_capture::CaptureReader;
use rocelab_sim::network::RecordKind;
use rocelab_sim::{Planning, Scenario, Simulation, ideal_fct};
use rocelab_transport::CompletionStatus;
use rocelab_units::Duration;
use rocelab_wire::{Frame, Network};

use crate::support::try_plan;

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bridges-{name}"));
    std::fs::create_dir_all(&folder).expect("the folder takes folders");
    folder
}

/// Two racks with bridges, and a router between them.
fn racks(rest: &str, flow: [u32; 2]) -> String {
    let [from, to] = flow;
    format!(
        "[roce]\nv1_hosts = [\"host-0..host-1\", \"host-4\"]\nack_timeout = 4\nretry_count = 1\n\
         tagging = \"tagged\"\n{rest}\n[capture]\nports = [\"host-{from}\", \"host-{to}\", \"spine-0\"]\n\
         format = \"pcap\"\n[topology.leaf-spine]\nleaves = 2\nspines = 1\nhosts_per_leaf = 4\n\
         host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         fabric_link = {{ rate = \"400Gbps\", cable = \"30m\" }}\n[congestion_control.none]\n\
         [workload.flows]\nlist = [{{ from = \"host-{from}\", to = \"host-{to}\", bytes = \"4KB\" }}]\n"
    )
}

const ROUTER: &str = "[layer3]\nrouters = [\"spine-0\"]\n";

/// What came of a run.
struct Ran {
    /// Of each flow, in order.
    completed: Vec<bool>,
    /// How long each took.
    times: Vec<Duration>,
    /// Where frames were dropped, and why.
    drops: BTreeSet<(u32, &'static str)>,
    simulation: Simulation,
}

fn run(plan: rocelab_sim::Plan, capture: Option<&Path>) -> Ran {
    let (plan, mut times) = (Arc::new(plan), BTreeMap::new());
    let flows = plan.flows.len();
    let mut simulation: Simulation =
        Simulation::new(Arc::clone(&plan)).expect("a plan becomes a network");
    if let Some(folder) = capture {
        simulation.start_capture(folder).expect("the folder takes files");
    }
    simulation.run_to_end();
    if capture.is_some() {
        simulation.finish_capture().expect("the folder takes files");
    }
    simulation.network().audit().unwrap_or_else(|error| panic!("{error}"));
    let (mut ended, mut drops) = (BTreeMap::new(), BTreeSet::new());
    for record in simulation.take_records() {
        match record.kind {
            RecordKind::FlowEnd(end) => {
                times.insert(end.flow, end.finished.since(plan.flows[end.flow as usize].start));
                let before = ended.insert(end.flow, end.status == CompletionStatus::Success);
                assert_eq!(before, None, "once");
            }
            RecordKind::Drop(dropped) => {
                drops.insert((dropped.node, dropped.cause.name()));
            }
            _ => {}
        }
    }
    let completed = (0u32..).take(flows).map(|flow| ended[&flow]).collect();
    Ran { completed, times: times.into_values().collect(), drops, simulation }
}

/// Of each RDMA frame in a capture: MAC addresses, VLAN, and hop limit.
fn frames(file: &Path) -> Vec<[String; 4]> {
    let mut reader = CaptureReader::open(file).expect("a capture");
    let mut all = Vec::new();
    while let Some(captured) = reader.next_frame() {
        let captured = captured.expect("a frame");
        let frame = Frame::parse(captured.bytes).expect("a whole frame");
        assert!(frame.icrc_ok(), "{frame}");
        let Some(roce) = frame.roce() else { continue };
        let hops = match roce.network {
            Network::V1 { grh, .. } => format!("v1 {}", grh.hop_limit),
            Network::V2Ipv4 { ip, .. } => format!("v2 {}", ip.time_to_live),
            Network::V2Ipv6 { ip, .. } => format!("v2 {}", ip.hop_limit),
        };
        let vlan = frame.vlan[0].map_or(0, |tag| tag.vid).to_string();
        let row = [frame.ethernet.source.to_string(), frame.ethernet.destination.to_string()];
        let [source, destination] = row;
        let row = [source, destination, vlan, hops];
        if !all.contains(&row) {
            all.push(row);
        }
    }
    all
}

#[test]
fn hosts_on_one_bridge_see_each_other() {
    let name = "one-bridge";
    let ran = run(try_plan(&racks(ROUTER, [2, 3])).expect("it can run"), Some(&folder(name)));
    assert_eq!((ran.completed.as_slice(), ran.drops.len()), (&[true][..], 0));
    let found = frames(&folder(name).join("capture-host-3.pcap"));
    let (there, back) = ("02:00:00:00:00:02", "02:00:00:00:00:03");
    let row = |from: &str, to: &str| [from, to, "0", "v2 64"].map(str::to_owned);
    assert_eq!(found, [row(there, back), row(back, there)]);
}

#[test]
fn a_router_puts_in_its_addresses_and_takes_one_off_the_ttl() {
    let name = "router";
    let vlans = "[layer2]\nvlans = [{ id = 10, hosts = [\"host-0..host-3\"] }, { id = 20, hosts = [\"host-4..host-7\"] }]\n";
    let text = racks(&format!("{ROUTER}{vlans}"), [2, 6]);
    let ran = run(try_plan(&text).expect("it can run"), Some(&folder(name)));
    assert_eq!((ran.completed.as_slice(), ran.drops.len()), (&[true][..], 0));
    // Hosts are nodes 0 to 7, leaves 8 and 9, and the spine 10: its port 0 leads to leaf-0.
    let row = |row: [&str; 4]| row.map(str::to_owned);
    let at_source = [
        row(["02:00:00:00:00:02", "06:00:00:00:00:0a", "10", "v2 64"]),
        row(["06:00:00:00:00:0a", "02:00:00:00:00:02", "10", "v2 63"]),
    ];
    assert_eq!(frames(&folder(name).join("capture-host-2.pcap")), at_source);
    let at_destination = [
        row(["06:00:01:00:00:0a", "02:00:00:00:00:06", "20", "v2 63"]),
        row(["02:00:00:00:00:06", "06:00:01:00:00:0a", "20", "v2 64"]),
    ];
    assert_eq!(frames(&folder(name).join("capture-host-6.pcap")), at_destination);
}

#[test]
fn v1_ends_at_a_router() {
    let name = "v1";
    let ran = run(try_plan(&racks(ROUTER, [0, 4])).expect("it can run"), Some(&folder(name)));
    assert_eq!(ran.completed, [false]);
    assert_eq!(ran.drops.into_iter().collect::<Vec<_>>(), [(10, "not_routable")]);
    let seen = [["02:00:00:00:00:00", "06:00:00:00:00:0a", "0", "v1 64"].map(str::to_owned)];
    assert_eq!(frames(&folder(name).join("capture-spine-0-port-0.pcap")), seen);
    let inside = run(try_plan(&racks(ROUTER, [0, 1])).expect("it can run"), None);
    assert_eq!((inside.completed.as_slice(), inside.drops.len()), (&[true][..], 0));
}

#[test]
fn a_host_drops_frames_of_the_other_version() {
    for (flow, node) in [([0, 2], 2), ([2, 0], 0)] {
        let ran = run(try_plan(&racks(ROUTER, flow)).expect("it can run"), None);
        assert_eq!(ran.completed, [false]);
        assert_eq!(ran.drops.into_iter().collect::<Vec<_>>(), [(node, "wrong_gid")]);
    }
}

#[test]
fn the_hop_limit_ends_at_a_router_and_not_at_a_bridge() {
    let limited =
        |flow| racks(ROUTER, flow).replace("retry_count = 1", "retry_count = 1\nhop_limit = 1");
    let ran = run(try_plan(&limited([2, 6])).expect("it can run"), None);
    assert_eq!(ran.drops.into_iter().collect::<Vec<_>>(), [(10, "ttl_expired")]);
    let ran = run(try_plan(&limited([2, 3])).expect("it can run"), None);
    assert_eq!(ran.completed, [true]);
}

#[test]
fn two_subnets_on_one_bridge_meet_at_the_router() {
    let subnets = "[[subnet]]\nhosts = [\"host-2\"]\nipv4 = \"10.1.0.0/24\"\n\
                   [[subnet]]\nhosts = [\"host-3\"]\nipv4 = \"10.2.0.0/24\"\n";
    let name = "two-subnets";
    let text = racks(&format!("{ROUTER}{subnets}"), [2, 3]);
    let ran = run(try_plan(&text).expect("it can run"), Some(&folder(name)));
    assert_eq!(ran.completed, [true]);
    let found = frames(&folder(name).join("capture-host-3.pcap"));
    let (router, host) = ("06:00:00:00:00:0a", "02:00:00:00:00:03");
    let row = |from: &str, to: &str, ttl: &str| [from, to, "0", ttl].map(str::to_owned);
    assert_eq!(found, [row(router, host, "v2 63"), row(host, router, "v2 64")]);
    // Without a router there is no way, though the bridge has one.
    let ran = run(try_plan(&text.replace(ROUTER, "[layer3]\n")).expect("it can run"), None);
    assert_eq!(ran.drops.into_iter().collect::<Vec<_>>(), [(8, "no_route")]);
}

/// Two tiers of routers: each leaf has a link to each of four spines.
fn routed(flows: &str) -> String {
    format!(
        "[layer3]\nrouters = [\"leaf-*\", \"spine-*\"]\n[topology.leaf-spine]\nleaves = 2\nspines = 4\n\
         hosts_per_leaf = 16\nhost_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         fabric_link = {{ rate = \"400Gbps\", cable = \"30m\" }}\n[congestion_control.none]\n\
         [workload.flows]\nlist = [{flows}]\n"
    )
}

#[test]
fn routers_spread_flows_over_next_hops_of_equal_cost_as_other_networks_do() {
    let flow = |host: u32| {
        let to = host + 16;
        format!("{{ from = \"host-{host}\", to = \"host-{to}\", bytes = \"100KB\" }}, ")
    };
    let flows: String = (0..16).map(flow).collect();
    let ran = run(try_plan(&routed(&flows)).expect("it can run"), None);
    assert_eq!((ran.completed, ran.drops.len()), (vec![true; 16], 0));
    // The same choices as without `[layer3]`, where all switches are routers too: the same hash chooses among as many ports.
    let plain = routed(&flows).replace("[layer3]\nrouters = [\"leaf-*\", \"spine-*\"]\n", "");
    let plain = run(try_plan(&plain).expect("it can run"), None);
    // What each spine has sent to leaf-0 and leaf-1: acknowledgements and data.
    let sent = |ran: &Simulation| {
        let ports = ran.network().ports().filter(|port| port.node >= 34);
        ports.map(|port| port.counters.bytes).collect::<Vec<_>>()
    };
    let spread = sent(&ran.simulation);
    assert_eq!(spread, sent(&plain.simulation));
    assert!(spread.iter().filter(|&&bytes| bytes > 0).count() >= 3, "{spread:?}");
}

#[test]
fn a_flow_alone_takes_its_ideal_time() {
    let vlans = "[layer2]\nvlans = [{ id = 10, hosts = [\"host-2\"] }, { id = 20, hosts = [\"host-3\"] }]\n";
    let subnets = "[[subnet]]\nhosts = [\"host-0\", \"host-2\"]\nipv4 = \"10.1.0.0/24\"\n\
                   [[subnet]]\nhosts = [\"host-1\", \"host-3\"]\nipv4 = \"10.2.0.0/24\"\n";
    let far = "{ from = \"host-0\", to = \"host-20\", bytes = \"100KB\" }";
    for text in [
        racks(ROUTER, [2, 3]),
        racks(ROUTER, [2, 6]),
        // Two subnets in one domain: v1 knows nothing of them, and v2 goes through the router.
        racks(&format!("{ROUTER}{subnets}"), [0, 1]),
        racks(&format!("{ROUTER}{subnets}"), [2, 3]),
        // To the router and back over the same link: two switches more than on the shortest path.
        racks(&format!("{ROUTER}{vlans}"), [2, 3]),
        routed(far),
    ] {
        let plan = try_plan(&text).expect("it can run");
        let ideal = ideal_fct(&plan, &plan.flows[0]);
        let ran = run(plan, None);
        assert_eq!((ran.times, ran.completed), (vec![ideal], vec![true]), "{text}");
    }
}

#[test]
fn telemetry_counts_the_switches_on_the_way_and_not_those_on_the_shortest_path() {
    // leaf-0, spine-0, leaf-0: three where the shortest path has one. Records are for five.
    let ring = |bridges: u32| {
        let nodes = 2 + bridges + 1;
        let mut text = format!("{nodes} {} {}\n", bridges + 1, bridges + 2);
        let _ =
            writeln!(text, "{}", (2..nodes).map(|id| id.to_string()).collect::<Vec<_>>().join(" "));
        let links = (2..2 + bridges).map(|bridge| (bridge, bridge + 1)).chain([(0, 2), (1, 2)]);
        for (a, b) in links {
            let _ = writeln!(text, "{a} {b} 100Gbps 100ns 0");
        }
        text
    };
    for (bridges, switches, fits) in [(2, 5, true), (3, 7, false)] {
        let folder = folder("telemetry");
        std::fs::write(folder.join("topology.txt"), ring(bridges)).expect("the folder takes files");
        let router = 2 + bridges;
        let text = format!(
            "[layer3]\nrouters = [\"switch-{router}\"]\n\
             [layer2]\nvlans = [{{ id = 10, hosts = [\"host-0\"] }}, {{ id = 20, hosts = [\"host-1\"] }}]\n\
             [topology.file]\npath = \"topology.txt\"\nformat = \"edge-list\"\n[congestion_control.hpcc]\n\
             [workload.flows]\nlist = [{{ from = \"host-0\", to = \"host-1\", bytes = \"4KB\" }}]\n"
        );
        let scenario = Scenario::parse(&text, &folder.join("telemetry.toml"), &[]);
        match scenario.and_then(|scenario| scenario.plan()) {
            Ok(plan) => assert_eq!((run(plan, None).completed, fits), (vec![true], true)),
            Err(error) => {
                let error = error.to_string();
                assert!(!fits && error.contains(&format!("{switches} switches")), "{error}");
            }
        }
    }
}

#[test]
fn what_does_not_arrive_is_said_beforehand() {
    let limited = "[roce]\nhop_limit = 1\n";
    for (flow, rest, expected) in [
        ([2, 3], ROUTER, None),
        ([0, 1], ROUTER, None),
        ([0, 4], ROUTER, Some("(not_routable)")),
        ([0, 2], ROUTER, Some("(wrong_gid)")),
        (
            [2, 6],
            "[layer3]\n[layer2]\nvlans = [{ id = 10, hosts = [\"host-6\"] }]\n",
            Some("(no_route)"),
        ),
        ([2, 6], limited, Some("(ttl_expired)")),
    ] {
        let text = match rest {
            "[roce]\nhop_limit = 1\n" => racks(ROUTER, flow).replace("[roce]\n", limited),
            rest => racks(rest, flow),
        };
        let scenario = Scenario::parse(&text, Path::new("test.toml"), &[]).expect("a scenario");
        let plan = scenario.plan().expect("it can run");
        let notes = scenario.without_effect(&plan);
        let notes: Vec<_> = notes.iter().map(ToString::to_string).collect();
        let found: Vec<_> = notes.iter().filter(|note| note.contains("do not arrive")).collect();
        match expected {
            None => assert!(found.is_empty(), "{notes:?}"),
            Some(cause) => assert!(found.len() == 1 && found[0].contains(cause), "{notes:?}"),
        }
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let both = "[layer3]\nrouters = [\"spine-0\"]\nmultilayer = [\"spine-0\"]\n";
    for (rest, key, what) in [
        ("", "roce.v1_hosts", "[layer3]"),
        (both, "layer3.multilayer", "spine-0"),
        ("[layer3]\nrouters = [\"spine-9\"]\n", "layer3.routers[0]", "spine-9"),
        (
            "[layer3]\n[layer2]\ndrop_incomplete_arp = true\n",
            "layer2.drop_incomplete_arp",
            "[layer3]",
        ),
        (
            "[layer3]\n[layer2]\nentry = [{ hosts = [\"host-0\"], arp = \"gone\" }]\n",
            "layer2.entry[0].arp",
            "every host",
        ),
        ("[layer3]\n[switch]\nforwarding = \"cut-through\"\n", "switch.forwarding", "[layer3]"),
        (
            "[layer3]\n[switch]\nforwarding_plane = \"router\"\n",
            "switch.forwarding_plane",
            "[layer3]",
        ),
        ("[layer3]\n[switch]\nload_balancing = \"round-robin\"\n", "switch.load_balancing", "hash"),
        (
            "[layer3]\n[[failure]]\nkind = \"link-down\"\nat = \"1us\"\nport = \"leaf-0:4\"\n",
            "failure[0]",
            "[layer3]",
        ),
        (
            "[layer3]\nrouters = [\"spine-0\"]\n[[subnet]]\nhosts = [\"host-0..host-7\"]\nipv4 = \"10.1.0.0/24\"\n",
            "subnet[0].hosts",
            "broadcast domain",
        ),
    ] {
        let error = try_plan(&racks(rest, [2, 3])).expect_err(rest).to_string();
        assert!(error.contains(key) && error.contains(what), "{rest}: {error}");
    }
    let needs_marks =
        racks(ROUTER, [0, 1]).replace("congestion_control.none", "congestion_control.dcqcn");
    let error = try_plan(&needs_marks).expect_err("v1 has no marks").to_string();
    assert!(error.contains("roce.v1_hosts") && error.contains("host-0"), "{error}");
}

/// Numbers that look random (Knuth's MMIX generator).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % bound
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Bridge,
    Router,
    Multilayer,
}

/// A network of bridges and routers: hosts come first.
struct Random {
    vlans: Vec<u16>,
    v1: Vec<bool>,
    roles: Vec<Role>,
    links: Vec<(usize, usize)>,
}

impl Random {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (hosts, switches) = (2 + dice.below(7), 1 + dice.below(6));
        let roles = [Role::Bridge, Role::Bridge, Role::Router, Role::Multilayer];
        let roles: Vec<_> = (0..switches).map(|_| roles[dice.below(4)]).collect();
        let mut links: Vec<_> =
            (0..hosts).map(|host| (host, hosts + dice.below(switches))).collect();
        for switch in 1..switches {
            links.push((hosts + dice.below(switch), hosts + switch));
        }
        for _ in 0..dice.below(3) {
            let (a, b) = (dice.below(switches), dice.below(switches));
            let link = (hosts + a.min(b), hosts + a.max(b));
            if a != b && !links.contains(&link) {
                links.push(link);
            }
        }
        let vlans = (0..hosts).map(|_| [0, 0, 10, 20][dice.below(4)]).collect();
        let v1 = (0..hosts).map(|_| dice.below(3) == 0).collect();
        Self { vlans, v1, roles, links }
    }

    fn hosts(&self) -> usize {
        self.vlans.len()
    }

    fn role(&self, node: usize) -> Option<Role> {
        node.checked_sub(self.hosts()).map(|switch| self.roles[switch])
    }

    /// The segment of each link: bridges join those of all of their links.
    fn segments(&self) -> Vec<usize> {
        let mut segment: Vec<usize> = (0..self.links.len()).collect();
        loop {
            let before = segment.clone();
            for node in self.hosts()..self.hosts() + self.roles.len() {
                if self.role(node) == Some(Role::Router) {
                    continue;
                }
                let at = |link: &usize| self.links[*link].0 == node || self.links[*link].1 == node;
                let own: Vec<_> = (0..self.links.len()).filter(at).collect();
                let least = own.iter().map(|&link| segment[link]).min().expect("a link");
                for link in own {
                    segment[link] = least;
                }
            }
            if segment == before {
                return segment;
            }
        }
    }

    /// The broadcast domain of a host: its segment and VLAN.
    fn domain(&self, segments: &[usize], host: usize) -> (usize, u16) {
        (segments[host], self.vlans[host]) // Link k is that of host k.
    }

    /// Routers at a segment.
    fn routers(&self, segments: &[usize], segment: usize) -> BTreeSet<usize> {
        let links = (0..self.links.len()).filter(|&link| segments[link] == segment);
        let ends = links.flat_map(|link| [self.links[link].0, self.links[link].1]);
        ends.filter(|&node| matches!(self.role(node), Some(Role::Router | Role::Multilayer)))
            .collect()
    }

    /// Whether routers join two segments.
    fn are_joined(&self, segments: &[usize], from: usize, to: usize) -> bool {
        // Two VLANs of one segment are joined by a router at it.
        if from == to {
            return !self.routers(segments, from).is_empty();
        }
        let mut known = BTreeSet::from([from]);
        loop {
            let routers: BTreeSet<_> =
                known.iter().flat_map(|&segment| self.routers(segments, segment)).collect();
            let reached = (0..self.links.len()).filter(|&link| {
                routers.contains(&self.links[link].0) || routers.contains(&self.links[link].1)
            });
            let mut all = known.clone();
            all.extend(reached.map(|link| segments[link]));
            if all == known {
                return known.contains(&to);
            }
            known = all;
        }
    }

    /// What becomes of frames from a host to another: none: they arrive; else why they are dropped, and at which nodes that may be.
    fn drop_of(&self, from: usize, to: usize) -> Option<(&'static str, BTreeSet<usize>)> {
        let segments = self.segments();
        let first = || BTreeSet::from([self.links[from].1]);
        let is_inside = self.domain(&segments, from) == self.domain(&segments, to);
        let routers = self.routers(&segments, segments[from]);
        if !is_inside && self.v1[from] {
            return Some(if routers.is_empty() {
                ("no_route", first())
            } else {
                ("not_routable", routers)
            });
        }
        if !is_inside && !self.are_joined(&segments, segments[from], segments[to]) {
            return Some(("no_route", if routers.is_empty() { first() } else { routers }));
        }
        (self.v1[from] != self.v1[to]).then(|| ("wrong_gid", BTreeSet::from([to])))
    }

    /// The scenario, with a flow for each of these pairs.
    fn text(&self, folder: &Path, flows: &[(usize, usize)], layer2: &str) -> String {
        let (hosts, switches) = (self.hosts(), self.roles.len());
        let mut edges = format!("{} {switches} {}\n", hosts + switches, self.links.len());
        let ids: Vec<_> = (hosts..hosts + switches).map(|id| id.to_string()).collect();
        let _ = writeln!(edges, "{}", ids.join(" "));
        for (a, b) in &self.links {
            let _ = writeln!(edges, "{a} {b} 100Gbps 100ns 0");
        }
        std::fs::write(folder.join("topology.txt"), edges).expect("the folder takes files");
        let named = |role| {
            let switches = (hosts..hosts + switches).filter(|&node| self.role(node) == Some(role));
            let names: Vec<_> = switches.map(|node| format!("\"switch-{node}\"")).collect();
            names.join(", ")
        };
        let of_hosts = |is_one: &dyn Fn(usize) -> bool| {
            let names =
                (0..hosts).filter(|&host| is_one(host)).map(|host| format!("\"host-{host}\""));
            names.collect::<Vec<_>>().join(", ")
        };
        let mut vlans = String::new();
        for id in [10, 20] {
            let members = of_hosts(&|host| self.vlans[host] == id);
            if !members.is_empty() {
                let _ = write!(vlans, "{{ id = {id}, hosts = [{members}] }}, ");
            }
        }
        let mut list = String::new();
        for (from, to) in flows {
            let _ = write!(
                list,
                "{{ from = \"host-{from}\", to = \"host-{to}\", bytes = \"1500B\" }}, "
            );
        }
        format!(
            "[roce]\nv1_hosts = [{}]\nack_timeout = 4\nretry_count = 1\n[layer2]\nvlans = [{vlans}]\n{layer2}\n\
             [layer3]\nrouters = [{}]\nmultilayer = [{}]\n[topology.file]\npath = \"topology.txt\"\n\
             format = \"edge-list\"\n[congestion_control.none]\n[workload.flows]\nlist = [{list}]\n",
            of_hosts(&|host| self.v1[host]),
            named(Role::Router),
            named(Role::Multilayer),
        )
    }
}

/// Flows between random hosts.
fn random_flows(network: &Random, seed: u64) -> Vec<(usize, usize)> {
    let mut dice = Dice(seed + 1_000);
    let flow = |dice: &mut Dice| {
        let from = dice.below(network.hosts());
        (from, (from + 1 + dice.below(network.hosts() - 1)) % network.hosts())
    };
    (0..1 + dice.below(8)).map(|_| flow(&mut dice)).collect()
}

#[test]
fn bridges_that_know_nobody_flood_and_learn() {
    let folder = folder("learning");
    let (mut floods, mut learnt) = (0, 0);
    for seed in 0..100 {
        let network = Random::new(seed);
        let flows = random_flows(&network, seed);
        let layer2 = "entry = [{ hosts = [\"all\"], mac = \"gone\" }]\nlearning = {}";
        let text = network.text(&folder, &flows, layer2);
        let scenario = Scenario::parse(&text, &folder.join("random.toml"), &[]);
        let plan = scenario.and_then(|scenario| scenario.plan());
        let ran = run(plan.unwrap_or_else(|error| panic!("{seed}: {error}\n{text}")), None);
        let mut accepted = 0;
        for (&(from, to), &completed) in flows.iter().zip(&ran.completed) {
            let arrives = network.drop_of(from, to).is_none();
            assert_eq!(completed, arrives, "{seed}: {from} to {to}\n{text}");
            accepted += if arrives { 1500 } else { 0 };
        }
        let counters = ran.simulation.network().nic_counters();
        assert_eq!(counters.payload_accepted, accepted, "{seed}: every message once\n{text}");
        let totals = ran.simulation.network().totals(ran.simulation.now());
        floods += totals.layer2.floods;
        learnt += totals.layer2.mac_entries.learnt;
    }
    assert!(floods > 100 && learnt > 100, "{floods} {learnt}");
}

#[test]
fn in_300_random_networks_frames_arrive_or_are_dropped_where_the_standards_say() {
    let folder = folder("random");
    let (mut arrived, mut by_cause) = (0, BTreeMap::<_, u32>::new());
    for seed in 0..300 {
        let network = Random::new(seed);
        let flows = random_flows(&network, seed);
        let text = network.text(&folder, &flows, "");
        let scenario = Scenario::parse(&text, &folder.join("random.toml"), &[]);
        let scenario = scenario.unwrap_or_else(|error| panic!("{seed}: {error}\n{text}"));
        let plan = scenario.plan().unwrap_or_else(|error| panic!("{seed}: {error}\n{text}"));
        let notes = scenario.without_effect(&plan);
        let is_said = notes.iter().any(|note| note.to_string().contains("do not arrive"));
        let is_due = flows.iter().any(|&(from, to)| network.drop_of(from, to).is_some());
        assert_eq!(is_said, is_due, "{seed}: {notes:?}\n{text}");
        let ideal: Vec<_> = plan.flows.iter().map(|flow| ideal_fct(&plan, flow)).collect();
        let ran = run(plan, None);
        let mut accepted = 0;
        let mut expected = BTreeSet::new();
        for ((&completed, &ideal), &time) in ran.completed.iter().zip(&ideal).zip(&ran.times) {
            assert!(!completed || time >= ideal, "{seed}: {time} is less than {ideal}\n{text}");
        }
        for (&(from, to), &completed) in flows.iter().zip(&ran.completed) {
            let dropped = network.drop_of(from, to);
            assert_eq!(completed, dropped.is_none(), "{seed}: {from} to {to}: {dropped:?}\n{text}");
            match dropped {
                None => (accepted, arrived) = (accepted + 1500, arrived + 1),
                Some((cause, nodes)) => {
                    *by_cause.entry(cause).or_default() += 1;
                    let place = ran
                        .drops
                        .iter()
                        .find(|(node, why)| *why == cause && nodes.contains(&(*node as usize)));
                    let place = place.unwrap_or_else(|| {
                        panic!(
                            "{seed}: {from} to {to}: {cause} at {nodes:?}: {:?}\n{text}",
                            ran.drops
                        )
                    });
                    expected.insert(*place);
                    expected.extend(
                        ran.drops.iter().filter(|(node, why)| {
                            *why == cause && nodes.contains(&(*node as usize))
                        }),
                    );
                }
            }
        }
        assert_eq!(ran.drops, expected, "{seed}: nothing else is dropped\n{text}");
        let counters = ran.simulation.network().nic_counters();
        assert_eq!(counters.payload_accepted, accepted, "{seed}: every message once\n{text}");
    }
    assert!(arrived > 200, "{arrived}");
    for cause in ["not_routable", "no_route", "wrong_gid"] {
        assert!(by_cause[cause] > 20, "{by_cause:?}");
    }
}
