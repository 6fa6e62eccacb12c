//! Multicast groups: frames that are copied in one part come to members in others.

use crate::support::{assert_cuts_change_nothing, clos};

fn text(top: &str, more: &str) -> String {
    let groups = "[[multicast_group]]\nname = \"a\"\nmembers = [\"host-1..host-3\"]\n\
                  [[multicast_group]]\nname = \"b\"\nmembers = [\"host-0\", \"host-2\"]\n";
    let senders = "[[workload.multicast]]\nfrom = \"host-0\"\ngroup = \"a\"\nbytes = \"300KB\"\n\
                   [[workload.multicast]]\nfrom = \"host-3\"\ngroup = \"b\"\nbytes = \"200KB\"\n\
                   [workload.flows]\nverb = \"send\"\nmessage = \"1KB\"\n\
                   list = [{ from = \"host-1\", to = \"host-2\", bytes = \"200KB\" }]\n";
    clos(&format!("[roce]\nservice = \"ud\"\n{top}"), &format!("{groups}{senders}{more}"))
}

#[test]
fn trees_of_routers() {
    let more = "[capture]\nports = [\"host-2\", \"spine-0\"]\n[sample]\nflows = { interval = \"6us\" }\nrates = { interval = \"11us\" }\n";
    assert_cuts_change_nothing(&text("", more), &["/multicast_copies"]);
}

/// Loss of single copies, and a tree that changes on the way.
#[test]
fn trees_that_change() {
    let more = "[[faults]]\naction = \"drop\"\nfrom = \"leaf-1\"\nprobability = 0.05\n\
                [[failure]]\nkind = \"link-down\"\nport = \"leaf-0:2\"\nat = \"12us\"\nlasts = \"30us\"\n";
    let evidence = ["/multicast_copies", "/drops/fault", "/drops/link_down", "/flows/failed"];
    assert_cuts_change_nothing(&text("", more), &evidence);
}

#[test]
fn bridges_that_learn() {
    let more = "[layer2]\nlearning = { mac_ageing = \"20us\" }\n";
    let evidence = ["/multicast_copies", "/drops/not_in_group"];
    assert_cuts_change_nothing(&text("version = 1", more), &evidence);
}
