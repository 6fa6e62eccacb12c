//! Cyclic buffer dependency against a search that enumerates the paths of all pairs of hosts.

#![expect(clippy::cast_possible_truncation, reason = "the networks are small")]

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration as WallTime;

use crate::random_network::{graph, link, network, single};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use rocelab_fabric::topology::{
    Adjacency, LinkConfig, dumbbell, fat_tree, leaf_spine, spanning_tree,
};
use rocelab_fabric::{
    BufferDependencies, DependencyCycle, FloodedRoutes, LinkFailures, NodeId, RouteFunction,
    Routes, StaticRoute, StaticRoutes, Topology, TopologyConfig,
};
use rocelab_units::{Bandwidth, Duration};

/// One direction of a link: its number, and the node that receives.
type Direction = (u32, NodeId);

/// Every pair of directions, both between switches, that some path from host to host takes one
/// after the other. Walks all paths of all pairs, each until a direction repeats.
fn walked(topology: &Topology, routes: &impl RouteFunction) -> BTreeSet<(Direction, Direction)> {
    let mut walk = Walk {
        topology,
        routes,
        adjacency: topology.adjacency(),
        way: Vec::new(),
        pairs: BTreeSet::new(),
    };
    for source in topology.hosts() {
        for destination in topology.hosts().filter(|&host| host != source) {
            for port in walk.adjacency.clone().ports_of(source) {
                if !topology.is_host(port.node) {
                    walk.enter((port.link, port.node), destination);
                }
            }
        }
    }
    walk.pairs
}

struct Walk<'a, R> {
    topology: &'a Topology,
    routes: &'a R,
    adjacency: Adjacency,
    way: Vec<Direction>,
    pairs: BTreeSet<(Direction, Direction)>,
}

impl<R: RouteFunction> Walk<'_, R> {
    fn enter(&mut self, entered: Direction, destination: NodeId) {
        self.way.push(entered);
        let (link, switch) = entered;
        let in_port = self.adjacency.port_of_link(switch, link).expect("the link ends there");
        let ends = &self.topology.links[link as usize];
        let from_switch = !self.topology.is_host(ends.a ^ ends.b ^ switch);
        let mut scratch = Vec::new();
        let ports = self.routes.next_hops(switch, in_port as u16, destination, &mut scratch);
        for &port in ports {
            let far = self.adjacency.ports_of(switch)[usize::from(port)];
            let next = (far.link, far.node);
            if self.topology.is_host(far.node) {
                continue;
            }
            if from_switch {
                self.pairs.insert((entered, next));
            }
            if !self.way.contains(&next) {
                self.enter(next, destination);
            }
        }
        self.way.pop();
    }
}

/// Whether some element can be reached from itself, by the transitive closure of the relation.
fn is_cyclic(pairs: &BTreeSet<(Direction, Direction)>) -> bool {
    let all: Vec<_> =
        pairs.iter().flat_map(|&(a, b)| [a, b]).collect::<BTreeSet<_>>().into_iter().collect();
    let place = |direction| all.binary_search(&direction).expect("it is listed");
    let mut reaches = vec![vec![false; all.len()]; all.len()];
    for &(a, b) in pairs {
        reaches[place(a)][place(b)] = true;
    }
    for middle in 0..all.len() {
        let beyond = reaches[middle].clone();
        for row in reaches.iter_mut().filter(|row| row[middle]) {
            row.iter_mut().zip(&beyond).for_each(|(to, &further)| *to |= further);
        }
    }
    (0..all.len()).any(|index| reaches[index][index])
}

/// The directions over which the cycle's frames arrived; each waits for the next.
fn directions(topology: &Topology, cycle: &DependencyCycle) -> Vec<(Direction, Direction)> {
    let adjacency = topology.adjacency();
    let waits = cycle.waits.iter();
    waits
        .map(|wait| {
            let ports = adjacency.ports_of(wait.switch);
            let out = ports[usize::from(wait.out_port)];
            ((ports[usize::from(wait.in_port)].link, wait.switch), (out.link, out.node))
        })
        .collect()
}

/// Asserts that the cycle is a cycle, and that its dependencies are among those that were walked.
fn assert_is_real(
    topology: &Topology,
    cycle: &DependencyCycle,
    pairs: &BTreeSet<(Direction, Direction)>,
) {
    let steps = directions(topology, cycle);
    assert!(steps.len() >= 2, "{cycle:?}");
    for (place, step) in steps.iter().enumerate() {
        assert!(pairs.contains(step), "{step:?} of {cycle:?} was not walked");
        assert_eq!(step.1, steps[(place + 1) % steps.len()].0, "{cycle:?} is not closed");
    }
}

