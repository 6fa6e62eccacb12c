//! Static routes: frames go where they say, their hop limit is counted, and failures withdraw them.

use rocelab_sim::{Ending, ideal_fct};

use crate::hop_limit::hop_limits;
use crate::support::{plan, run, try_plan};

/// Leaves with a host each under two spines.
fn leaf_spine(more: &str) -> String {
    format!(
        "{more}\n[topology.leaf-spine]\nleaves = 3\nspines = 2\nhosts_per_leaf = 1\n\
         host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         fabric_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n\
         [workload.flows]\nlist = [{{ from = \"host-0\", to = \"host-2\", bytes = \"400KB\" }}]\n"
    )
}

/// From leaf-0 by spine-0, leaf-1 and spine-1 to leaf-2: five routers instead of three.
const BY_LEAF_1: &str = "\
    [[route]]\nswitch = \"leaf-0\"\ndestinations = [\"host-2\"]\nnext_hop = \"spine-0\"\n\
    [[route]]\nswitch = \"spine-0\"\ndestinations = [\"host-2\"]\nnext_hop = \"leaf-1\"\n\
    [[route]]\nswitch = \"leaf-1\"\ndestinations = [\"host-2\"]\nnext_hop = \"spine-1\"\n";

#[test]
fn frames_go_where_static_routes_lead_and_no_others_do() {
    let run = run(&leaf_spine(BY_LEAF_1));
    run.assert_complete("by leaf-1");
    let port_to = |node: &str, far: &str| {
        let id = |name: &str| run.plan.topology.node_by_name(name).unwrap();
        let adjacency = run.plan.topology.adjacency();
        let ports = adjacency.ports_of(id(node));
        let number = ports.iter().position(|port| port.node == id(far)).unwrap();
        run.sent(node, u16::try_from(number).unwrap())
    };
    let data = port_to("host-0", "leaf-0");
    for (node, far) in
        [("leaf-0", "spine-0"), ("spine-0", "leaf-1"), ("leaf-1", "spine-1"), ("spine-1", "leaf-2")]
    {
        assert_eq!(port_to(node, far), data, "{node} to {far}");
    }
    for (node, far) in [("leaf-0", "spine-1"), ("spine-0", "leaf-2"), ("leaf-1", "host-1")] {
        assert_eq!(port_to(node, far), 0, "{node} to {far}");
    }
}

#[test]
fn ideal_times_are_those_of_the_static_way() {
    let text = leaf_spine(BY_LEAF_1);
    let run = run(&text);
    let ideal = ideal_fct(&run.plan, &run.plan.flows[0]).ps();
    // Acknowledgements go the short way.
    assert_eq!(run.completion_times()[0], ideal);
    let plan = plan(&leaf_spine(""));
    let short = ideal_fct(&plan, &plan.flows[0]).ps();
    assert!(ideal > short + 100_000, "{ideal} and {short} ps");
}

#[test]
fn a_way_that_is_too_long_is_refused() {
    let with =
        |limit: u8| try_plan(&leaf_spine(&format!("[roce]\nhop_limit = {limit}\n{BY_LEAF_1}")));
    assert!(with(6).is_ok());
    let error = with(5).unwrap_err();
    assert!(error.to_string().contains("cross 5 routers"), "{error}");
}

/// Two switches, of which the second sends back what is for its own host.
fn back(version: &str, more: &str) -> String {
    format!(
        "stop = \"20us\"\n[roce]\nhop_limit = 7\nservice = \"uc\"\n{version}\n\
         [[route]]\nswitch = \"switch-1\"\ndestinations = [\"host-1\"]\nnext_hop = \"switch-0\"\n\
         [topology.dumbbell]\nleft = 1\nright = 1\n\
         host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         bottleneck = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n{more}\
         [workload.flows]\nlist = [{{ from = \"host-0\", to = \"host-1\", bytes = \"1KB\" }}]\n"
    )
}

#[test]
fn a_frame_crosses_as_many_links_as_its_hop_limit_says() {
    let run = run(&back("", ""));
    let drops = &run.totals().drops;
    assert_eq!(
        drops.iter().map(|(name, &count)| (*name, count)).collect::<Vec<_>>(),
        [("ttl_expired", 1)]
    );
    // One frame of seven hops: the host's link, and six forwardings to and fro.
    assert_eq!((run.port("switch-0", 1).1, run.port("switch-1", 1).1), (3, 3));
}

#[test]
fn captures_show_what_is_left_of_the_hop_limit() {
    let capture = "[capture]\nports = [\"host-0\", \"switch-0:1\"]\n";
    assert_eq!(hop_limits(&back("", capture), "hops-loop"), [1, 2, 3, 4, 5, 6, 7]);
    let v6 = back("ip = \"ipv6\"", capture);
    assert_eq!(hop_limits(&v6, "hops-loop-6"), [1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn layer_2_has_no_hop_limit() {
    let run = run(&back("version = 1", ""));
    assert_eq!(run.ending, Some(Ending::Stopped));
    assert_eq!(run.totals().frames_dropped, 0);
    let each = run.port("switch-0", 1).1;
    assert!(each > 30 && each.abs_diff(run.port("switch-1", 1).1) <= 1, "{each}");
}

#[test]
fn a_link_that_fails_withdraws_its_route() {
    // Only the way by leaf-1 is left when that from spine-0 to leaf-2 fails, but routes are shortest
    // ones: leaf-0 then has spine-1. The static route of spine-0 holds until its own link fails.
    let failure = "[[failure]]\nkind = \"link-down\"\nport = \"leaf-1:1\"\nat = \"10us\"\n";
    let spine_0 =
        "[[route]]\nswitch = \"leaf-0\"\ndestinations = [\"host-2\"]\nnext_hop = \"spine-0\"\n";
    let run = run(&leaf_spine(&format!("{spine_0}{failure}")));
    run.assert_complete("another link fails");
    assert_eq!(run.port("leaf-0", 2).1, 0, "the static route survives");
    let own = "[[failure]]\nkind = \"link-down\"\nport = \"leaf-0:1\"\nat = \"10us\"\n";
    let run = self::run(&leaf_spine(&format!("{spine_0}{own}")));
    assert_eq!(run.ending, Some(Ending::Finished));
    let sent = [1, 2].map(|port| run.port("leaf-0", port).1);
    assert!(sent[0] > 0 && sent[1] > 0, "withdrawn: {sent:?}");
}
