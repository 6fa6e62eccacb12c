//! Flows whose packets switches send over several paths.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rocelab_sim::explain::{Selection, explain};
use rocelab_sim::{Planning, Scenario};

#[test]
fn all_of_their_time_is_accounted_for() {
    for (balancing, forwarding) in
        [("round-robin", "store-and-forward"), ("shortest-queue", "cut-through")]
    {
        let text = format!(
            "[roce]\nrecovery = {{ reordering = {{}} }}\n[topology.leaf-spine]\nleaves = 2\nspines = 3\n\
             hosts_per_leaf = 3\nhost_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
             fabric_link = {{ rate = \"40Gbps\", cable = \"30m\" }}\n[congestion_control.none]\n\
             [switch]\nload_balancing = \"{balancing}\"\nforwarding = \"{forwarding}\"\n\
             [workload.flows]\nlist = [\n\
             {{ from = \"host-0\", to = \"host-3\", bytes = \"90KB\" }},\n\
             {{ from = \"host-1\", to = \"host-4\", bytes = \"90KB\" }},\n\
             {{ from = \"host-2\", to = \"host-4\", bytes = \"90KB\", start = \"3us\" }},\n]\n"
        );
        let scenario = Scenario::parse(&text, Path::new("spread.toml"), &[]);
        let plan = scenario.and_then(|scenario| scenario.plan());
        let plan = Arc::new(plan.unwrap_or_else(|error| panic!("{error}")));
        let found = explain(plan, &Selection::Everything, &mut |_| ControlFlow::Continue(()));
        let flows = found.unwrap_or_else(|error| panic!("{error}")).flows;
        assert_eq!(flows.len(), 3);
        for one in flows {
            assert_eq!((one.status, one.sum_ps()), ("completed", one.elapsed_ps), "{one}");
        }
    }
}
