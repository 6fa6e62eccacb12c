//! Multicast groups: who gets what is sent to one, how often it crosses links, and what becomes of it when something fails.

use std::collections::BTreeMap;

use rocelab_sim::network::FlowFailure;
use rocelab_sim::{Ending, ideal_fct};
use rocelab_transport::CompletionStatus;

use crate::support::{Run, run, try_plan};

/// Four leaves with four hosts each, and two spines; members are on three of the leaves. `top` has keys of `[roce]`.
fn text(top: &str, workload: &str, more: &str) -> String {
    format!(
        "convergence = \"5us\"\n[roce]\nservice = \"ud\"\n{top}\n[topology.leaf-spine]\nleaves = 4\nspines = 2\nhosts_per_leaf = 4\n\
         host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\nfabric_link = {{ rate = \"100Gbps\", cable = \"30m\" }}\n\
         [[multicast_group]]\nname = \"prices\"\nmembers = [\"host-1\", \"host-5\", \"host-9..host-10\"]\n\
         [workload.multicast]\ngroup = \"prices\"\n{workload}\n{more}"
    )
}

const FROM_OUTSIDE: &str = "from = \"host-0\"\nbytes = \"20000B\"\nmessage = \"1000B\"";
const V2: [&str; 2] = ["", "ip = \"ipv6\""];

fn links(run: &Run) -> u64 {
    run.simulation.network().traversals().total()
}

fn copies(run: &Run) -> u64 {
    run.simulation.network().totals(run.simulation.now()).multicast_copies
}

fn drops(run: &Run) -> BTreeMap<&'static str, u64> {
    run.simulation.network().totals(run.simulation.now()).drops
}

fn assert_all_delivered(run: &Run, members: usize) {
    assert_eq!(run.ending, Ending::Finished);
    assert_eq!(run.ends.len(), members);
    let success = |end: &rocelab_sim::network::FlowEnd| end.status == CompletionStatus::Success;
    assert!(run.ends.iter().all(success), "{:?}", run.ends);
}

/// Switches that cut through store frames of a group, as ideal times know.
#[test]
fn frames_of_a_group_are_stored() {
    let text = text("", FROM_OUTSIDE, "[switch]\nforwarding = \"cut-through\"\n");
    let run = run(&text);
    let plan = try_plan(&text).expect("it runs");
    assert_all_delivered(&run, 4);
    for end in &run.ends {
        let ideal = ideal_fct(&plan, &plan.flows[end.flow as usize]);
        assert_eq!(end.finished.ps(), ideal.ps());
    }
}

/// A datagram crosses: the link of its sender; from the first leaf those to host-1 and a spine; from there those to two
/// leaves; and those to host-5, host-9 and host-10.
#[test]
fn a_datagram_crosses_each_link_of_the_tree_once() {
    for top in V2 {
        let text = text(top, FROM_OUTSIDE, "");
        let run = run(&text);
        assert_all_delivered(&run, 4);
        assert_eq!((links(&run), copies(&run)), (20 * 8, 20 * 3), "{top}");
        assert!(drops(&run).is_empty());
        let plan = try_plan(&text).expect("it runs");
        let destinations: Vec<_> = plan.flows.iter().map(|flow| flow.destination).collect();
        assert_eq!(destinations, [1, 5, 9, 10]);
        for end in &run.ends {
            let ideal = ideal_fct(&plan, &plan.flows[end.flow as usize]);
            assert_eq!(end.finished.ps(), ideal.ps(), "alone, copies cost no time");
        }
        assert_eq!(run.counters().messages_delivered, 80);
        assert_eq!(run.counters().data_sent.packets, 20, "the sender sends each once");
    }
}

#[test]
fn a_member_that_sends_gets_no_copy() {
    let run = run(&text("", "from = \"host-9\"\nbytes = \"1000B\"", ""));
    assert_all_delivered(&run, 3);
    // host-9, leaf-2, host-10; a spine; leaf-0 with host-1, leaf-1 with host-5.
    assert_eq!((links(&run), copies(&run)), (7, 2));
}

/// Bridges without snooping send it to all 15 others: 11 of them are no members.
#[test]
fn bridges_flood_or_know_where_members_are() {
    let version = "version = 1";
    let flooded = run(&text(version, FROM_OUTSIDE, ""));
    assert_all_delivered(&flooded, 4);
    assert_eq!((links(&flooded), copies(&flooded)), (20 * 20, 20 * 14));
    assert_eq!(drops(&flooded), BTreeMap::from([("not_in_group", 20 * 11)]));
    let snooping = run(&text(version, FROM_OUTSIDE, "[layer2]\nmulticast = \"snooping\"\n"));
    assert_all_delivered(&snooping, 4);
    assert_eq!((links(&snooping), copies(&snooping)), (20 * 8, 20 * 3));
    assert!(drops(&snooping).is_empty());
}

/// Flooding ends at the border of the VLAN.
#[test]
fn other_vlans_see_nothing() {
    let vlans = "[[layer2.vlans]]\nid = 7\nhosts = [\"host-0..host-1\", \"host-4..host-5\", \"host-8..host-11\"]\n";
    let run = run(&text("version = 1", FROM_OUTSIDE, vlans));
    assert_all_delivered(&run, 4);
    assert_eq!(drops(&run), BTreeMap::from([("not_in_group", 20 * 3)]));
}