/// Arbitrary routes: the port that a switch chooses depends on the ingress port.
struct Arbitrary {
    /// By destination and ingress port in node order.
    ports: Vec<Vec<u16>>,
    first: Vec<usize>,
    all: usize,
}

impl RouteFunction for Arbitrary {
    fn next_hops<'a>(
        &'a self,
        switch: NodeId,
        in_port: u16,
        destination: NodeId,
        _scratch: &'a mut Vec<u16>,
    ) -> &'a [u16] {
        let ingress = self.first[switch as usize] + usize::from(in_port);
        &self.ports[destination as usize * self.all + ingress]
    }
}

/// Few ports for each ingress and destination, often none, and often the same for all ingresses.
fn arbitrary(topology: &Topology, dice: &mut impl FnMut(u32) -> u32) -> Arbitrary {
    let adjacency = topology.adjacency();
    let nodes = topology.nodes.len() as u32;
    let first: Vec<_> = (0..nodes).map(|node| adjacency.first_port_index(node)).collect();
    let all = topology.links.len() * 2;
    let mut ports = Vec::new();
    for _destination in 0..nodes {
        for switch in 0..nodes {
            let count = adjacency.ports_of(switch).len() as u32;
            let same = dice(2) == 0;
            let mut row: Vec<u16> = Vec::new();
            for in_port in 0..count {
                if in_port == 0 || !same {
                    let chosen = [0, 1, 1, 1, 1, 2][dice(6) as usize];
                    row = (0..chosen).map(|_| dice(count) as u16).collect();
                }
                ports.push(row.clone());
            }
        }
    }
    assert_eq!(ports.len(), all * nodes as usize);
    Arbitrary { ports, first, all }
}

/// A connected network of 2 to 5 switches with 2 to 4 hosts, parallel links included.
fn small(dice: &mut impl FnMut(u32) -> u32) -> Topology {
    let (switches, hosts) = (2 + dice(4), 2 + dice(3));
    let kinds = [vec![true; switches as usize], vec![false; hosts as usize]].concat();
    let mut links: Vec<_> = (1..switches).map(|s| link(s, dice(s), 100)).collect();
    for _ in 0..dice(4) {
        let (a, b) = (dice(switches), dice(switches));
        if a != b {
            links.push(link(a, b, 100));
        }
    }
    links.extend((0..hosts).map(|host| link(switches + host, dice(switches), 100)));
    graph(&kinds, links)
}

#[test]
fn it_agrees_with_a_search_through_all_paths_on_10_000_random_networks() {
    const NETWORKS: usize = 10_000;
    let mut rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut dice = |below: u32| rng.random_range(0..below);
    let mut cyclic = 0;
    for number in 0..NETWORKS {
        let topology = small(&mut dice);
        let routes = arbitrary(&topology, &mut dice);
        let mut found = BufferDependencies::new(&topology);
        for destination in topology.hosts() {
            found.add_destination(&routes, destination, topology.hosts());
        }
        let pairs = walked(&topology, &routes);
        assert_eq!(found.count(), pairs.len() as u64, "network {number}");
        let cycle = found.find_cycle();
        assert_eq!(cycle.is_some(), is_cyclic(&pairs), "network {number}: {cycle:?}");
        if let Some(cycle) = cycle {
            assert_is_real(&topology, &cycle, &pairs);
            cyclic += 1;
        }
    }
    println!("{cyclic} of {NETWORKS} networks have a cycle");
    assert!((NETWORKS / 5..NETWORKS * 4 / 5).contains(&cyclic), "{cyclic}");
}

fn runner(cases: u32) -> TestRunner {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[3; 32]);
    TestRunner::new_with_rng(Config { cases, failure_persistence: None, ..Config::default() }, rng)
}

