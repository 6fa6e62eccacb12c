//! The ideal completion time is a lower bound too where frames take other paths than the shortest ones of
//! the beginning: after failures, by static routes, and over many links of different rates.

use std::collections::BTreeMap;
use std::fmt::Write;

use rocelab_engine::RngStream;
use rocelab_sim::{UnloadedNetwork, ideal_fct};
use rocelab_transport::CompletionStatus;

use crate::support::{Run, plan, try_plan, write_file};

/// A scenario on the topology of an edge list.
fn on(name: &str, links: &str, more: &str) -> String {
    write_file(name, links);
    format!("{more}\n[topology.file]\npath = \"{name}\"\nformat = \"edge-list\"\n")
}

/// Completion times with ideal times (ps) of the flows that completed.
fn times(text: &str) -> Vec<(u64, u64)> {
    let mut run = Run::new(plan(text));
    run.finish();
    times_of(&run)
}

fn times_of(run: &Run) -> Vec<(u64, u64)> {
    let ends = run.flow_ends();
    let completed = ends.iter().filter(|end| end.status == CompletionStatus::Success);
    completed
        .map(|end| {
            let flow = &run.plan.flows[end.flow as usize];
            let ideal = UnloadedNetwork::new(&run.plan).completion_time_until(flow, end.finished);
            (end.finished.since(flow.start).ps(), ideal.ps())
        })
        .collect()
}

fn flow(from: u64, to: u64, bytes: u64, start: u64) -> String {
    format!(
        "{{ from = \"host-{from}\", to = \"host-{to}\", bytes = \"{bytes}B\", start = \"{start}us\" }},"
    )
}

/// Four switches in a ring, and a host at each.
const RING: &str = "8 4 8\n4 5 6 7\n0 4 100Gbps 1us 0\n1 5 100Gbps 1us 0\n2 6 100Gbps 1us 0\n\
                    3 7 100Gbps 1us 0\n4 5 100Gbps 1us 0\n5 6 100Gbps 1us 0\n6 7 100Gbps 1us 0\n\
                    7 4 100Gbps 1us 0\n";

#[test]
fn a_spanning_tree_made_anew_is_shorter_for_some() {
    let flows = [flow(1, 2, 1000, 500), flow(2, 3, 1000, 600), flow(0, 3, 1000, 700)].concat();
    let text = on(
        "alone-ring.txt",
        RING,
        &format!(
            "[roce]\nversion = 1\n[workload.flows]\nlist = [{flows}]\n[[failure]]\n\
             kind = \"link-down\"\nport = \"switch-5:2\"\nat = \"100us\"\nlasts = \"5ms\"\n"
        ),
    );
    let found = times(&text);
    assert!(found.len() == 3 && found.iter().all(|(time, ideal)| time >= ideal), "{found:?}");
}

#[test]
fn a_static_route_that_is_withdrawn_was_a_detour() {
    let links = "6 3 6\n3 4 5\n0 3 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 5 100Gbps 1us 0\n\
                 3 4 100Gbps 1us 0\n4 5 100Gbps 1us 0\n3 5 100Gbps 1us 0\n";
    let text = on(
        "alone-withdrawn.txt",
        links,
        &format!(
            "[workload.flows]\nlist = [{}]\n[[route]]\nswitch = \"switch-3\"\n\
             destinations = [\"host-2\"]\nnext_hop = \"switch-4\"\n[[failure]]\n\
             kind = \"link-down\"\nport = \"switch-3:1\"\nat = \"100us\"\nlasts = \"5ms\"\n",
            flow(0, 2, 1000, 500)
        ),
    );
    let found = times(&text);
    assert!(found.len() == 1 && found[0].0 >= found[0].1, "{found:?}");
}

/// A path with more links can be quicker than the shortest one: the way around the link that is down.
#[test]
fn a_longer_path_is_quicker_than_the_one_that_fails() {
    let links = "5 3 5\n2 3 4\n0 2 100Gbps 15ns 0\n1 3 100Gbps 15ns 0\n2 3 1Gbps 1ms 0\n\
                 2 4 100Gbps 15ns 0\n4 3 100Gbps 15ns 0\n";
    let text = on(
        "alone-around.txt",
        links,
        &format!(
            "[workload.flows]\nlist = [{}]\n[[failure]]\nkind = \"link-down\"\n\
             port = \"switch-2:1\"\nat = \"100us\"\n",
            flow(0, 1, 100_000, 20_000)
        ),
    );
    let found = times(&text);
    assert!(found.len() == 1 && found[0].0 >= found[0].1, "{found:?}");
}

