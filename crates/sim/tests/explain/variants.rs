//! Flows that meet what the shipped scenarios do not: every category, and all of it adds up.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rocelab_fabric::LinkFlowControl;
use rocelab_sim::explain::{
    Category, Cause, Explained, Explanation, Selection, Stage, Subject, explain,
};
use rocelab_sim::{Planning, Scenario};

/// Four senders and one receiver; `more` are sections of their own.
fn incast(roce: &str, verb: &str, more: &str) -> String {
    format!(
        "stop = \"50ms\"\n[roce]\nack_timeout = 6\n{roce}\n[topology.single-switch]\nhosts = 5\n\
         link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[switch]\nbuffer = \"1MB\"\n{more}\n\
         [congestion_control.none]\n[workload.incast]\nsenders = 4\nreceiver = \"host-0\"\n\
         bytes = \"200KB\"\nverb = \"{verb}\"\n"
    )
}

/// All flows, none of whose time may be left over.
#[track_caller]
fn explained(text: &str) -> Explained {
    let scenario = Scenario::parse(text, Path::new("explain.toml"), &[]);
    let plan = scenario.and_then(|scenario| scenario.plan());
    let plan = plan.unwrap_or_else(|error| panic!("{error}"));
    let found = explain(Arc::new(plan), &Selection::Everything, &mut |_| ControlFlow::Continue(()));
    let found = found.unwrap_or_else(|error| panic!("{error}"));
    for flow in &found.flows {
        assert_eq!(flow.sum_ps(), flow.elapsed_ps, "{flow}");
        assert_eq!(time(flow, Category::Idle), 0, "{flow}");
    }
    found
}

fn time(flow: &Explanation, category: Category) -> u64 {
    flow.parts.iter().filter(|part| part.category == category).map(|part| part.ps).sum()
}

#[track_caller]
fn total(text: &str, category: Category) -> u64 {
    explained(text).flows.iter().map(|flow| time(flow, category)).sum()
}

#[test]
fn an_incast_is_queueing_and_pauses() {
    let text = incast("", "write", "");
    assert!(total(&text, Category::QueueingBehindOthers) > 0);
    assert!(
        total(&text.replace("1MB\"\n", "300KB\"\n"), Category::Pause(LinkFlowControl::Pfc)) > 0
    );
}

#[test]
fn reads_have_a_responder() {
    let text = incast("", "read", "");
    assert!(total(&text, Category::Serialisation) > 0);
}

#[test]
fn losses_are_retransmission_in_every_scheme() {
    for recovery in ["go-back-n", "go-back-0", "selective-repeat"] {
        for verb in ["write", "send", "read"] {
            let fault = "[[faults]]\naction = \"drop\"\nopcode = \"data\"\nnth = 20\n";
            let roce = format!("recovery = \"{recovery}\"");
            let text = incast(&roce, verb, "").replace("[switch]", &format!("{fault}[switch]"));
            assert!(total(&text, Category::Retransmission) > 0, "{recovery} {verb}");
        }
    }
}

#[test]
fn acknowledgements_that_are_held_back_say_so() {
    let roce = "ack_coalescing = { packets = 64, delay = \"2us\" }";
    let text = incast(roce, "write", "");
    assert!(total(&text, Category::AckCoalescing) > 0);
}

#[test]
fn unreliable_flows_end_with_an_arrival() {
    let text =
        incast("", "send", "").replace("[roce]\nack_timeout = 6", "[roce]\nservice = \"uc\"");
    let found = explained(&text);
    let answers = |flow: &Explanation| flow.parts.iter().any(|part| part.stage > Stage::Request);
    assert!(!found.flows.iter().any(answers));
}

#[test]
fn cut_through_and_latency_have_their_places() {
    let more = "forwarding = \"cut-through\"\nlatency = \"500ns\"\n";
    let text = incast("", "write", more);
    assert_eq!(total(&text, Category::SwitchLatency), 4 * 2 * 500_000);
}

#[test]
fn a_link_that_is_down_is_named() {
    let failure = "[[failure]]\nkind = \"link-down\"\nport = \"switch-0:1\"\nat = \"5us\"\nlasts = \"80us\"\n";
    let text = incast("", "write", "").replace("[congestion", &format!("{failure}[congestion"));
    assert!(total(&text, Category::LinkDown) + total(&text, Category::Retransmission) > 0);
}

#[test]
fn datagrams_end_with_an_arrival_too() {
    let text = incast("", "send", "")
        .replace("[roce]\nack_timeout = 6", "[roce]\nservice = \"ud\"")
        .replace("200KB", "1KB");
    let found = explained(&text);
    assert_eq!(found.flows.len(), 4);
    assert!(time(&found.flows[3], Category::QueueingBehindOthers) > 0);
}