#[test]
fn after_failures_it_agrees_with_routes_that_are_computed_anew() {
    let (mut cyclic, mut failures) = (0, 0);
    let checked = |topology: Topology| {
        let active = topology.all_links_active();
        let routes = Routes::new(&topology, &active).unwrap();
        let before = BufferDependencies::of_all_pairs(&topology, &routes);
        prop_assert_eq!(before.count(), walked(&topology, &routes).len() as u64);
        if before.find_cycle().is_some() {
            return Ok(());
        }
        let findings = LinkFailures::new(&topology, &active).search(&before);
        let mut expected = None;
        for failed in 0..topology.links.len() {
            let ends = &topology.links[failed];
            if topology.is_host(ends.a) || topology.is_host(ends.b) {
                continue;
            }
            let mut working = active.clone();
            working[failed] = false;
            let pairs = walked(&topology, &Routes::new(&topology, &working).unwrap());
            failures += 1;
            if is_cyclic(&pairs) {
                expected = Some((failed as u32, pairs));
                break;
            }
        }
        prop_assert_eq!(
            findings.cycle.as_ref().map(|(failed, _)| *failed),
            expected.as_ref().map(|(failed, _)| *failed)
        );
        prop_assert_eq!(findings.none_has_a_cycle(), expected.is_none());
        if let (Some((_, cycle)), Some((_, pairs))) = (&findings.cycle, &expected) {
            assert_is_real(&topology, cycle, pairs);
            cyclic += 1;
        }
        Ok(())
    };
    let checked = std::cell::RefCell::new(checked);
    let network = network().prop_filter("few loops, or paths are many", |t| t.links.len() < 24);
    runner(1_000).run(&network, |topology| (checked.borrow_mut())(topology)).unwrap();
    println!("{failures} failures, {cyclic} networks with a cycle after one");
    assert!(failures > 1_000 && cyclic > 10, "{failures} {cyclic}");
}

/// A network's routes over its active links, except that the last switch before each host floods
/// its frames, and the switches that get the copies drop them.
struct LastFloods<'a> {
    routes: &'a Routes,
    adjacency: Adjacency,
    active: &'a [bool],
}

impl RouteFunction for LastFloods<'_> {
    fn next_hops<'a>(
        &'a self,
        switch: NodeId,
        in_port: u16,
        destination: NodeId,
        scratch: &'a mut Vec<u16>,
    ) -> &'a [u16] {
        let last = self.adjacency.ports_of(destination)[0].node;
        let ports = self.adjacency.ports_of(switch);
        let forwards = self.routes.next_hops(switch, destination);
        let from = ports[usize::from(in_port)];
        if from.node == last {
            let links = self.adjacency.ports_of(last);
            let mut sent = self.routes.next_hops(last, destination).iter();
            if !sent.any(|&port| links[usize::from(port)].link == from.link) {
                return &[];
            }
        }
        if switch != last {
            return forwards;
        }
        let others = (0..).zip(ports).filter(|&(port, far)| {
            port != in_port && self.active.get(far.link as usize) == Some(&true)
        });
        scratch.clear();
        scratch.extend(others.map(|(port, _)| port));
        scratch.extend(forwards);
        scratch
    }
}

/// Asserts that two sets of dependencies are the same.
fn assert_same(topology: &Topology, found: &BufferDependencies, expected: &BufferDependencies) {
    assert_eq!(found.count(), expected.count());
    let adjacency = topology.adjacency();
    for switch in topology.switches() {
        let count = adjacency.ports_of(switch).len() as u16;
        for (a, b) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
            assert_eq!(
                found.waits(switch, a, b),
                expected.waits(switch, a, b),
                "{switch}:{a} to {b}"
            );
        }
    }
}

/// Compares all destinations together with one after the other; also with flooding if each host has
/// its own switch.
fn assert_together(topology: &Topology, active: &[bool]) {
    let routes = Routes::new(topology, active).unwrap();
    let together = BufferDependencies::of_shortest_paths(topology, &routes);
    let is_host_up = |link: usize| {
        let ends = &topology.links[link];
        !(topology.is_host(ends.a) || topology.is_host(ends.b)) || active[link]
    };
    if (0..topology.links.len()).all(is_host_up) {
        assert_same(topology, &together, &BufferDependencies::of_all_pairs(topology, &routes));
    }
    let mut one_by_one = BufferDependencies::new(topology);
    for destination in topology.hosts() {
        one_by_one.add_destination(&routes, destination, topology.hosts());
    }
    assert_same(topology, &together, &one_by_one);
    assert_hosts_together(topology, &routes, active);
}

