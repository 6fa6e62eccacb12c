//! Routes and properties of pairs, compared with the native routes and with runs of HPCC's ns-3
//! simulator.

use std::path::{Path, PathBuf};

use crate::random_network::{network, single};
use proptest::prelude::*;
use rocelab_fabric::topology::{clos, file};
use rocelab_fabric::{HpccNs3Routes, NodeId, PairProperties, Routes, Topology, TopologyConfig};

/// Every case of the reference data: a folder each.
fn reference_cases() -> Vec<PathBuf> {
    let public = "../../../shared/golden/hpcc-ns3/public";
    let public = Path::new(env!("CARGO_MANIFEST_DIR")).join(public);
    let Ok(folders) = public.read_dir() else {
        println!("skipped: the reference data are not here");
        return Vec::new();
    };
    let mut cases: Vec<_> = folders.filter_map(|folder| Some(folder.ok()?.path())).collect();
    cases.sort();
    cases
}

fn read_topology(case: &Path) -> Topology {
    let path = case.join("topology.txt");
    let parameters = file::Parameters { path, format: Default::default(), link: None };
    TopologyConfig::File(parameters).build(Path::new("")).expect("the reference reads it")
}

/// The number behind `key` in a configuration (`KEY 1`) or in a JSON object (`"key": 1,`).
fn number(text: &str, key: &str) -> u64 {
    let mut words = text.split([' ', '\n', ',']).skip_while(|word| *word != key);
    let value = words.nth(1).unwrap_or_else(|| panic!("{key} is there"));
    value.parse().unwrap_or_else(|_| panic!("{key} is a number, not {value}"))
}

fn host(address: &str) -> NodeId {
    let address = u32::from_str_radix(address, 16).expect("a hexadecimal address");
    let host = address >> 8 & 0xffff;
    assert_eq!(HpccNs3Routes::address(host), address);
    host
}

#[test]
fn hosts_of_one_switch_differ_in_nothing() {
    // 100 Gbit/s and 1 us each.
    let topology = single(17);
    let properties = PairProperties::new(&topology, 1_000).expect("a good network");
    assert_eq!((properties.max_rtt_ns(), properties.max_bdp()), (4_160, 52_000));
    let routes = HpccNs3Routes::new(&topology).expect("a good network");
    assert_eq!(routes.egress(17, 5, 3, 10_000), Some(5));
}

#[test]
fn the_reference_network_of_320_hosts_has_the_figures_of_the_reference() {
    let hpcc = &<clos::Parameters as rocelab_fabric::topology::Generate>::examples()[0];
    let topology = TopologyConfig::Clos(hpcc.clone()).build(Path::new("")).expect("a good example");
    let properties = PairProperties::new(&topology, 1_000).expect("a good network");
    assert_eq!((properties.max_rtt_ns(), properties.max_bdp()), (12_240, 153_000));
    // 320 hosts at 20 racks: 20 columns and 56 switches, instead of 320 x 56 cells.
    let routes = HpccNs3Routes::new(&topology).expect("a good network");
    assert!(routes.heap_bytes() < 16_000, "{}", routes.heap_bytes());
}

/// Round-trip time, bandwidth and all arithmetic are in the last column of `fct.txt`.
#[test]
fn flows_alone_take_what_the_reference_reports() {
    for case in reference_cases() {
        let read = |name| std::fs::read_to_string(case.join(name)).expect("a file of every case");
        let payload = u32::try_from(number(&read("config.txt"), "PACKET_PAYLOAD_SIZE"));
        let payload = payload.expect("a small payload");
        let properties =
            PairProperties::new(&read_topology(&case), payload).expect("it has routes");
        let facts = read("meta.json");
        assert_eq!(properties.max_rtt_ns(), number(&facts, "\"max_rtt_ns\":"), "{case:?}");
        assert_eq!(properties.max_bdp(), number(&facts, "\"max_bdp_bytes\":"), "{case:?}");
        for line in read("fct.txt").lines() {
            let words: Vec<_> = line.split(' ').collect();
            let [source, destination, _, _, size, _, _, expected] = words[..] else {
                panic!("{line}")
            };
            let pair = properties.pair(host(source), host(destination)).expect("there is a path");
            let size = size.parse().expect("bytes");
            let alone = pair.standalone_fct_ns(size, payload);
            assert_eq!(alone.to_string(), expected, "{case:?}: {line}");
        }
    }
}

/// The ports of the links that are the last ones between their nodes.
fn last_of_parallels(topology: &Topology, switch: NodeId, ports: &[u16]) -> Vec<u16> {
    let adjacency = topology.adjacency();
    let neighbours = adjacency.ports_of(switch);
    let is_last = |&port: &u16| {
        let here = neighbours[usize::from(port)].node;
        neighbours[usize::from(port) + 1..].iter().all(|later| later.node != here)
    };
    ports.iter().copied().filter(is_last).collect()
}

proptest! {
    /// The native routes find the same shortest paths, in another order and over all parallel
    /// links.
    #[test]
    fn next_hops_are_all_shortest_paths(topology in network(), ports in any::<u32>()) {
        let native = Routes::new(&topology, &topology.all_links_active()).expect("it has routes");
        let routes = HpccNs3Routes::new(&topology).expect("it has routes");
        for switch in topology.switches() {
            for destination in topology.hosts() {
                let mut next_hops = routes.next_hops(switch, destination).to_vec();
                let egress = routes.egress(switch, destination, 0, ports);
                prop_assert!(egress.is_some_and(|port| next_hops.contains(&port)));
                next_hops.sort_unstable();
                let all = native.next_hops(switch, destination);
                prop_assert_eq!(next_hops, last_of_parallels(&topology, switch, all));
            }
        }
    }

    /// The maxima, which are computed from one host of each kind, are the maxima over all pairs.
    #[test]
    fn the_largest_figures_are_those_of_all_pairs(topology in network()) {
        let properties = PairProperties::new(&topology, 1_000).expect("it has routes");
        let hosts: Vec<_> = topology.hosts().collect();
        let every = hosts.iter().flat_map(|&to| hosts.iter().map(move |&from| (from, to)));
        let pairs: Vec<_> = every.filter_map(|(from, to)| properties.pair(from, to)).collect();
        prop_assert_eq!(pairs.len(), hosts.len() * (hosts.len() - 1));
        let max_rtt = pairs.iter().map(|pair| pair.rtt_ns).max();
        let max_bdp = pairs.iter().map(|pair| pair.bdp).max();
        prop_assert_eq!(max_rtt, Some(properties.max_rtt_ns()));
        prop_assert_eq!(max_bdp, Some(properties.max_bdp()));
    }
}