/// A client asks, the server works for 3 us and answers with 4 KB.
const OPERATIONS: &str = "[topology.single-switch]\nhosts = 3\n\
    link = { rate = \"100Gbps\", cable = \"3m\" }\n[congestion_control.none]\n[[workload.app]]\n\
    name = \"kv\"\nclients = [\"host-0\", \"host-1\"]\nservers = [\"host-2\"]\npairs = \"all\"\n\
    queue_depth = 2\noperations = 10\nsteps = [\n\
    { by = \"client\", verb = \"send\", bytes = \"64B\", after = \"1us\" },\n\
    { by = \"server\", verb = \"write\", bytes = \"4KB\", after = \"3us\" },\n\
    { by = \"server\", verb = \"send-with-immediate\", bytes = \"16B\", chained = true },\n]\n";

#[test]
fn operations_are_turns_of_work_and_ways() {
    let found = explained(OPERATIONS);
    assert_eq!(found.operations.len(), 20);
    for one in &found.operations {
        assert_eq!(time(one, Category::Work), 4_000_000, "{one}");
        let turns = one.parts.iter().map(|part| part.turn).max();
        assert_eq!(turns, Some(1), "{one}");
        let work: Vec<_> =
            one.parts.iter().filter(|part| part.category == Category::Work).collect();
        assert_eq!((work[0].place.as_str(), work[0].ps), (one.source.as_str(), 1_000_000));
        assert_eq!((work[1].place.as_str(), work[1].ps), ("host-2", 3_000_000));
    }
}

#[test]
fn one_operation_can_be_asked_for() {
    let scenario = Scenario::parse(OPERATIONS, Path::new("explain.toml"), &[]);
    let plan = Arc::new(scenario.and_then(|scenario| scenario.plan()).unwrap());
    let all = explained(OPERATIONS);
    for (connection, operation) in [(0, 0), (1, 9)] {
        let asked = Selection::Operation { connection, operation };
        let found = explain(Arc::clone(&plan), &asked, &mut |_| ControlFlow::Continue(())).unwrap();
        let [one] = found.operations.as_slice() else { panic!("{found:?}") };
        let same = all.operations.iter().find(|other| other.what == one.what).unwrap();
        assert_eq!(one.parts, same.parts);
    }
    let asked = Selection::Operation { connection: 1, operation: 10 };
    let error = explain(plan, &asked, &mut |_| ControlFlow::Continue(())).unwrap_err();
    assert_eq!(error.to_string(), "operation 10 of connection 1 does not start in this run");
}

#[test]
fn of_flooded_frames_the_copy_that_arrives_counts() {
    let entry = "[layer2]\nentry = [{ hosts = [\"host-0..host-4\"], mac = \"gone\" }]\n";
    for version in [1, 2] {
        let text = incast(&format!("version = {version}"), "write", "");
        let text = text.replace("[congestion", &format!("{entry}[congestion"));
        assert!(total(&text, Category::QueueingBehindOthers) > 0);
    }
}

#[test]
fn a_host_that_is_down_is_named() {
    let failure =
        "[[failure]]\nkind = \"host-down\"\nhost = \"host-1\"\nat = \"5us\"\nlasts = \"80us\"\n";
    let text = incast("", "write", "").replace("[congestion", &format!("{failure}[congestion"));
    assert!(total(&text, Category::HostDown) > 0);
    assert_eq!(total(&text, Category::LinkDown), 0);
}

/// An RDMA flow beside two of TCP: one from its own host, and one that meets it at the switch.
#[test]
fn segments_of_tcp_are_of_their_flows() {
    let text = "[topology.single-switch]\nhosts = 3\n\
                link = { rate = \"100Gbps\", cable = \"3m\" }\n[congestion_control.none]\n\
                [tcp]\ninitial_window = 100\n[[workload.flows]]\nlist = [\n\
                { from = \"host-1\", to = \"host-0\", bytes = \"100KB\" },\n]\n\
                [[workload.flows]]\ntransport = \"tcp\"\nlist = [\n\
                { from = \"host-1\", to = \"host-0\", bytes = \"100KB\" },\n\
                { from = \"host-2\", to = \"host-0\", bytes = \"100KB\" },\n]\n";
    let found = explained(text);
    let rdma = |one: &&Explanation| matches!(one.what, Subject::Flow { flow: 0, .. });
    let one = found.flows.iter().find(rdma).unwrap();
    let behind = |stage: Stage, other: u32| -> u64 {
        let parts = one.parts.iter().filter(|part| part.stage == stage);
        let parts = parts.filter(|part| part.cause == Some(Cause::Flow { flow: other }));
        parts.map(|part| part.ps).sum()
    };
    assert!(behind(Stage::Sender, 1) > 0, "{one}");
    assert!(behind(Stage::Request, 2) > 0, "{one}");
    let behind_others = time(one, Category::QueueingBehindOthers);
    let named = [Stage::Sender, Stage::Request, Stage::Responder, Stage::Answer]
        .map(|stage| behind(stage, 1) + behind(stage, 2));
    assert_eq!(named.iter().sum::<u64>(), behind_others, "{one}");
}
