//! `host.scheduler`: who sends next on the port of a host.

use rocelab_sim::Ending;

use crate::support::{run, try_plan};

const ORDERS: [&str; 3] = ["", "[host]\nscheduler = \"round-robin\"", STRICT];
const STRICT: &str = "[host]\nscheduler = \"strict-priority\"";

/// What `host-0` sends to two others: 1 MB each, of priority 3 and of priority 5.
fn text(order: &str, more: &str) -> String {
    format!(
        "{order}\n[topology.single-switch]\nhosts = 4\n\
         link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n\
         [[workload.flows]]\npriority = 3\n\
         list = [{{ from = \"host-0\", to = \"host-1\", bytes = \"1MB\" }}]\n\
         [[workload.flows]]\npriority = 5\n\
         list = [{{ from = \"host-0\", to = \"host-2\", bytes = \"1MB\" }}]\n{more}"
    )
}

/// When each flow of priority 3, 5 and so on ended, in the order of the plan (ns).
fn ends(text: &str) -> Vec<u64> {
    let run = run(text);
    assert_eq!(run.ending, Ending::Finished, "{text}");
    let plan = try_plan(text).expect("it runs");
    let mut ends = run.ends;
    ends.sort_by_key(|end| plan.flows[end.flow as usize].priority);
    ends.iter().map(|end| end.finished.ps() / 1_000).collect()
}

/// 1 MB in packets of 1024 bytes on a link of 100 Gb/s.
const ALONE: u64 = 977 * (1_024 + 82) * 8 / 100;

#[test]
fn the_higher_priority_goes_first() {
    for order in ORDERS {
        let ends = ends(&text(order, ""));
        let (low, high) = (ends[0], ends[1]);
        let both = 2 * ALONE;
        assert!((both..both * 102 / 100).contains(&low), "{order} {low}");
        if order == STRICT {
            assert!((ALONE..ALONE * 102 / 100).contains(&high), "{order} {high}");
        } else {
            assert!((both * 99 / 100..both * 102 / 100).contains(&high), "{order} {high}");
        }
    }
}

#[test]
fn without_the_key_it_is_round_robin() {
    assert_eq!(ends(&text("", "")), ends(&text(ORDERS[1], "")));
}

#[test]
fn tcp_is_one_of_the_priorities() {
    for (priority, is_first) in [(1, false), (7, true)] {
        let more = format!(
            "[tcp]\npriority = {priority}\n[[workload.flows]]\ntransport = \"tcp\"\n\
             list = [{{ from = \"host-0\", to = \"host-3\", bytes = \"300KB\" }}]\n"
        );
        let text = text(STRICT, &more);
        let run = run(&text);
        let plan = try_plan(&text).expect("it runs");
        let end_of = |wanted: &dyn Fn(&rocelab_sim::FlowPlan) -> bool| {
            let end = run.ends.iter().find(|end| wanted(&plan.flows[end.flow as usize]));
            end.expect("all end").finished
        };
        let tcp = end_of(&|flow| flow.is_tcp());
        let high = end_of(&|flow| !flow.is_tcp() && flow.priority == 5);
        let low = end_of(&|flow| !flow.is_tcp() && flow.priority == 3);
        assert!(high < low);
        assert_eq!(tcp < high, is_first, "priority {priority}: {tcp} {high} {low}");
        assert_eq!(tcp > low, !is_first, "priority {priority}: {tcp} {high} {low}");
    }
}