/// Compares the attached hosts together with one after the other, with and without flooding.
fn assert_hosts_together(topology: &Topology, routes: &Routes, active: &[bool]) {
    let adjacency = topology.adjacency();
    let attached = |&host: &NodeId| {
        let ports = adjacency.ports_of(host);
        let is_up = |link: u32| active.get(link as usize) == Some(&true);
        ports.len() == 1 && topology.is_switch(ports[0].node) && is_up(ports[0].link)
    };
    let hosts: Vec<_> = topology.hosts().filter(attached).collect();
    let floods = LastFloods { routes, adjacency: topology.adjacency(), active };
    let (mut expected, mut with_flooding) =
        (BufferDependencies::new(topology), BufferDependencies::new(topology));
    for &destination in &hosts {
        expected.add_destination(routes, destination, topology.hosts());
        with_flooding.add_destination(&floods, destination, topology.hosts());
    }
    for (flooded, expected) in [(None, expected), (Some(active), with_flooding)] {
        let mut together = BufferDependencies::new(topology);
        together.add_destinations(topology, routes, &hosts, flooded);
        assert_same(topology, &together, &expected);
    }
}

/// Static routes that lead anywhere: `choices` pick the switch, the host and the ports.
fn anywhere(topology: &Topology, choices: &[(usize, usize, u16)]) -> Vec<StaticRoute> {
    let adjacency = topology.adjacency();
    let (hosts, switches): (Vec<_>, Vec<_>) =
        (topology.hosts().collect(), topology.switches().collect());
    let route = |&(switch, host, port): &(usize, usize, u16)| {
        let switch: NodeId = switches[switch % switches.len()];
        let count = adjacency.ports_of(switch).len().max(1) as u16;
        let ports = [port, port / 256].map(|port| port % count).to_vec();
        StaticRoute { switch, destination: hosts[host % hosts.len()], path_bits: 0, ports }
    };
    choices.iter().map(route).collect()
}

