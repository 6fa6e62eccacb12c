//! Fabrics of InfiniBand at random: nothing is lost, and what stands still is a loop of credits.

use std::fmt::Write;

use rocelab_fabric::FlowControl;
use rocelab_sim::Ending;
use rocelab_subnet::{SERVICE_LEVELS, credit_loops};

use super::{flow, link, network};
use crate::support::{Dice, Run, plan, run, try_plan};

/// A ring of so many switches with so many hosts each, which send to the hosts so many switches ahead.
pub(super) fn ring(
    (switches, hosts, ahead): (usize, usize, usize),
    (engine, lanes): (&str, u8),
) -> String {
    let (mut links, mut flows) = (Vec::new(), Vec::new());
    for switch in 0..switches {
        for host in 0..hosts {
            let name = |switch: usize| format!("host-{}", switch * hosts + host);
            links.push(link((&name(switch), &format!("switch-{switch}")), (100, 3)));
            flows.push(flow(&name(switch), &name((switch + ahead) % switches), 2_000_000));
        }
    }
    for switch in 0..switches {
        let next = (switch + 1) % switches;
        links.push(link((&format!("switch-{switch}"), &format!("switch-{next}")), (100, 3)));
    }
    let all = format!("host-0..host-{}", switches * hosts - 1);
    let switches = format!("switch-0..switch-{}", switches - 1);
    format!(
        "[infiniband]\ndata_vls = {lanes}\n[infiniband.sm]\nengine = \"{engine}\"\n[roce]\npath_mtu = 2048\n{}",
        network(&all, &switches, &links, &flows)
    )
}

#[test]
fn a_ring_stands_still_where_its_engine_leaves_a_loop() {
    // The ways of min-hop, of up/down that finds no root, and of SSSP are a circle in rings of more than four.
    for (shape, engine) in
        [((5, 3, 2), "minhop"), ((6, 3, 2), "minhop"), ((7, 2, 3), "updn"), ((5, 3, 2), "sssp")]
    {
        let run = run(&ring(shape, (engine, 1)));
        assert_eq!(run.ending, Some(Ending::Deadlocked), "{shape:?} {engine}");
        let [deadlock] = run.simulation.network().deadlocks() else { panic!("there is one") };
        assert_eq!(deadlock.cycle.len(), shape.0, "all switches wait for each other: {deadlock:?}");
        assert_eq!(run.totals().frames_dropped, 0);
    }
    for (shape, engine) in
        [((5, 3, 2), "lash"), ((5, 3, 2), "dfsssp"), ((7, 2, 3), "lash"), ((7, 2, 3), "dfsssp")]
    {
        let run = run(&ring(shape, (engine, 4)));
        assert_eq!(run.ending, Some(Ending::Finished), "{shape:?} {engine}");
        assert!(run.simulation.network().deadlocks().is_empty());
    }
}

