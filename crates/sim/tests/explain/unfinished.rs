//! What the end of a run leaves open, and what was lost for good: where the packet is that is waited
//! for.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rocelab_sim::Scenario;
use rocelab_sim::explain::{
    Category, Cause, Explanation, LossSignal, Part, Selection, Stage, explain,
};

const STORM: &str = "[[failure]]\nkind = \"pause-storm\"\nhost = \"HOST\"\nat = \"10us\"\n";
const FLOWS: &str = "[workload.flows]";

/// One switch; a flow from host-0 to host-1 that starts at 20 us. The run ends after a millisecond.
fn star(keys: &str, bytes: &str, more: &str) -> String {
    format!(
        "stop = \"1ms\"\n{keys}\n[topology.single-switch]\nhosts = 3\n\
         link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n{more}\n\
         [workload.flows]\nlist = [\n\
         {{ from = \"host-0\", to = \"host-1\", bytes = \"{bytes}\", start = \"20us\" }},\n]\n"
    )
}

/// The only flow, none of whose time is left over.
#[track_caller]
fn explained(text: &str) -> Explanation {
    let scenario = Scenario::parse(text, Path::new("unfinished.toml"), &[]);
    let plan = scenario.and_then(|scenario| scenario.plan());
    let plan = Arc::new(plan.unwrap_or_else(|error| panic!("{error}")));
    let found = explain(plan, &Selection::Everything, |_| ControlFlow::Continue(()));
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
    assert_eq!(part.category, Category::Pause, "{one}");
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
    for of in ["opcode = \"data\"", "from = \"host-1\""] {
        let one = explained(&star("roce.ack_timeout = 0", "1000B", &rule.replace("OF", of)));
        let part = longest(&one);
        assert_eq!(part.category, Category::Retransmission, "{of}: {one}");
        assert_eq!(part.cause, Some(Cause::Loss { noticed: LossSignal::Unnoticed }), "{of}: {one}");
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
    assert_eq!(part.cause, Some(Cause::Dropped { reason: "fault" }), "{one}");
    assert!(one.to_string().contains("message lost at host-1 (dropped: fault)"), "{one}");
}

#[test]
fn a_host_that_is_down_is_not_a_link_that_is() {
    let down = "[[failure]]\nkind = \"host-down\"\nhost = \"host-0\"\nat = \"25us\"\n";
    let one = explained(&star("", "1MB", &format!("{down}lasts = \"50us\"\n")));
    assert!((49_800_000..=50_000_000).contains(&time(&one, Category::HostDown)), "{one}");
    assert_eq!(time(&one, Category::LinkDown), 0, "{one}");
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
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/qcn-long-flows.toml");
    let stop = [("stop".to_owned(), "2ms".to_owned())];
    let plan = Scenario::load(&file, &stop).and_then(|scenario| scenario.plan()).unwrap();
    let found = explain(Arc::new(plan), &Selection::Everything, |_| ControlFlow::Continue(()));
    let flows = found.unwrap().flows;
    let signals: Vec<_> = flows.iter().filter_map(|one| signal(one, Category::Pacing)).collect();
    assert!(!signals.is_empty() && signals.iter().all(|&signal| signal == "CNM"), "{signals:?}");
}

#[test]
fn an_operation_is_followed_to_where_its_packet_is() {
    let text = format!(
        "stop = \"1ms\"\n[topology.single-switch]\nhosts = 2\n\
         link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n{}\
         [[workload.app]]\nname = \"kv\"\nclients = [\"host-0\"]\nservers = [\"host-1\"]\n\
         operations = 1\nsteps = [\n\
         {{ by = \"client\", verb = \"send\", bytes = \"64B\", after = \"20us\" }},\n]\n",
        STORM.replace("HOST", "host-1")
    );
    let scenario = Scenario::parse(&text, Path::new("unfinished.toml"), &[]);
    let plan = scenario.and_then(|scenario| scenario.plan());
    let plan = Arc::new(plan.unwrap_or_else(|error| panic!("{error}")));
    let found = explain(plan, &Selection::Everything, |_| ControlFlow::Continue(())).unwrap();
    let [one] = found.operations.as_slice() else { panic!("{found:?}") };
    assert_eq!(one.sum_ps(), one.elapsed_ps, "{one}");
    is_paused(one, Stage::Request, "switch-0:1", "host-1");
}
