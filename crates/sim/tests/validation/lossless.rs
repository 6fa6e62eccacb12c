//! A lossless class loses nothing while its headroom suffices, and says what failed when it does
//! not.

use rocelab_fabric::DropReason;
use rocelab_sim::network::{DropCause, RecordKind};

use crate::closed_form::VERSIONS;
use crate::support::{Dice, Run, try_plan};

const RATES: [u64; 6] = [10, 25, 40, 100, 200, 400];

fn link(dice: &mut Dice, longest_m: u64) -> String {
    let rate = dice.one(&RATES);
    format!("{{ rate = \"{rate}Gbps\", cable = \"{}m\" }}", dice.between(1, longest_m))
}

/// At least seventeen hosts.
fn topology(dice: &mut Dice) -> String {
    let longest = dice.one(&[10, 300, 1_000]);
    let (host, fabric, core) = (link(dice, longest), link(dice, longest), link(dice, longest));
    match dice.between(0, 4) {
        0 => format!("[topology.single-switch]\nhosts = 17\nlink = {host}\n"),
        1 => format!(
            "[topology.dumbbell]\nleft = 16\nright = 2\nhost_link = {host}\nbottleneck = {fabric}\n"
        ),
        2 => format!(
            "[topology.leaf-spine]\nleaves = 4\nspines = {}\nhosts_per_leaf = 5\n\
             host_link = {host}\nfabric_link = {fabric}\n",
            dice.between(1, 3)
        ),
        3 => format!("[topology.fat-tree]\nk = 6\nhost_link = {host}\nfabric_link = {fabric}\n"),
        _ => format!(
            "[topology.clos]\npods = 3\nracks_per_pod = 2\nhosts_per_rack = 3\n\
             aggregations_per_pod = 2\ncores = 4\nhost_link = {host}\nfabric_link = {fabric}\n\
             core_link = {core}\n"
        ),
    }
}

/// Everything of an incast 16:1 but the size of the buffer.
fn scenario(dice: &mut Dice) -> (String, String) {
    let version = dice.one(&VERSIONS);
    let is_v2 = version.toml().starts_with("version = 2");
    let mtu = dice.one(&[256, 512, 1024, 2048, 4096]);
    let mut head = format!("[roce]\n{}\npath_mtu = {mtu}\n", version.toml());
    if !is_v2 && dice.between(0, 1) == 1 {
        head.push_str("[layer2]\nforwarding = \"multipath\"\n");
    }
    head.push_str(&topology(dice));
    let algorithm = if is_v2 { dice.one(&["none", "dcqcn", "timely"]) } else { "none" };
    head.push_str(&format!("[congestion_control.{algorithm}]\n"));
    let bytes = dice.between(64, 512);
    head.push_str(&format!("[workload.incast]\nsenders = 16\nbytes = \"{bytes}KB\"\n"));

    let mut switch = format!("alpha = \"1/{}\"\n", dice.one(&[1, 2, 4, 8, 16, 32, 64]));
    match dice.between(0, 2) {
        0 => switch = "alpha = \"2/1\"\n".into(),
        1 => switch.push_str(&format!("xoff = \"{}B\"\n", dice.between(5_000, 60_000))),
        _ => {}
    }
    if dice.between(0, 1) == 1 {
        switch.push_str(&format!("reserve = \"{}B\"\n", dice.between(0, 10_000)));
    }
    if is_v2 && dice.between(0, 1) == 1 {
        switch.push_str("ecn = { kmin = \"20KB\", kmax = \"80KB\", pmax = 0.2 }\n");
    }
    (head, switch)
}

/// The scenario in the smallest of ever larger buffers that holds its headroom.
fn run_in_a_small_buffer(head: &str, switch: &str, smallest: u64) -> (String, Run) {
    for doublings in 0..12 {
        let buffer = smallest << doublings;
        let text = format!("{head}[switch]\nbuffer = \"{buffer}B\"\n{switch}");
        match try_plan(&text) {
            Ok(plan) => {
                let mut run = Run::new(plan);
                run.finish();
                return (text, run);
            }
            Err(error) => assert!(error.to_string().contains("to share"), "{error}\n{text}"),
        }
    }
    panic!("no buffer is large enough:\n{head}{switch}");
}