#[test]
fn destinations_with_static_routes_are_followed_by_themselves_with_flooding_too() {
    let choices = prop::collection::vec((any::<usize>(), any::<usize>(), any::<u16>()), 1..6);
    runner(1_000)
        .run(&(network(), choices), |(topology, choices)| {
            let mut broken = topology.all_links_active();
            broken.iter_mut().step_by(4).for_each(|link| *link = false);
            for active in [topology.all_links_active(), broken] {
                let by_hand = anywhere(&topology, &choices);
                let routes = Routes::new(&topology, &active).unwrap();
                let routes = routes.with_static_routes(&by_hand, &active);
                assert_hosts_together(&topology, &routes, &active);
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn destinations_together_bring_about_what_they_do_one_after_the_other() {
    runner(2_000)
        .run(&network(), |topology| {
            assert_together(&topology, &topology.all_links_active());
            assert_together(&topology, &spanning_tree(&topology));
            let mut broken = topology.all_links_active();
            broken.iter_mut().step_by(4).for_each(|link| *link = false);
            assert_together(&topology, &broken);
            Ok(())
        })
        .unwrap();
    // More switches with hosts than there are in a group.
    let parameters = leaf_spine::Parameters {
        leaves: 600,
        spines: 3,
        hosts_per_leaf: 2,
        host_link: cable(),
        fabric_link: cable(),
    };
    for topology in [fat_tree(8), build(TopologyConfig::LeafSpine(parameters)), ring(7)] {
        assert_together(&topology, &topology.all_links_active());
        assert_together(&topology, &spanning_tree(&topology));
    }
}

fn cable() -> LinkConfig {
    LinkConfig::with_delay(Bandwidth::from_gbps(100), Duration::from_us(1))
}

fn build(config: TopologyConfig) -> Topology {
    config.build(Path::new(".")).expect("the parameters are good")
}

fn fat_tree(k: u32) -> Topology {
    let (host_link, fabric_link) = (cable(), cable());
    build(TopologyConfig::FatTree(fat_tree::Parameters { k, host_link, fabric_link }))
}

/// Asserts that there is no cycle, also after any failure of a link. Returns the number of links
/// between switches.
fn assert_safe(topology: &Topology) -> usize {
    let active = topology.all_links_active();
    let routes = Routes::new(topology, &active).unwrap();
    let before = BufferDependencies::of_all_pairs(topology, &routes);
    assert_eq!(before.find_cycle(), None);
    let findings = LinkFailures::new(topology, &active).search(&before);
    assert!(findings.none_has_a_cycle(), "{findings:?}");
    assert_eq!(before.buffers(), 2 * findings.links);
    findings.links
}

#[test]
fn up_down_routing_has_no_cycle_nor_after_a_failure() {
    for k in [4, 8] {
        assert_eq!(assert_safe(&fat_tree(k)), (k * k * k / 2) as usize);
    }
    let leaf_spine = leaf_spine::Parameters {
        leaves: 6,
        spines: 3,
        hosts_per_leaf: 2,
        host_link: cable(),
        fabric_link: cable(),
    };
    assert_eq!(assert_safe(&build(TopologyConfig::LeafSpine(leaf_spine))), 18);
    let dumbbell =
        dumbbell::Parameters { left: 2, right: 2, host_link: cable(), bottleneck: cable() };
    assert_eq!(assert_safe(&build(TopologyConfig::Dumbbell(dumbbell))), 1);
}

#[test]
fn eight_thousand_hosts_take_less_than_ten_seconds() {
    let topology = fat_tree(32);
    assert_eq!(topology.host_count(), 8_192);
    let active = topology.all_links_active();
    let routes = Routes::new(&topology, &active).unwrap();
    // Other work on the machine may slow one attempt down.
    let attempts = (0..3).map(|_| {
        let start = clock();
        let before = BufferDependencies::of_all_pairs(&topology, &routes);
        assert_eq!(before.find_cycle(), None);
        (before, start.elapsed())
    });
    let fast = |(_, taken): &(BufferDependencies, WallTime)| *taken < WallTime::from_secs(10);
    let (before, taken) = attempts.into_iter().find(fast).expect("less than ten seconds");
    let start = clock();
    let findings = LinkFailures::new(&topology, &active).search(&before);
    assert!(findings.none_has_a_cycle(), "{findings:?}");
    println!(
        "{} dependencies among {} buffers: {taken:?}; {} failures: {:?}",
        before.count(),
        before.buffers(),
        findings.links,
        start.elapsed()
    );
    assert_eq!((findings.links, findings.recomputed), (16_384, 0));
}

#[expect(clippy::disallowed_types, reason = "measures the machine")]
fn clock() -> std::time::Instant {
    std::time::Instant::now()
}

/// `count` switches in a ring, a host at each; hosts come after the switches. Port 0 of switch 0
/// leads to switch 1, its port 1 to the last.
fn ring(count: u32) -> Topology {
    let kinds = [vec![true; count as usize], vec![false; count as usize]].concat();
    let mut links: Vec<_> = (0..count).map(|s| link(s, (s + 1) % count, 100)).collect();
    links.extend((0..count).map(|switch| link(count + switch, switch, 100)));
    graph(&kinds, links)
}

/// All frames go round the ring in the same direction.
fn clockwise(topology: &Topology, count: u32) -> StaticRoutes<Routes> {
    let base = Routes::new(topology, &topology.all_links_active()).unwrap();
    let adjacency = topology.adjacency();
    let mut routes = StaticRoutes::new(base);
    for switch in 0..count {
        let onward = adjacency.port_of_link(switch, switch).expect("link s leads onward") as u16;
        for host in count..2 * count {
            if host != count + switch {
                routes.set(switch, host, vec![onward]);
            }
        }
    }
    routes
}

#[test]
fn a_ring_with_clockwise_routes_has_its_cycle_printed() {
    let topology = ring(4);
    let routes = clockwise(&topology, 4);
    let dependencies = BufferDependencies::of_all_pairs(&topology, &routes);
    let cycle = dependencies.find_cycle().expect("the ring waits for itself");
    assert_eq!(
        cycle.describe(&topology),
        "switch-0:0 -> switch-1:1 -> switch-2:1 -> switch-3:1 -> switch-0:0"
    );
    assert!(cycle.waits.iter().all(|w| dependencies.waits(w.switch, w.in_port, w.out_port)));
    assert!(!dependencies.waits(0, 0, 0) && !dependencies.waits(0, 9, 0));
    // Two flows that go halfway round from opposite switches make no cycle; four flows do.
    let mut some = BufferDependencies::new(&topology);
    some.add_destination(&routes, 6, [4]);
    some.add_destination(&routes, 4, [6]);
    assert_eq!(some.find_cycle(), None);
    some.add_destination(&routes, 7, [5]);
    some.add_destination(&routes, 5, [7]);
    assert_eq!(some.find_cycle(), Some(cycle));
}

#[test]
fn a_single_switch_has_nothing_that_can_wait() {
    let topology = single(5);
    let routes = Routes::new(&topology, &topology.all_links_active()).unwrap();
    let none = BufferDependencies::of_all_pairs(&topology, &routes);
    assert_eq!((none.buffers(), none.count(), none.find_cycle()), (0, 0, None));
}

#[test]
fn shortest_paths_round_a_ring_are_cyclic_from_four_switches_on() {
    // With three switches, no frame takes two links between switches.
    for (count, expected) in [(3, false), (4, true), (5, true), (8, true)] {
        let topology = ring(count);
        let routes = Routes::new(&topology, &topology.all_links_active()).unwrap();
        let cycle = BufferDependencies::of_all_pairs(&topology, &routes).find_cycle();
        assert_eq!(cycle.map(|c| c.waits.len()), expected.then_some(count as usize), "{count}");
    }
}

#[test]
fn a_ring_that_blocks_one_link_is_safe_and_a_search_may_be_cut_short() {
    let topology = ring(6);
    let active = spanning_tree(&topology);
    let routes = Routes::new(&topology, &active).unwrap();
    let tree = BufferDependencies::of_all_pairs(&topology, &routes);
    assert_eq!(tree.find_cycle(), None);
    let findings = LinkFailures::new(&topology, &active).with_most_steps(10).search(&tree);
    assert!(findings.examined < findings.links && !findings.none_has_a_cycle(), "{findings:?}");
}

#[test]
fn a_long_ring_does_not_exhaust_the_stack() {
    let topology = ring(20_000);
    let mut dependencies = BufferDependencies::new(&topology);
    for destination in 20_000..20_003 {
        dependencies.add_destination(&Clockwise(&topology), destination, topology.hosts());
    }
    assert_eq!(dependencies.find_cycle().map(|cycle| cycle.waits.len()), Some(20_000));
}

/// Routes round a ring, computed on request instead of stored in tables.
struct Clockwise<'a>(&'a Topology);

impl RouteFunction for Clockwise<'_> {
    fn next_hops<'a>(
        &'a self,
        switch: NodeId,
        _in_port: u16,
        destination: NodeId,
        scratch: &'a mut Vec<u16>,
    ) -> &'a [u16] {
        let count = self.0.nodes.len() as u32 / 2;
        scratch.clear();
        if destination != count + switch {
            // Link s is the first of switch 0, and the second of all others.
            scratch.push(u16::from(switch != 0));
        }
        scratch
    }
}

