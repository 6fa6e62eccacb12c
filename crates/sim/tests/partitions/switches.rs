//! What switches do with frames and what they tell hosts.

use crate::support::{assert_cuts_change_nothing, clos, dumbbell, flows};

const CROWD: &[(u32, u32)] = &[(0, 4), (1, 4), (2, 4), (3, 5), (5, 0)];

/// HPCC's telemetry over two switches, what is left of it in one number, and queueing delays.
#[test]
fn telemetry_in_packets() {
    for (algorithm, keys) in [
        ("hpcc", ""),
        ("hpcc-pint", ""),
        ("timely", "delay = \"queueing\""),
        ("swift", "delay = \"queueing\""),
    ] {
        let control = format!("[congestion_control.{algorithm}]\n{keys}\n");
        let text = dumbbell("", &format!("{control}{}", flows("500KB", CROWD)));
        let run = assert_cuts_change_nothing(&text, &["/link_traversals/ack"]);
        assert_eq!(run.summary.flows.completed, CROWD.len() as u64, "{algorithm}");
    }
}

/// Notifications of congestion, with and without a capture. Links change bits, but none of a notification:
/// it must not take over what was noted of the packet that had its place before.
#[test]
fn notifications_of_congestion() {
    let top = "stop = \"400us\"\n[roce]\nversion = 1\nack_timeout = 6";
    let more = "[congestion_control.qcn]\n[switch]\nqcn = { set_point = \"26KB\", weight = 2, sample_base = \"10KB\" }\n\
         [[faults]]\naction = \"corrupt\"\nprobability = 0.005\nopcode = \"data\"\n";
    for capture in ["", "[capture]\nports = [\"host-0\", \"switch-0:4\"]\n"] {
        let text = dumbbell(top, &format!("{more}{capture}{}", flows("2MB", CROWD)));
        assert_cuts_change_nothing(&text, &["/cnms", "/drops/icrc"]);
    }
}

/// What comes in with a priority that is not for a port, from hosts and from another switch.
#[test]
fn access_lists() {
    let more = "[[ingress.access_list]]\nports = [\"switch-0:1\"]\ndeny = [5, 6]\n\
         [[ingress.access_list]]\nports = [\"switch-1\"]\ndeny = [4]\n[congestion_control.none]\n\
         [[workload.flows]]\nlist = [\n\
         { from = \"host-0\", to = \"host-4\", bytes = \"300KB\", priority = 5 },\n\
         { from = \"host-1\", to = \"host-4\", bytes = \"300KB\", priority = 5 },\n\
         { from = \"host-2\", to = \"host-5\", bytes = \"100KB\", priority = 4 },\n\
         { from = \"host-3\", to = \"host-5\", bytes = \"300KB\" },\n]\n";
    let run = assert_cuts_change_nothing(
        &dumbbell("stop = \"2ms\"\n[roce]\nack_timeout = 5", more),
        &["/drops/access_list"],
    );
    assert_eq!(run.summary.flows.completed, 2);
}

/// Token buckets at hosts and between switches, under faults, failures and TCP.
#[test]
fn policers() {
    let more = "[[ingress.policer]]\nports = [\"switch-0:0\", \"switch-1\"]\nrate = \"20Gbps\"\nburst = \"20KB\"\n\
         [[faults]]\naction = \"delay\"\ndelay = \"2us\"\nprobability = 0.01\n[switch]\nforwarding = \"cut-through\"\n\
         [[failure]]\nkind = \"link-down\"\nport = \"switch-0:4\"\nat = \"150us\"\nlasts = \"100us\"\n\
         [[workload.flows]]\ntransport = \"tcp\"\nlist = [{ from = \"host-2\", to = \"host-4\", bytes = \"300KB\" }]\n";
    let text = dumbbell(
        "stop = \"3ms\"\n[roce]\nack_timeout = 5",
        &format!("{more}{}", flows("300KB", CROWD)),
    );
    assert_cuts_change_nothing(&text, &["/drops/policer", "/drops/link_down"]);
}

