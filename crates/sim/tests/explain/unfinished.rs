//! What the end of a run leaves open, and what was lost for good: where the packet is that is waited
//! for.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rocelab_fabric::LinkFlowControl;
use rocelab_sim::explain::{
    Category, Cause, Explanation, LossSignal, Lost, Part, Selection, Stage, Subject, explain,
};
use rocelab_sim::{Planning, Scenario};

const STORM: &str = "[[failure]]\nkind = \"pause-storm\"\nhost = \"HOST\"\nat = \"10us\"\n";
const FLOWS: &str = "[workload.flows]";

/// One switch; a flow from host-0 to host-1 that starts at 20 us. The run ends after a millisecond.
pub(crate) fn star(keys: &str, bytes: &str, more: &str) -> String {
    format!(
        "stop = \"1ms\"\n{keys}\n[topology.single-switch]\nhosts = 3\n\
         link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n{more}\n\
         [workload.flows]\nlist = [\n\
         {{ from = \"host-0\", to = \"host-1\", bytes = \"{bytes}\", start = \"20us\" }},\n]\n"
    )
}

/// The only flow, none of whose time is left over.
#[track_caller]
pub(crate) fn explained(text: &str) -> Explanation {
    let scenario = Scenario::parse(text, Path::new("unfinished.toml"), &[]);
    let plan = scenario.and_then(|scenario| scenario.plan());
    let plan = Arc::new(plan.unwrap_or_else(|error| panic!("{error}")));
    let found = explain(plan, &Selection::Everything, &mut |_| ControlFlow::Continue(()));
    let mut flows = found.unwrap_or_else(|error| panic!("{error}")).flows;
    let one = flows.pop().expect("a flow");
    assert_eq!(one.sum_ps(), one.elapsed_ps, "{one}");
    assert_eq!(time(&one, Category::Idle), 0, "{one}");
    one
}

fn time(one: &Explanation, category: Category) -> u64 {
    one.parts.iter().filter(|part| part.category == category).map(|part| part.ps).sum()
}

/// What took the most time.
fn longest(one: &Explanation) -> &Part {
    one.parts.iter().max_by_key(|part| part.ps).expect("parts")
}

/// Nearly all of the time went to a pause at this place.
#[track_caller]
fn is_paused(one: &Explanation, stage: Stage, place: &str, for_host: &str) {
    let part = longest(one);
    assert_eq!((part.stage, part.place.as_str()), (stage, place), "{one}");
    assert_eq!(part.category, Category::Pause(LinkFlowControl::Pfc), "{one}");
    let Some(Cause::PausedBy { waits_for, root, .. }) = &part.cause else { panic!("{one}") };
    assert_eq!((waits_for.as_str(), root.as_str()), (for_host, for_host), "{one}");
    assert!(part.ps > 978_000_000, "{one}");
    assert_eq!(time(one, Category::Retransmission), 0, "{one}");
    assert_eq!(one.status, "unfinished");
}

#[test]
fn packets_behind_a_pause_are_not_lost() {
    for roce in ["", "roce.ack_timeout = 0", "roce.service = \"uc\""] {
        for bytes in ["10KB", "1MB"] {
            let one = explained(&star(roce, bytes, &STORM.replace("HOST", "host-1")));
            is_paused(&one, Stage::Request, "switch-0:1", "host-1");
        }
    }
}

#[test]
fn acknowledgements_and_results_behind_a_pause_are_not_lost() {
    let storm = STORM.replace("HOST", "host-0");
    is_paused(&explained(&star("", "10KB", &storm)), Stage::Answer, "switch-0:0", "host-0");
    let read = star("", "10KB", &storm).replace(FLOWS, &format!("{FLOWS}\nverb = \"read\""));
    is_paused(&explained(&read), Stage::Answer, "switch-0:0", "host-0");
}

