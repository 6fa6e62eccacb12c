//! `service = "uc"` and `"ud"`: a flow is over when its last message has arrived.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rocelab_results::{
    FlowRecord, MessageCounts, Overwrite, Results, ResultsDir, RunInfo, Summary,
};
use rocelab_sim::network::FlowFailure;
use rocelab_sim::{Ending, ideal_fct};
use rocelab_transport::CompletionStatus;

use crate::support::{run, try_plan};

fn text(service: &str, flows: &str, more: &str) -> String {
    format!(
        "[roce]\nservice = \"{service}\"\n[topology.single-switch]\nhosts = 3\n\
         link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n\
         [workload.flows]\n{flows}\n{more}"
    )
}

const ONE: &str = "list = [{ from = \"host-0\", to = \"host-1\", bytes = \"10KB\" }]";

#[test]
fn a_flow_ends_with_its_last_packet_s_arrival() {
    for verb in ["send", "write", "write-with-immediate"] {
        let text = text("uc", &format!("verb = \"{verb}\"\n{ONE}"), "");
        let run = run(&text);
        assert_eq!(run.ending, Ending::Finished, "{text}");
        let plan = try_plan(&text).expect("it runs");
        // Ten packets of 1024 bytes, the last of 784; a RETH in the first of a WRITE, an immediate
        // in the last.
        let headers = 14 + 20 + 8 + 12 + 4 + 4;
        let reth = if verb == "send" { 0 } else { 16 };
        let immediate = if verb == "write-with-immediate" { 4 } else { 0 };
        let wire = |bytes: u64| (bytes + headers + 8 + 12) * 80;
        let last = 784 + immediate;
        let first = wire(1024 + reth);
        let middle = wire(1024);
        let finished = run.ends[0].finished.ps();
        assert_eq!(finished, ideal_fct(&plan, &plan.flows[0]).ps(), "{verb}");
        // On the second link: after the first frame is whole, all follow without gaps.
        let store = (8 + 1024 + reth + headers) * 80 + 15_000;
        let sum = first + 8 * middle + (8 + last + headers) * 80 + 15_000;
        assert_eq!(finished, store + sum, "{verb}");
        let counters = run.counters();
        assert_eq!((counters.acks_sent.packets, counters.naks_sent.packets), (0, 0));
    }
}

#[test]
fn datagrams_of_many_messages() {
    let flows = format!("verb = \"send\"\nmessage = \"1000B\"\n{ONE}");
    for version in ["version = 1", "version = 2", "version = 2\nip = \"ipv6\""] {
        let text = text(&format!("ud\"\n{version}\n#\""), &flows, "");
        let run = run(&text);
        assert_eq!(run.ending, Ending::Finished, "{text}");
        assert_eq!(run.ends[0].status, CompletionStatus::Success);
        let totals = run.simulation.network().totals(run.simulation.now());
        assert_eq!(totals.opcodes.get("UD_SEND_ONLY"), Some(&10));
        let plan = try_plan(&text).expect("it runs");
        assert_eq!(run.ends[0].finished.ps(), ideal_fct(&plan, &plan.flows[0]).ps());
    }
}

#[test]
fn what_is_lost_is_told_and_nobody_waits() {
    for (service, nth) in [("uc", 1), ("uc", 10), ("ud", 1), ("ud", 10)] {
        let message = if service == "ud" { "message = \"1000B\"\n" } else { "" };
        let flows = format!("verb = \"send\"\n{message}{ONE}");
        let rule = format!("[[faults]]\naction = \"drop\"\nfrom = \"host-0\"\nnth = {nth}\n");
        let run = run(&text(service, &flows, &rule));
        assert_eq!(run.ending, Ending::Finished, "{service} {nth}");
        let [end] = run.ends[..] else { panic!("{:?}", run.ends) };
        assert!(matches!(end.failure, Some(FlowFailure::MessagesLost(1..))), "{end:?}");
        assert!(run.simulation.now().ps() < 100_000_000, "no timeout is waited for");
    }
}

#[test]
fn to_measure_changes_nothing() {
    let flows = format!("verb = \"send\"\n{ONE}");
    let rule = "[[faults]]\naction = \"drop\"\nfrom = \"host-0\"\nnth = 10\n";
    let sample = "[sample.queues]\ninterval = \"700ns\"\nports = [\"switch-0\"]\n";
    let digests = ["", sample].map(|more| {
        let run = run(&text("uc", &flows, &format!("{rule}{more}")));
        (run.ends[0].finished, run.simulation.network().digest())
    });
    assert_eq!(digests[0], digests[1]);
}

#[test]
fn a_duplicate_is_no_second_message() {
    let flows = format!("verb = \"send\"\nmessage = \"1000B\"\n{ONE}");
    let rules = "[[faults]]\naction = \"duplicate\"\nfrom = \"host-0\"\nnth = 3\n\
                 [[faults]]\naction = \"drop\"\nfrom = \"host-0\"\nnth = 7\n";
    let run = run(&text("ud", &flows, rules));
    assert!(matches!(run.ends[0].failure, Some(FlowFailure::MessagesLost(1..))));
}