/// A connected network of some switches with some more cables than a tree has, and flows between hosts.
fn fabric(dice: &mut Dice) -> String {
    let (switches, hosts) = (dice.between(1, 8), dice.between(2, 16));
    let (mut links, mut flows) = (Vec::new(), Vec::new());
    let rate = |dice: &mut Dice| (dice.one(&[16, 100, 200, 400]), dice.one(&[1, 3, 30, 300]));
    for host in 0..hosts {
        let switch = format!("switch-{}", dice.between(0, switches - 1));
        links.push(link((&format!("host-{host}"), &switch), rate(dice)));
    }
    let is_ring = dice.between(0, 1) == 0;
    for switch in 1..switches {
        let before = if is_ring { switch - 1 } else { dice.between(0, switch - 1) };
        links.push(link((&format!("switch-{switch}"), &format!("switch-{before}")), rate(dice)));
    }
    if is_ring && switches > 2 {
        let last = format!("switch-{}", switches - 1);
        links.push(link(("switch-0", &last), rate(dice)));
    }
    for _ in 0..dice.between(0, 2) {
        let (a, b) = (dice.between(0, switches - 1), dice.between(0, switches - 1));
        if a != b {
            links.push(link((&format!("switch-{a}"), &format!("switch-{b}")), rate(dice)));
        }
    }
    let mtu = dice.one(&[256, 1024, 2048, 4096]);
    for _ in 0..dice.between(1, 40) {
        let from = dice.between(0, hosts - 1);
        let to = (from + dice.between(1, hosts - 1)) % hosts;
        let verb = dice.one(&["write", "send", "read"]);
        let mut text =
            flow(&format!("host-{from}"), &format!("host-{to}"), dice.between(1, 200 * mtu));
        text.truncate(text.len() - 2);
        write!(text, ", verb = \"{verb}\", priority = {} }}", dice.between(0, 7))
            .expect("text grows");
        flows.push(text);
    }
    let engine = dice.one(&["minhop", "updn", "dnup", "ftree", "dor", "sssp", "dfsssp", "lash"]);
    let lanes = dice.one(&[1, 2, 4, 8]);
    let blocks = (mtu + 44_u64).div_ceil(64);
    let buffer = match dice.between(0, 2) {
        0 => "auto".to_owned(),
        _ => format!("{}B", 64 * dice.between(blocks, 4 * blocks)),
    };
    let interval = dice.one(&["0s", "256ns", "2us"]);
    let forwarding = dice.one(&["store-and-forward", "cut-through"]);
    let latency = dice.one(&["0s", "130ns"]);
    let lmc = dice.one(&[0, 0, 1, 2]);
    let path_bits = if lmc > 0 { dice.one(&["round-robin", "random"]) } else { "round-robin" };
    let all = format!("host-0..host-{}", hosts - 1);
    let names = format!("switch-0..switch-{}", switches - 1);
    format!(
        "stop = \"100ms\"\n[infiniband]\ndata_vls = {lanes}\nlmc = {lmc}\npath_bits = \"{path_bits}\"\nvl_buffer = \"{buffer}\"\nupdate_interval = \
         \"{interval}\"\n[infiniband.sm]\nengine = \"{engine}\"\n[switch]\nforwarding = \"{forwarding}\"\nlatency = \
         \"{latency}\"\n[roce]\npath_mtu = {mtu}\n{}",
        network(&all, &names, &links, &flows)
    )
}

/// Whether packets of this run could wait for each other in a circle.
fn may_stand_still(run: &Run) -> bool {
    let infiniband = run.plan.infiniband.as_ref().expect("it is of InfiniBand");
    let mut lanes = [0; SERVICE_LEVELS];
    lanes[..8].copy_from_slice(&infiniband.lane_of);
    let routed = &infiniband.routed;
    let tables = &routed.routing.tables;
    // Where the engine gives no service levels, flows have any: then all of them share the loops of one.
    !credit_loops(&routed.subnet, tables, &lanes).is_empty()
}

/// Where the run goes on, the queues of its deadlocks wait as they did when these were found.
fn assert_it_lasts(text: &str, found: &Run) {
    let mut on = Run::new(plan(&format!("on_deadlock = \"continue\"\n{text}")));
    on.finish();
    let queues = found.simulation.network().deadlocks().iter().flat_map(|one| &one.queues);
    for queue in queues {
        let waits_since = |run: &Run| {
            let mut ports = run.simulation.network().ports();
            let port = ports.find(|port| (port.node, port.number) == (queue.node, queue.port));
            port.expect("it exists").port.flow_control().paused_since(queue.priority)
        };
        let since = waits_since(found);
        assert!(since.is_some(), "{queue:?}");
        assert_eq!(waits_since(&on), since, "{queue:?} moved\n{text}");
    }
}

#[test]
fn nothing_is_lost_and_only_loops_stand_still() {
    let mut dice = Dice::new("fabrics of infiniband", 1);
    let (mut deadlocks, mut loops, mut number) = (0, 0, 0);
    while number < 1_000 {
        let text = fabric(&mut dice);
        // Down/up does not reach everybody everywhere.
        match try_plan(&text) {
            Err(error) if error.to_string().contains("finds no way") => continue,
            _ => number += 1,
        }
        let run = run(&text);
        assert_eq!(run.totals().frames_dropped, 0, "{number}\n{text}");
        let has_loop = may_stand_still(&run);
        loops += u32::from(has_loop);
        match run.ending {
            Some(Ending::Finished) => {}
            Some(Ending::Deadlocked) if has_loop => {
                deadlocks += 1;
                assert_it_lasts(&text, &run);
            }
            ending => panic!("{number}: {ending:?}, loop: {has_loop}\n{text}"),
        }
    }
    println!("1000 fabrics, {loops} with loops of credits, {deadlocks} stood still");
    assert!(loops > 50 && deadlocks > 0, "{loops} {deadlocks}");
}