#[test]
fn flooding_closes_a_cycle_that_up_down_routing_has_not() {
    // SIGCOMM 2016, section 4.2: two top-of-rack switches under two leaves.
    let leaf_spine = leaf_spine::Parameters {
        leaves: 2,
        spines: 2,
        hosts_per_leaf: 2,
        host_link: cable(),
        fabric_link: cable(),
    };
    let topology = build(TopologyConfig::LeafSpine(leaf_spine));
    let active = topology.all_links_active();
    let routes = Routes::new(&topology, &active).unwrap();
    let dead = topology.hosts().last().expect("there are hosts");
    let link = topology.links.iter().find(|link| link.a == dead || link.b == dead);
    let last_hop = link.map(|link| link.a ^ link.b ^ dead);
    let last_hop = last_hop.expect("the host has a switch");
    assert_eq!(BufferDependencies::of_all_pairs(&topology, &routes).find_cycle(), None);
    // The switch of a dead server does not know its port: it floods frames for it, also back up.
    // All other switches still forward them up and down.
    let flooded = |switch: NodeId, host: NodeId| host == dead && switch == last_hop;
    let flooding = FloodedRoutes::new(&routes, &topology, &active, flooded);
    let mut dependencies = BufferDependencies::new(&topology);
    for destination in topology.hosts() {
        dependencies.add_destination(&flooding, destination, topology.hosts());
    }
    let cycle = dependencies.find_cycle().expect("down, up, and down again");
    assert_is_real(&topology, &cycle, &walked(&topology, &flooding));
    // On a tree, flooding makes no cycle.
    let tree = spanning_tree(&topology);
    let base = Routes::new(&topology, &tree).unwrap();
    let everywhere = FloodedRoutes::new(&base, &topology, &tree, |_, _| true);
    assert_eq!(BufferDependencies::of_all_pairs(&topology, &everywhere).find_cycle(), None);
}
