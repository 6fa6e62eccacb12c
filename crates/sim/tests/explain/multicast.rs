//! Flows to members of a multicast group: each is explained by its own copies.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rocelab_sim::explain::{ExplainError, Explained, Selection, explain};
use rocelab_sim::{Plan, Planning, Scenario};

fn plan(more: &str) -> Arc<Plan> {
    let text = format!(
        "[roce]\nservice = \"ud\"\n[topology.leaf-spine]\nleaves = 3\nspines = 2\nhosts_per_leaf = 2\n\
         host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\nfabric_link = {{ rate = \"100Gbps\", cable = \"30m\" }}\n\
         [[multicast_group]]\nname = \"a\"\nmembers = [\"host-1..host-5\"]\n[congestion_control.none]\n\
         [workload.multicast]\nfrom = \"host-0\"\ngroup = \"a\"\nbytes = \"20KB\"\n{more}"
    );
    let scenario = Scenario::parse(&text, Path::new("multicast.toml"), &[]);
    let plan = scenario.and_then(|scenario| scenario.plan());
    Arc::new(plan.unwrap_or_else(|error| panic!("{error}\n{text}")))
}

fn explained(plan: &Arc<Plan>, flow: u32) -> Explained {
    let selection = Selection::Flows(vec![flow]);
    explain(Arc::clone(plan), &selection, &mut |_| ControlFlow::Continue(()))
        .unwrap_or_else(|error| panic!("flow {flow}: {error}"))
}

/// Nothing waits but for the sender's own link: what a flow takes is what all of its datagrams take there, and the way of the last one.
#[test]
fn every_member_has_an_explanation() {
    let plan = plan("");
    for flow in 0..5 {
        let all = explained(&plan, flow);
        let [one] = &all.flows[..] else { panic!("{all:?}") };
        assert_eq!(one.sum_ps(), one.elapsed_ps);
        assert!(one.lost_for_good.is_none());
    }
}

/// host-3 and host-4 send to host-5: its copies of the multicast wait in its leaf, others do not.
#[test]
fn a_queue_at_one_member_is_no_queue_of_the_others() {
    let flows = "[workload.flows]\nverb = \"send\"\nmessage = \"1KB\"\nlist = [\
                 { from = \"host-2\", to = \"host-5\", bytes = \"40KB\" },\
                 { from = \"host-3\", to = \"host-5\", bytes = \"40KB\" }]\n";
    let plan = plan(flows);
    let to = |member: u32| {
        let is_it = |flow: &rocelab_sim::FlowPlan| flow.source == 0 && flow.destination == member;
        u32::try_from(plan.flows.iter().position(is_it).expect("a flow")).unwrap()
    };
    let told = |member: u32| explained(&plan, to(member)).flows[0].to_string();
    let (near, far) = (told(1), told(5));
    assert!(far.contains("leaf-2"), "{far}");
    assert!(!near.contains("leaf-2") && !near.contains("host-2"), "{near}");
}

#[test]
fn a_lost_copy_is_told_to_the_member_that_misses_it() {
    let plan = plan("[[faults]]\naction = \"drop\"\nfrom = \"leaf-1\"\nto = \"host-3\"\nnth = 4\n");
    for flow in 0..5 {
        let all = explained(&plan, flow);
        let lost = all.flows[0].lost_for_good.as_ref().map(|lost| lost.packets);
        let expected = (plan.flows[flow as usize].destination == 3).then_some(1);
        assert_eq!(lost, expected, "flow {flow}");
    }
}

#[test]
fn two_of_one_group_are_asked_for_one_at_a_time() {
    let plan = plan("");
    let asked = Selection::Flows(vec![1, 3]);
    let error = explain(plan, &asked, &mut |_| ControlFlow::Continue(())).unwrap_err();
    assert!(matches!(error, ExplainError::SharedFrames { flow: 3 }), "{error}");
}

/// Before any switch has seen a frame.
#[test]
fn the_first_frame_is_lost_on_the_first_link() {
    let plan = plan("[[faults]]\naction = \"drop\"\nfrom = \"host-0\"\nnth = 1\n");
    for flow in 0..5 {
        let all = explained(&plan, flow);
        assert_eq!(all.flows[0].lost_for_good.as_ref().map(|lost| lost.packets), Some(1));
    }
}
