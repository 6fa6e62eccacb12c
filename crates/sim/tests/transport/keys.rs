//! The keys of connections: what they do, and what is refused.

use std::path::Path;

use rocelab_sim::{Ending, Planning, Scenario};
use rocelab_transport::{QueuePairProfile, Recovery};
use rocelab_units::Duration;

use crate::support::{run, try_plan};

fn text(roce: &str, more: &str) -> String {
    format!(
        "[roce]\n{roce}\n[topology.single-switch]\nhosts = 3\n\
         link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n\
         [workload.flows]\nlist = [{{ from = \"host-0\", to = \"host-1\", bytes = \"1MB\" }}]\n\
         {more}"
    )
}

fn profile(roce: &str) -> QueuePairProfile {
    let plan = try_plan(&text(roce, "")).unwrap_or_else(|error| panic!("{error}"));
    (*plan.queue_pairs[0]).clone()
}

#[test]
fn queue_pairs_are_told() {
    let plain = profile("");
    assert_eq!((plain.rnr_retry, plain.rnr_timer), (7, 12));
    assert_eq!((plain.max_rd_atomic, plain.max_dest_rd_atomic), (16, 16));
    assert_eq!(plain.max_outstanding, QueuePairProfile::MAX_OUTSTANDING);
    assert!(plain.ack_coalescing.is_none() && plain.timeouts.is_none());
    let given = profile(
        "rnr_retry = 3\nrnr_timer = \"641us\"\nmax_rd_atomic = 2\nmax_dest_rd_atomic = 4\n\
         max_outstanding = 99\nrecovery = \"selective-repeat\"\n\
         ack_coalescing = { packets = 4, delay = \"2us\" }\n\
         timeouts = { low = \"100us\", high = \"320us\", low_packets = 3 }",
    );
    assert_eq!((given.rnr_retry, given.rnr_timer), (3, 13));
    assert_eq!((given.max_rd_atomic, given.max_dest_rd_atomic), (2, 4));
    assert_eq!((given.max_outstanding, given.recovery), (99, Recovery::SelectiveRepeat));
    let coalescing = given.ack_coalescing.expect("as written");
    assert_eq!((coalescing.packets, coalescing.delay), (4, Duration::from_us(2)));
    let timeouts = given.timeouts.expect("as written");
    assert_eq!((timeouts.low, timeouts.high), (Duration::from_us(100), Duration::from_us(320)));
    assert_eq!(timeouts.low_packets, 3);
    assert_eq!(profile("rnr_timer = 0").rnr_timer, 0);
}

#[test]
fn selective_repeat_fills_the_longest_path_and_no_more() {
    let profile = profile("recovery = \"selective-repeat\"");
    // A full frame is 14 + 20 + 8 + 12 + 1024 + 4 + 4 = 1086 bytes with 8 + 12 around it; over two
    // links of 15 ns, store and forward, and back with an acknowledgement of 66 bytes.
    let wire = |bytes: u64| (bytes + 8) * 80;
    let round_trip = 2 * (wire(1086) + 15_000) + 2 * (wire(66) + 15_000);
    assert_eq!(profile.base_rtt, Duration::from_ps(round_trip));
    let packets = round_trip.div_ceil((1086 + 20) * 80);
    assert_eq!(u64::from(profile.max_outstanding), packets);
    // It is enough for the line rate.
    let limited = run(&text("recovery = \"selective-repeat\"", ""));
    let free = run(&text("recovery = \"selective-repeat\"\nmax_outstanding = 8388608", ""));
    assert_eq!(limited.ends[0].finished, free.ends[0].finished);
    // A very short path is still two packets long.
    let short = "recovery = \"selective-repeat\"\npath_mtu = 4096";
    assert!(self::profile(short).max_outstanding >= 2);
}

#[test]
fn reordering_is_selective_repeat_with_a_number_of_packets() {
    let profile = profile("recovery = { reordering = { packets = 7 } }");
    assert_eq!(profile.recovery.name(), "reordering");
    assert!(profile.recovery.is_selective());
    // One that is lost is overtaken by more than seven before the window is full.
    let selective = self::profile("recovery = \"selective-repeat\"");
    assert_eq!(profile.max_outstanding, selective.max_outstanding + 7 + 2);
    let default = self::profile("recovery = { reordering = {} }");
    let written = self::profile("recovery = { reordering = { packets = 32 } }");
    assert_eq!(default.recovery, written.recovery);
    for packets in ["0", "8388609"] {
        let recovery = format!("recovery = {{ reordering = {{ packets = {packets} }} }}");
        let error = try_plan(&text(&recovery, "")).unwrap_err().to_string();
        assert!(error.contains("roce.recovery.reordering.packets"), "{error}");
        assert!(error.contains("1 to 8388608"), "{error}");
    }
}

/// Its default number of packets is more than a round trip has here.
#[test]
fn reordering_notices_a_loss_without_the_timeout() {
    let lost = "[[faults]]\naction = \"drop\"\nprobability = 0.01\n";
    let run = run(&text("ack_timeout = 14\nrecovery = { reordering = {} }", lost));
    assert_eq!(run.ending, Ending::Finished);
    let counters = run.simulation.network().nic_counters();
    assert!(counters.retransmitted.packets > 0, "some of a thousand packets are lost");
    // The last packets alone may have to wait for it.
    assert!(counters.timeouts <= 1, "{} timeouts", counters.timeouts);
}

