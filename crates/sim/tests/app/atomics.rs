//! Memory that clients share.

use crate::support::{around_a_switch, run};

#[test]
fn a_counter_counts_every_operation_once() {
    let run = run(&around_a_switch(
        4,
        "[workload.app]\nclients = [\"host-0..host-2\"]\nservers = [\"host-3\"]\noperations = 50\n\
         queue_depth = 4\nsteps = [{ by = \"client\", verb = \"fetch-add\" }]\n",
    ));
    run.assert_complete(150);
    let mut found: Vec<u64> = run.ends.iter().filter_map(|(_, end)| end.found).collect();
    found.sort_unstable();
    assert!(found.iter().copied().eq(0..150), "the counter is 150 at the end: {found:?}");
}

#[test]
fn one_of_all_wins_a_compare_and_swap() {
    let run = run(&around_a_switch(
        4,
        "[workload.app]\nclients = [\"host-0..host-2\"]\nservers = [\"host-3\"]\noperations = 1\n\
         steps = [{ by = \"client\", verb = \"compare-swap\", swap = 7 }]\n",
    ));
    run.assert_complete(3);
    let mut found: Vec<u64> = run.ends.iter().filter_map(|(_, end)| end.found).collect();
    found.sort_unstable();
    assert_eq!(found, [0, 7, 7]);
}