#[test]
fn what_the_services_cannot_do_is_refused() {
    let verb = |verb: &str| format!("verb = \"{verb}\"\n{ONE}");
    for (text, key, help) in [
        (text("uc", &verb("read"), ""), "workload.flows.list[0].verb", "send"),
        (text("ud", &verb("write"), ""), "workload.flows.list[0].verb", "send"),
        (text("ud", &verb("send"), ""), "workload.flows.list[0]", "1024B"),
        (format!("integrity = true\n{}", text("uc", ONE, "")), "integrity", "rc"),
        (text("uc\"\nconnect = \"cm", ONE, ""), "roce.connect", "out-of-band"),
        (
            text("uc", ONE, "").replace("control.none", "control.timely"),
            "congestion_control.timely",
            "dcqcn",
        ),
        (text("xrc", ONE, ""), "roce.service", "uc"),
        (text("uc\"\nrecovery = \"go-back-0", ONE, ""), "roce.recovery", "leave it out"),
        (text("uc\"\nack_timeout = 3\n#\"", ONE, ""), "roce.ack_timeout", "leave it out"),
        (text("uc\"\nack_interval = 3\n#\"", ONE, ""), "roce.ack_interval", "leave it out"),
        (text("uc\"\nretry_count = 3\n#\"", ONE, ""), "roce.retry_count", "leave it out"),
        (text("uc\"\nrnr_retry = 3\n#\"", ONE, ""), "roce.rnr_retry", "leave it out"),
        (text("uc\"\nrnr_timer = 3\n#\"", ONE, ""), "roce.rnr_timer", "leave it out"),
        (text("uc\"\nmax_rd_atomic = 3\n#\"", ONE, ""), "roce.max_rd_atomic", "leave it out"),
        (text("uc\"\nmax_outstanding = 9\n#\"", ONE, ""), "roce.max_outstanding", "service"),
        (
            text("uc\"\nack_coalescing = { packets = 2, delay = \"1us\" }\n#\"", ONE, ""),
            "roce.ack_coalescing",
            "leave it out",
        ),
    ] {
        let error = try_plan(&text).expect_err(&text);
        assert_eq!(error.key(), key, "{error}");
        assert!(error.help().is_some_and(|text| text.contains(help)), "{error}");
    }
}

/// A key with the value that it has anyway, as in every resolved scenario, says nothing.
#[test]
fn defaults_that_mean_nothing_are_accepted() {
    let keys = "uc\"\nrecovery = \"go-back-n\"\nack_timeout = 14\nretry_count = 7\n#\"";
    try_plan(&text(keys, ONE, "")).expect("as without them");
}

/// What the results say of messages: how many arrived, each once, and how many never will.
#[test]
fn the_results_count_messages() {
    let flows = format!("verb = \"send\"\nmessage = \"1000B\"\n{ONE}");
    // A rule does not count frames on which one before it acted: the third, the seventh, the ninth.
    let rules = "[[faults]]\naction = \"duplicate\"\nfrom = \"host-0\"\nnth = 3\n\
                 [[faults]]\naction = \"drop\"\nfrom = \"host-0\"\nnth = 6\n\
                 [[faults]]\naction = \"drop\"\nfrom = \"host-0\"\nnth = 7\n";
    for service in ["uc", "ud"] {
        let (summary, flow) = results(&text(service, &flows, rules), service);
        // A duplicate is no message; on a connection it does not stop those behind it.
        let expected = MessageCounts { total: 10, delivered: 8, lost: 2 };
        assert_eq!(summary.messages, Some(expected), "{service}");
        assert_eq!((flow.messages, flow.messages_delivered), (10, Some(8)), "{service}");
        let (summary, flow) = results(&text(service, &flows, ""), service);
        let expected = MessageCounts { total: 10, delivered: 10, lost: 0 };
        assert_eq!(summary.messages, Some(expected), "{service}");
        assert_eq!(flow.messages_delivered, Some(10), "{service}");
    }
    let (summary, flow) = results(&text("rc", &flows, ""), "rc");
    assert_eq!(summary.messages, None);
    assert_eq!((flow.messages, flow.messages_delivered), (10, Some(10)));
}

/// The summary of a run, and its only flow.
fn results(text: &str, name: &str) -> (Summary, FlowRecord<'static>) {
    let plan = try_plan(text).unwrap_or_else(|error| panic!("{error}"));
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("messages-{name}"));
    let directory = ResultsDir::create(&path, Overwrite::Replace).expect("a directory");
    let outcome = rocelab_sim::run(
        Arc::new(plan),
        (&directory).into(),
        rocelab_sim::Execution::SEQUENTIAL,
        &mut |_| ControlFlow::Continue(()),
    );
    let summary = outcome.expect("a run").summary;
    directory.finish(&summary, &RunInfo::default()).expect("results");
    let mut flows = Results::open(&path).and_then(|results| results.flows()).expect("flows.csv");
    (summary, flows.next().expect("one flow").expect("a row"))
}