/// The timer expires until the source gives up, while the first acknowledgement waits: nothing was lost.
#[test]
fn giving_up_behind_a_pause_is_not_a_loss() {
    for (host, stage, place) in
        [("host-0", Stage::Answer, "switch-0:0"), ("host-1", Stage::Request, "switch-0:1")]
    {
        let one = explained(&star("roce.ack_timeout = 4", "10KB", &STORM.replace("HOST", host)));
        assert_eq!(one.status, "retry-exceeded", "{one}");
        let part = longest(&one);
        assert_eq!((part.stage, part.place.as_str()), (stage, place), "{one}");
        assert_eq!(part.category, Category::Pause(LinkFlowControl::Pfc), "{one}");
        assert!(part.ps > one.elapsed_ps * 99 / 100, "{one}");
        assert_eq!(time(&one, Category::Retransmission), 0, "{one}");
    }
}

/// All that was sent is lost, and the last expiry of the timer is noticed like the others.
#[test]
fn giving_up_after_losses_is_retransmission_by_the_timer() {
    let rule = "[[faults]]\naction = \"drop\"\nfrom = \"host-0\"\nprobability = 1.0\n";
    let one = explained(&star("roce.ack_timeout = 4", "10KB", rule));
    assert_eq!(one.status, "retry-exceeded", "{one}");
    let part = longest(&one);
    assert_eq!(part.category, Category::Retransmission, "{one}");
    assert!(noticed(&one).iter().all(|&signal| signal == LossSignal::Timeout), "{one}");
}

/// The signals of all losses.
fn noticed(one: &Explanation) -> Vec<LossSignal> {
    let signal = |part: &Part| match part.cause {
        Some(Cause::Loss { noticed, .. }) => Some(noticed),
        _ => None,
    };
    one.parts.iter().filter_map(signal).collect()
}

/// Whichever packets are sent again with it, what was lost first says why. The receiver of TCP holds back
/// no acknowledgement for as long as the sender's timer runs.
#[test]
fn what_is_sent_again_names_the_place_of_the_first_loss() {
    let down =
        "[[failure]]\nkind = \"link-down\"\nport = \"host-1\"\nat = \"25us\"\nlasts = \"20us\"\n";
    let rule = "[[faults]]\naction = \"drop\"\nfrom = \"host-0\"\nnth = 3\n";
    let tcp = format!("{FLOWS}\ntransport = \"tcp\"");
    let keys = "tcp = { min_rto = \"50us\", initial_rto = \"50us\", delayed_ack = \"10us\" }";
    let on_the_link = "host-1 (in by port 0), link_down";
    for (more, lost) in [(down, on_the_link), (rule, "switch-0 (in by port 0), fault faults[0]")] {
        for recovery in ["go-back-n", "go-back-0", "selective-repeat"] {
            let roce = format!("roce = {{ recovery = \"{recovery}\", ack_timeout = 5 }}");
            is_repaired(&explained(&star(&roce, "100KB", more)), lost);
        }
    }
    let one = explained(&star(keys, "100KB", down).replace(FLOWS, &tcp));
    let part = longest(&one);
    let Some(Cause::Loss { noticed, lost: Some(lost) }) = &part.cause else { panic!("{one}") };
    assert_eq!(*noticed, LossSignal::RetransmissionTimeout, "{one}");
    assert_eq!(lost.to_string(), on_the_link, "{one}");
    assert!(part.ps > 60_000_000, "{one}");
}

/// Packets of one window, of which the first is sent again with the second.
#[test]
fn the_first_of_two_losses_is_named() {
    let rule = |name: &str, nth: u32| {
        format!(
            "[[faults]]\naction = \"drop\"\nname = \"{name}\"\nfrom = \"host-0\"\nnth = {nth}\n"
        )
    };
    let two = |a: u32, b: u32| format!("{}{}", rule("a", a), rule("b", b));
    is_repaired(&explained(&star("", "100KB", &two(3, 4))), "switch-0 (in by port 0), fault a");
    is_repaired(&explained(&star("", "100KB", &two(4, 3))), "switch-0 (in by port 0), fault b");
}

