//! What `pauses.json` says of causes.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rocelab_results::{Overwrite, PauseCause, Results, ResultsDir, RunInfo};
use rocelab_sim::{Execution, Plan, Planning, Scenario};

/// The pauses of `pauses.json`.
pub(crate) fn recorded(plan: &Arc<Plan>, execution: Execution) -> Vec<PauseCause> {
    let place = tempfile::tempdir().expect("a folder");
    let directory = ResultsDir::create(place.path().join("results"), Overwrite::Refuse).unwrap();
    let outcome = rocelab_sim::run(Arc::clone(plan), (&directory).into(), execution, &mut |_| {
        ControlFlow::Continue(())
    });
    let summary = outcome.unwrap_or_else(|error| panic!("{error}")).summary;
    let path = directory.finish(&summary, &RunInfo::default()).unwrap();
    Results::open(path).unwrap().pause_causes().unwrap().expect("there are pauses").pauses
}

/// host-2 asks for pauses until 300 us, and so does leaf-1 because of it. Their link was down from 299 us
/// on, and 100 ns after the storm leaf-1 asks again: it is still full, but nothing pauses it.
#[test]
fn a_pause_that_is_asked_for_again_is_judged_anew() {
    let text = "stop = \"400us\"\n[topology.leaf-spine]\nleaves = 2\nspines = 1\n\
                hosts_per_leaf = 2\nhost_link = { rate = \"40Gbps\", cable = \"3m\" }\n\
                fabric_link = { rate = \"100Gbps\", cable = \"3m\" }\n[switch]\n\
                buffer = \"2MB\"\n[congestion_control.none]\n[[failure]]\n\
                kind = \"pause-storm\"\nhost = \"host-2\"\nat = \"100us\"\nlasts = \"200us\"\n\
                [[failure]]\nkind = \"link-down\"\nport = \"leaf-1:2\"\nat = \"299us\"\n\
                lasts = \"1100ns\"\n[workload.flows]\nlist = [\n\
                { from = \"host-0\", to = \"host-2\", bytes = \"2MB\" },\n\
                { from = \"host-1\", to = \"host-3\", bytes = \"2MB\" },\n]\n";
    let scenario = Scenario::parse(text, Path::new("flap.toml"), &[]);
    let plan = Arc::new(scenario.and_then(|scenario| scenario.plan()).unwrap());
    let pauses = recorded(&plan, Execution::SEQUENTIAL);
    let of_spine: Vec<_> = pauses.iter().filter(|pause| pause.node == "spine-0").collect();
    let [first, again, ..] = of_spine.as_slice() else { panic!("{pauses:?}") };
    assert_eq!(first.end_ps, Some(299_000_000), "{pauses:?}");
    assert_eq!(pauses[first.parent.expect("a parent")].waits_for, "host-2", "{pauses:?}");
    assert!((300_100_000..300_200_000).contains(&again.start_ps), "{again:?}");
    assert_eq!((again.parent, again.waits_for.as_str()), (None, "leaf-1:0"), "{pauses:?}");
    for execution in [(2, 1), (4, 2)] {
        let (partitions, threads) = execution;
        assert_eq!(recorded(&plan, Execution { partitions, threads }), pauses, "{execution:?}");
    }
}