/// A link that goes down for a moment moves a flow to the other spine while its first frames are on their way. The
/// receiver gets frames from both at once, faster than one link of the fabric carries them.
#[test]
fn a_flow_that_changes_its_path_is_on_two_at_once() {
    let mut quicker_than_one_path = 0;
    let ways = ["verb = \"write\"", "verb = \"send\"", "verb = \"read\"", "transport = \"tcp\""];
    for (how, port) in ways.into_iter().flat_map(|how| [(how, 1), (how, 2)]) {
        for bytes in [14_000, 20_000, 40_000, 1_000_000] {
            let more = format!(
                "roce = {{ recovery = \"selective-repeat\" }}\n[congestion_control.none]\n\
                 [workload.flows]\n{how}\n\
                 list = [{{ from = \"host-0\", to = \"host-1\", bytes = \"{bytes}B\" }}]\n\
                 [[failure]]\nkind = \"link-down\"\nport = \"leaf-0:{port}\"\nat = \"1ps\"\nlasts = \"1us\"\n"
            );
            let fast = "fabric_link = { rate = \"100Gbps\", cable = \"3m\" }";
            let slow = "fabric_link = { rate = \"40Gbps\", cable = \"30m\" }";
            let mut run = Run::new(plan(&leaf_spine(2, 2, &more).replace(fast, slow)));
            run.finish();
            let found = times_of(&run);
            assert!(found.len() == 1 && found[0].0 >= found[0].1, "{how} {bytes}: {found:?}");
            let over_one = UnloadedNetwork::new(&run.plan).completion_time(&run.plan.flows[0]);
            quicker_than_one_path += u32::from(found[0].0 < over_one.ps());
        }
    }
    assert!(quicker_than_one_path > 0);
}

/// Three stages, each over one of three switches: one near and slow, one far and fast.
#[test]
fn the_quickest_of_many_ways_depends_on_the_length_of_the_flow() {
    let mut links = "15 13 20\n2 3 4 5 6 7 8 9 10 11 12 13 14\n0 2 400Gbps 15ns 0\n".to_owned();
    for (from, by, to) in [(2, 4, 3), (3, 8, 7), (7, 12, 11)] {
        for (by, rate, delay) in
            [(by, "10Gbps", "15ns"), (by + 1, "25Gbps", "15ns"), (by + 2, "400Gbps", "20us")]
        {
            write!(links, "{from} {by} {rate} {delay} 0\n{by} {to} {rate} 15ns 0\n").unwrap();
        }
    }
    links += "11 1 400Gbps 15ns 0\n";
    let flows: String = (0..120).map(|number| flow(0, 1, 400_000, number * 2_000)).collect();
    let text = on(
        "alone-stages.txt",
        &links,
        &format!("[congestion_control.none]\n[workload.flows]\nlist = [{flows}]\n"),
    );
    let found = times(&text);
    assert!(found.len() == 120 && found.iter().all(|(time, ideal)| time >= ideal), "{found:?}");
    // Three fast and far stages take a hundredth of a slow one's time and more.
    assert!(found.iter().any(|(time, ideal)| *time < ideal * 2), "{found:?}");
}

/// Leaves with a host each under spines.
fn leaf_spine(leaves: u32, spines: u32, more: &str) -> String {
    format!(
        "{more}\n[topology.leaf-spine]\nleaves = {leaves}\nspines = {spines}\nhosts_per_leaf = 1\n\
         host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         fabric_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n"
    )
}

/// Each spine sends back what is for host-0, to a leaf that may take any spine: 8 to the 16th paths.
#[test]
fn routes_in_circles_are_looked_at_in_no_time() {
    let flows = [flow(2, 0, 10_000, 0), flow(0, 2, 10_000, 0)].concat();
    let text = leaf_spine(
        16,
        8,
        &format!(
            "[workload.flows]\nlist = [{flows}]\n[[route]]\nswitch = \"spine-0..spine-7\"\n\
             destinations = [\"host-0\"]\nnext_hop = \"leaf-1\"\n"
        ),
    );
    let plan = plan(&text);
    for flow in &plan.flows {
        assert!(ideal_fct(&plan, flow).ps() > 1_000_000, "{flow:?}");
    }
}

/// Nothing comes back to host-1, and nothing has to.
#[test]
fn a_direction_without_a_way_has_an_ideal_time() {
    let route =
        "[[route]]\nswitch = \"spine-0\"\ndestinations = [\"host-1\"]\nnext_hop = \"leaf-0\"\n";
    let text = |service: &str, more: &str| {
        let flow = flow(1, 2, 10_000, 0);
        leaf_spine(
            3,
            1,
            &format!(
                "{more}[roce]\nservice = \"{service}\"\n[congestion_control.none]\n\
                 [workload.flows]\nlist = [{flow}]\n"
            ),
        )
    };
    let ideal = |service, more| {
        let plan = plan(&text(service, more));
        ideal_fct(&plan, &plan.flows[0])
    };
    for service in ["rc", "uc"] {
        assert_eq!(ideal(service, route), ideal(service, ""), "{service}");
    }
    let found = times(&text("uc", route));
    assert!(found.len() == 1 && found[0].0 == found[0].1, "{found:?}");
}

fn one_of<T: Copy>(stream: &mut RngStream, all: &[T]) -> T {
    all[usize::try_from(stream.below(all.len() as u64)).expect("a list is short")]
}

