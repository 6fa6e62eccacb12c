//! Flows of TCP by hand: stacks, windows, delayed acknowledgements and losses.
//!
//! Ethernet, IPv4 and TCP are 54 bytes and the FCS 4; preamble 8 and gap 12. At 10 Gb/s a byte takes
//! 800 ps, and 3 m of cable 15 ns.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rocelab_fabric::LinkFlowControl;
use rocelab_sim::explain::{
    Category, Cause, Explanation, LossSignal, Part, Selection, Stage, explain, survey,
};
use rocelab_sim::{Plan, Planning, Scenario};

const BYTE: u64 = 800;
const CABLE: u64 = 15_000;
/// A full segment, and an acknowledgement, with preamble (ps).
const SEGMENT: u64 = (8 + 1_518) * BYTE;
const ACK: u64 = (8 + 64) * BYTE;
const GAP: u64 = 12 * BYTE;
const MS: u64 = 1_000_000_000;

fn star(hosts: u32, rest: &str) -> String {
    format!(
        "[topology.single-switch]\nhosts = {hosts}\n\
         link = {{ rate = \"10Gbps\", cable = \"3m\" }}\n{rest}"
    )
}

/// One flow from host-1 to host-0; `keys` are of `[tcp]`, `more` sections of their own.
fn one_flow(bytes: u64, keys: &str, more: &str) -> String {
    star(
        2,
        &format!(
            "{more}[tcp]\n{keys}\n[workload.flows]\ntransport = \"tcp\"\n\
             list = [{{ from = \"host-1\", to = \"host-0\", bytes = \"{bytes}B\" }}]\n"
        ),
    )
}

#[track_caller]
fn plan(text: &str) -> Arc<Plan> {
    let scenario = Scenario::parse(text, Path::new("tcp.toml"), &[]);
    let plan = scenario.and_then(|scenario| scenario.plan());
    Arc::new(plan.unwrap_or_else(|error| panic!("{error}")))
}

#[track_caller]
fn explained(text: &str) -> Vec<Explanation> {
    let found = explain(plan(text), &Selection::Everything, &mut |_| ControlFlow::Continue(()));
    let flows = found.unwrap_or_else(|error| panic!("{error}")).flows;
    for one in &flows {
        assert_eq!(one.sum_ps(), one.elapsed_ps, "{one}");
        assert_eq!(time(one, Category::Idle), 0, "{one}");
    }
    flows
}

fn time(one: &Explanation, category: Category) -> u64 {
    one.parts.iter().filter(|part| part.category == category).map(|part| part.ps).sum()
}

/// What the only flow spent, without causes.
#[track_caller]
fn parts(text: &str) -> Vec<(Stage, String, Category, u64)> {
    let flows = explained(text);
    let [one] = flows.as_slice() else { panic!("{flows:?}") };
    let parts = one.parts.iter();
    parts.map(|part| (part.stage, part.place.clone(), part.category, part.ps)).collect()
}

/// The way of a full segment through an idle network.
fn idle_way() -> Vec<(Stage, String, Category, u64)> {
    let link = |port: &str| {
        [
            (Stage::Request, port.to_owned(), Category::Serialisation, SEGMENT),
            (Stage::Request, port.to_owned(), Category::Propagation, CABLE),
        ]
    };
    [link("host-1:0"), link("switch-0:0")].concat()
}

fn at_sender(host: &str, category: Category, ps: u64) -> (Stage, String, Category, u64) {
    (Stage::Sender, host.to_owned(), category, ps)
}

#[test]
fn the_first_window_over_an_idle_path() {
    let text = one_flow(14_600, "send_delay = \"5us\"\nreceive_delay = \"7us\"", "");
    let mut expected = vec![
        at_sender("host-1", Category::Serialisation, 9 * (SEGMENT + GAP)),
        at_sender("host-1", Category::HostStack, 5_000_000),
    ];
    expected.extend(idle_way());
    expected.push((Stage::Request, "host-0".into(), Category::HostStack, 7_000_000));
    assert_eq!(parts(&text), expected);
}

