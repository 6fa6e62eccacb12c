//! `connect = "cm"`: flows whose connections are made by messages.

use std::path::Path;

use rocelab_sim::Scenario;
use rocelab_sim::network::FlowFailure;
use rocelab_sim::{Ending, Planning};
use rocelab_transport::CompletionStatus;

use crate::support::{Run, run};

/// Timers of about 70 us (2^4 x 4.096 us), so that what is lost does not cost seconds.
pub(crate) const QUICK: &str =
    "cm = { response_timeout = 4, packet_lifetime = 0, retries = 3 }\nack_timeout = 5";

pub(crate) fn text(roce: &str, verb: &str, more: &str) -> String {
    format!(
        "integrity = true\n[roce]\nconnect = \"cm\"\n{roce}\n[topology.single-switch]\nhosts = 3\n\
         link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n\
         [workload.flows]\nverb = \"{verb}\"\nlist = [\
         {{ from = \"host-0\", to = \"host-1\", bytes = \"10KB\", start = \"1us\" }}]\n{more}"
    )
}

/// Management datagrams that were sent.
fn datagrams(run: &Run) -> u64 {
    let totals = run.simulation.network().totals(run.simulation.now());
    totals.opcodes.get("UD_SEND_ONLY").copied().unwrap_or(0)
}

#[test]
fn two_messages_go_before_the_data_and_count() {
    for version in ["version = 1", "version = 2", "version = 2\nip = \"ipv6\""] {
        for verb in ["send", "write", "read", "write-with-immediate"] {
            let text = text(&format!("{version}\n{QUICK}"), verb, "");
            let by_messages = run(&text);
            let out_of_band =
                run(&text.replace("connect = \"cm\"", "").replace(QUICK, "ack_timeout = 5"));
            assert_eq!(by_messages.ending, Ending::Finished);
            // REQ, REP, RTU, DREQ, DREP.
            assert_eq!(datagrams(&by_messages), 5, "{text}");
            assert_eq!(datagrams(&out_of_band), 0);
            let report = by_messages.report();
            assert_eq!((report.flows, report.violations.len()), (1, 0), "{text}");
            let finished = |run: &Run| run.ends[0].finished.ps();
            let cost = finished(&by_messages) - finished(&out_of_band);
            // A frame each way: BTH, DETH, 256 bytes, ICRC and FCS; and the RTU ahead of the data.
            let before = match version {
                "version = 1" => 14 + 4 + 40,
                "version = 2" => 14 + 20 + 8,
                _ => 14 + 40 + 8,
            };
            let frame = before + 12 + 8 + 256 + 4 + 4;
            let one_way = 2 * ((8 + frame) * 80 + 15_000);
            let rtu = (8 + frame + 12) * 80;
            // A READ request (RETH and no payload) is shorter than the RTU, and waits at the switch
            // until that has left.
            let request = before + 12 + 16 + 4 + 4;
            let behind_it = if verb == "read" { (frame - request) * 80 } else { 0 };
            assert_eq!(cost, 2 * one_way + rtu + behind_it, "{text}");
        }
    }
}

#[test]
fn every_lost_message_comes_again() {
    for nth in 1..=5 {
        for verb in ["write", "read"] {
            let rule = format!(
                "[[faults]]\naction = \"drop\"\nopcode = \"UD_SEND_ONLY\"\nnth = {nth}\n\
                 LINK\n"
            );
            // REQ, RTU and DREQ leave host-0, REP and DREP host-1.
            for link in ["from = \"host-0\"", "from = \"host-1\""] {
                let text = text(QUICK, verb, &rule.replace("LINK", link));
                let run = run(&text);
                assert_eq!(run.ending, Ending::Finished, "{text}");
                assert_eq!(run.ends[0].status, CompletionStatus::Success, "{text}");
                assert!(run.report().violations.is_empty(), "{text}");
            }
        }
    }
}

#[test]
fn a_lost_request_costs_its_timeout() {
    let lossless = run(&text(QUICK, "write", ""));
    let rule = "[[faults]]\naction = \"drop\"\nopcode = \"UD_SEND_ONLY\"\nnth = 1\n\
                from = \"host-0\"\n";
    let lossy = run(&text(QUICK, "write", rule));
    // Twice the packet lifetime of 2^0 and the response timeout of 2^4, by 4.096 us.
    let waited = (2 + 16) * 4_096_000;
    assert_eq!(lossy.ends[0].finished.ps(), lossless.ends[0].finished.ps() + waited);
}

#[test]
fn who_is_never_answered_fails_with_that_reason() {
    let rule = "[[faults]]\naction = \"drop\"\nopcode = \"UD_SEND_ONLY\"\nto = \"host-1\"\n";
    let run = run(&text(QUICK, "write", rule));
    assert_eq!(run.ending, Ending::Finished);
    let [end] = run.ends[..] else { panic!("one flow: {:?}", run.ends) };
    assert_eq!(end.failure, Some(FlowFailure::ConnectionTimedOut));
    assert_ne!(end.status, CompletionStatus::Success);
    // One and three more, none of which was answered.
    assert_eq!(datagrams(&run), 4);
    assert_eq!(run.report().failed, [0]);
}

/// Times of connection management on 1 km of cable, which take 20.1 us there and back.
fn far(cm: &str) -> String {
    text(&format!("cm = {cm}"), "write", "").replace("cable = \"3m\"", "cable = \"1km\"")
}

