//! Servers of GPUs: fabrics by rail, and topology files of SimAI.

use std::path::{Path, PathBuf};

use rocelab_fabric::topology::{TopologyError, TopologyServer};
use rocelab_fabric::{Nvlink, Topology, TopologyConfig};
use rocelab_units::{Bandwidth, Duration};
use serde_json::{Value, json};

fn build(name: &str, parameters: &Value) -> Result<Topology, TopologyError> {
    let config: TopologyConfig =
        serde_json::from_value(json!({ name: parameters })).expect("a topology's parameters");
    config.build(Path::new("."))
}

fn link(gbps: u32) -> Value {
    json!({ "rate": format!("{gbps}Gbps"), "delay": "500ns" })
}

/// The names at the other ends of a node's ports.
fn neighbours(topology: &Topology, name: &str) -> Vec<String> {
    let node = topology.node_by_name(name).expect("a node");
    let adjacency = topology.adjacency();
    let far = adjacency.ports_of(node).iter().map(|port| port.node as usize);
    far.map(|far| topology.nodes[far].name.clone()).collect()
}

fn refused(name: &str, parameters: &Value) -> (String, String) {
    match build(name, parameters).expect_err("it is refused") {
        TopologyError::Parameter { key, problem, .. } => (key, problem),
        other => panic!("{other}"),
    }
}

#[test]
fn nics_of_a_rail_share_a_leaf_and_rails_meet_at_spines() {
    let parameters = json!({
        "servers": 4, "gpus_per_server": 2, "servers_per_segment": 2, "spines": 2,
        "nic_link": link(400), "fabric_link": link(800),
    });
    let topology = build("rail-optimised", &parameters).unwrap();
    topology.check().unwrap();
    assert_eq!(topology.describe_names(), "gpu-0 to gpu-7, leaf-0 to leaf-3, spine-0 to spine-1");
    assert_eq!(neighbours(&topology, "leaf-0"), ["gpu-0", "gpu-2", "spine-0", "spine-1"]);
    assert_eq!(neighbours(&topology, "leaf-3"), ["gpu-5", "gpu-7", "spine-0", "spine-1"]);
    assert_eq!(neighbours(&topology, "spine-1"), ["leaf-0", "leaf-1", "leaf-2", "leaf-3"]);
    let servers: Vec<_> = topology.servers.iter().map(|server| server.hosts.clone()).collect();
    assert_eq!(servers, [[0, 1], [2, 3], [4, 5], [6, 7]]);
    let rates = [0, 8].map(|link: usize| topology.links[link].rate.to_string());
    assert_eq!(rates, ["400Gbps", "800Gbps"]);
}

#[test]
fn spines_of_pods_meet_at_their_cores() {
    let parameters = json!({
        "servers": 4, "gpus_per_server": 2, "spines": 2, "pods": 2, "cores": 4,
        "nic_link": link(400), "fabric_link": link(400), "core_link": link(100),
    });
    let topology = build("rail-optimised", &parameters).unwrap();
    assert_eq!(neighbours(&topology, "leaf-2"), ["gpu-4", "gpu-6", "spine-2", "spine-3"]);
    assert_eq!(neighbours(&topology, "spine-3"), ["leaf-2", "leaf-3", "core-2", "core-3"]);
    assert_eq!(neighbours(&topology, "core-0"), ["spine-0", "spine-2"]);
    assert_eq!(topology.links.last().unwrap().rate, Bandwidth::from_gbps(100));
}

#[test]
fn nothing_joins_rails_but_nvlink() {
    let parameters = json!({ "servers": 3, "gpus_per_server": 2, "nic_link": link(400) });
    let topology = build("rail-only", &parameters).unwrap();
    topology.check().expect("it may be in parts");
    assert!(topology.is_in_parts && !topology.is_connected());
    assert_eq!(neighbours(&topology, "rail-1"), ["gpu-1", "gpu-3", "gpu-5"]);
}