/// A window of one segment, and a receiver that acknowledges two at once, or one after 1 ms.
#[test]
fn a_delayed_acknowledgement_is_no_window() {
    let keys = "initial_window = 1\nquick_acks = 0\ndelayed_ack = \"1ms\"";
    let round_trip = 2 * (SEGMENT + CABLE) + 2 * (ACK + CABLE);
    let window = round_trip - (SEGMENT + GAP);
    let expected = |category| {
        let mut parts = vec![
            at_sender("host-1", Category::Serialisation, SEGMENT + GAP),
            at_sender("host-1", category, window),
        ];
        parts.extend(idle_way());
        parts
    };
    let mut with_delay = expected(Category::Window);
    with_delay.insert(0, at_sender("host-0", Category::DelayedAck, MS));
    assert_eq!(parts(&one_flow(2_920, keys, "")), with_delay);
    let keys = keys.replace("quick_acks = 0", "quick_acks = 1");
    assert_eq!(parts(&one_flow(2_920, &keys, "")), expected(Category::Window));
    let keys = "receive_window = \"1500B\"";
    assert_eq!(parts(&one_flow(2_920, keys, "")), expected(Category::ReceiveWindow));
}

#[test]
fn stacks_are_told_from_the_window_that_waits_for_them() {
    let keys = "initial_window = 1\nsend_delay = \"3us\"\nreceive_delay = \"5us\"";
    let window = 2 * (SEGMENT + CABLE) + 2 * (ACK + CABLE) - (SEGMENT + GAP);
    let mut expected = vec![
        // A segment in, an acknowledgement out.
        at_sender("host-0", Category::HostStack, 8_000_000),
        at_sender("host-1", Category::Serialisation, SEGMENT + GAP),
        at_sender("host-1", Category::Window, window),
        // Both segments out, an acknowledgement in.
        at_sender("host-1", Category::HostStack, 11_000_000),
    ];
    expected.extend(idle_way());
    expected.push((Stage::Request, "host-0".into(), Category::HostStack, 5_000_000));
    assert_eq!(parts(&one_flow(2_920, keys, "")), expected);
}

/// The link of the sender fails while the first segment is on it.
fn losing_the_first(segments: u64, keys: &str) -> Vec<Explanation> {
    let failure = "[[failure]]\nkind = \"link-down\"\nport = \"host-1:0\"\nat = \"100ns\"\n\
                   lasts = \"2us\"\n";
    explained(&one_flow(segments * 1_460, keys, failure))
}

fn signals(one: &Explanation) -> BTreeSet<LossSignal> {
    let causes = one.parts.iter().filter_map(|part| match part.cause {
        Some(Cause::Loss { noticed, .. }) => Some(noticed),
        _ => None,
    });
    causes.collect()
}

#[test]
fn a_lost_segment_waits_for_the_timer() {
    let flows = losing_the_first(1, "initial_rto = \"5ms\"\nmin_rto = \"5ms\"");
    let [one] = flows.as_slice() else { panic!("{flows:?}") };
    assert_eq!(time(one, Category::Retransmission), 5 * MS, "{one}");
    assert_eq!(one.elapsed_ps, 5 * MS + 2 * (SEGMENT + CABLE), "{one}");
    assert_eq!(signals(one), BTreeSet::from([LossSignal::RetransmissionTimeout]), "{one}");
}

#[test]
fn a_lost_segment_is_sent_again_after_three_others() {
    let flows = losing_the_first(4, "");
    let [one] = flows.as_slice() else { panic!("{flows:?}") };
    assert!(one.elapsed_ps < MS, "{one}");
    assert!(time(one, Category::Retransmission) > 0, "{one}");
    assert_eq!(signals(one), BTreeSet::from([LossSignal::FastRetransmit]), "{one}");
}

#[test]
fn a_lossless_priority_pauses_tcp_too() {
    let text = star(
        5,
        "[switch]\nbuffer = \"200KB\"\n[tcp]\npriority = 3\ninitial_window = 100\n[workload.incast]\n\
         transport = \"tcp\"\nsenders = 4\nreceiver = \"host-0\"\nbytes = \"100KB\"\n",
    );
    let flows = explained(&text);
    let total = |category| flows.iter().map(|one| time(one, category)).sum::<u64>();
    assert!(
        total(Category::Pause(LinkFlowControl::Pfc)) > 0
            && total(Category::QueueingBehindOthers) > 0
    );
    assert_eq!(total(Category::Retransmission), 0);
}

