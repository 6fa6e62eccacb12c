//! Links and switches that fail.

use std::sync::Arc;

use rocelab_fabric::topology::Partitioning;

use crate::support::{
    assert_cuts_change_nothing, assert_same, clos, dumbbell, flows, in_parts, plan_in, whole,
};

const ACROSS: &[(u32, u32)] = &[(0, 2), (1, 3), (2, 1), (3, 0)];

#[test]
fn a_link_that_flaps_while_routes_converge() {
    let failures = "[roce]\nack_timeout = 5\n[congestion_control.none]\n[[failure]]\nkind = \"link-down\"\n\
         port = \"leaf-0:2\"\nat = \"30us\"\nlasts = \"50us\"\nrepeat = 2\ninterval = \"150us\"\n\
         [[failure]]\nkind = \"link-down\"\nport = \"leaf-1:0\"\nat = \"60us\"\nlasts = \"10us\"\n";
    let text = clos("", &format!("{failures}{}", flows("2MB", ACROSS)));
    assert_cuts_change_nothing(&text, &["/drops/link_down", "/timeouts"]);
}

#[test]
fn rates_that_change_at_one_instant() {
    let failures = "[[failure]]\nkind = \"link-rate\"\nport = \"leaf-0:2\"\nrate = \"10Gbps\"\nat = \"20us\"\n\
         lasts = \"40us\"\n[[failure]]\nkind = \"link-rate\"\nport = \"leaf-0:3\"\nrate = \"25Gbps\"\n\
         at = \"60us\"\nlasts = \"30us\"\n";
    let text = clos("", &format!("{failures}{}", flows("1MB", ACROSS)));
    assert_cuts_change_nothing(&text, &["/ecn/marks"]);
}

#[test]
fn a_switch_that_reboots_while_its_links_are_paused() {
    let top = "[roce]\nack_timeout = 5";
    let more = "[switch]\nxoff = \"30KB\"\nbuffer = \"4MB\"\n[congestion_control.none]\n[[failure]]\n\
         kind = \"switch-reboot\"\nswitch = \"spine-0\"\nat = \"50us\"\nlasts = \"1us\"\nrepeat = 3\n\
         interval = \"60us\"\n";
    let pairs = [(0, 2), (1, 2), (3, 2), (2, 0)];
    let text = clos(top, &format!("{more}{}", flows("1MB", &pairs)));
    assert_cuts_change_nothing(&text, &["/drops/link_down", "/pfc/pauses"]);
}

/// A spine is paused by leaf-0, and so pauses leaf-1. It loses both links at once, first that to leaf-0:
/// with what waits there its reason to pause leaf-1 is gone, and it must not say so any more.
#[test]
fn a_pause_frame_that_starts_as_its_link_goes_down() {
    let top = "[roce]\nack_timeout = 5\n[topology.leaf-spine]\nleaves = 2\nspines = 1\n\
         hosts_per_leaf = 2\nhost_link = { rate = \"40Gbps\", cable = \"20m\" }\n\
         fabric_link = { rate = \"100Gbps\", cable = \"2km\" }\n";
    for at in ["150us", "151us", "200us", "233us"] {
        let more = format!(
            "[switch]\nxoff = \"30KB\"\nbuffer = \"8MB\"\n[congestion_control.none]\n[[failure]]\n\
             kind = \"switch-reboot\"\nswitch = \"spine-0\"\nat = \"{at}\"\nlasts = \"1us\"\n"
        );
        let text = format!("{top}{more}{}", flows("2MB", &[(2, 0), (3, 0)]));
        assert_cuts_change_nothing(&text, &["/drops/link_down", "/pfc/pauses"]);
    }
}

/// A port that is paused loses its link: nothing starts on it as its pause ends with the link.
#[test]
fn a_paused_link_goes_down_and_comes_back_at_once() {
    let top = "[roce]\nack_timeout = 5\n[topology.dumbbell]\nleft = 3\nright = 1\n\
         host_link = { rate = \"100Gbps\", cable = \"20m\" }\n\
         bottleneck = { rate = \"400Gbps\", cable = \"2km\" }\n";
    for at in ["60us", "77us", "90us", "111us"] {
        let more = format!(
            "[switch]\nxoff = \"30KB\"\nbuffer = \"8MB\"\n[congestion_control.none]\n[[failure]]\n\
             kind = \"link-down\"\nport = \"switch-0:3\"\nat = \"{at}\"\nlasts = \"1us\"\n"
        );
        let text = format!("{top}{more}{}", flows("2MB", &[(0, 3), (1, 3), (2, 3)]));
        let plan = plan_in(&text, std::path::Path::new(""));
        let run = whole(&plan);
        assert!(run.summary.pfc.pauses > 0 && run.summary.drops.total > 0);
        let halves = Partitioning::balanced(&plan.topology, 2);
        assert_eq!(halves.parts(), 2);
        assert_same(&run, &in_parts(&plan, halves, 2), at);
    }
}

