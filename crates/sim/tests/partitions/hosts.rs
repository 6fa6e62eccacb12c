//! Hosts that die, storm, or are slow; and who notices.

use crate::support::{assert_cuts_change_nothing, clos, flows};

const PAIRS: &[(u32, u32)] = &[(0, 2), (1, 2), (1, 3), (3, 0)];

#[test]
fn a_host_dies_and_lives_again() {
    let failures = "[congestion_control.none]\n[[failure]]\nkind = \"host-down\"\nhost = \"host-2\"\n\
         at = \"30us\"\nlasts = \"60us\"\n[[failure]]\nkind = \"link-down\"\nport = \"host-2:0\"\n\
         at = \"80us\"\nlasts = \"20us\"\n";
    let text = clos("[roce]\nack_timeout = 5", &format!("{failures}{}", flows("1MB", PAIRS)));
    assert_cuts_change_nothing(&text, &["/drops/receiver_stopped", "/timeouts"]);
}

/// A storm that ends, or is ended by the NIC's watchdog.
#[test]
fn a_storm_ends() {
    for watchdog in ["", "[watchdog.nic]\ndetect = \"40us\"\n"] {
        let failures = format!(
            "{watchdog}[switch]\nxoff = \"30KB\"\n[congestion_control.none]\n[[failure]]\n\
             kind = \"pause-storm\"\nhost = \"host-2\"\nat = \"20us\"\nlasts = \"100us\"\n"
        );
        let text = clos("[roce]\nack_timeout = 6", &format!("{failures}{}", flows("1MB", PAIRS)));
        assert_cuts_change_nothing(&text, &["/pfc/pauses", "/drops/receiver_stopped"]);
    }
}

#[test]
fn watchdogs_of_switches_notice_a_storm() {
    for action in ["drop", "forward"] {
        let failures = format!(
            "[watchdog.switch]\ndetect = \"20us\"\nrestore = \"20us\"\npoll = \"7us\"\naction = \"{action}\"\n\
             [switch]\nxoff = \"30KB\"\n[congestion_control.none]\n[[failure]]\nkind = \"pause-storm\"\n\
             host = \"host-2\"\nat = \"20us\"\nlasts = \"100us\"\n"
        );
        let text = clos("[roce]\nack_timeout = 6", &format!("{failures}{}", flows("1MB", PAIRS)));
        let reason = if action == "drop" { "/drops/watchdog" } else { "/drops/receiver_stopped" };
        assert_cuts_change_nothing(&text, &["/storms", reason]);
    }
}

#[test]
fn receivers_that_are_slow() {
    let slow = "[congestion_control.none]\n[[slow_receiver]]\nhosts = [\"host-2\", \"host-3\"]\n\
         rate = \"60Gbps\"\nbuffer = \"512KiB\"\ntranslation = { entries = 16, miss = \"200ns\" }\n";
    let text = clos("", &format!("{slow}{}", flows("1MB", PAIRS)));
    assert_cuts_change_nothing(&text, &["/slow_receivers/0/pauses", "/pfc/pauses"]);
}

/// Queues of a ring that wait for each other, until nothing moves or a storm is seen.
#[test]
fn a_deadlock_that_the_run_outlives() {
    let folder = tempfile::tempdir().unwrap();
    let mut links = "10 5 10\n5 6 7 8 9\n".to_owned();
    let mut pairs = Vec::new();
    for host in 0..5 {
        let (switch, next) = (5 + host, 5 + (host + 1) % 5);
        links += &format!("{host} {switch} 100Gbps 1us 0\n{switch} {next} 100Gbps 1us 0\n");
        pairs.push((host, (host + 2) % 5));
    }
    std::fs::write(folder.path().join("ring.txt"), links).unwrap();
    let text = |top: &str| {
        format!(
            "{top}[topology.file]\npath = \"ring.txt\"\n[congestion_control.none]\n[switch]\n\
             buffer = \"2MB\"\nxoff = \"60KB\"\n{}",
            flows("20MB", &pairs)
        )
    };
    let watchdog = "[watchdog.switch]\ndetect = \"100us\"\nrestore = \"50us\"\npoll = \"30us\"\n";
    let stopped = "stop = \"800us\"\non_deadlock = \"continue\"\n[roce]\nack_timeout = 5\n";
    for (top, evidence) in [
        ("".to_owned(), &["/deadlocks"][..]),
        (stopped.to_owned(), &["/deadlocks"]),
        (format!("{stopped}{watchdog}"), &["/deadlocks", "/storms", "/drops/watchdog"]),
    ] {
        let plan = crate::support::plan_in(&text(&top), folder.path());
        crate::support::assert_plan_can_be_cut(&plan, evidence);
    }
}

/// Nothing repeats what was lost: in the end nothing moves.
#[test]
fn a_run_that_stalls() {
    let lost = "[[faults]]\naction = \"drop\"\nfrom = \"leaf-0\"\nto = \"host-0\"\nopcode = \"ack\"\nafter = \"20us\"\n\
         [congestion_control.none]\nwindow = \"100KB\"\n";
    let text = clos("[roce]\nack_timeout = 0", &format!("{lost}{}", flows("1MB", PAIRS)));
    assert_cuts_change_nothing(&text, &["/drops/fault", "/stalled/queue_pairs"]);
}

/// Pings among hosts of which some take time, with a link that swallows some.
#[test]
fn hosts_that_ping_each_other() {
    let mesh = "[monitoring]\ninterval = \"15us\"\ntimeout = \"40us\"\nwindow = \"50us\"\n\
         [[host_model]]\nhosts = [\"host-1\", \"host-2\"]\nprofile = \"cx5\"\n\
         [[faults]]\naction = \"drop\"\nfrom = \"leaf-0\"\nto = \"host-0\"\nopcode = \"UD_SEND_ONLY_WITH_IMMEDIATE\"\nevery = 3\n\
         [congestion_control.none]\n";
    let text = clos("", &format!("{mesh}{}", flows("1MB", PAIRS)));
    assert_cuts_change_nothing(&text, &["/monitoring/answered", "/monitoring/lost"]);
}

/// What acknowledgements tell of hosts and hops goes from part to part.
#[test]
fn swift_with_both_windows() {
    let swift = "[congestion_control.swift]\nendpoint_target = \"6us\"\nhops = \"counted\"\n\
         [[host_model]]\nhosts = [\"host-2\", \"host-3\"]\nprofile = \"cx5\"\nbuffer = \"1MiB\"\n\
         pcie = { gen = 3, lanes = 4 }\n";
    let text = clos("", &format!("{swift}{}", flows("1MB", PAIRS)));
    assert_cuts_change_nothing(&text, &["/flows/completed"]);
}
