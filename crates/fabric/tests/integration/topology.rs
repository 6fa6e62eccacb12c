//! The structured topologies: counts, degrees, numbering, parameters that are refused.

use std::path::Path;

use rocelab_fabric::topology::{
    LinkConfig, MAX_PORTS, PortReferenceError, TopologyError, TopologyFault,
};
use rocelab_fabric::{NodeKind, Topology, TopologyConfig};
use serde_json::json;

fn config(name: &str, parameters: serde_json::Value) -> TopologyConfig {
    serde_json::from_value(json!({ name: parameters })).expect("a topology's parameters")
}

fn build(name: &str, parameters: serde_json::Value) -> Result<Topology, TopologyError> {
    config(name, parameters).build(Path::new("."))
}

fn link(gbps: u32) -> serde_json::Value {
    json!({ "rate": format!("{gbps}Gbps"), "delay": "1us" })
}

/// For each node whose name starts with `prefix`, its number of ports.
fn degrees(topology: &Topology, prefix: &str) -> Vec<usize> {
    let adjacency = topology.adjacency();
    let named = (0..).zip(&topology.nodes).filter(|(_, node)| node.name.starts_with(prefix));
    named.map(|(id, _)| adjacency.ports_of(id).len()).collect()
}

/// The names at the other ends of a node's ports.
fn neighbours(topology: &Topology, name: &str) -> Vec<String> {
    let node = topology.node_by_name(name).expect("a node");
    let adjacency = topology.adjacency();
    let far = adjacency.ports_of(node).iter().map(|port| port.node as usize);
    far.map(|far| topology.nodes[far].name.clone()).collect()
}

#[test]
fn every_topology_has_a_summary_a_schema_and_examples_that_hold_what_all_promise() {
    let mut names = TopologyConfig::NAMES.to_vec();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), TopologyConfig::NAMES.len(), "no name twice");
    for (entry, name) in TopologyConfig::ENTRIES.iter().zip(TopologyConfig::NAMES) {
        assert_eq!(entry.name, *name);
        assert!(entry.summary.ends_with('.') && !entry.summary.starts_with(' '));
        let schema = (entry.schema)().to_value();
        let keys = schema["properties"].as_object().expect("parameters have keys");
        for (key, value) in keys {
            assert!(value.get("description").is_some(), "{name}.{key} is not described");
        }
    }
    for example in TopologyConfig::examples() {
        let name = example.name();
        let topology = example.build(Path::new(".")).expect("an example builds");
        topology.check().expect("an example is a network");
        assert!(topology.is_connected() || topology.is_in_parts, "{name}");
        assert!(
            topology
                .hosts()
                .zip(0..topology.host_count())
                .all(|(host, index)| host as usize == index),
            "{name}: hosts come first"
        );
        let adjacency = topology.adjacency();
        let has_one = |host| adjacency.ports_of(host).len() == 1;
        assert!(topology.hosts().all(has_one), "{name}");
        let in_servers = topology.servers.iter().flat_map(|server| &server.hosts).copied();
        assert!(topology.servers.is_empty() || in_servers.eq(topology.hosts()), "{name}");
        for (id, node) in (0..).zip(&topology.nodes) {
            assert_eq!(topology.node_by_name(&node.name), Some(id));
            assert!(!matches!(node.kind, NodeKind::Switch { tier: 0 }), "{name}: tiers are known");
        }
        assert_eq!(example.build(Path::new("/elsewhere")), Ok(topology), "{name} is reproducible");
        let text = serde_json::to_string(&example).expect("a configuration has a text form");
        assert_eq!(serde_json::from_str::<TopologyConfig>(&text).expect(&text), example);
    }
}