/// Switches notify senders on both sides of a cut, and receivers do.
#[test]
fn fast_notifications() {
    let more = "[[ingress.fast_cnp]]\nports = [\"switch-0\", \"switch-1\"]\nthreshold = \"10KB\"\ninterval = \"7us\"\n\
         [[faults]]\naction = \"delay\"\ndelay = \"2us\"\nprobability = 0.01\n[switch]\nforwarding = \"cut-through\"\n\
         ecn = { kmin = \"30KB\", kmax = \"90KB\", pmax = 0.5 }\n[congestion_control.dcqcn]\n\
         [[failure]]\nkind = \"link-down\"\nport = \"switch-0:4\"\nat = \"40us\"\nlasts = \"100us\"\n";
    let text = dumbbell(
        "stop = \"3ms\"\n[roce]\nack_timeout = 5",
        &format!("{more}{}", flows("300KB", CROWD)),
    );
    assert_cuts_change_nothing(&text, &["/switch_cnps", "/cnps", "/drops/link_down"]);
}

#[test]
fn cut_through_with_latencies() {
    let more = "[switch]\nforwarding = \"cut-through\"\nlatency = \"700ns\"\nxoff = \"60KB\"\npause_response = \"500ns\"\n\
         [[switch.override]]\nswitches = [\"switch-1\"]\nlatency = \"300ns\"\n[congestion_control.none]\n";
    let text = dumbbell("", &format!("{more}{}", flows("500KB", CROWD)));
    assert_cuts_change_nothing(&text, &["/pfc/pauses"]);
}

#[test]
fn shapers_queues_and_classes() {
    let more = "[switch]\nlossless = [3, 4]\nqueue_of = { 4 = 3 }\nshapers = { 5 = { rate = \"10Gbps\" } }\nxoff = \"60KB\"\n\
         scheduler = { dwrr = { weights = [1, 1, 1, 8, 1, 4] } }\n[congestion_control.none]\n\
         [[switch.override]]\nports = [\"switch-0:4\"]\nscheduler = \"round-robin\"\n\
         [[workload.flows]]\nlist = [\n\
         { from = \"host-0\", to = \"host-4\", bytes = \"300KB\", priority = 3 },\n\
         { from = \"host-1\", to = \"host-4\", bytes = \"300KB\", priority = 4 },\n\
         { from = \"host-2\", to = \"host-5\", bytes = \"100KB\", priority = 5 },\n\
         { from = \"host-3\", to = \"host-5\", bytes = \"300KB\", priority = 0, verb = \"read\" },\n]\n";
    assert_cuts_change_nothing(&dumbbell("[roce]\nack_timeout = 5", more), &["/pfc/pauses"]);
}

/// Memory in cells and pools, and marks by an average.
#[test]
fn memory_and_marks() {
    let more = "[switch]\nbuffer = \"700KB\"\ncell = \"208B\"\nheadroom_pool = \"200KB\"\nheadroom = \"100KB\"\n\
         reserve = \"2KB\"\negress_reserve = \"1KB\"\npriority_alpha = { 0 = \"1/4\" }\n\
         ecn = { kmin = \"5KB\", kmax = \"50KB\", pmax = 0.5, average_weight = \"1/64\", mark_at = \"dequeue\" }\n\
         [congestion_control.dcqcn]\n[[workload.flows]]\nlist = [\n\
         { from = \"host-0\", to = \"host-4\", bytes = \"500KB\" },\n\
         { from = \"host-1\", to = \"host-4\", bytes = \"500KB\" },\n\
         { from = \"host-2\", to = \"host-5\", bytes = \"500KB\", priority = 0 },\n\
         { from = \"host-3\", to = \"host-5\", bytes = \"500KB\", priority = 0 },\n]\n";
    let evidence = ["/pfc/pauses", "/ecn/marks", "/cnps", "/drops/total"];
    assert_cuts_change_nothing(&dumbbell("[roce]\nack_timeout = 5", more), &evidence);
}

/// Segments of TCP beside RDMA, with random delays in hosts.
#[test]
fn two_transports() {
    let more = "[tcp]\nsend_delay = \"3us\"\nreceive_delay = \"2us\"\njitter = \"2us\"\ninitial_rto = \"1ms\"\n\
         min_rto = \"1ms\"\n[switch]\nbuffer = \"1MB\"\n[[faults]]\naction = \"drop\"\nprobability = 0.01\n\
         [[workload.flows]]\ntransport = \"tcp\"\nlist = [\n\
         { from = \"host-0\", to = \"host-2\", bytes = \"300KB\" },\n\
         { from = \"host-3\", to = \"host-1\", bytes = \"300KB\" },\n]\n";
    let text =
        clos("[roce]\nack_timeout = 5", &format!("{more}{}", flows("300KB", &[(1, 2), (2, 0)])));
    assert_cuts_change_nothing(&text, &["/tcp", "/drops/total"]);
}