/// Acknowledgements come later than the timers expire: of RC a rule delays the first, and the receiver of
/// TCP holds it back.
#[test]
fn what_is_sent_again_for_nothing_says_that_nothing_was_lost() {
    let late = "[[faults]]\naction = \"delay\"\ndelay = \"200us\"\nfrom = \"host-1\"\nnth = 1\n";
    let rc = explained(&star("roce = { ack_timeout = 5, max_outstanding = 1 }", "2KB", late));
    let keys = "tcp = { initial_window = 1, quick_acks = 0, delayed_ack = \"300us\", \
                initial_rto = \"200us\", min_rto = \"200us\" }";
    let tcp = format!("{FLOWS}\ntransport = \"tcp\"");
    let tcp = explained(&star(keys, "2KB", "").replace(FLOWS, &tcp));
    for (one, noticed) in [(rc, LossSignal::Timeout), (tcp, LossSignal::RetransmissionTimeout)] {
        assert_eq!(one.status, "completed", "{one}");
        let part = longest(&one);
        assert_eq!(part.category, Category::Retransmission, "{one}");
        assert_eq!(part.cause, Some(Cause::Loss { noticed, lost: None }), "{one}");
        let words = format!("  {}; nothing was lost\n", noticed.name());
        assert!(one.to_string().contains(&words), "{one}");
    }
}

/// All of the time of the repair is due to this loss.
#[track_caller]
fn is_repaired(one: &Explanation, of: &str) {
    assert_eq!(one.status, "completed", "{one}");
    assert!(time(one, Category::Retransmission) > 0, "{one}");
    for part in one.parts.iter().filter(|part| part.category == Category::Retransmission) {
        let Some(Cause::Loss { lost: Some(lost), .. }) = &part.cause else { panic!("{one}") };
        assert_eq!(lost.to_string(), of, "{one}");
    }
    assert!(one.to_string().contains(&format!("; lost at {of}")), "{one}");
}

/// No acknowledgement ever comes, so none tells of a loss.
#[test]
fn without_an_acknowledgement_no_loss_of_tcp_is_noticed() {
    let down = "[[failure]]\nkind = \"link-down\"\nport = \"host-1\"\nat = \"15us\"\n";
    let tcp = format!("{FLOWS}\ntransport = \"tcp\"");
    let one = explained(&star("", "4KB", down).replace(FLOWS, &tcp));
    assert_eq!(noticed(&one), [LossSignal::Unnoticed], "{one}");
}

#[test]
fn segments_behind_a_pause_are_not_lost() {
    let more = format!("[tcp]\npriority = 3\n{}", STORM.replace("HOST", "host-1"));
    let tcp = format!("{FLOWS}\ntransport = \"tcp\"");
    let one = explained(&star("", "10KB", &more).replace(FLOWS, &tcp));
    is_paused(&one, Stage::Request, "switch-0:1", "host-1");
}

#[test]
fn a_packet_is_followed_to_where_it_is() {
    let slow = "[[slow_receiver]]\nhosts = [\"host-1\"]\nrate = \"1Mbps\"\nbuffer = \"100KB\"\n";
    let one = explained(&star("", "1000B", slow));
    let part = longest(&one);
    assert_eq!((part.category, part.place.as_str()), (Category::SlowReceiver, "host-1"), "{one}");
    assert!(part.ps > 978_000_000, "{one}");

    let far = star("", "1000B", "[switch]\nbuffer = \"4GB\"\n").replace("\"3m\"", "\"300km\"");
    let one = explained(&far);
    let part = longest(&one);
    assert_eq!((part.category, part.place.as_str()), (Category::Propagation, "host-0:0"), "{one}");
    assert_eq!(time(&one, Category::Retransmission), 0, "{one}");

    let rule = "[[faults]]\naction = \"delay\"\ndelay = \"10ms\"\nto = \"host-1\"\nnth = 1\n";
    let one = explained(&star("", "1000B", rule));
    let part = longest(&one);
    assert_eq!((part.category, part.place.as_str()), (Category::FaultDelay, "switch-0:1"), "{one}");
}