#[test]
fn max_outstanding_limits_the_rate() {
    let one = run(&text("max_outstanding = 1", ""));
    assert_eq!(one.ending, Ending::Finished);
    let ps = one.ends[0].finished.ps();
    let round_trip = profile("").base_rtt.ps();
    // One packet each round trip, but that the last one is shorter.
    let packets = 1_000_000_u64.div_ceil(1024);
    assert!(ps <= packets * round_trip && ps > (packets - 1) * round_trip, "{ps}");
}

#[test]
fn coalescing_saves_acknowledgements() {
    let all = run(&text("", ""));
    let few = run(&text("ack_coalescing = { packets = 8, delay = \"5us\" }", ""));
    let acks = |run: &crate::support::Run| run.counters().acks_sent.packets;
    assert_eq!(acks(&all), 977);
    assert_eq!(acks(&few), 977_u64.div_ceil(8));
}

fn refused(roce: &str) -> rocelab_sim::ScenarioError {
    try_plan(&text(roce, "")).expect_err("it makes no sense")
}

#[test]
fn what_makes_no_sense_is_refused_where_it_stands() {
    for (roce, key, help) in [
        ("rnr_retry = 8", "roce.rnr_retry", "0 to 6"),
        ("rnr_timer = 32", "roce.rnr_timer", "0 to 31"),
        ("rnr_timer = \"1s\"", "roce.rnr_timer", "655.36ms"),
        ("rnr_timer = \"640\"", "roce.rnr_timer", "unit"),
        ("max_rd_atomic = 0", "roce.max_rd_atomic", "1 to 255"),
        ("max_dest_rd_atomic = 256", "roce.max_dest_rd_atomic", "1 to 255"),
        ("max_dest_rd_atomic = 4", "roce.max_dest_rd_atomic", "at least 16"),
        ("max_rd_atomic = 17", "roce.max_rd_atomic", "at most 16"),
        ("max_outstanding = 0", "roce.max_outstanding", "1 to 8388608"),
        (
            "ack_coalescing = { packets = 0, delay = \"1us\" }",
            "roce.ack_coalescing.packets",
            "1 for each",
        ),
        (
            "ack_coalescing = { packets = 2, delay = \"1s\" }",
            "roce.ack_coalescing.delay",
            "give less",
        ),
        (
            "timeouts = { low = \"1us\", high = \"2us\", low_packets = 3 }",
            "roce.timeouts",
            "selective-repeat",
        ),
        (
            "recovery = \"selective-repeat\"\n\
             timeouts = { low = \"3us\", high = \"2us\", low_packets = 3 }",
            "roce.timeouts.high",
            "at least 3us",
        ),
        (
            "recovery = \"selective-repeat\"\nack_timeout = 10\n\
             timeouts = { low = \"1us\", high = \"2us\", low_packets = 3 }",
            "roce.ack_timeout",
            "leave `timeouts` out",
        ),
        ("connect = \"magic\"", "roce.connect", "out-of-band"),
        ("cm = { retries = 3 }", "roce.cm", "connect = \"cm\""),
        ("connect = \"cm\"\ncm = { retries = 16 }", "roce.cm.retries", "0 to 15"),
        ("connect = \"cm\"\ncm = { packet_lifetime = 32 }", "roce.cm.packet_lifetime", "0 to 31"),
        ("connect = \"cm\"\ncm = { priority = 8 }", "roce.cm.priority", "0 to 7"),
    ] {
        let error = refused(roce);
        assert_eq!(error.key(), key, "{error}");
        assert!(error.line() > 1, "{error}");
        assert!(error.to_string().contains(help), "{error}");
    }
}

/// What is derived stands in the resolved scenario, and that runs the same.
#[test]
fn the_limit_of_selective_repeat_is_in_the_resolved_scenario() {
    let resolved = |roce: &str| {
        let text = text(roce, "");
        let scenario = Scenario::parse(&text, Path::new("keys.toml"), &[]).expect("a scenario");
        scenario.resolved()
    };
    let keys = "recovery = \"selective-repeat\"";
    let derived = profile(keys).max_outstanding;
    let repeated = resolved(keys);
    assert_eq!(repeated.roce.max_outstanding, Some(derived));
    let text = repeated.to_toml().expect("TOML");
    assert!(text.contains(&format!("max_outstanding = {derived}\n")), "{text}");
    assert_eq!(try_plan(&text).expect("a plan").queue_pairs[0].max_outstanding, derived);
    assert_eq!(resolved("").roce.max_outstanding, None);
}

const PING: &str = "[topology.single-switch]\nhosts = 2\n\
                    link = { rate = \"100Gbps\", cable = \"3m\" }\n[workload.ping-pong]\n\
                    clients = [\"host-0\"]\nservers = [\"host-1\"]\nbytes = \"64B\"\n";

#[test]
fn what_means_nothing_to_applications_is_refused() {
    for (head, key) in
        [("integrity = true\n", "integrity"), ("[roce]\nconnect = \"cm\"\n", "roce.connect")]
    {
        let error = try_plan(&format!("{head}{PING}")).expect_err("it makes no sense");
        assert_eq!(error.key(), key, "{error}");
        assert!(error.help().is_some_and(|help| help.contains("[workload.flows]")), "{error}");
        let flows = "[workload.flows]\n\
                     list = [{ from = \"host-0\", to = \"host-1\", bytes = \"1KB\" }]\n";
        try_plan(&format!("{head}{PING}{flows}")).expect("beside flows it means something");
    }
}