/// What the scenario says to no effect.
fn notes(text: &str) -> Vec<String> {
    let scenario = Scenario::parse(text, Path::new("connections.toml"), &[]).expect("it is read");
    let plan = scenario.plan().expect("it runs");
    scenario.without_effect(&plan).iter().map(|note| note.message().to_owned()).collect()
}

#[test]
fn times_that_are_shorter_than_the_round_trip_are_told() {
    let status = |text: &str| {
        let run = run(text);
        let [end] = run.ends[..] else { panic!("one flow: {:?}", run.ends) };
        (end.failure, run.counters().late_connections)
    };
    // A REQ waits for 2 x 4.096 us and 8.192 us.
    let never = far("{ response_timeout = 1, packet_lifetime = 0, retries = 0 }");
    let [note] = &notes(&never)[..] else { panic!("{:?}", notes(&never)) };
    assert!(note.contains("no connection is made by a REQ that is sent once"), "{note}");
    assert!(note.contains("waits for 16.384us"), "{note}");
    assert_eq!(status(&never), (Some(FlowFailure::ConnectionTimedOut), 1));

    let in_vain = far("{ response_timeout = 1, packet_lifetime = 0, retries = 1 }");
    let [note] = &notes(&in_vain)[..] else { panic!("{:?}", notes(&in_vain)) };
    assert!(note.contains("a REQ waits for 16.384us and a REP for 8.192us, so both"), "{note}");
    assert_eq!(status(&in_vain), (None, 0));

    // A packet lifetime of 8.192 us is enough for the REQ.
    let reply_in_vain = far("{ response_timeout = 1, packet_lifetime = 1, retries = 1 }");
    let [note] = &notes(&reply_in_vain)[..] else { panic!("{:?}", notes(&reply_in_vain)) };
    assert!(note.contains("a REP waits for 8.192us, so it is sent again"), "{note}");
    assert!(!note.contains("REQ"), "{note}");
    assert_eq!(status(&reply_in_vain), (None, 0));

    // What the note says is enough: 4.096 us x 2^3.
    let enough = far("{ response_timeout = 3, packet_lifetime = 0, retries = 0 }");
    assert_eq!(notes(&enough), [""; 0]);
    assert_eq!(status(&enough), (None, 0));
    assert_eq!(notes(&text("", "write", "")), [""; 0], "the defaults are Linux's");
}

/// 1 MB of others at 100 Gb/s is 80 us of queue: no message is lost, and each answer comes too late.
#[test]
fn an_answer_behind_a_queue_is_told_from_one_that_is_lost() {
    let cm = "cm = { response_timeout = 3, packet_lifetime = 0, retries = 0 }";
    let others = "[[workload.flows]]\nlist = [\
                  { from = \"host-1\", to = \"host-0\", bytes = \"2MB\" },\
                  { from = \"host-2\", to = \"host-0\", bytes = \"2MB\" },\
                  { from = \"host-1\", to = \"host-0\", bytes = \"1KB\", start = \"60us\" }]\n";
    let text = text(cm, "write", others).replace("[workload.flows]\n", "[[workload.flows]]\n");
    assert_eq!(notes(&text), [""; 0]);
    let run = run(&text);
    let failed = run.ends.iter().filter_map(|end| end.failure).collect::<Vec<_>>();
    assert_eq!(failed, [FlowFailure::ConnectionTimedOut]);
    assert_eq!(run.counters().late_connections, 1);
    let totals = run.simulation.network().totals(run.simulation.now());
    assert_eq!(totals.frames_dropped, 0);
}

#[test]
fn seconds_of_silence_are_no_stall() {
    // Linux's timers: 6.4 s after a REQ.
    let rule = "[[faults]]\naction = \"drop\"\nopcode = \"UD_SEND_ONLY\"\nnth = 1\n\
                from = \"host-0\"\n";
    let run = run(&text("", "send", rule));
    assert_eq!(run.ending, Ending::Finished);
    assert_eq!(run.ends[0].status, CompletionStatus::Success);
    assert!(run.ends[0].finished.ps() > 6_000_000_000_000);
}

#[test]
fn many_connections_of_the_same_hosts_under_faults() {
    for number in 0..20 {
        let text = format!(
            "seed = {number}\nintegrity = true\n[roce]\nconnect = \"cm\"\n\
             cm = {{ response_timeout = 4, packet_lifetime = 0, retries = 15 }}\nack_timeout = 5\n\
             [topology.single-switch]\nhosts = 4\nlink = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
             [workload.permutation]\nbytes = \"20KB\"\nverb = \"send\"\n\
             [workload.incast]\nsenders = 3\nbytes = \"30KB\"\n\
             [[faults]]\naction = \"drop\"\nprobability = 0.05\n\
             [[faults]]\naction = \"duplicate\"\nprobability = 0.05\n\
             [[faults]]\naction = \"reorder\"\nbehind = 2\nprobability = 0.05\n\
             [[faults]]\naction = \"corrupt\"\nprobability = 0.02\n"
        );
        let first = run(&text);
        assert_eq!((first.ending, first.ends.len()), (Ending::Finished, 7), "{text}");
        let report = first.report();
        assert!(report.violations.is_empty(), "{text}\n{:?}", report.violations);
        let again = run(&text);
        let digest = |run: &Run| run.simulation.network().digest();
        assert_eq!(digest(&first), digest(&again), "{text}");
    }
}
