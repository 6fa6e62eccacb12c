//! Flows that wait for the MAC address of their next hop, or for a connection, and those that never get it.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rocelab_sim::explain::{
    Category, Cause, Explanation, NoAnswer, Question, Selection, Stage, explain,
};
use rocelab_sim::{Planning, Scenario};

/// Flows on one switch; each byte takes 80 ps, and each cable 15 ns.
fn star(keys: &str, more: &str, flows: &str) -> String {
    format!(
        "[roce]\n{keys}\n[topology.single-switch]\nhosts = 3\n\
         link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n{more}\n\
         [workload.flows]\n{flows}\n"
    )
}

#[track_caller]
fn explained(text: &str) -> Vec<Explanation> {
    let scenario = Scenario::parse(text, Path::new("asks.toml"), &[]);
    let plan = scenario.and_then(|scenario| scenario.plan());
    let plan = Arc::new(plan.unwrap_or_else(|error| panic!("{error}")));
    let found = explain(plan, &Selection::Everything, &mut |_| ControlFlow::Continue(()));
    let flows = found.unwrap_or_else(|error| panic!("{error}")).flows;
    for one in &flows {
        assert_eq!(one.sum_ps(), one.elapsed_ps, "{one}");
        assert_eq!(
            one.parts.iter().filter(|part| part.category == Category::Idle).count(),
            0,
            "{one}"
        );
    }
    flows
}

const DOWN: &str = "[[failure]]\nkind = \"link-down\"\nport = \"switch-0:0\"\nat = \"0s\"\n";

/// A question and an answer of 8 + 64 bytes, each over one link.
#[test]
fn the_wait_for_an_address_is_told_of_rdma_and_of_tcp() {
    for transport in ["", "transport = \"tcp\"\n"] {
        let flows = format!(
            "{transport}list = [{{ from = \"host-0\", to = \"host-1\", bytes = \"1KB\", start = \"20us\" }}]"
        );
        let flows = explained(&star("neighbours = {}", "", &flows));
        let [one] = flows.as_slice() else { panic!("one flow") };
        let part = one.parts.first().expect("parts");
        assert_eq!((part.stage, part.place.as_str()), (Stage::Sender, "host-0"), "{one}");
        assert_eq!(part.category, Category::AddressResolution, "{one}");
        assert_eq!(part.cause, Some(Cause::NextHop { node: "switch-0".into() }), "{one}");
        assert_eq!(part.ps, 2 * (72 * 80 + 15_000), "{one}");
        assert_eq!(one.no_answer, None);
    }
}

/// Three requests of one a millisecond; the second flow starts when half of the first one's time is over.
#[test]
fn who_did_not_answer_is_told() {
    let list = "list = [{ from = \"host-0\", to = \"host-1\", bytes = \"1KB\" }, \
                { from = \"host-0\", to = \"host-2\", bytes = \"1KB\", start = \"500us\" }]";
    let keys = |ip: &str| format!("ip = \"{ip}\"\nneighbours = {{ retransmit = \"1ms\" }}");
    for (ip, to, words) in [
        ("ipv4", Question::Arp, "did not answer in time to up to 3 requests by ARP"),
        (
            "ipv6",
            Question::NeighbourDiscovery,
            "did not answer in time to up to 3 solicitations of Neighbour",
        ),
    ] {
        for (one, waited_us) in explained(&star(&keys(ip), DOWN, list)).iter().zip([3_000, 2_500]) {
            let waited_ps = waited_us * 1_000_000;
            let expected = NoAnswer { to, node: "switch-0".into(), requests: 3, waited_ps };
            assert_eq!(one.no_answer, Some(expected), "{one}");
            assert!(one.to_string().contains(words), "{one}");
            assert_eq!(one.parts[0].ps, waited_ps, "{one}");
            assert_eq!(one.parts[0].category, Category::AddressResolution, "{one}");
        }
    }
    // 4 REQs, each waited for by twice 2^0 and 2^4, by 4.096 us.
    let cm = "connect = \"cm\"\ncm = { response_timeout = 4, packet_lifetime = 0, retries = 3 }\nack_timeout = 5";
    let list = "list = [{ from = \"host-0\", to = \"host-1\", bytes = \"1KB\" }]";
    let flows = explained(&star(cm, DOWN, list));
    let waited_ps = 4 * 18 * 4_096_000;
    let expected =
        NoAnswer { to: Question::Connection, node: "host-1".into(), requests: 4, waited_ps };
    assert_eq!(flows[0].no_answer, Some(expected), "{}", flows[0]);
    assert_eq!(flows[0].parts[0].category, Category::ConnectionSetup, "{}", flows[0]);
    let text = flows[0].to_string();
    assert!(
        text.contains("host-1, did not answer in time to up to 4 requests for a connection (REQ)"),
        "{text}"
    );
}

/// A question for another host goes out between two packets of a flow: preamble, 64 bytes and gap.
#[test]
fn its_frames_are_no_pause_frames() {
    let list = "list = [{ from = \"host-0\", to = \"host-1\", bytes = \"1MB\" }, \
                { from = \"host-0\", to = \"host-2\", bytes = \"1KB\", start = \"20us\" }]";
    let flows = explained(&star("neighbours = {}", "[layer3]\n", list));
    let first = flows.iter().find(|one| one.to_string().starts_with("flow 0")).expect("flow 0");
    let behind: Vec<_> = first
        .parts
        .iter()
        .filter(|part| part.cause == Some(Cause::AddressResolution))
        .map(|part| (part.stage, part.place.as_str(), part.category, part.ps))
        .collect();
    let others = Category::QueueingBehindOthers;
    assert_eq!(behind, [(Stage::Sender, "host-0", others, 84 * 80)], "{first}");
    assert!(!first.to_string().contains("pause frames"), "{first}");
    assert!(first.to_string().contains("ARP or Neighbour Discovery"), "{first}");
}