#[test]
fn numbers_that_do_not_fit_are_refused() {
    let with = |changes: Value| {
        let mut parameters = json!({
            "servers": 4, "gpus_per_server": 2, "spines": 2, "nic_link": link(400),
            "fabric_link": link(400),
        });
        for (key, value) in changes.as_object().unwrap() {
            parameters[key] = value.clone();
        }
        refused("rail-optimised", &parameters)
    };
    for (changes, key, problem) in [
        (json!({ "servers": 0 }), "servers", "none"),
        (json!({ "servers": 1, "gpus_per_server": 1 }), "gpus_per_server", "too few"),
        (json!({ "spines": 0 }), "spines", "none"),
        (json!({ "servers_per_segment": 3 }), "servers_per_segment", "cannot be split evenly"),
        (json!({ "servers_per_segment": 0 }), "servers_per_segment", "none"),
        (json!({ "pods": 3 }), "pods", "cannot be split evenly"),
        (json!({ "pods": 2 }), "pods", "nothing joins the pods"),
        (json!({ "cores": 3 }), "cores", "cannot be split evenly"),
        (json!({ "servers": 70_000 }), "servers", "ports"),
        (json!({ "servers": 16_777_215 }), "servers", "nodes"),
    ] {
        let (at, text) = with(changes.clone());
        assert!(at == key && text.contains(problem), "{changes}: {at}: {text}");
    }
    let one = json!({ "servers": 1, "gpus_per_server": 2, "nic_link": link(400) });
    assert_eq!(refused("rail-only", &one).0, "servers");
}

fn shared(path: &str) -> Option<PathBuf> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let root = std::env::var_os("ROCELAB_SHARED").map_or(default, PathBuf::from);
    let path = root.join(path);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {} is not here", path.display());
    None
}

/// What SimAI's generator counts: GPUs, NVSwitches and switches together, and links with those to NVSwitches. Its networks whose GPUs
/// have two ports have no counterpart here.
#[test]
fn networks_have_as_many_nodes_and_links_as_those_of_simais_generator() {
    let Some(path) = shared("golden/ai/simai/generator-counts.csv") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let mut compared = 0;
    for line in text.lines().skip(1) {
        let columns: Vec<&str> = line.split(',').collect();
        let [template, gpus, options, nodes, per_server, nvswitches, switches, links] = columns[..]
        else {
            panic!("{line}")
        };
        let number = |text: &str| text.parse::<usize>().unwrap();
        let (gpus, g) = (number(gpus), number(per_server));
        let option = |name: &str, default: usize| {
            let mut words = options.split_whitespace();
            words.find(|word| *word == name).map_or(default, |_| number(words.next().unwrap()))
        };
        let (spines, nics_per_leaf) = (option("-psn", 64), option("-npa", 64));
        let servers = gpus / g;
        let topology = if template == "Spectrum-X" {
            let parameters = json!({
                "servers": servers, "gpus_per_server": g, "spines": spines,
                "servers_per_segment": nics_per_leaf.min(servers), "nic_link": link(400),
                "fabric_link": link(400),
            });
            build("rail-optimised", &parameters).unwrap()
        } else if template == "DCN+ single ToR" {
            let leaves = gpus.div_ceil(nics_per_leaf);
            // Its default has as many spines as leaves here.
            let spines = if options == "defaults" { number(switches) - leaves } else { spines };
            let parameters = json!({
                "leaves": leaves, "spines": spines, "hosts_per_leaf": gpus / leaves,
                "host_link": link(400), "fabric_link": link(400),
            });
            build("leaf-spine", &parameters).unwrap()
        } else {
            continue;
        };
        let counted = (topology.nodes.len() + number(nvswitches), topology.links.len() + gpus);
        assert_eq!(counted, (number(nodes), number(links)), "{line}");
        assert_eq!(topology.switches().count(), number(switches), "{line}");
        compared += 1;
    }
    assert_eq!(compared, 5);
}

/// Two servers of two GPUs, a leaf for each rail and a spine.
const GOOD: &str = "9 2 2 3 10 H100\n4 5 6 7 8\n0 4 3600Gbps 0.000025ms 0\n\
    1 4 3600Gbps 0.000025ms 0\n2 5 3600Gbps 0.000025ms 0\n3 5 3600Gbps 0.000025ms 0\n\
    0 6 400Gbps 0.0005ms 0\n1 7 400Gbps 0.0005ms 0\n2 6 400Gbps 0.0005ms 0\n\
    3 7 400Gbps 0.0005ms 0\n6 8 400Gbps 0.0005ms 0\n7 8 400Gbps 0.0005ms 0\n";

fn read_simai(text: &str) -> Result<Topology, TopologyError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t"), text).unwrap();
    let config: TopologyConfig =
        serde_json::from_value(json!({ "file": { "path": "t", "format": "simai" } })).unwrap();
    config.build(folder.path())
}