#[test]
fn incast_of_sixteen_drops_nothing_in_random_networks() {
    const SCENARIOS: u64 = 50;
    let (mut with_pauses, mut pauses, mut frames) = (0, 0, 0);
    for number in 0..SCENARIOS {
        let mut dice = Dice::new("lossless", number);
        let (head, switch) = scenario(&mut dice);
        let (text, run) = run_in_a_small_buffer(&head, &switch, dice.between(100_000, 1_000_000));
        let totals = run.totals();
        assert_eq!(totals.frames_dropped, 0, "scenario {number}: {:?}\n{text}", totals.drops);
        run.assert_complete(&format!("scenario {number}:\n{text}"));
        let sent_again = run.simulation.network().nic_counters().retransmitted.packets;
        assert_eq!(sent_again, 0, "scenario {number}:\n{text}");
        with_pauses += u32::from(totals.pauses > 0);
        pauses += totals.pauses;
        frames += totals.frames_delivered;
    }
    println!(
        "{with_pauses} of {SCENARIOS} scenarios with pauses; {pauses} pauses, {frames} frames, \
         no drop"
    );
    assert!(u64::from(with_pauses) > SCENARIOS / 2, "{with_pauses}");
}

#[test]
fn too_little_headroom_is_reported_with_the_inequality() {
    const HEADROOM: u32 = 3_000;
    let text = format!(
        "stop = \"200us\"\n[topology.single-switch]\nhosts = 17\n\
         link = {{ rate = \"100Gbps\", cable = \"300m\" }}\n[congestion_control.none]\n\
         [switch]\nbuffer = \"1MB\"\nheadroom = \"{HEADROOM}B\"\n\
         [workload.incast]\nsenders = 16\nbytes = \"1MB\"\n"
    );
    let plan = try_plan(&text).unwrap_or_else(|error| panic!("{error}"));
    let mut run = Run::new(plan);
    run.finish();
    let mut reported = 0;
    for record in &run.records {
        let RecordKind::Drop(dropped) = &record.kind else { continue };
        let DropCause::Buffer(reason) = dropped.cause else { panic!("{dropped:?}") };
        let DropReason::HeadroomExceeded { used, len, limit } = reason else {
            panic!("{reason:?}");
        };
        assert_eq!((len, limit), (u32::from(dropped.frame_len), HEADROOM));
        assert!(used <= limit && used + len > limit, "{reason}");
        assert_eq!(
            reason.to_string(),
            format!("headroom in use {used} + frame {len} > headroom {HEADROOM}")
        );
        assert_eq!(dropped.priority, 3);
        reported += 1;
    }
    let totals = run.totals();
    println!("{reported} drops for headroom of {HEADROOM} bytes");
    assert!(reported > 0);
    assert_eq!(totals.frames_dropped, reported);
    assert_eq!(totals.drops["headroom_exceeded"], reported);
}

#[test]
fn the_least_headroom_is_not_far_above_what_is_needed() {
    // Half of what `auto` gives must not suffice, else "no drop" would say little about it.
    let scenario = |headroom: &str| {
        format!(
            "[topology.single-switch]\nhosts = 17\n\
             link = {{ rate = \"100Gbps\", cable = \"300m\" }}\n[congestion_control.none]\n\
             [switch]\nbuffer = \"2MB\"\nheadroom = \"{headroom}\"\n\
             [workload.incast]\nsenders = 16\nbytes = \"500KB\"\n"
        )
    };
    let drops = |headroom: &str| {
        let plan = try_plan(&scenario(headroom)).unwrap_or_else(|error| panic!("{error}"));
        let mut run = Run::new(plan);
        run.finish();
        run.totals().frames_dropped
    };
    assert_eq!(drops("auto"), 0);
    // Auto: 3 frames of 1106 bytes, 92 bytes of gap, pause and preambles, and 3 us at 100 Gb/s.
    let auto = 3 * 1_106 + 92 + 37_500;
    assert!(drops(&format!("{}B", auto / 2)) > 0);
}