#[test]
fn the_documentation_names_every_topology_and_key() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/topologies.md");
    let text = std::fs::read_to_string(path).expect("the documentation");
    for entry in TopologyConfig::ENTRIES {
        assert!(text.contains(&format!("\n## {}\n", entry.name)), "{}", entry.name);
        let schema = (entry.schema)().to_value();
        for key in schema["properties"].as_object().expect("parameters have keys").keys() {
            assert!(text.contains(&format!("`{key}`")), "{}.{key}", entry.name);
            assert!(text.contains(&format!("\n{key} = ")) || text.contains(&format!(" {key} = ")));
        }
    }
}

#[test]
fn a_single_switch_has_a_port_a_host() {
    let topology = build("single-switch", json!({ "hosts": 3, "link": link(100) })).unwrap();
    assert_eq!(topology.describe_names(), "host-0 to host-2, switch-0");
    assert_eq!(neighbours(&topology, "switch-0"), ["host-0", "host-1", "host-2"]);
}

#[test]
fn a_dumbbell_has_its_bottleneck_on_the_last_ports() {
    let parameters =
        json!({ "left": 2, "right": 1, "host_link": link(100), "bottleneck": link(40) });
    let topology = build("dumbbell", parameters).unwrap();
    assert_eq!(neighbours(&topology, "switch-0"), ["host-0", "host-1", "switch-1"]);
    assert_eq!(neighbours(&topology, "switch-1"), ["host-2", "switch-0"]);
    let rates: Vec<_> = topology.links.iter().map(|link| link.rate.to_string()).collect();
    assert_eq!(rates, ["100Gbps", "100Gbps", "100Gbps", "40Gbps"]);
}

#[test]
fn every_leaf_reaches_every_spine() {
    let parameters = json!({
        "leaves": 3, "spines": 2, "hosts_per_leaf": 4, "host_link": link(100),
        "fabric_link": { "rate": "400Gbps", "cable": "30m" },
    });
    let topology = build("leaf-spine", parameters).unwrap();
    assert_eq!((topology.nodes.len(), topology.links.len()), (12 + 3 + 2, 12 + 6));
    assert_eq!(
        neighbours(&topology, "leaf-1"),
        ["host-4", "host-5", "host-6", "host-7", "spine-0", "spine-1"]
    );
    assert_eq!(neighbours(&topology, "spine-1"), ["leaf-0", "leaf-1", "leaf-2"]);
    assert_eq!(topology.links[12].delay.ps(), 150_000, "30 m at 5 ns a metre");
}

#[test]
fn a_fat_tree_has_equal_switches_and_k_cubed_over_four_hosts() {
    for k in [2u32, 4, 8, 16] {
        let parameters = json!({ "k": k, "host_link": link(100), "fabric_link": link(100) });
        let topology = build("fat-tree", parameters).unwrap();
        assert_eq!(topology.host_count(), (k * k * k / 4) as usize);
        assert_eq!(topology.links.len(), (3 * k * k * k / 4) as usize);
        assert_eq!(degrees(&topology, "tor-"), vec![k as usize; (k * k / 2) as usize]);
        assert_eq!(degrees(&topology, "aggregation-"), vec![k as usize; (k * k / 2) as usize]);
        assert_eq!(degrees(&topology, "core-"), vec![k as usize; (k * k / 4) as usize]);
    }
}

#[test]
fn a_clos_splits_its_cores_among_the_aggregation_switches() {
    let parameters = json!({
        "pods": 2, "racks_per_pod": 3, "hosts_per_rack": 2, "aggregations_per_pod": 2, "cores": 4,
        "host_link": link(100), "fabric_link": link(200), "core_link": link(400),
    });
    let topology = build("clos", parameters).unwrap();
    assert_eq!(
        topology.describe_names(),
        "host-0 to host-11, tor-0 to tor-5, aggregation-0 to aggregation-3, core-0 to core-3"
    );
    assert_eq!(
        neighbours(&topology, "tor-4"),
        ["host-8", "host-9", "aggregation-2", "aggregation-3"]
    );
    assert_eq!(
        neighbours(&topology, "aggregation-3"),
        ["tor-3", "tor-4", "tor-5", "core-2", "core-3"]
    );
    assert_eq!(neighbours(&topology, "core-1"), ["aggregation-0", "aggregation-2"]);
    let rate = |index: usize| topology.links[index].rate.to_string();
    assert_eq!([rate(0), rate(12), rate(24)], ["100Gbps", "200Gbps", "400Gbps"]);
}

