//! Priorities that strict scheduling starves, before the run and in it.

use std::sync::Arc;

use rocelab_sim::Simulation;
use rocelab_sim::proof::{Proof, StarvedPriority};
use rocelab_units::SimTime;

use crate::plan;

/// RDMA of priority 3 and TCP of priority 0 to one host, in turn with `switch`.
fn scenario(switch: &str, rdma: &str) -> String {
    format!(
        "seed = 1\nstop = \"8ms\"\n[roce]\npath_mtu = 1024\n\
         [topology.single-switch]\nhosts = 5\nlink = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         [switch]\n{switch}\n[congestion_control.none]\n\
         [[workload.incast]]\nsenders = 2\nreceiver = \"host-0\"\nbytes = \"{rdma}\"\n\
         [[workload.flows]]\nlist = [\n\
         {{ from = \"host-4\", to = \"host-0\", bytes = \"100KB\" }},\n]\ntransport = \"tcp\"\n"
    )
}

fn starved(text: &str) -> Vec<StarvedPriority> {
    Proof::of(&plan(text)).starved
}

#[test]
fn tcp_behind_rdma_that_fills_a_link_is_told_and_gets_nothing() {
    let text = scenario("scheduler = \"strict\"", "50MB");
    let found = starved(&text);
    let [one] = &found[..] else { panic!("{found:?}") };
    assert_eq!((one.priority, one.is_tcp, one.flows), (0, true, 1));
    assert_eq!(one.behind, [3]);
    assert_eq!((one.port.as_str(), one.ports), ("switch-0:0", 1));
    // 2 x 50 MB at 100 Gbit/s.
    assert_eq!(one.longest_ps, 8_000_000_000);
    let proof = Proof::of(&plan(&text));
    assert_eq!(proof.warnings(), 1);
    assert!(proof.to_string().contains("warn  starved priority"), "{proof}");
    // The flow of TCP is short, and ends at once where it has its turn.
    let ended = |text: &str| {
        let mut simulation: Simulation =
            Simulation::new(Arc::new(plan(text))).expect("it is a network");
        simulation.run_to_end();
        simulation.network().last_flow_end() > SimTime::ZERO
    };
    assert!(!ended(&text));
    assert!(ended(&scenario("scheduler = \"round-robin\"", "50MB")));
}

#[test]
fn weights_shapers_other_queues_and_short_work_are_no_reason_to_warn() {
    for (switch, rdma) in [
        ("scheduler = \"round-robin\"", "50MB"),
        ("scheduler = { dwrr = { weights = [1, 1, 1, 8] } }", "50MB"),
        ("shapers = { 3 = { rate = \"80Gbps\" } }", "50MB"),
        ("queue_of = { 0 = 3 }", "50MB"),
        ("queue_of = { 0 = 7 }", "50MB"),
        ("", "100KB"),
    ] {
        assert!(starved(&scenario(switch, rdma)).is_empty(), "{switch} {rdma}");
    }
}

#[test]
fn rdma_may_starve_rdma_and_one_sender_on_a_slow_link_starves_nobody() {
    let text = |rate: &str| {
        format!(
            "stop = \"8ms\"\n[topology.leaf-spine]\nleaves = 2\nspines = 1\nhosts_per_leaf = 2\n\
             host_link = {{ rate = \"{rate}\", cable = \"3m\" }}\n\
             fabric_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[switch]\nlossless = [3, 4]\n\
             [workload.flows]\nlist = [\n\
             {{ from = \"host-0\", to = \"host-2\", bytes = \"50MB\", priority = 4 }},\n\
             {{ from = \"host-1\", to = \"host-3\", bytes = \"50MB\", priority = 3 }},\n]\n"
        )
    };
    let found = starved(&text("100Gbps"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].priority, found[0].is_tcp), (3, false));
    assert_eq!(found[0].behind, [4]);
    assert!(starved(&text("40Gbps")).is_empty());
}

/// Hosts at 25 Gbit/s before a link at 100 Gbit/s: four send 20 MB each of priority 3 for 6.4 ms, `apart` ms from one
/// another, and the fifth 1 MB of priority 1 from `low` ms on, for 0.32 ms.
fn in_turn(apart: u32, low: &str) -> String {
    let flows: String = (0..4)
        .map(|host| {
            format!(
                "{{ from = \"host-{host}\", to = \"host-5\", bytes = \"20MB\", priority = 3, \
                 start = \"{}ms\" }},\n",
                10 + host * apart
            )
        })
        .collect();
    format!(
        "[topology.dumbbell]\nleft = 5\nright = 2\n\
         host_link = {{ rate = \"25Gbps\", cable = \"3m\" }}\n\
         bottleneck = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[workload.flows]\nlist = [\n{flows}\
         {{ from = \"host-4\", to = \"host-6\", bytes = \"1MB\", start = \"{low}ms\", priority = 1 }},\n]\n"
    )
}

#[test]
fn only_who_sends_at_one_time_fills_a_port_and_only_who_is_there_is_starved() {
    // One after the other, and two at a time, never fill the link.
    assert!(starved(&in_turn(100, "400")).is_empty());
    assert!(starved(&in_turn(4, "20")).is_empty());
    // All at once fill it, but for those who are gone before, or come later.
    for (low, is_starved) in [
        ("0", false),
        ("9.6", false),
        ("9.9", true),
        ("10", true),
        ("16", true),
        ("17", false),
        ("400", false),
    ] {
        let found = starved(&in_turn(0, low));
        assert_eq!(!found.is_empty(), is_starved, "{low}: {found:?}");
        if let [one] = &found[..] {
            assert_eq!((one.priority, one.flows, one.ports), (1, 1, 1));
            assert_eq!(one.behind, [3]);
            assert_eq!(one.longest_ps, 6_400_000_000);
        }
    }
}