/// Links that differ in length, lose frames, and take no time.
#[test]
fn lossy_links_of_unequal_length() {
    let folder = tempfile::tempdir().unwrap();
    let links = "7 3 6\n4 5 6\n0 4 100Gbps 15ns 0.002\n1 4 100Gbps 0ns 0\n2 5 25Gbps 2us 0\n\
                 3 6 100Gbps 1us 0.001\n4 5 100Gbps 0ns 0.001\n5 6 40Gbps 700ns 0\n";
    std::fs::write(folder.path().join("links.txt"), links).unwrap();
    let top = "[roce]\nack_timeout = 5\n[topology.file]\npath = \"links.txt\"\n";
    let text = format!("{top}{}", flows("300KB", &[(0, 3), (1, 2), (3, 1), (2, 0)]));
    let plan = plan_in(&text, folder.path());
    let run =
        crate::support::assert_plan_can_be_cut(&plan, &["/drops/link_loss", "/retransmissions"]);
    let thirds = Partitioning::by_parts(&[0, 1, 0, 2, 1, 0, 2]);
    assert_same(&run, &in_parts(&Arc::clone(&plan), thirds, 2), "parts in pieces");
}

#[test]
fn pauses_and_failures_of_a_bottleneck() {
    let top = "[roce]\nack_timeout = 5";
    let more = "[switch]\nxoff = \"30KB\"\npause_quanta = 400\n[congestion_control.none]\n[[failure]]\n\
         kind = \"link-down\"\nport = \"switch-0:4\"\nat = \"40us\"\nlasts = \"2us\"\nrepeat = 4\n\
         interval = \"17us\"\n[[failure]]\nkind = \"link-rate\"\nport = \"switch-0:4\"\nrate = \"40Gbps\"\n\
         at = \"42us\"\nlasts = \"15us\"\n";
    let pairs = [(0, 4), (1, 4), (2, 5), (3, 5), (4, 0)];
    let text = dumbbell(top, &format!("{more}{}", flows("500KB", &pairs)));
    assert_cuts_change_nothing(&text, &["/drops/link_down", "/pfc/pauses", "/pfc/resumes"]);
}

/// Pauses of whole links, where a link fails, frames of them are lost, a NIC storms and another one is slow, and
/// watchdogs look.
#[test]
fn pauses_of_whole_links() {
    for version in ["version = 1\ntagging = \"tagged\"", "version = 2"] {
        let top = format!("stop = \"3ms\"\n[roce]\nack_timeout = 5\n{version}");
        let more = "[switch]\nxoff = \"30KB\"\npause_quanta = 400\nflow_control = \"pause\"\nlossless = [3, 4]\n\
             forwarding = \"cut-through\"\n[congestion_control.none]\n[[failure]]\nkind = \"link-down\"\n\
             port = \"switch-0:4\"\nat = \"40us\"\nlasts = \"2us\"\nrepeat = 4\ninterval = \"17us\"\n\
             [[failure]]\nkind = \"pause-storm\"\nhost = \"host-5\"\nat = \"30us\"\nlasts = \"60us\"\n\
             [[slow_receiver]]\nhosts = [\"host-4\"]\nrate = \"60Gbps\"\nbuffer = \"150KB\"\n\
             [watchdog.switch]\ndetect = \"20us\"\nrestore = \"20us\"\npoll = \"10us\"\n\
             [[faults]]\naction = \"drop\"\nopcode = \"PAUSE\"\nevery = 9\n\
             [[workload.flows]]\npriority = 4\nlist = [{ from = \"host-2\", to = \"host-4\", bytes = \"300KB\" }]\n\
             [[workload.flows]]\ntransport = \"tcp\"\nlist = [{ from = \"host-1\", to = \"host-5\", bytes = \"300KB\" }]\n";
        let pairs = [(0, 4), (1, 4), (2, 5), (3, 5), (4, 0)];
        let text = dumbbell(&top, &format!("{more}{}", flows("300KB", &pairs)));
        let evidence = [
            "/drops/link_down",
            "/pfc/pauses",
            "/pfc/resumes",
            "/faults/0/acted",
            "/slow_receivers/0/pauses",
        ];
        assert_cuts_change_nothing(&text, &evidence);
    }
}

/// Bits that change, also of pause frames; a link that is too short for some frames; and rules on the FCS.
#[test]
fn links_with_changed_bits() {
    let more = "[[link]]\nports = [\"switch-0:4\", \"host-*\"]\nbit_error_rate = 3e-7\n\
         [[link]]\nports = [\"host-5\"]\nmtu = \"600B\"\n\
         [[faults]]\naction = \"corrupt\"\npart = \"fcs\"\nprobability = 0.003\n[switch]\nforwarding = \"cut-through\"\n\
         [congestion_control.none]\n[[failure]]\nkind = \"link-down\"\nport = \"switch-0:4\"\nat = \"50us\"\nlasts = \"30us\"\n";
    let list = [(0, 4), (1, 5), (2, 4), (3, 5)];
    let text = dumbbell(
        "stop = \"2ms\"\n[roce]\nack_timeout = 3",
        &format!("{more}{}", flows("300KB", &list)),
    );
    assert_cuts_change_nothing(
        &text,
        &["/drops/fcs_error", "/drops/mtu_exceeded", "/drops/link_down"],
    );
}