/// A name, parameters, and the key and a part of the message that are expected.
type Refused = (&'static str, serde_json::Value, &'static str, &'static str);

fn refused() -> Vec<Refused> {
    let l = || link(100);
    let clos = |pods: u32, racks: u32, hosts: u32, aggregations: u32, cores: u32| {
        json!({
            "pods": pods, "racks_per_pod": racks, "hosts_per_rack": hosts,
            "aggregations_per_pod": aggregations, "cores": cores,
            "host_link": l(), "fabric_link": l(),
        })
    };
    let leaf_spine = |leaves: u32, spines: u32, hosts: u32| {
        json!({
            "leaves": leaves, "spines": spines, "hosts_per_leaf": hosts,
            "host_link": l(), "fabric_link": l(),
        })
    };
    let fat_tree = |k: u32| json!({ "k": k, "host_link": l(), "fabric_link": l() });
    let single = |link: serde_json::Value| json!({ "hosts": 2, "link": link });
    let dumbbell = |left: u32, right: u32| json!({ "left": left, "right": right, "host_link": l(), "bottleneck": l() });
    vec![
        ("single-switch", json!({ "hosts": 0, "link": l() }), "hosts", "give at least 2"),
        ("single-switch", json!({ "hosts": 1, "link": l() }), "hosts", "1 is too few"),
        ("single-switch", json!({ "hosts": 65_536, "link": l() }), "hosts", "65536 ports"),
        ("single-switch", json!({ "hosts": 17_000_000, "link": l() }), "hosts", "17000001 nodes"),
        (
            "single-switch",
            single(json!({ "rate": "0Gbps", "delay": "1us" })),
            "link.rate",
            "nothing",
        ),
        (
            "single-switch",
            single(json!({ "rate": "1Gbps" })),
            "link",
            "neither a cable nor a delay",
        ),
        (
            "single-switch",
            single(json!({ "rate": "1Gbps", "delay": "1us", "cable": "3m" })),
            "link.delay",
            "the cable of 3m already gives the delay",
        ),
        ("single-switch", single(json!({ "rate": "1Gbps", "delay": "2s" })), "link.delay", "1s"),
        (
            "single-switch",
            single(json!({ "rate": "1Gbps", "cable": "1000000km" })),
            "link.cable",
            "more than 1s",
        ),
        ("dumbbell", dumbbell(0, 1), "left", "none"),
        ("dumbbell", dumbbell(1, 0), "right", "none"),
        ("dumbbell", dumbbell(1, 70_000), "right", "70001 ports"),
        ("dumbbell", dumbbell(u32::MAX, u32::MAX), "left", "nodes"),
        ("leaf-spine", leaf_spine(0, 1, 1), "leaves", "at least 1"),
        ("leaf-spine", leaf_spine(1, 0, 1), "spines", "at least 1"),
        ("leaf-spine", leaf_spine(2, 1, 0), "hosts_per_leaf", "at least 1"),
        ("leaf-spine", leaf_spine(1, 1, 1), "hosts_per_leaf", "at least 2"),
        ("leaf-spine", leaf_spine(2, 70_000, 1), "spines", "a leaf would have 70001 ports"),
        ("leaf-spine", leaf_spine(60_000, 60_000, 1), "leaves", "links"),
        ("fat-tree", fat_tree(0), "k", "at least 2"),
        ("fat-tree", fat_tree(5), "k", "give an even number"),
        ("fat-tree", fat_tree(408), "k", "nodes, more than 16777215"),
        ("fat-tree", fat_tree(u32::MAX - 1), "k", "ports"),
        ("clos", clos(0, 1, 1, 1, 1), "pods", "at least 1"),
        ("clos", clos(2, 0, 1, 1, 1), "racks_per_pod", "at least 1"),
        ("clos", clos(1, 1, 1, 1, 1), "hosts_per_rack", "at least 2"),
        ("clos", clos(2, 1, 1, 0, 1), "aggregations_per_pod", "at least 1"),
        ("clos", clos(2, 1, 1, 1, 0), "cores", "at least 1"),
        ("clos", clos(2, 1, 1, 3, 4), "cores", "give a multiple of 3"),
        ("clos", clos(u32::MAX, u32::MAX, u32::MAX, u32::MAX, u32::MAX), "pods", "nodes"),
    ]
}

#[test]
fn parameters_that_cannot_be_built_are_refused_with_key_value_and_fix() {
    for (name, parameters, expected_key, expected_text) in refused() {
        let error = build(name, parameters.clone()).expect_err(name);
        let message = error.to_string();
        let TopologyError::Parameter { key, value, fix, .. } = error else {
            panic!("{name} {parameters}: {message}")
        };
        assert_eq!(key, expected_key, "{name} {parameters}: {message}");
        assert!(message.contains(expected_text), "{name} {parameters}: {message}");
        assert!(!value.is_empty() && !fix.is_empty());
    }
    let error = build("single-switch", json!({ "hosts": 1, "link": link(1) })).unwrap_err();
    assert_eq!(error.to_string(), "`hosts = 1`: 1 is too few; give at least 2");
}

#[test]
fn the_largest_sizes_are_accepted() {
    let parameters = json!({ "hosts": MAX_PORTS, "link": link(100) });
    let topology = build("single-switch", parameters).unwrap();
    topology.check().unwrap();
    let switch = topology.node_by_name("switch-0").unwrap();
    assert_eq!(topology.port_count(switch), MAX_PORTS);
}

#[test]
fn ports_are_named_by_node_and_number() {
    let parameters = json!({
        "leaves": 2, "spines": 2, "hosts_per_leaf": 2, "host_link": link(1), "fabric_link": link(1),
    });
    let topology = build("leaf-spine", parameters).unwrap();
    let check = |text: &str, expected| assert_eq!(topology.port_by_name(text), Ok(expected));
    check("host-3", (3, 0));
    check("host-3:0", (3, 0));
    check("leaf-1:3", (5, 3));
    check(" spine-1 : 1 ", (7, 1));

    let refuse = |text: &str| topology.port_by_name(text).unwrap_err();
    assert_eq!(
        refuse("leaf-9:0").to_string(),
        "there is no node `leaf-9`; there are host-0 to host-3, leaf-0 to leaf-1, spine-0 to spine-1"
    );
    assert_eq!(
        refuse("leaf-0").to_string(),
        "`leaf-0` has 4 ports; write which one, as in `leaf-0:0`"
    );
    assert_eq!(
        refuse("host-0:1"),
        PortReferenceError::NoSuchPort { name: "host-0".into(), port: 1, ports: 1 }
    );
    assert_eq!(refuse("leaf-0:4").to_string(), "`leaf-0` has no port 4; its ports are 0 to 3");
    for text in ["leaf-0:", "leaf-0:x", "leaf-0:-1", "leaf-0:70000"] {
        assert!(matches!(refuse(text), PortReferenceError::NotANumber { .. }), "{text}");
    }
    for text in ["", ":", "leaf", "leaf-", "leaf-00:1", "host-99999999999"] {
        assert!(matches!(refuse(text), PortReferenceError::NoSuchNode { .. }), "{text}");
    }
}

#[test]
fn a_link_has_a_port_at_each_end() {
    for example in TopologyConfig::examples() {
        let topology = example.build(Path::new(".")).unwrap();
        let adjacency = topology.adjacency();
        assert_eq!(adjacency.node_count(), topology.nodes.len());
        for (index, link) in (0..).zip(&topology.links) {
            for (node, other) in [(link.a, link.b), (link.b, link.a)] {
                let port = adjacency.port_of_link(node, index).expect("a port");
                let far = adjacency.ports_of(node)[port];
                assert_eq!((far.node, far.link), (other, index));
            }
        }
        let total: usize =
            (0..).take(topology.nodes.len()).map(|node| topology.port_count(node)).sum();
        assert_eq!(total, 2 * topology.links.len());
    }
}

#[test]
fn a_graph_put_together_by_hand_is_checked() {
    let good = build(
        "dumbbell",
        json!({
            "left": 1, "right": 1, "host_link": link(1), "bottleneck": link(1),
        }),
    )
    .unwrap();
    assert_eq!(good.check(), Ok(()));
    let broken = |change: fn(&mut Topology)| {
        let mut topology = good.clone();
        change(&mut topology);
        topology.check().unwrap_err()
    };
    let name = |name: &str| name.to_owned();
    assert_eq!(broken(|t| t.links[0].b = 9), TopologyFault::NoSuchNode { link: 0, node: 9 });
    assert_eq!(broken(|t| t.links[2].b = 2), TopologyFault::SelfLoop { link: 2 });
    assert_eq!(broken(|t| t.links[0].b = 1), TopologyFault::HostToHost { link: 0 });
    assert_eq!(
        broken(|t| t.links[1].a = 0),
        TopologyFault::SeveralHostLinks { link: 1, name: name("host-0") }
    );
    assert_eq!(
        broken(|t| _ = t.links.remove(1)),
        TopologyFault::Isolated { node: 1, name: name("host-1") }
    );
    assert_eq!(
        broken(|t| _ = t.links.pop()),
        TopologyFault::Disconnected { link: 1, from: name("host-0"), to: name("host-1") }
    );
    assert_eq!(broken(|t| t.links[1].loss = 1.5), TopologyFault::LossOutOfRange { link: 1 });
    assert_eq!(broken(|t| t.links[1].loss = f64::NAN), TopologyFault::LossOutOfRange { link: 1 });
    assert_eq!(broken(|t| *t = Topology::default()), TopologyFault::TooFewHosts { hosts: 0 });
    let mut parallel = good.clone();
    parallel.links.push(parallel.links[2].clone());
    assert_eq!(parallel.check(), Ok(()), "parallel links between switches are allowed");
}

#[test]
fn a_drawing_has_hosts_below_their_switches() {
    let parameters = json!({ "k": 4, "host_link": link(100), "fabric_link": link(100) });
    let layout = build("fat-tree", parameters).unwrap().layout();
    let at = |name: &str| layout.nodes.iter().find(|node| node.name == name).expect(name);
    assert_eq!([at("host-0").y, at("tor-0").y, at("core-3").y], [0.875, 0.625, 0.125]);
    assert_eq!([at("host-0").x, at("host-15").x], [0.5 / 16.0, 15.5 / 16.0]);
    let middle = (at("host-4").x + at("host-5").x) / 2.0;
    assert_eq!(at("tor-2").x, middle);
    assert!(at("aggregation-2").x < at("aggregation-3").x);
    assert_eq!(at("core-0").tier, 3);
    assert_eq!(layout.links.len(), 48);
    assert!(layout.nodes.iter().all(|node| (0.0..=1.0).contains(&node.x)));
}

#[test]
fn links_are_written_with_units() {
    let text = r#"{ "rate": "100Gbps", "cable": "3m" }"#;
    let link: LinkConfig = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&link).unwrap(), r#"{"rate":"100Gbps","cable":"3m"}"#);
    assert!(serde_json::from_str::<LinkConfig>(r#"{ "rate": 100, "cable": "3m" }"#).is_err());
    assert!(serde_json::from_str::<LinkConfig>(r#"{ "rat": "1Gbps", "cable": "3m" }"#).is_err());
}
