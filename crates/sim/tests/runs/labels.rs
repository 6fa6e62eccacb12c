//! What rows of flows say of their workload and their path.

use std::collections::BTreeMap;

use rocelab_results::{FlowRecord, Results};

use crate::sampling::run;

/// Two leaves with eight hosts each, and two spines.
const CLOS: &str = "[topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 8\n\
                    host_link = { rate = \"100Gbps\", cable = \"3m\" }\nfabric_link = { rate = \"100Gbps\", cable = \"10m\" }\n";

fn flows(results: &Results) -> Vec<FlowRecord<'static>> {
    let mut flows: Vec<_> = results.flows().expect("flows.csv").map(Result::unwrap).collect();
    flows.sort_by_key(|flow| flow.flow);
    flows
}

#[test]
fn flows_name_their_workload() {
    let text = format!(
        "{CLOS}[[workload.incast]]\nname = \"shuffle\"\nsenders = 2\nbytes = \"10KB\"\n\
         [[workload.incast]]\nsenders = 1\nbytes = \"10KB\"\nstart = \"1us\"\n\
         [workload.flows]\nname = \"shuffle\"\nlist = [{{ from = \"host-0\", to = \"host-1\", bytes = \"1B\", start = \"2us\" }}]\n"
    );
    let (_, results) = run("workloads", &text);
    let found: Vec<_> = flows(&results)
        .iter()
        .map(|flow| (flow.workload.clone().into_owned(), flow.name.clone().into_owned()))
        .collect();
    let expected = [
        ("incast[0]", "shuffle"),
        ("incast[0]", "shuffle"),
        ("incast[1]", "incast[1]"),
        ("flows[0]", "shuffle"),
    ];
    assert_eq!(found, expected.map(|(key, name)| (key.to_owned(), name.to_owned())));
}

/// Frames on the links of paths are those that the links counted: an unreliable service has no acknowledgements.
#[test]
fn paths_are_those_that_the_frames_took() {
    let text = format!(
        "[roce]\nservice = \"uc\"\n{CLOS}[congestion_control.none]\n[workload.poisson]\nload = 0.4\n\
         distribution = \"websearch\"\ncount = 60\n"
    );
    let (summary, results) = run("paths", &text);
    assert_eq!(summary.flows.completed, 60);
    let mut frames: BTreeMap<(String, String), u64> = BTreeMap::new();
    for flow in flows(&results) {
        let path = flow.path.expect("routes are fixed").into_owned();
        let nodes: Vec<&str> = path.split('>').collect();
        assert_eq!((nodes[0], nodes[nodes.len() - 1]), (&*flow.source, &*flow.destination));
        for hop in nodes.windows(2) {
            *frames.entry((hop[0].to_owned(), hop[1].to_owned())).or_default() += flow.packets;
        }
    }
    let carried: BTreeMap<_, _> = results
        .links()
        .unwrap()
        .map(Result::unwrap)
        .filter(|link| link.frames > 0)
        .map(|link| ((link.from.into_owned(), link.to.into_owned()), link.frames))
        .collect();
    assert_eq!(frames, carried);
}

#[test]
fn data_of_reads_and_of_tcp_have_their_paths() {
    let text = format!(
        "{CLOS}[[workload.flows]]\nverb = \"read\"\nlist = [{{ from = \"host-0\", to = \"host-9\", bytes = \"1MB\" }}]\n\
         [[workload.flows]]\ntransport = \"tcp\"\nlist = [{{ from = \"host-1\", to = \"host-10\", bytes = \"1MB\" }}]\n"
    );
    let (_, results) = run("reads", &text);
    let carried = |from: &str, to: &str| {
        let mut links = results.links().unwrap().map(Result::unwrap);
        links.find(|link| link.from == from && link.to == to).map_or(0, |link| link.bytes)
    };
    for flow in flows(&results) {
        let path = flow.path.expect("routes are fixed").into_owned();
        let nodes: Vec<&str> = path.split('>').collect();
        let begin = if flow.verb == "read" { "host-9" } else { "host-1" };
        assert_eq!((nodes[0], nodes.len()), (begin, 5), "{path}");
        for hop in nodes.windows(2) {
            assert!(carried(hop[0], hop[1]) >= 1_000_000, "{path}: {hop:?}");
        }
    }
}

/// Eight flows over two uplinks: some share one, and each knows with how many.
#[test]
fn collisions_are_of_flows_on_the_same_uplink_at_the_same_time() {
    let list: Vec<String> = (0..8)
        .map(|host| {
            let far = host + 8;
            format!("{{ from = \"host-{host}\", to = \"host-{far}\", bytes = \"1MB\" }}")
        })
        .chain([
            "{ from = \"host-0\", to = \"host-8\", bytes = \"1KB\", start = \"50ms\" }".to_owned()
        ])
        .chain(["{ from = \"host-0\", to = \"host-1\", bytes = \"1KB\" }".to_owned()])
        .collect();
    let text = format!("{CLOS}[workload.flows]\nlist = [{}]\n", list.join(",\n"));
    let (_, results) = run("collisions", &text);
    let mut by_uplink: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for flow in flows(&results) {
        let path = flow.path.expect("routes are fixed");
        let spine = path.split('>').nth(2).expect("a third node").to_owned();
        match (flow.start_ps, &*flow.destination) {
            (0, "host-1") => assert_eq!(flow.collisions, Some(0), "nothing was chosen"),
            (0, _) => by_uplink.entry(spine).or_default().push(flow.collisions.unwrap()),
            _ => assert_eq!(flow.collisions, Some(0), "all others were over"),
        }
    }
    assert_eq!(by_uplink.values().map(Vec::len).sum::<usize>(), 8);
    for collisions in by_uplink.values() {
        let others = collisions.len() as u64 - 1;
        // All begin at once, so each meets all of its uplink.
        assert!(collisions.iter().all(|found| *found == others), "{by_uplink:?}");
    }
}

#[test]
fn paths_that_may_change_are_left_out() {
    let flow =
        "[workload.flows]\nlist = [{ from = \"host-0\", to = \"host-9\", bytes = \"10KB\" }]\n";
    let failure =
        "[[failure]]\nkind = \"link-down\"\nport = \"leaf-0:8\"\nat = \"1ms\"\n".to_owned();
    for rest in [
        "[switch]\nload_balancing = \"round-robin\"\n".to_owned(),
        failure,
        "[roce]\npath_entropy = { round-robin = { numbers = 4 } }\n".to_owned(),
    ] {
        let (_, results) = run("changing", &format!("stop = \"2ms\"\n{rest}{CLOS}{flow}"));
        let flow = &flows(&results)[0];
        assert_eq!((flow.path.as_deref(), flow.collisions), (None, None), "{rest}");
    }
}