#[test]
fn what_was_dropped_and_not_sent_again_is_retransmission() {
    let rule = "[[faults]]\naction = \"drop\"\nOF\nnth = 1\n";
    for (of, lost) in
        [("opcode = \"data\"", ("switch-0", 0)), ("from = \"host-1\"", ("switch-0", 1))]
    {
        let one = explained(&star("roce.ack_timeout = 0", "1000B", &rule.replace("OF", of)));
        let part = longest(&one);
        assert_eq!(part.category, Category::Retransmission, "{of}: {one}");
        let cause = Cause::Loss { noticed: LossSignal::Unnoticed, lost: Some(by_rule(lost)) };
        assert_eq!(part.cause, Some(cause), "{of}: {one}");
        assert!(part.ps > 978_000_000, "{of}: {one}");
    }
}

#[test]
fn an_unreliable_flow_names_the_place_where_its_message_was_lost() {
    let rule = "[[faults]]\naction = \"drop\"\nto = \"host-1\"\nnth = 10\n";
    let one = explained(&star("roce.service = \"uc\"", "10KB", rule));
    assert_eq!(one.status, "messages-lost", "{one}");
    let part = longest(&one);
    assert_eq!((part.category, part.place.as_str()), (Category::MessageLost, "host-1"), "{one}");
    assert_eq!(part.cause, Some(Cause::Dropped { lost: by_rule(("host-1", 0)) }), "{one}");
    let words = "message lost at host-1 (dropped: fault faults[0], in by port 0)";
    assert!(one.to_string().contains(words), "{one}");
}

/// The source still sends other packets of the message, which cannot arrive any more.
#[test]
fn an_unreliable_flow_under_way_tells_what_was_lost() {
    let rule = "[[faults]]\naction = \"drop\"\nto = \"host-1\"\nnth = 10\nname = \"tenth\"\n";
    let one = explained(&star("roce.service = \"uc\"", "100MB", rule));
    assert_eq!(one.status, "unfinished", "{one}");
    let lost = one.lost_for_good.as_ref().expect("a loss");
    assert_eq!(lost.packets, 1);
    assert_eq!((lost.lost.place.as_str(), lost.lost.rule.as_deref()), ("host-1", Some("tenth")));
    // Ten packets of 1024 bytes at 100 Gb/s, and their way.
    assert!((20_800_000..22_500_000).contains(&lost.time_ps), "{lost:?}");
    let (us, ps) = (lost.time_ps / 1_000_000, lost.time_ps % 1_000_000);
    let words =
        format!("A packet was lost at {us}.{ps:06} us at host-1 (in by port 0), fault tenth, ");
    assert!(one.to_string().contains(&words), "{one}");
    assert_eq!(explained(&star("roce.service = \"uc\"", "100MB", "")).lost_for_good, None);
}

/// Nothing was dropped: the rule holds a packet back behind others.
#[test]
fn an_unreliable_flow_says_that_the_responder_discarded_a_message() {
    let rule = "[[faults]]\naction = \"reorder\"\nbehind = 3\nto = \"host-1\"\nnth = 10\n";
    let one = explained(&star("roce.service = \"uc\"", "100KB", rule));
    assert_eq!(one.status, "messages-lost", "{one}");
    assert!(one.lost_for_good.is_none(), "{one}");
    let lost = one.parts.iter().find(|part| part.category == Category::MessageLost);
    let lost = lost.unwrap_or_else(|| panic!("{one}"));
    assert_eq!((lost.place.as_str(), &lost.cause), ("host-1", &Some(Cause::Discarded)), "{one}");
    assert!(one.to_string().contains("discarded by the responder: out of order"), "{one}");
}