/// All members are sent each datagram, or a named drop says where it was lost.
#[test]
fn a_lost_copy_is_lost_for_those_behind_it() {
    let lost = |from: &str, node: &str| {
        let rule =
            format!("[[faults]]\naction = \"drop\"\nfrom = \"{from}\"\nto = \"{node}\"\nnth = 3\n");
        let run = run(&text("", FROM_OUTSIDE, &rule));
        assert_eq!(run.ending, Ending::Finished, "{rule}");
        assert_eq!(drops(&run), BTreeMap::from([("fault", 1)]), "{rule}");
        let without = run.ends.iter().filter(|end| end.status != CompletionStatus::Success);
        let told = without.map(|end| {
            assert_eq!(end.failure, Some(FlowFailure::MessagesLost(1)));
            end.flow
        });
        told.collect::<Vec<_>>()
    };
    assert_eq!(lost("host-0", "leaf-0"), [0, 1, 2, 3]);
    assert_eq!(lost("leaf-2", "host-10"), [3]);
    assert_eq!(lost("leaf-0", "host-1"), [0]);
}

/// What one more copy at the first leaf has doubled comes to all behind it twice, and counts once.
#[test]
fn a_frame_that_comes_twice_counts_once() {
    let rule = "[[faults]]\naction = \"duplicate\"\nfrom = \"host-0\"\nnth = 3\n";
    let run = run(&text("", FROM_OUTSIDE, rule));
    assert_all_delivered(&run, 4);
    assert_eq!(links(&run), 20 * 8 + 7, "the copy crosses all links but the first");
    assert_eq!(run.counters().messages_delivered, 84);
}

/// The tree leads over one spine; when that link is down, routers have another tree after the time of convergence.
#[test]
fn the_tree_is_made_anew_when_a_link_fails() {
    let workload = "from = \"host-0\"\nbytes = \"400KB\"\nmessage = \"1000B\"";
    for spine in 0..2 {
        let failure = format!(
            "[[failure]]\nkind = \"link-down\"\nport = \"leaf-0:{}\"\nat = \"10us\"\n",
            4 + spine
        );
        let text = text("", workload, &failure);
        let run = run(&text);
        assert_eq!(run.ending, Ending::Finished);
        let by_flow: BTreeMap<u32, _> =
            run.ends.iter().map(|end| (end.flow, end.failure)).collect();
        assert_eq!(by_flow[&0], None, "host-1 is on the leaf of the sender");
        let lost = [1, 2, 3].map(|flow| by_flow[&flow]);
        // 5 us are about 58 datagrams of 1,082 bytes on the wire; those on the link come to that.
        let expected =
            |lost: &Option<FlowFailure>| matches!(lost, Some(FlowFailure::MessagesLost(50..=70)));
        let used = lost.iter().all(expected);
        assert!(used || lost == [None; 3], "{lost:?}");
        assert_eq!(used, drops(&run).contains_key("link_down"), "{:?}", drops(&run));
        // The first group uses the first of the two.
        assert_eq!(used, spine == 0, "{lost:?}");
    }
}

/// What is on its way along the tree of the time without a link ends where the tree of now does not lead: because of
/// that link.
#[test]
fn the_first_tree_comes_back_with_its_link() {
    let failure =
        "[[failure]]\nkind = \"link-down\"\nport = \"leaf-0:4\"\nat = \"2us\"\nlasts = \"10us\"\n";
    let workload = "from = \"host-0\"\nbytes = \"400KB\"\nmessage = \"1000B\"";
    let text =
        text("", workload, failure).replace("convergence = \"5us\"", "convergence = \"1us\"");
    let run = run(&text);
    assert_eq!(run.ending, Ending::Finished);
    let drops = drops(&run);
    assert!(drops.keys().eq(["link_down"].iter()), "{drops:?}");
}

/// Nobody misses what bridges flood to a host that is no member, and down.
#[test]
fn a_dead_host_that_is_no_member_misses_nothing() {
    let failure = "[[failure]]\nkind = \"host-down\"\nhost = \"host-2\"\nat = \"1us\"\n";
    let run = run(&text("version = 1", FROM_OUTSIDE, failure));
    assert_all_delivered(&run, 4);
    assert_eq!(drops(&run), BTreeMap::from([("not_in_group", 20 * 11)]));
}

/// Two senders share the link to a member. It is marked there, both members answer with CNPs, and the senders slow down.
#[test]
fn members_of_a_group_notify_the_sender_of_congestion() {
    let second = "[[multicast_group]]\nname = \"other\"\nmembers = [\"host-1\", \"host-15\"]\n";
    let workload = "from = \"host-0\"\nbytes = \"2MB\"";
    let text = text("", workload, second);
    let text = text.replace(
        "[workload.multicast]\ngroup",
        "[[workload.multicast]]\nfrom = \"host-2\"\ngroup = \"other\"\nbytes = \"2MB\"\n[[workload.multicast]]\ngroup",
    );
    let run = run(&text);
    assert_all_delivered(&run, 6);
    let totals = run.simulation.network().totals(run.simulation.now());
    let cnps = totals.opcodes.get("CNP").copied().unwrap_or(0);
    assert!(totals.ecn_marks > 0 && cnps > 0, "{totals:?}");
    // 4 MB at 100 Gb/s take more than 320 us.
    assert!(run.simulation.now().ps() > 320_000_000);
}

#[test]
fn a_multicast_beside_datagrams_of_one_host() {
    let flows = "[workload.flows]\nmessage = \"1000B\"\nverb = \"send\"\nlist = [{ from = \"host-0\", to = \"host-5\", bytes = \"5000B\" }, \
                 { from = \"host-5\", to = \"host-0\", bytes = \"5000B\" }]\n";
    for more in [
        "",
        "[switch]\nload_balancing = \"round-robin\"\n",
        "[switch]\nload_balancing = \"shortest-queue\"\n",
    ] {
        let run = run(&text("", FROM_OUTSIDE, &format!("{flows}{more}")));
        assert_all_delivered(&run, 6);
        assert_eq!(run.counters().messages_delivered, 80 + 10);
    }
}
