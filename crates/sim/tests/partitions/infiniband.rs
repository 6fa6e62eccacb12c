//! InfiniBand: lanes, credits, and their packets.

use crate::support::{assert_cuts_change_nothing, clos, flows};

const TO_ONE: &[(u32, u32)] = &[(0, 2), (1, 2), (3, 2), (2, 0), (1, 3)];

#[test]
fn lanes_that_wait_for_credits() {
    for qos in
        ["", "[infiniband.qos]\nhigh = [[2, 8]]\nlow = [[0, 1], [1, 9], [3, 3]]\nhigh_limit = 3\n"]
    {
        let top =
            format!("[infiniband]\nupdate_interval = \"100ns\"\n{qos}[roce]\npath_mtu = 2048\n");
        assert_cuts_change_nothing(
            &clos(&top, &flows("1MB", TO_ONE)),
            &["/infiniband/credit_waits"],
        );
    }
}

#[test]
fn links_that_lose_packets_and_flow_control() {
    let top = "[infiniband]\nvl_buffer = \"16KiB\"\n[roce]\nack_timeout = 5\n";
    let more = "[[link]]\nports = [\"leaf-0:2\", \"host-*\"]\nbit_error_rate = 1e-7\n";
    let text = clos(top, &format!("{more}{}", flows("1MB", TO_ONE)));
    assert_cuts_change_nothing(&text, &["/infiniband/credit_waits", "/retransmissions"]);
}

#[test]
fn links_that_go_down_and_come_up() {
    let top = "[infiniband]\n[infiniband.sm]\nengine = \"updn\"\n[roce]\nack_timeout = 5\n";
    let more = "[[failure]]\nkind = \"link-down\"\nport = \"leaf-0:2\"\nat = \"30us\"\nlasts = \"50us\"\nrepeat = 2\n\
         interval = \"150us\"\n[[failure]]\nkind = \"switch-reboot\"\nswitch = \"spine-0\"\nat = \"100us\"\nlasts = \
         \"10us\"\n[[failure]]\nkind = \"host-down\"\nhost = \"host-3\"\nat = \"60us\"\nlasts = \"20us\"\n";
    let text = clos(top, &format!("{more}{}", flows("1MB", TO_ONE)));
    assert_cuts_change_nothing(&text, &["/infiniband/credit_waits", "/drops/link_down"]);
}

/// What a part knows of the far port of a link that is cut is no port: it sends nothing.
#[test]
fn links_that_are_slow_as_they_go_down_and_come_up() {
    let top = "[infiniband]\n[roce]\nack_timeout = 5\n";
    let more = "[[failure]]\nkind = \"link-rate\"\nport = \"leaf-0:2\"\nrate = \"10Gbps\"\nat = \"10us\"\nlasts = \"100us\"\n\
         [[failure]]\nkind = \"link-down\"\nport = \"leaf-0:2\"\nat = \"20us\"\nlasts = \"20us\"\nrepeat = 2\n\
         interval = \"60us\"\n[[faults]]\naction = \"delay\"\ndelay = \"5us\"\nevery = 20\nfrom = \"leaf-0\"\n";
    let text = clos(top, &format!("{more}{}", flows("1MB", TO_ONE)));
    let evidence = ["/infiniband/credit_waits", "/drops/link_down", "/faults/0/acted"];
    assert_cuts_change_nothing(&text, &evidence);
}

/// Marks, notifications, the timers of tables, and the dice of a marking rate.
#[test]
fn marks_and_notifications() {
    for control in ["", "notification = \"ack\"\nccti_timer = \"10.24us\"\n"] {
        let top = format!(
            "[infiniband]\ndata_vls = 2\n[infiniband.congestion_control]\nmarking_rate = 2\n[congestion_control.infiniband]\n\
             {control}[roce]\npath_mtu = 2048\n"
        );
        assert_cuts_change_nothing(&clos(&top, &flows("2MB", TO_ONE)), &["/ecn/marks"]);
    }
}

/// Several LIDs for each host, whose paths are others after a failure, and pings that take all of them in turn.
#[test]
fn paths_of_several_lids() {
    for (engine, path_bits) in [("minhop", "round-robin"), ("dfsssp", "random")] {
        let top = format!(
            "[infiniband]\nlmc = 2\npath_bits = \"{path_bits}\"\n[infiniband.sm]\nengine = \"{engine}\"\n[roce]\nack_timeout = \
             5\n"
        );
        let more = "[[failure]]\nkind = \"link-down\"\nport = \"leaf-0:2\"\nat = \"30us\"\nlasts = \"50us\"\n";
        let text = clos(&top, &format!("{more}{}", flows("1MB", TO_ONE)));
        assert_cuts_change_nothing(&text, &["/infiniband/credit_waits", "/drops/link_down"]);
    }
}

/// Switches choose, and links go down meanwhile.
#[test]
fn adaptive_routing() {
    for adaptive in ["greedy", "bounded"] {
        let top = format!(
            "[infiniband]\n[infiniband.sm]\nadaptive_routing = \"{adaptive}\"\n[roce]\nack_timeout = 5\nrecovery = {{ reordering = \
             {{ packets = 64 }} }}\n"
        );
        let more = "[[failure]]\nkind = \"link-down\"\nport = \"leaf-0:2\"\nat = \"30us\"\nlasts = \"50us\"\n";
        let text = clos(&top, &format!("{more}{}", flows("1MB", TO_ONE)));
        assert_cuts_change_nothing(&text, &["/infiniband/credit_waits", "/drops/link_down"]);
    }
}
