//! What switches can do beyond one threshold, one scheduler and no latency.

use rocelab_sim::ideal_fct;
use rocelab_sim::network::PauseEvent;
use rocelab_units::SimTime;

use crate::support::{Run, plan, run};

/// Two switches between two hosts; `switch` is what `[switch]` says.
fn dumbbell(rates: [u64; 3], switch: &str, bytes: u64) -> Run {
    let [left, middle, _right] = rates;
    let text = format!(
        "[roce]\npath_mtu = 1024\n[congestion_control.none]\n[topology.dumbbell]\nleft = 1\n\
         right = 1\nhost_link = {{ rate = \"{left}Gbps\", delay = \"100ns\" }}\n\
         bottleneck = {{ rate = \"{middle}Gbps\", delay = \"500ns\" }}\n[switch]\n{switch}\n\
         [[workload.flows.list]]\nfrom = \"host-0\"\nto = \"host-1\"\nbytes = \"{bytes}B\"\n\
         verb = \"send\"\n"
    );
    let run = run(&text);
    run.assert_complete(&text);
    run
}

/// A frame of 1,024 bytes of payload (RoCE v2, IPv4) and an acknowledgement, FCS included.
const DATA: u64 = 14 + 20 + 8 + 12 + 1024 + 4 + 4;
const ACK: u64 = 14 + 20 + 8 + 12 + 4 + 4 + 4;
/// Picoseconds of a byte at 100 Gb/s.
const BYTE: u64 = 80;
const DELAYS: u64 = 100_000 + 500_000 + 100_000;

#[test]
fn latency_is_spent_in_every_switch() {
    let plain = dumbbell([100, 100, 100], "", 10_240).completion_times()[0];
    let run = dumbbell([100, 100, 100], "latency = \"300ns\"", 10_240);
    let slow = run.completion_times()[0];
    assert_eq!(slow - plain, 2 * 2 * 300_000, "two switches there, and two back");
    assert_eq!(ideal_fct(&run.plan, &run.plan.flows[0]).ps(), slow);
}

#[test]
fn frames_cut_through_after_64_bytes() {
    let run = dumbbell([100, 100, 100], "forwarding = \"cut-through\"", 10_240);
    let frames = 9 * (8 + DATA + 12) * BYTE;
    let there = 2 * (8 + 64) * BYTE + (8 + DATA) * BYTE + DELAYS;
    let back = 2 * (8 + 64) * BYTE + (8 + ACK) * BYTE + DELAYS;
    assert_eq!(run.completion_times()[0], frames + there + back);
    assert_eq!(ideal_fct(&run.plan, &run.plan.flows[0]).ps(), frames + there + back);
}

#[test]
fn nothing_cuts_through_to_a_faster_port() {
    // From 100G to 400G the whole frame is waited for, from 400G to 100G it is not.
    let run = dumbbell([100, 400, 100], "forwarding = \"cut-through\"", 1_024);
    let one_way = |len: u64| (8 + len) * (BYTE + BYTE) + (8 + 64) * BYTE / 4 + DELAYS;
    assert_eq!(run.completion_times()[0], one_way(DATA) + one_way(ACK));
    assert_eq!(ideal_fct(&run.plan, &run.plan.flows[0]).ps(), one_way(DATA) + one_way(ACK));
}

/// Three hosts at one switch; host-1 and host-2 send to host-0, `flows` says what.
fn star(rest: &str, flows: &str) -> String {
    format!(
        "stop = \"2ms\"\n[topology.single-switch]\nhosts = 3\n\
         link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n{rest}\n\
         [workload.flows]\nlist = [{flows}]\n"
    )
}

fn flow(from: u32, priority: u8) -> String {
    format!(
        "{{ from = \"host-{from}\", to = \"host-0\", bytes = \"1GB\", priority = {priority} }},"
    )
}

/// Gb/s on the wire, gaps and preambles included, that a flow's host sends from 1 to 2 ms.
fn rate_of(run: &mut Run, host: &str) -> f64 {
    run.run_until(SimTime::from_ps(1_000_000_000));
    let before = run.sent(host, 0);
    run.run_until(SimTime::from_ps(1_999_000_000));
    (run.sent(host, 0) - before) as f64 * 8.0 / 0.999e-3 / 1e9 * (1082.0 + 20.0) / 1082.0
}

#[test]
fn a_shaper_bounds_a_queue() {
    let rest = "[switch]\nlossless = [1, 2]\nshapers = { 1 = { rate = \"10Gbps\" } }";
    let mut run = Run::new(plan(&star(rest, &flow(1, 1))));
    let rate = rate_of(&mut run, "host-1");
    assert!((rate - 10.0).abs() < 0.1, "{rate}");
    assert_eq!(run.totals().frames_dropped, 0);
}

