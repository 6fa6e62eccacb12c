//! Attributes of queue pairs, and programs that sleep: cut into parts, and resumed from checkpoints.

use crate::support::assert_cuts_change_nothing;

#[test]
fn partitions_of_hosts() {
    let text = include_str!("../../../../scenarios/partitions.toml");
    assert_cuts_change_nothing(text, &["/drops/p_key"]);
}

#[test]
fn alternate_paths() {
    let text = include_str!("../../../../scenarios/path-migration.toml");
    assert_cuts_change_nothing(text, &["/path_migrations/0/qpn", "/path_migrations/1/qpn"]);
}

#[test]
fn programs_that_sleep() {
    let text = include_str!("../../../../scenarios/completion-events.toml");
    let text = text.replace("operations = 1000", "operations = 40");
    assert_cuts_change_nothing(&text, &["/completion_events", "/completions_after_events"]);
}

#[test]
fn next_hops_that_are_asked_for() {
    let text = include_str!("../../../../scenarios/neighbours.toml");
    assert_cuts_change_nothing(text, &["/link_traversals/control", "/flows/failed"]);
}

#[test]
fn next_hops_among_bridges_and_routers_that_are_asked_for() {
    let text = include_str!("../../../../scenarios/bridges-and-routers.toml");
    let text = text.replace("[roce]\n", "[roce]\nneighbours = { retransmit = \"1ms\" }\n");
    assert_cuts_change_nothing(
        &text,
        &["/neighbours/solicitations", "/neighbours/advertisements", "/drops/foreign_destination"],
    );
}