#[test]
fn nvswitches_of_simai_become_nvlink() {
    let topology = read_simai(GOOD).unwrap();
    assert_eq!(topology.describe_names(), "gpu-0 to gpu-3, switch-0 to switch-2");
    assert_eq!(neighbours(&topology, "switch-1"), ["gpu-1", "gpu-3", "switch-2"]);
    let nvlink = Nvlink {
        rate: Bandwidth::from_gbps(3_600),
        delay: Duration::from_ns(50),
        efficiency: 1.0,
        packet: None,
    };
    let server = |hosts: [u32; 2]| TopologyServer { hosts: hosts.into(), nvlink: Some(nvlink) };
    assert_eq!(topology.servers, [server([0, 1]), server([2, 3])]);
}

#[test]
fn what_is_wrong_with_a_file_of_simai_is_shown_where_it_stands() {
    let refused = |from: &str, to: &str| match read_simai(&GOOD.replacen(from, to, 1)) {
        Err(TopologyError::File { line, column, problem, .. }) => (line, column, problem),
        other => panic!("{from} -> {to}: {other:?}"),
    };
    for (from, to, place, problem) in [
        ("9 2 2 3 10 H100", "9 2 2 3 10", (1, 1), "6 belong"),
        ("9 2 2 3 10", "9 2 x 3 10", (1, 5), "invalid digit"),
        ("9 2 2 3 10", "9 2 2 9 10", (1, 7), "only 9 nodes"),
        ("4 5 6 7 8\n", "4 5 6 7 8 3\n", (2, 11), "counts 5 switches"),
        ("1 4 3600Gbps", "1 4 1800Gbps", (4, 5), "one rate and delay"),
        ("3 5 3600Gbps", "8 5 3600Gbps", (6, 1), "linked to GPUs only"),
        ("1 7 400Gbps", "1 5 3600Gbps", (8, 1), "another NVSwitch"),
        ("3 7 400Gbps", "2 7 400Gbps", (10, 1), "second link"),
        ("0 4 3600Gbps 0.000025ms", "0 4 3600Gbps 0ms", (4, 5), "one rate and delay"),
    ] {
        let (line, column, text) = refused(from, to);
        assert_eq!((line, column), place, "{from} -> {to}: {text}");
        assert!(text.contains(problem), "{from} -> {to}: {text}");
    }
    let still = GOOD.replace("0.000025ms", "0ms");
    let Err(TopologyError::File { problem, .. }) = read_simai(&still) else { panic!("{still}") };
    assert!(problem.contains("delay"), "{problem}");
}

#[test]
fn a_file_of_simai_is_read_as_others_read_it() {
    let Some(path) = shared("golden/ai/simai/own-rail-8.topology") else { return };
    let expected = std::fs::read_to_string(path.with_extension("expected.json")).unwrap();
    let expected: Value = serde_json::from_str(&expected).unwrap();
    let topology = read_simai(&std::fs::read_to_string(path).unwrap()).unwrap();
    let links = expected["links"].as_array().unwrap();
    let nvswitches: Vec<u64> =
        expected["nvswitches"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
    let is_nvlink =
        |link: &&Value| nvswitches.iter().any(|id| link["a"] == *id || link["b"] == *id);
    let (nvlink, others): (Vec<_>, Vec<_>) = links.iter().partition(is_nvlink);
    assert_eq!(topology.links.len(), others.len());
    for (link, other) in topology.links.iter().zip(&others) {
        assert_eq!(other["bps"], link.rate.bits_per_second());
        assert_eq!(other["delay_ps"], link.delay.ps());
    }
    assert_eq!(topology.host_count() as u64, expected["gpus"].as_u64().unwrap());
    assert_eq!(topology.servers.len(), nvswitches.len());
    for (server, id) in topology.servers.iter().zip(&nvswitches) {
        let of_it: Vec<_> = nvlink.iter().filter(|link| link["b"] == *id).collect();
        assert_eq!(server.hosts.len(), of_it.len());
        let domain = server.nvlink.unwrap();
        assert_eq!(of_it[0]["bps"], domain.rate.bits_per_second());
        assert_eq!(of_it[0]["delay_ps"].as_u64().unwrap() * 2, domain.delay.ps());
    }
}
