//! How long the routes of large networks take to build, and how many bytes they are.
//!
//! `cargo run --release -p rocelab-fabric --example routes_scale`

#![expect(clippy::disallowed_types, reason = "measures time on purpose")]

use std::path::Path;
use std::time::Instant;

use rocelab_fabric::topology::{LinkConfig, clos, fat_tree};
use rocelab_fabric::{Routes, TopologyConfig};
use rocelab_units::{Bandwidth, Length};

fn main() {
    let host_link = LinkConfig::with_cable(Bandwidth::from_gbps(100), Length::from_mm(3_000));
    let fabric_link = LinkConfig::with_cable(Bandwidth::from_gbps(400), Length::from_mm(50_000));
    let fat_tree = |k| {
        let (host_link, fabric_link) = (host_link.clone(), fabric_link.clone());
        TopologyConfig::FatTree(fat_tree::Parameters { k, host_link, fabric_link })
    };
    let clos = TopologyConfig::Clos(clos::Parameters {
        pods: 128,
        racks_per_pod: 32,
        hosts_per_rack: 32,
        aggregations_per_pod: 16,
        cores: 512,
        host_link: host_link.clone(),
        fabric_link: fabric_link.clone(),
        core_link: None,
    });
    for (name, config) in [
        ("fat tree, k = 16", fat_tree(16)),
        ("fat tree, k = 32", fat_tree(32)),
        ("fat tree, k = 64", fat_tree(64)),
        ("Clos of 128 pods", clos),
    ] {
        measure(name, &config);
    }
}

fn measure(name: &str, config: &TopologyConfig) {
    let start = Instant::now();
    let topology = config.build(Path::new(".")).expect("the parameters are good");
    let built = start.elapsed();
    let start = Instant::now();
    let routes = Routes::new(&topology, &topology.all_links_active()).expect("a good topology");
    let routed = start.elapsed();
    println!(
        "{name}: {} hosts, {} nodes, {} links; topology {:.3} s; routes {:.3} s, {} rows, {} bytes; {:.1} ns a lookup",
        topology.host_count(),
        topology.nodes.len(),
        topology.links.len(),
        built.as_secs_f64(),
        routed.as_secs_f64(),
        routes.row_count(),
        routes.heap_bytes(),
        lookup_ns(&topology, &routes),
    );
}

/// Mean time of a lookup at random switches for random hosts.
fn lookup_ns(topology: &rocelab_fabric::Topology, routes: &Routes) -> f64 {
    const LOOKUPS: u32 = 20_000_000;
    let (hosts, nodes) = (topology.host_count() as u64, topology.nodes.len() as u64);
    let (mut dice, mut ports) = (1u64, 0u64);
    let start = Instant::now();
    for _ in 0..LOOKUPS {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let below = |bits: u64, count: u64| u32::try_from((bits * count) >> 32).unwrap_or(0);
        let switch = below(dice >> 32, nodes - hosts) + u32::try_from(hosts).unwrap_or(0);
        let host = below(dice & 0xffff_ffff, hosts);
        ports += routes.egress(switch, host, switch ^ host).map_or(0, u64::from);
    }
    assert!(ports > 0);
    start.elapsed().as_secs_f64() * 1e9 / f64::from(LOOKUPS)
}
