//! Who waits for pauses that began where they do not come by.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rocelab_fabric::LinkFlowControl;
use rocelab_sim::explain::{
    Category, Cause, LongPause, Selection, Subject, Survey, explain, survey,
};
use rocelab_sim::{Plan, Planning, Scenario};

fn surveyed(plan: &Arc<Plan>) -> Survey {
    survey(Arc::clone(plan), &mut |_| ControlFlow::Continue(())).unwrap()
}

/// The victim flow of SIGCOMM 2015, figure 4: all flows go to host-15, but for flow 4, which shares
/// an uplink with some of them.
fn victim_flow(overrides: &[(&str, &str)]) -> Arc<Plan> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/dcqcn-victim-flow.toml");
    let given = overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let overrides: Vec<_> = given.chain([("stop".to_owned(), "5ms".to_owned())]).collect();
    let plan = Scenario::load(&file, &overrides).and_then(|scenario| scenario.plan());
    Arc::new(plan.unwrap_or_else(|error| panic!("{error}")))
}

/// The port of a switch that leads to a host.
fn port_to(plan: &Plan, host: &str) -> String {
    let adjacency = plan.topology.adjacency();
    let nodes = &plan.topology.nodes;
    let host = nodes.iter().position(|node| node.name == host).unwrap();
    let uplink = adjacency.ports_of(u32::try_from(host).unwrap())[0];
    let port = adjacency.port_of_link(uplink.node, uplink.link).unwrap();
    format!("{}:{port}", nodes[uplink.node as usize].name)
}

#[test]
fn the_victim_of_the_paper_is_named() {
    let plan = victim_flow(&[]);
    let found = surveyed(&plan);
    let root = port_to(&plan, "host-15");
    assert!(found.pauses > 1_000 && found.roots[0].deepest > 2, "{found}");
    assert_eq!(found.roots[0].place, root, "{found}");
    let [victim, others @ ..] = found.victims.as_slice() else { panic!("{found}") };
    assert_eq!((victim.flow, victim.root.as_str()), (Some(4), root.as_str()), "{found}");
    assert_eq!((victim.source.as_str(), victim.destination.as_str()), ("host-4", "host-5"));
    assert_eq!(victim.elapsed_ps, 5_000_000_000);
    assert!(victim.hol_ps > victim.elapsed_ps / 10, "{found}");
    // Others may be victims of ports where only some of them meet, but not of this one.
    assert!(others.iter().all(|other| other.root != root), "{found}");
    assert!(victim.hol_ps <= victim.elapsed_ps && victim.root_ps <= victim.hol_ps, "{found}");
    let text = found.to_string();
    assert!(text.contains("flow 4, host-4 to host-5"), "{text}");
}

/// What the victim's host waited for is also in its explanation, which is computed otherwise, and says
/// no more of it: blocked time counts the network too, and frames that are being sent.
#[test]
fn blocked_time_has_what_an_explanation_says_of_it() {
    let plan = victim_flow(&[]);
    let found = surveyed(&plan);
    let explained =
        explain(Arc::clone(&plan), &Selection::Flows(vec![4]), &mut |_| ControlFlow::Continue(()))
            .unwrap();
    let [one] = explained.flows.as_slice() else { panic!("{explained:?}") };
    assert!(matches!(one.what, Subject::Flow { flow: 4, .. }));
    let root = &found.victims[0].root;
    let paused = one.parts.iter().filter(|part| {
        part.category == Category::Pause(LinkFlowControl::Pfc)
            && matches!(&part.cause, Some(Cause::PausedBy { root: other, .. }) if other == root)
    });
    let paused: u64 = paused.map(|part| part.ps).sum();
    assert!(paused > 0 && paused <= found.victims[0].hol_ps, "{paused}: {found}");
    assert_eq!(found.digest, explained.digest);
}

