//! `switch.load_balancing`: which paths the packets take that switches choose for.

use rocelab_sim::{Ending, UnloadedNetwork};

use crate::support::{run, try_plan};

/// Two leaves, four spines, one flow from leaf to leaf.
fn text(version: &str, balancing: &str, more: &str) -> String {
    let layer2 = if version.contains("version = 1") { "forwarding = \"multipath\"" } else { "" };
    format!(
        "[roce]\n{version}\nrecovery = {{ reordering = {{}} }}\n[layer2]\n{layer2}\n\
         [topology.leaf-spine]\nleaves = 2\nspines = 4\nhosts_per_leaf = 2\n\
         host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         fabric_link = {{ rate = \"100Gbps\", cable = \"30m\" }}\n[congestion_control.none]\n\
         [switch]\n{balancing}\n[workload.flows]\n\
         list = [{{ from = \"host-0\", to = \"host-3\", bytes = \"200KB\" }}]\n{more}"
    )
}

const VERSIONS: [&str; 3] = ["version = 1", "version = 2", "version = 2\nip = \"ipv6\""];

/// Frames that left by each of a leaf's ports to the spines.
fn frames_up(text: &str, leaf: &str) -> Vec<u64> {
    let plan = try_plan(text).expect("it runs");
    let run = run(text);
    assert_eq!(run.ending, Ending::Finished);
    let node = plan.topology.node_by_name(leaf).expect("it is there");
    // The leaf's ports 2 to 5 lead up.
    let ports = run.simulation.network().ports();
    ports
        .filter(|view| view.node == node && view.number >= 2)
        .map(|view| view.counters.frames)
        .collect()
}

#[test]
fn round_robin_fills_all_paths_alike() {
    for version in VERSIONS {
        for leaf in ["leaf-0", "leaf-1"] {
            let text = text(version, "load_balancing = \"round-robin\"", "");
            let frames = frames_up(&text, leaf);
            let (least, most) = (frames.iter().min(), frames.iter().max());
            assert!(least.zip(most).is_some_and(|(least, most)| most - least <= 1), "{frames:?}");
            assert!(frames.iter().sum::<u64>() >= 196, "data one way, acknowledgements the other");
        }
    }
}

#[test]
fn with_the_shortest_queue_no_path_is_left_empty() {
    for version in VERSIONS {
        let text = text(version, "load_balancing = \"shortest-queue\"", "");
        let frames = frames_up(&text, "leaf-0");
        assert!(frames.iter().all(|&frames| frames > 20), "{frames:?}");
    }
}

#[test]
fn with_ecmp_a_flow_has_one_path() {
    for balancing in ["", "load_balancing = \"ecmp\""] {
        let frames = frames_up(&text("version = 2", balancing, ""), "leaf-0");
        assert_eq!(frames.iter().filter(|&&frames| frames > 0).count(), 1, "{frames:?}");
    }
}

#[test]
fn one_switch_may_choose_where_others_do_not() {
    let one = "[[switch.override]]\nswitches = [\"leaf-1\"]\nload_balancing = \"round-robin\"\n";
    let text = text("version = 2", one, "");
    let used = |leaf| frames_up(&text, leaf).into_iter().filter(|&frames| frames > 0).count();
    assert_eq!((used("leaf-0"), used("leaf-1")), (1, 4));
}

/// Links of the fabric slower than a host's: several of them carry more than one.
#[test]
fn no_flow_is_quicker_than_ideal() {
    for forwarding in ["store-and-forward", "cut-through"] {
        let switch = format!("load_balancing = \"round-robin\"\nforwarding = \"{forwarding}\"");
        let text = text("version = 2", &switch, "")
            .replace("fabric_link = { rate = \"100Gbps\"", "fabric_link = { rate = \"40Gbps\"");
        let run = run(&text);
        let plan = try_plan(&text).expect("it runs");
        let end = run.ends[0].finished;
        let ideal = UnloadedNetwork::new(&plan).completion_time_until(&plan.flows[0], end);
        assert!(end.ps() >= ideal.ps(), "{end} is before {ideal}");
        // One link alone takes 40 us for the payload.
        assert!(end.ps() < 40_000_000, "{end}");
    }
}

#[test]
fn an_unknown_algorithm_is_refused() {
    let error = try_plan(&text("version = 2", "load_balancing = \"random\"", "")).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("load_balancing") || error.contains("round-robin"), "{error}");
}