/// Of READ data first one packet is lost, whose gap is seen, and then the first of what is sent again:
/// nobody has noticed that until the timer expires, and the responder has done all it could.
#[test]
fn lost_answers_of_a_read_are_noticed_by_the_gap_or_not_at_all() {
    let drop = |name: &str, opcode: &str, nth: u32| {
        format!(
            "[[faults]]\naction = \"drop\"\nname = \"{name}\"\nopcode = \"RC_RDMA_READ_RESPONSE_{opcode}\"\n\
             to = \"host-0\"\nnth = {nth}\n"
        )
    };
    let read = |more: &str, keys: &str| {
        explained(&star(keys, "100KB", more).replace(FLOWS, &format!("{FLOWS}\nverb = \"read\"")))
    };
    for recovery in ["go-back-n", "go-back-0", "selective-repeat"] {
        let keys = format!("roce = {{ recovery = \"{recovery}\", ack_timeout = 0 }}");
        let one = read(&drop("a", "MIDDLE", 50), &keys);
        assert_eq!(one.status, "completed", "{recovery}: {one}");
        let found = noticed(&one);
        assert!(found.iter().all(|&signal| signal == LossSignal::Gap), "{recovery}: {one}");
        assert!(!found.is_empty(), "{recovery}: {one}");
    }
    let two = format!("{}{}", drop("a", "MIDDLE", 50), drop("b", "FIRST", 2));
    let one = read(&two, "roce = { recovery = \"go-back-n\", ack_timeout = 0 }");
    assert_eq!(one.status, "unfinished", "{one}");
    let part = longest(&one);
    assert_eq!(part.category, Category::Retransmission, "{one}");
    assert!(
        one.to_string().contains("not noticed; lost at host-0 (in by port 0), fault b"),
        "{one}"
    );
}

/// Lost by the only rule, on its way into a port.
fn by_rule((node, port): (&str, u16)) -> Lost {
    let rule = Some("faults[0]".to_owned());
    Lost { place: node.into(), ingress_port: Some(port), reason: "fault", rule }
}

#[test]
fn a_host_that_is_down_is_not_a_link_that_is() {
    let down = "[[failure]]\nkind = \"host-down\"\nhost = \"host-0\"\nat = \"25us\"\n";
    let one = explained(&star("", "1MB", &format!("{down}lasts = \"50us\"\n")));
    assert!((49_800_000..=50_000_000).contains(&time(&one, Category::HostDown)), "{one}");
    assert_eq!(time(&one, Category::LinkDown), 0, "{one}");
}

/// What leaves while a link is slower than usual says so, and what leaves before and after does not.
#[test]
fn a_lowered_rate_of_a_link_is_named() {
    let slow = "[[failure]]\nkind = \"link-rate\"\nport = \"PORT\"\nrate = \"10Gbps\"\n";
    let cause = Some(Cause::LoweredRate { rate_bps: 10_000_000_000 });
    let lowered = |one: &Explanation| -> Vec<(Stage, String, Category, u64)> {
        let parts = one.parts.iter().filter(|part| part.cause == cause);
        parts.map(|part| (part.stage, part.place.clone(), part.category, part.ps)).collect()
    };
    let for_a_while = format!("{slow}at = \"22us\"\nlasts = \"4us\"\n");
    let one = explained(&star("", "100KB", &for_a_while.replace("PORT", "host-0")));
    let found = lowered(&one);
    let [(Stage::Sender, place, Category::Serialisation, ps)] = found.as_slice() else {
        panic!("{one}")
    };
    assert_eq!(place, "host-0", "{one}");
    // Frames of 1106 bytes with preamble and gap, 885 ns each, of which the last may start at the end.
    assert!((3_900_000..4_902_000).contains(ps) && ps % 884_800 == 0, "{one}");
    assert!(time(&one, Category::Serialisation) > 10_000_000, "{one}");
    let words = format!("at a lowered rate, 10Gbps {}.{:06} us", ps / 1_000_000, ps % 1_000_000);
    assert!(one.to_string().contains(&words), "{one}");

    let from_the_start = format!("{slow}at = \"1us\"\n").replace("PORT", "host-1");
    let one = explained(&star("", "1024B", &from_the_start));
    let [(stage, place, ..), answer] = lowered(&one).try_into().expect("data and answer");
    assert_eq!((stage, place.as_str()), (Stage::Request, "switch-0:1"), "{one}");
    assert_eq!((answer.0, answer.1.as_str()), (Stage::Answer, "host-1:0"), "{one}");
}