/// Four flows make host-0's port pause their hosts, from one of which small ones go elsewhere.
#[test]
fn connections_are_victims_of_pauses_of_others() {
    let flow = |from: u32, to: u32, bytes: &str, start: u32| {
        format!(
            "{{ from = \"host-{from}\", to = \"host-{to}\", bytes = \"{bytes}\", \
             start = \"{start}us\" }},\n"
        )
    };
    let senders: String = (1..=4).map(|host| flow(host, 0, "100KB", 0)).collect();
    let others: String = (0..10).map(|number| flow(1, 5, "2KB", 60 + 10 * number)).collect();
    for transport in ["tcp", "rdma"] {
        let text = star(
            6,
            &format!(
                "[switch]\nbuffer = \"200KB\"\n[congestion_control.none]\n[tcp]\npriority = 3\n\
                 initial_window = 100\n[[workload.flows]]\ntransport = \"{transport}\"\n\
                 list = [\n{senders}]\n[[workload.flows]]\ntransport = \"tcp\"\n\
                 list = [\n{others}]\n"
            ),
        );
        let found = survey(plan(&text), &mut |_| ControlFlow::Continue(())).unwrap();
        let victims = found.victims.iter().filter(|victim| victim.root == "switch-0:0");
        let victims: Vec<_> = victims.map(|victim| victim.flow).collect();
        assert!(!victims.is_empty(), "{transport}: {found}");
        assert!(victims.iter().all(|&flow| flow >= Some(4)), "{transport}: {found}");
    }
}

/// The link of the receiver fails when it has an odd number of segments, so that it waits for another one
/// before it acknowledges the last. Until then the sender does not learn that all others were lost.
#[test]
fn an_acknowledgement_that_is_delayed_in_a_recovery_is_told_apart() {
    let text = |delay: &str| {
        format!(
            "[topology.single-switch]\nhosts = 2\n\
             link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[tcp]\ndelayed_ack = \"{delay}\"\n\
             [[failure]]\nkind = \"link-down\"\nport = \"host-1\"\nat = \"150us\"\n\
             lasts = \"400us\"\n[workload.flows]\ntransport = \"tcp\"\n\
             list = [{{ from = \"host-0\", to = \"host-1\", bytes = \"4MB\" }}]\n"
        )
    };
    let [forty, fifty] = ["40ms", "50ms"].map(|delay| {
        let flows = explained(&text(delay));
        let [one] = flows.as_slice() else { panic!("{flows:?}") };
        assert_eq!(signals(one), BTreeSet::from([LossSignal::FastRetransmit]), "{one}");
        // While it can send, and while what is sent again is under way.
        assert!(time(one, Category::Retransmission) < MS / 5, "{one}");
        let is_delayed = |part: &&Part| part.category == Category::DelayedAck;
        let delayed = one.parts.iter().filter(is_delayed).collect::<Vec<_>>();
        let [part] = delayed.as_slice() else { panic!("{one}") };
        assert_eq!((part.stage, part.place.as_str()), (Stage::Sender, "host-1"), "{one}");
        (part.ps, one.elapsed_ps)
    });
    // From when the sender has filled its window, some time after the last segment arrived.
    assert!((40 * MS - MS / 20..40 * MS).contains(&forty.0), "{forty:?}");
    assert_eq!(fifty.0 - forty.0, 10 * MS);
    assert_eq!(fifty.1 - forty.1, 10 * MS);
}

/// The window of the first ten segments arrives; the link fails while they are acknowledged.
#[test]
fn a_wait_that_the_timer_ends_is_retransmission() {
    let text = |stop: &str| {
        format!(
            "{stop}[topology.single-switch]\nhosts = 2\n\
             link = {{ rate = \"100Gbps\", cable = \"100m\" }}\n[[failure]]\nkind = \"link-down\"\n\
             port = \"host-0\"\nat = \"2us\"\nlasts = \"10us\"\n[workload.flows]\n\
             transport = \"tcp\"\nlist = [{{ from = \"host-0\", to = \"host-1\", bytes = \"100KB\" }}]\n"
        )
    };
    let flows = explained(&text(""));
    let [one] = flows.as_slice() else { panic!("{flows:?}") };
    assert!(time(one, Category::Retransmission) * 10 > one.elapsed_ps * 9, "{one}");
    assert_eq!(signals(one), BTreeSet::from([LossSignal::RetransmissionTimeout]), "{one}");
    // The run ends before the timer expires.
    let flows = explained(&text("stop = \"1ms\"\n"));
    let [one] = flows.as_slice() else { panic!("{flows:?}") };
    assert!(time(one, Category::Retransmission) > 950_000_000, "{one}");
    assert_eq!(signals(one), BTreeSet::from([LossSignal::Unnoticed]), "{one}");
}