/// What is refused is refused before anything runs.
#[test]
fn what_ethernet_has_is_refused() {
    let base = ring((3, 1, 1), ("minhop", 2));
    for (more, key) in [
        ("[switch]\necn = { kmin = \"1KB\", kmax = \"2KB\", pmax = 1.0 }\n", "switch.ecn"),
        ("[congestion_control.dcqcn]\n", "congestion_control.dcqcn"),
        ("[[slow_receiver]]\nrate = \"10Gbps\"\n", "slow_receiver"),
        ("[[route]]\nswitch = \"switch-0\"\nport = \"switch-0:1\"\n", "route"),
    ] {
        let error = try_plan(&format!("{base}{more}")).err();
        let error = error.unwrap_or_else(|| panic!("{key} is refused")).to_string();
        assert!(error.contains(key), "{error}");
    }
    let more = base.replace("data_vls = 2", "data_vls = 3");
    let error = try_plan(&more).expect_err("3 is no number of lanes").to_string();
    assert!(error.contains("infiniband.data_vls"), "{error}");
    let more = base.replace("minhop", "nue");
    let error = try_plan(&more).expect_err("it is not simulated").to_string();
    assert!(error.contains("infiniband.sm.engine") && error.contains("dfsssp"), "{error}");
    let _ = plan(&base);
}

/// After a failure tables are the subnet manager's, wherever it is; switches out of its reach keep theirs.
#[test]
fn tables_follow_failures_of_the_first_host_too() {
    let text = "[infiniband]\n[infiniband.sm]\nengine = \"ftree\"\n[topology.leaf-spine]\nleaves = 2\nspines = 2\n\
         hosts_per_leaf = 2\nhost_link = { rate = \"100Gbps\", cable = \"3m\" }\nfabric_link = { rate = \"100Gbps\", cable = \
         \"30m\" }\n[workload.flows]\nlist = [{ from = \"host-0\", to = \"host-3\", bytes = \"1KB\" }]\n";
    let plan = plan(text);
    let node = |name: &str| plan.topology.node_by_name(name).expect("it is there");
    let without = |ends: &[(&str, &str)]| {
        let is_gone = |link: &rocelab_fabric::TopologyLink| {
            let joins = |&(a, b): &(&str, &str)| {
                [(link.a, link.b), (link.b, link.a)].contains(&(node(a), node(b)))
            };
            ends.iter().any(joins)
        };
        let active: Vec<_> = plan.topology.links.iter().map(|link| !is_gone(link)).collect();
        plan.routes(&active).expect("somebody has a link")
    };
    let ways = |routes: &rocelab_fabric::Routes, from: &str, to: &str| {
        routes.next_hops(node(from), node(to)).len()
    };
    let routes = without(&[("host-0", "leaf-0")]);
    assert_eq!(ways(&routes, "leaf-1", "host-1"), 1, "one way of two");
    assert_eq!(ways(&routes, "leaf-1", "host-0"), 0, "it has no link");
    // Two halves; the manager is in that of host-0.
    let routes = without(&[("leaf-1", "spine-0"), ("leaf-1", "spine-1")]);
    assert_eq!((ways(&routes, "leaf-0", "host-1"), ways(&routes, "leaf-0", "host-2")), (1, 0));
    assert_eq!((ways(&routes, "leaf-1", "host-3"), ways(&routes, "leaf-1", "host-0")), (1, 0));
    let all: Vec<_> = (0..4).map(|host| format!("host-{host}")).collect();
    let ends: Vec<_> =
        all.iter().zip(["leaf-0", "leaf-0", "leaf-1", "leaf-1"]).map(|(a, b)| (&**a, b)).collect();
    let active: Vec<_> = plan
        .topology
        .links
        .iter()
        .map(|link| {
            !ends
                .iter()
                .any(|&(a, b)| [(link.a, link.b), (link.b, link.a)].contains(&(node(a), node(b))))
        })
        .collect();
    assert!(plan.routes(&active).is_err(), "nobody is left to route: tables stay as they are");
}