#[test]
fn what_a_shaper_leaves_others_take() {
    let rest = "[switch]\nlossless = [1, 2]\nshapers = { 2 = { rate = \"30Gbps\" } }";
    let mut run = Run::new(plan(&star(rest, &(flow(1, 1) + &flow(2, 2)))));
    let rate = rate_of(&mut run, "host-1");
    assert!((rate - 70.0).abs() < 1.0, "strict priority 2 takes its 30, {rate} are left");
}

#[test]
fn an_untagged_frame_has_the_default_priority_where_tags_are_trusted() {
    // Priority 1 is lossless, 0 is not: an untagged frame is dropped when its queue is too long.
    let rest = |tagging: &str| {
        format!(
            "[roce]\ntagging = \"{tagging}\"\n[switch]\nlossless = [1]\ntrust = \"pcp\"\nbuffer = \"500KB\""
        )
    };
    let flows = flow(1, 1) + &flow(2, 1);
    let tagged = run(&star(&rest("tagged"), &flows)).totals();
    assert!(tagged.pauses > 0 && tagged.frames_dropped == 0, "{tagged:?}");
    let untagged = run(&star(&rest("untagged"), &flows)).totals();
    assert!(untagged.pauses == 0 && untagged.frames_dropped > 0, "{untagged:?}");
}

#[test]
fn code_points_can_mean_another_priority() {
    let rest =
        "[switch]\nlossless = [3]\nbuffer = \"500KB\"\ntrust = \"dscp\"\npriority_of = { 8 = 3 }";
    let totals = run(&star(rest, &(flow(1, 1) + &flow(2, 1)))).totals();
    // The switch pauses priority 3, but its senders know priority 1 only: they go on, and overrun it.
    assert!(totals.pauses > 0 && totals.frames_dropped > 0, "{totals:?}");
}

#[test]
fn two_priorities_can_share_a_queue() {
    let base = "[switch]\nlossless = [1, 2]\n";
    let flows = flow(1, 1) + &flow(2, 2);
    let mut apart = Run::new(plan(&star(base, &flows)));
    let starved = rate_of(&mut apart, "host-1");
    assert!(starved < 1.0, "strict: {starved}");
    let mut together = Run::new(plan(&star(&format!("{base}queue_of = {{ 1 = 2 }}"), &flows)));
    let shared = rate_of(&mut together, "host-1");
    assert!((shared - 50.0).abs() < 5.0, "first come, first served: {shared}");
}

#[test]
fn a_late_response_needs_its_headroom() {
    let rest = |more: &str| format!("[switch]\nxoff = \"20KB\"\npause_response = \"2us\"\n{more}");
    let flows = flow(1, 3) + &flow(2, 3);
    let auto = run(&star(&rest(""), &flows)).totals();
    assert!(auto.pauses > 10 && auto.frames_dropped == 0, "{auto:?}");
    // What is enough for an immediate response is not for one of 2 us, 25,000 bytes.
    let small = run(&star(&rest("headroom = \"5KB\""), &flows)).totals();
    assert!(small.frames_dropped > 0, "{small:?}");
}

#[test]
fn a_response_is_as_late_as_it_says() {
    let flows = flow(1, 3) + &flow(2, 3);
    let first_pause = |response: &str| {
        let rest = format!("[switch]\nxoff = \"20KB\"\npause_response = \"{response}\"");
        let run = run(&star(&rest, &flows));
        let pauses = run.pauses();
        pauses.iter().find(|(_, change)| change.event == PauseEvent::Pause).expect("one").0
    };
    assert_eq!(first_pause("2us").ps() - first_pause("0s").ps(), 2_000_000);
}

#[test]
fn one_switch_can_be_otherwise() {
    let rest =
        "[[switch.override]]\nports = [\"switch-0:0\"]\nshapers = { 3 = { rate = \"20Gbps\" } }";
    let mut run = Run::new(plan(&star(rest, &flow(1, 3))));
    let rate = rate_of(&mut run, "host-1");
    assert!((rate - 20.0).abs() < 0.2, "{rate}");
    let rest = "[[switch.override]]\nswitches = [\"switch-0\"]\nlossless = []\nbuffer = \"500KB\"";
    let totals = self::run(&star(rest, &(flow(1, 3) + &flow(2, 3)))).totals();
    assert!(totals.pauses == 0 && totals.frames_dropped > 0, "{totals:?}");
}

#[test]
fn pools_and_cells_keep_a_lossless_class_lossless() {
    let rest = "[switch]\nlossless = [3]\nbuffer = \"400KB\"\ncell = \"208B\"\n\
                headroom_pool = \"60KB\"\npriority_alpha = { 3 = \"1/16\" }\n\
                egress_reserve = \"1KB\"";
    let totals = run(&star(rest, &(flow(1, 3) + &flow(2, 3)))).totals();
    assert!(totals.pauses > 10 && totals.frames_dropped == 0, "{totals:?}");
}
