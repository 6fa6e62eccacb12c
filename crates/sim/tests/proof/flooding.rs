//! Tables that are flushed when links go down or switches reboot, or age: what such a run floods and
//! where it waits in a circle is not said to be proved.

use std::sync::Arc;

use rocelab_sim::Simulation;
use rocelab_sim::network::Totals;
use rocelab_sim::proof::{HeadroomDoubt, Proof};

use crate::plan;

/// The network of `scenarios/sigcomm16-flooding.toml`, whose circle is closed by flooding for host-1 and
/// host-4. Routes stay as they are until the end.
const NETWORK: &str = "seed = 1\nstop = \"3ms\"\nconvergence = \"10ms\"\n[roce]\npath_mtu = 1024\n\
    [topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\n\
    host_link = { rate = \"40Gbps\", cable = \"3m\" }\n\
    fabric_link = { rate = \"40Gbps\", cable = \"30m\" }\n\
    [[route]]\nswitch = \"leaf-0\"\ndestinations = [\"host-4\", \"host-6\"]\nnext_hop = \"spine-0\"\n\
    [[route]]\nswitch = \"leaf-1\"\ndestinations = [\"host-1\"]\nnext_hop = \"spine-1\"\n\
    [switch]\nbuffer = \"12MB\"\nheadroom = \"60KB\"\nxoff = \"50KB\"\n[congestion_control.none]\n";

/// From a host to another.
const FLOWS: [(u32, u32); 6] = [(0, 4), (0, 6), (2, 4), (5, 1), (7, 1), (7, 6)];

/// What happens beside a leaf, to the host that is sent to.
const FAILURES: [&str; 4] = ["", "host-down", "link-down", "switch-reboot"];

fn failure(kind: &str, leaf: u32, host: u32) -> String {
    let what = match kind {
        "" => return String::new(),
        "host-down" => format!("host = \"host-{host}\""),
        "link-down" => format!("port = \"host-{host}\""),
        _ => format!("switch = \"leaf-{leaf}\"\nlasts = \"50us\""),
    };
    format!("[[failure]]\nkind = \"{kind}\"\n{what}\nat = \"300us\"\n")
}

/// `layer2` and what breaks at both leaves.
fn scenario(layer2: &str, kinds: [&str; 2]) -> String {
    let flow = |(from, to)| {
        format!("{{ from = \"host-{from}\", to = \"host-{to}\", bytes = \"1GB\" }},\n")
    };
    let flows: String = FLOWS.into_iter().map(flow).collect();
    let failures = [failure(kinds[0], 0, 1), failure(kinds[1], 1, 4)].concat();
    format!("{NETWORK}[layer2]\n{layer2}\n{failures}[workload.flows]\nlist = [\n{flows}]\n")
}

/// What was proved, what was counted, and whether the run ended in a deadlock.
fn proved_and_run(text: &str) -> (Proof, Totals, bool) {
    let plan = plan(text);
    let proof = Proof::of(&plan);
    let mut simulation: Simulation = Simulation::new(Arc::new(plan)).expect("it is a network");
    simulation.run_to_end();
    let network = simulation.network();
    network.audit().expect("nothing is lost without a reason");
    (proof, network.totals(simulation.now()), !network.deadlocks().is_empty())
}

fn has_cycle(proof: &Proof) -> bool {
    proof.buffer_dependency.as_ref().expect("it was looked into").cycle.is_some()
}

#[test]
fn what_a_run_floods_or_waits_in_is_not_proved_whatever_breaks_and_ages() {
    let timers = [("100us", "50ms"), ("50ms", "50ms"), ("50ms", "100us")];
    let (mut flooded, mut deadlocks, mut without_ageing) = (0, 0, 0);
    for (ageing, timeout) in timers {
        for kinds in FAILURES.iter().flat_map(|&a| FAILURES.map(|b| [a, b])) {
            let learning =
                format!("learning = {{ mac_ageing = \"{ageing}\", arp_timeout = \"{timeout}\" }}");
            let (proof, totals, deadlock) = proved_and_run(&scenario(&learning, kinds));
            let case = format!("{learning} {kinds:?}");
            if totals.layer2.floods > 0 {
                flooded += 1;
                let doubted = |doubts: &[HeadroomDoubt]| doubts.contains(&HeadroomDoubt::Flooding);
                let all = proof.headroom.iter().all(|finding| doubted(&finding.doubts));
                assert!(all, "{case}: {} floods\n{proof}", totals.layer2.floods);
            }
            if deadlock {
                deadlocks += 1;
                without_ageing += u32::from(ageing == timeout);
                assert!(has_cycle(&proof), "{case}: a deadlock\n{proof}");
            }
        }
    }
    println!(
        "{flooded} flooded, {deadlocks} deadlocked, {without_ageing} of these by flushes alone"
    );
    assert!(flooded >= 20 && deadlocks >= 4 && without_ageing >= 1);
}

#[test]
fn links_of_hosts_that_go_down_close_the_circle_only_where_tables_learn() {
    let kinds = ["link-down"; 2];
    let learning = "learning = { mac_ageing = \"50ms\", arp_timeout = \"50ms\" }";
    let (proof, totals, deadlock) = proved_and_run(&scenario(learning, kinds));
    assert!(has_cycle(&proof) && deadlock && totals.layer2.floods > 0, "{proof}");
    let cure = format!("{learning}\ndrop_incomplete_arp = true");
    for layer2 in ["", &cure] {
        let (proof, totals, deadlock) = proved_and_run(&scenario(layer2, kinds));
        assert!(!has_cycle(&proof) && !deadlock && totals.layer2.floods == 0, "{layer2}\n{proof}");
        assert!(proof.headroom.iter().all(|finding| finding.doubts.is_empty()), "{proof}");
    }
}

/// Every host may be silent for longer than its MAC entry lives: both leaves flood, and so do they for a host to
/// which there is a static route, the first one of its leaf or another.
#[test]
fn flooding_for_the_silent_counts_beside_static_routes() {
    let network = "stop = \"1ms\"\n[topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n\
        host_link = { rate = \"40Gbps\", cable = \"3m\" }\n\
        fabric_link = { rate = \"40Gbps\", cable = \"30m\" }\n[congestion_control.none]\n\
        [layer2]\nlearning = { mac_ageing = \"100us\", arp_timeout = \"50ms\" }\n\
        [workload.incast]\nsenders = 2\nreceiver = \"host-3\"\nbytes = \"10KB\"\n";
    let route = |host: u32| {
        format!(
            "[[route]]\nswitch = \"leaf-0\"\ndestinations = [\"host-{host}\"]\nnext_hop = \"spine-0\"\n"
        )
    };
    let each = [String::new(), route(2), route(3), [route(2), route(3)].concat()];
    for routes in each {
        let proof = Proof::of(&plan(&format!("{network}{routes}")));
        let found = proof.buffer_dependency.as_ref().expect("it was looked into");
        assert!(found.cycle.is_none(), "{proof}");
        assert!(found.cycle_of_silent.is_some(), "{routes}\n{proof}");
    }
}