/// Two hosts at half of the rate of the link in the middle, each of its own priority or with its own transport, and a
/// third one in turn with a short flow of a lower one.
fn halves(first: &str, second: &str, switch: &str) -> String {
    let flow = |host: u32, bytes: &str, more: &str| {
        format!(
            "[[workload.flows]]\nlist = [\n{{ from = \"host-{host}\", to = \"host-{}\", bytes = \"{bytes}\" }},\n]\n{more}\n",
            host + 3
        )
    };
    format!(
        "stop = \"30ms\"\n[topology.dumbbell]\nleft = 3\nright = 3\n\
         host_link = {{ rate = \"50Gbps\", cable = \"3m\" }}\n\
         bottleneck = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[switch]\n{switch}\n\
         [congestion_control.none]\n{}{}{}",
        flow(0, "50MB", first),
        flow(1, "50MB", second),
        flow(2, "1MB", "priority = 1")
    )
}

#[test]
fn what_goes_first_fills_a_port_together_whatever_its_priorities_and_transport() {
    let (three, four, tcp) =
        ("priority = 3", "priority = 4", "transport = \"tcp\"\n[tcp]\npriority = 4");
    let lossless = "lossless = [3, 4]";
    for (first, second, switch, behind) in [
        (three, four, lossless, &[3, 4][..]),
        (three, tcp, "", &[3, 4]),
        (three, three, "", &[3]),
        // In the queues of others, in one queue, and in one with the lower priority.
        (three, four, "lossless = [3, 4]\nqueue_of = { 3 = 6, 4 = 2 }", &[3, 4]),
        (three, four, "lossless = [3, 4]\nqueue_of = { 4 = 3 }", &[3, 4]),
        (three, four, "lossless = [3, 4]\nqueue_of = { 4 = 1 }", &[]),
        (three, four, "lossless = [3, 4]\nshapers = { 4 = { rate = \"40Gbps\" } }", &[]),
    ] {
        let text = halves(first, second, switch);
        let found: Vec<_> = starved(&text).into_iter().filter(|one| one.priority == 1).collect();
        let case = format!("{first} {second} {switch}: {found:?}");
        assert_eq!(found.first().map_or(&[][..], |one| &one.behind), behind, "{case}");
        // 50 MB at 50 Gbit/s.
        assert!(found.iter().all(|one| one.longest_ps == 8_000_000_000), "{case}");
        if let ([one], [_, _]) = (&found[..], behind) {
            assert!(one.to_string().contains("priorities 3 and 4 together can fill"), "{one}");
        }
    }
}

/// A host with much RDMA and TCP to one other, and what others send there.
fn beside_its_own(others: &str) -> String {
    format!(
        "stop = \"30ms\"\n[topology.single-switch]\nhosts = 4\nlink = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         [switch]\nlossless = [3, 4]\n[congestion_control.none]\n\
         [[workload.flows]]\nlist = [\n{{ from = \"host-1\", to = \"host-0\", bytes = \"50MB\" }},\n{others}]\n\
         [[workload.flows]]\nlist = [\n{{ from = \"host-1\", to = \"host-0\", bytes = \"100MB\" }},\n]\ntransport = \"tcp\"\n"
    )
}

#[test]
fn a_host_that_shares_its_own_link_does_not_starve_itself() {
    let flow = |from: u32, bytes: &str, priority: u32| {
        format!(
            "{{ from = \"host-{from}\", to = \"host-0\", bytes = \"{bytes}\", priority = {priority} }},\n"
        )
    };
    // Alone, with two priorities of RDMA, and with another host that fills the port for too short a time.
    for others in [String::new(), flow(1, "50MB", 4), flow(2, "100KB", 3)] {
        let found = starved(&beside_its_own(&others));
        assert!(found.is_empty(), "{others}: {found:?}");
    }
    let found = starved(&beside_its_own(&flow(2, "50MB", 3)));
    let [one] = &found[..] else { panic!("{found:?}") };
    assert_eq!((one.is_tcp, one.flows, &one.behind[..]), (true, 1, &[3][..]));
    // 50 MB of the other host come in 4 ms, and 50 MB of its own at half of the rate in 8 ms: all of that time the
    // port is full of them, or of what waits.
    assert_eq!(one.longest_ps, 8_000_000_000);
}

/// Half of its link is more than a slower port carries, or fills the port together with what others send.
#[test]
fn a_host_starves_itself_where_its_share_fills_the_port() {
    let text = beside_its_own("").replace(
        "[topology.single-switch]\nhosts = 4\nlink = { rate = \"100Gbps\", cable = \"3m\" }",
        "[topology.leaf-spine]\nleaves = 2\nspines = 1\nhosts_per_leaf = 1\n\
         host_link = { rate = \"100Gbps\", cable = \"3m\" }\n\
         fabric_link = { rate = \"40Gbps\", cable = \"3m\" }",
    );
    let found = starved(&text);
    assert!(found.iter().any(|one| one.is_tcp && one.behind == [3]), "{found:?}");
}