/// The paper: DCQCN cures it. Its sign.
#[test]
fn congestion_control_takes_time_off_the_victim() {
    let without = surveyed(&victim_flow(&[]));
    let with = surveyed(&victim_flow(&[("congestion_control.dcqcn", "{}")]));
    let blocked = |found: &Survey| found.victims.iter().map(|victim| victim.hol_ps).sum::<u64>();
    println!("blocked: {} ps without, {} ps with DCQCN", blocked(&without), blocked(&with));
    assert!(blocked(&with) < blocked(&without), "{with}");
}

#[test]
fn who_is_paused_for_its_own_congestion_is_no_victim() {
    let text = "[topology.single-switch]\nhosts = 5\n\
                link = { rate = \"100Gbps\", cable = \"3m\" }\n[switch]\nbuffer = \"300KB\"\n\
                [congestion_control.none]\n[workload.incast]\nsenders = 4\nreceiver = \"host-0\"\n\
                bytes = \"200KB\"\n";
    let scenario = Scenario::parse(text, Path::new("incast.toml"), &[]);
    let plan = Arc::new(scenario.and_then(|scenario| scenario.plan()).unwrap());
    let found = surveyed(&plan);
    assert!(found.pauses > 0 && found.victims.is_empty(), "{found}");
    let roots: Vec<_> = found.roots.iter().map(|root| root.place.as_str()).collect();
    assert_eq!(roots, ["switch-0:0"]);
    assert_eq!(found.roots[0].pauses, found.pauses);
    assert_eq!(found.roots[0].paused_ps, found.paused_ps);
}

/// host-1 asks for pauses, which spread from its port to the uplink of the other leaf. By that come
/// acknowledgements of flow 0, whose data goes the other way.
fn paused_acknowledgements(control: &str, bytes: &str) -> Survey {
    let text = format!(
        "stop = \"3ms\"\n[topology.leaf-spine]\nleaves = 2\nspines = 1\nhosts_per_leaf = 2\n\
         host_link = {{ rate = \"40Gbps\", cable = \"3m\" }}\n\
         fabric_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[switch]\nbuffer = \"2MB\"\n\
         xoff = \"20KB\"\n[congestion_control.none]\n{control}\n[[failure]]\n\
         kind = \"pause-storm\"\nhost = \"host-1\"\nat = \"50us\"\nlasts = \"400us\"\n\
         [workload.flows]\nlist = [\n\
         {{ from = \"host-0\", to = \"host-2\", bytes = \"{bytes}\" }},\n\
         {{ from = \"host-3\", to = \"host-1\", bytes = \"2MB\" }},\n]\n"
    );
    let scenario = Scenario::parse(&text, Path::new("acknowledgements.toml"), &[]);
    surveyed(&Arc::new(scenario.and_then(|scenario| scenario.plan()).unwrap()))
}

/// An acknowledgement that waits delays nobody who has something else to send.
#[test]
fn who_does_not_wait_for_an_acknowledgement_is_no_victim_of_its_pause() {
    let found = paused_acknowledgements("", "5MB");
    let is_uplink = |pause: &LongPause| (pause.node.as_str(), pause.port) == ("leaf-1", 2);
    let longest = found.longest.iter().find(|pause| is_uplink(pause)).expect("it is paused");
    assert!(longest.ps > 390_000_000 && longest.root == "host-1", "{found}");
    assert!(found.victims.iter().all(|victim| victim.flow != Some(0)), "{found}");

    // The last of 977 packets, 1106 bytes each with preamble and gap, leaves after 215.9 us, and the pause
    // lasts until 450.7 us. A window is full some 20 us after the beginning of that.
    let blocked = |found: &Survey| {
        let victim = &found.victims[0];
        assert_eq!((victim.flow, victim.root.as_str()), (Some(0), "host-1"), "{found}");
        victim.root_ps
    };
    let found = paused_acknowledgements("", "1MB");
    assert!((234_500_000..235_100_000).contains(&blocked(&found)), "{found}");
    let found = paused_acknowledgements("window = \"100KB\"", "5MB");
    assert!((365_000_000..380_000_000).contains(&blocked(&found)), "{found}");
}