#[test]
fn a_limit_of_the_rate_is_named() {
    let signal = |one: &Explanation, of: Category| {
        one.parts.iter().find_map(|part| match part.cause {
            Some(Cause::CongestionControl { signal, .. }) if part.category == of => Some(signal),
            _ => None,
        })
    };
    let none = |keys: &str| {
        explained(
            &star("", "100KB", "").replace("control.none]", &format!("control.none]\n{keys}")),
        )
    };
    assert_eq!(signal(&none("rate = \"10Gbps\""), Category::Pacing), Some("its fixed rate"));
    assert_eq!(signal(&none("window = \"2KB\""), Category::Window), Some("its fixed window"));
    // Both ask the ends of the path, one of them for hops only.
    let short = "base_target = \"100ns\"\nhop_scaling = \"1ns\"\nfs_range = \"1ns\"\n";
    for (keys, expected) in
        [("hops = \"counted\"", "RTT"), ("endpoint_target = \"1us\"", "endpoint delay")]
    {
        let swift = format!("control.swift]\n{short}{keys}");
        let one = explained(&star("", "1MB", "").replace("control.none]", &swift));
        let found = signal(&one, Category::Window).or_else(|| signal(&one, Category::Pacing));
        assert_eq!(found, Some(expected), "{one}");
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/qcn-long-flows.toml");
    let stop = [("stop".to_owned(), "2ms".to_owned())];
    let plan = Scenario::load(&file, &stop).and_then(|scenario| scenario.plan()).unwrap();
    let found = explain(Arc::new(plan), &Selection::Everything, &mut |_| ControlFlow::Continue(()));
    let flows = found.unwrap().flows;
    let signals: Vec<_> = flows.iter().filter_map(|one| signal(one, Category::Pacing)).collect();
    assert!(!signals.is_empty() && signals.iter().all(|&signal| signal == "CNM"), "{signals:?}");
}

/// Two hosts with an application of one connection, each of whose operations is these steps. The run
/// ends after a millisecond.
fn application(app: &str, steps: &str, more: &str) -> Vec<Explanation> {
    let text = format!(
        "stop = \"1ms\"\n{more}\n[topology.single-switch]\nhosts = 2\n\
         link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[[workload.app]]\nname = \"kv\"\n\
         clients = [\"host-0\"]\nservers = [\"host-1\"]\n{app}\nsteps = [\n{steps}]\n"
    );
    let scenario = Scenario::parse(&text, Path::new("unfinished.toml"), &[]);
    let plan = scenario.and_then(|scenario| scenario.plan());
    let plan = Arc::new(plan.unwrap_or_else(|error| panic!("{error}")));
    let found = explain(plan, &Selection::Everything, &mut |_| ControlFlow::Continue(())).unwrap();
    for one in &found.operations {
        assert_eq!(one.sum_ps(), one.elapsed_ps, "{one}");
        assert_eq!(time(one, Category::Idle), 0, "{one}");
    }
    found.operations
}

const NO_CONTROL: &str = "[congestion_control.none]\n";

/// The operation of this number.
fn operation(all: &[Explanation], number: u64) -> &Explanation {
    let is_it = |one: &&Explanation| matches!(one.what, Subject::Operation { operation, .. } if operation == number);
    all.iter().find(is_it).expect("an operation")
}

#[test]
fn an_operation_is_followed_to_where_its_packet_is() {
    let steps = "{ by = \"client\", verb = \"send\", bytes = \"64B\", after = \"20us\" },\n";
    let storm = STORM.replace("HOST", "host-1");
    let all = application("operations = 1", steps, &format!("{NO_CONTROL}{storm}"));
    is_paused(operation(&all, 0), Stage::Request, "switch-0:1", "host-1");
}

/// The client's timer expires until it gives up: its first message waits, or the acknowledgement of that, and
/// behind it the server's message. So do those of the operation that is flushed with it.
#[test]
fn an_operation_that_gives_up_behind_a_pause_has_lost_nothing() {
    let steps = "{ by = \"client\", verb = \"send\", bytes = \"64B\", after = \"20us\" },\n\
                 { by = \"server\", verb = \"send\", bytes = \"64B\" },\n";
    for (host, turn, place) in [("host-0", 1, "switch-0:0"), ("host-1", 0, "switch-0:1")] {
        let more = format!("roce.ack_timeout = 4\n{NO_CONTROL}{}", STORM.replace("HOST", host));
        let all = application("queue_depth = 2\noperations = 3", steps, &more);
        for (number, status) in [(0, "retry-exceeded"), (1, "flushed")] {
            let one = operation(&all, number);
            assert_eq!(one.status, status, "{one}");
            let part = longest(one);
            let at = (part.turn, part.stage, part.place.as_str(), part.category);
            assert_eq!(
                at,
                (turn, Stage::Request, place, Category::Pause(LinkFlowControl::Pfc)),
                "{one}"
            );
            assert!(part.ps > one.elapsed_ps * 9 / 10, "{one}");
            assert_eq!(time(one, Category::Retransmission), 0, "{one}");
        }
    }
}

/// The server gives up, of which the client never learns: its message waits behind a pause.
#[test]
fn an_operation_whose_server_gives_up_is_followed_to_its_packet() {
    let steps = "{ by = \"client\", verb = \"send\", bytes = \"64B\" },\n\
                 { by = \"server\", verb = \"send\", bytes = \"64B\", after = \"20us\" },\n";
    let storm = STORM.replace("HOST", "host-0");
    let more = format!("roce.ack_timeout = 4\n{NO_CONTROL}{storm}");
    let all = application("operations = 1", steps, &more);
    let one = operation(&all, 0);
    assert_eq!(one.status, "unfinished", "{one}");
    let part = longest(one);
    let at = (part.turn, part.stage, part.place.as_str(), part.category);
    assert_eq!(
        at,
        (1, Stage::Request, "switch-0:0", Category::Pause(LinkFlowControl::Pfc)),
        "{one}"
    );
    assert_eq!(time(one, Category::Retransmission), 0, "{one}");
}

/// All that the client sends is lost, and the last expiry of its timer is noticed like the others.
#[test]
fn an_operation_that_gives_up_after_losses_names_the_first() {
    let steps = "{ by = \"client\", verb = \"send\", bytes = \"64B\", after = \"20us\" },\n";
    let down = "[[failure]]\nkind = \"link-down\"\nport = \"host-1\"\nat = \"10us\"\n";
    let more = format!("roce.ack_timeout = 4\n{NO_CONTROL}{down}");
    let all = application("operations = 1", steps, &more);
    let one = operation(&all, 0);
    assert_eq!(one.status, "retry-exceeded", "{one}");
    let part = longest(one);
    assert_eq!(part.category, Category::Retransmission, "{one}");
    assert_eq!(noticed(one), [LossSignal::Timeout], "{one}");
    assert!(one.to_string().contains("ACK timeout; lost at switch-0"), "{one}");
}

/// The answer to the second operation is lost for good. The third, which starts when the first is
/// over, is stuck somewhere else.
#[test]
fn an_operation_is_not_judged_by_what_another_has_lost() {
    let steps = "{ by = \"client\", verb = \"send\", bytes = \"64B\" },\n\
                 { by = \"server\", verb = \"send\", bytes = \"64B\" },\n";
    let more = format!(
        "roce.ack_timeout = 0\n{NO_CONTROL}[[faults]]\naction = \"drop\"\nfrom = \"host-1\"\n\
         opcode = \"RC_SEND_ONLY\"\nnth = 2\n{}",
        STORM.replace("HOST", "host-1")
    );
    let app = "queue_depth = 2\noperations = 3\nthink_time = \"20us\"";
    let all = application(app, steps, &more);
    assert_eq!(operation(&all, 0).status, "completed");
    let lost = longest(operation(&all, 1));
    assert_eq!(lost.category, Category::Retransmission, "{all:?}");
    assert_eq!(noticed(operation(&all, 1)), [LossSignal::Unnoticed], "{all:?}");
    let stuck = operation(&all, 2);
    let part = longest(stuck);
    assert_eq!((part.stage, part.place.as_str()), (Stage::Request, "switch-0:1"), "{stuck}");
    assert_eq!(part.category, Category::Pause(LinkFlowControl::Pfc), "{stuck}");
    assert!(part.ps > 970_000_000, "{stuck}");
    assert_eq!(time(stuck, Category::Retransmission), 0, "{stuck}");
}

/// The server sends its answers slowly, and the client the second request long after the first.
#[test]
fn a_read_is_followed_by_its_own_request() {
    let steps = "{ by = \"client\", verb = \"read\", bytes = \"4KB\" },\n";
    let app = "queue_depth = 2\noperations = 2";
    let all = application(app, steps, &format!("{NO_CONTROL}rate = \"10Mbps\"\n"));
    for (number, posted) in [(0, 0..1_000_000), (1, 60_000_000..90_000_000)] {
        let one = operation(&all, number);
        let at = |stage: Stage| -> u64 {
            one.parts.iter().filter(|part| part.stage == stage).map(|part| part.ps).sum()
        };
        assert!(posted.contains(&at(Stage::Sender)), "{one}");
        let part = longest(one);
        assert_eq!((part.stage, part.category), (Stage::Responder, Category::Pacing), "{one}");
    }
}

/// The first of two packets arrives, its acknowledgement is late, and what is sent again meanwhile is
/// lost. The second is stuck behind a pause.
#[test]
fn a_lost_copy_of_what_has_arrived_is_not_missing() {
    for recovery in ["go-back-n", "selective-repeat"] {
        let keys =
            format!("roce = {{ recovery = \"{recovery}\", ack_timeout = 5, max_outstanding = 1 }}");
        let storm = STORM.replace("HOST", "host-1").replace("10us", "200us");
        let more = format!(
            "[[faults]]\naction = \"delay\"\ndelay = \"200us\"\nfrom = \"host-1\"\nnth = 1\n\
             [[faults]]\naction = \"drop\"\nfrom = \"host-0\"\nnth = 2\n{storm}"
        );
        let one = explained(&star(&keys, "2KB", &more));
        assert_eq!(one.status, "unfinished", "{one}");
        let part = longest(&one);
        assert_eq!(
            (part.category, part.place.as_str()),
            (Category::Pause(LinkFlowControl::Pfc), "switch-0:1"),
            "{one}"
        );
        assert!(part.ps > 775_000_000, "{one}");
        // From the first departure to the second; the rest of the wait is for the acknowledgement.
        assert!(time(&one, Category::Retransmission) < 132_000_000, "{one}");
        assert!(time(&one, Category::PacketLimit) > 65_000_000, "{one}");
    }
}

/// The same with TCP: the acknowledgement of the first segment is put off for longer than the timer
/// runs, and the link fails while the segment that is sent again is on it.
#[test]
fn a_lost_copy_of_a_segment_that_has_arrived_is_not_missing() {
    let storm = STORM.replace("HOST", "host-1").replace("10us", "300us");
    let more = format!(
        "[switch]\nbuffer = \"64MB\"\n[tcp]\npriority = 3\ninitial_window = 1\nquick_acks = 0\n\
         delayed_ack = \"300us\"\ninitial_rto = \"200us\"\nmin_rto = \"200us\"\n[[failure]]\n\
         kind = \"link-down\"\nport = \"host-0\"\nat = \"230us\"\nlasts = \"20us\"\n{storm}"
    );
    let tcp = format!("{FLOWS}\ntransport = \"tcp\"");
    let text = star("", "2KB", &more).replace(FLOWS, &tcp).replace("\"3m\"", "\"3km\"");
    let one = explained(&text);
    let part = longest(&one);
    assert_eq!(
        (part.category, part.place.as_str()),
        (Category::Pause(LinkFlowControl::Pfc), "switch-0:1"),
        "{one}"
    );
    assert!(part.ps > 600_000_000, "{one}");
    assert!(!noticed(&one).contains(&LossSignal::Unnoticed), "{one}");
}