/// A network of any shape with a host at each of some switches, paths of very different rates, many of
/// them side by side, and what changes routes.
fn any_network(stream: &mut RngStream, name: &str) -> String {
    let hosts = 3 + stream.below(4);
    let mut switches = hosts;
    let mut links = BTreeMap::new();
    let mut link = |stream: &mut RngStream, a: u64, b: u64| {
        let rate = one_of(stream, &[2, 10, 25, 40, 100, 400, 800]);
        let delay = one_of(stream, &["1ns", "50ns", "1us", "20us"]);
        links.entry((a.min(b), a.max(b))).or_insert_with(|| format!("{rate}Gbps {delay} 0"));
    };
    for switch in 0..hosts {
        link(stream, switch, hosts + switch);
        if switch == 0 {
            continue;
        }
        let before = stream.below(switch);
        match one_of(stream, &[0, 0, 2, 20]) {
            0 => link(stream, hosts + before, hosts + switch),
            count => {
                for _ in 0..count {
                    link(stream, hosts + before, hosts + switches);
                    link(stream, hosts + switches, hosts + switch);
                    switches += 1;
                }
            }
        }
    }
    for _ in 0..stream.below(2 * hosts) {
        let a = stream.below(hosts);
        let b = (a + 1 + stream.below(hosts - 1)) % hosts;
        link(stream, hosts + a, hosts + b);
    }
    let names: Vec<_> = (hosts..hosts + switches).map(|id| id.to_string()).collect();
    let count = links.len();
    let list: String = links.iter().map(|((a, b), link)| format!("{a} {b} {link}\n")).collect();
    let list = format!("{} {switches} {count}\n{}\n{list}", hosts + switches, names.join(" "));

    let version = one_of(stream, &["version = 1", "version = 2"]);
    let service = one_of(stream, &["rc", "rc", "uc"]);
    let forwarding = one_of(stream, &["cut-through", "store-and-forward"]);
    let mut more = format!(
        "seed = {}\nstop = \"200ms\"\nconvergence = \"100us\"\n[roce]\n{version}\n\
         service = \"{service}\"\n[congestion_control.none]\n[switch]\nbuffer = \"1GB\"\n\
         latency = \"{}\"\nforwarding = \"{forwarding}\"\n",
        stream.below(1 << 20),
        one_of(stream, &["0ns", "500ns"]),
    );
    // Nothing ends a frame's circles in RoCE v1.
    let routes = if version == "version = 1" { 0 } else { one_of(stream, &[0, 1, 3]) };
    for _ in 0..routes {
        // A next hop is a neighbour.
        let between: Vec<_> = links.keys().filter(|(a, _)| *a >= hosts).collect();
        let &&(a, b) = &between[usize::try_from(stream.below(between.len() as u64)).expect("few")];
        let (switch, next) = one_of(stream, &[(a, b), (b, a)]);
        let to = stream.below(hosts);
        write!(
            more,
            "[[route]]\nswitch = \"switch-{switch}\"\ndestinations = [\"host-{to}\"]\n\
             next_hop = \"switch-{next}\"\n"
        )
        .expect("text grows");
    }
    for _ in 0..one_of(stream, &[0, 1, 2]) {
        let switch = hosts + stream.below(hosts);
        let (at, lasts) = (stream.below(100), 1 + stream.below(50));
        write!(
            more,
            "[[failure]]\nkind = \"link-down\"\nport = \"switch-{switch}:1\"\nat = \"{at}ms\"\n\
             lasts = \"{lasts}ms\"\n"
        )
        .expect("text grows");
    }
    let flows: String = (0..8)
        .map(|number| {
            let from = stream.below(hosts);
            let to = (from + 1 + stream.below(hosts - 1)) % hosts;
            flow(from, to, one_of(stream, &[1, 1_000, 9_000, 100_000]), number * 20_000 + 10)
        })
        .collect();
    write!(more, "[workload.flows]\nlist = [{flows}]\n").expect("text grows");
    on(name, &list, &more)
}

#[test]
fn no_flow_is_faster_than_its_ideal_on_any_network() {
    let mut stream = RngStream::new(20, "flows alone on other ways");
    let (mut compared, mut reached, mut near) = (0, 0, 0);
    for number in 0..200 {
        let text = any_network(&mut stream, &format!("alone-any-{number}.txt"));
        // A static route may be none that a scenario can have, such as past the destination's switch.
        let Ok(plan) = try_plan(&text) else { continue };
        let mut run = Run::new(plan);
        run.finish();
        for (time, ideal) in times_of(&run) {
            assert!(time >= ideal && ideal > 0, "{time} ps, ideal {ideal} ps, {number}:\n{text}");
            compared += 1;
            reached += u32::from(time == ideal);
            near += u32::from(time <= ideal * 2);
        }
    }
    println!(
        "{compared} flows, {reached} take exactly their ideal time, {near} at most twice that"
    );
    assert!(compared > 500 && reached > 50, "{reached} of {compared}");
}
