//! Failures that meet: each ends by itself, and what one does is not undone by another.

use rocelab_sim::network::{PauseEvent, QueueStorm, RecordKind};
use rocelab_units::SimTime;

use crate::support::{Run, plan, run};

/// One switch with three hosts at 40 Gbps; what is sent nobody acknowledges. Flows go to `host-0`.
fn star(rest: &str) -> String {
    format!(
        "stop = \"4ms\"\n[roce]\npath_mtu = 1024\nservice = \"uc\"\n[congestion_control.none]\n\
         [topology.single-switch]\nhosts = 3\nlink = {{ rate = \"40Gbps\", cable = \"3m\" }}\n{rest}"
    )
}

/// A flow to `host-0`.
const FLOW: &str =
    "[workload.flows]\nlist = [{ from = \"host-1\", to = \"host-0\", bytes = \"100MB\" }]\n";

/// Two leaves with two hosts each; `host-2`'s NIC storms from 100 us on, and the watchdogs drop what
/// waits for it. Another flow, which shares links with that to `host-2`, starts when all has failed.
fn storm_and(failure: &str) -> Run {
    run(&format!(
        "stop = \"12ms\"\nconvergence = \"50ms\"\n[roce]\nservice = \"uc\"\n[congestion_control.none]\n\
         [topology.leaf-spine]\nleaves = 2\nspines = 1\nhosts_per_leaf = 2\n\
         host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         fabric_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[switch]\nbuffer = \"4MB\"\n\
         [watchdog.switch]\ndetect = \"200us\"\nrestore = \"200us\"\npoll = \"50us\"\n\
         [[failure]]\nkind = \"pause-storm\"\nhost = \"host-2\"\nat = \"100us\"\n\
         [[failure]]\nkind = \"link-down\"\nport = \"leaf-1:0\"\nat = \"2ms\"\n{failure}\n\
         [workload.flows]\nlist = [{{ from = \"host-0\", to = \"host-2\", bytes = \"400MB\" }},\
         {{ from = \"host-1\", to = \"host-3\", bytes = \"20MB\", start = \"5ms\" }}]\n"
    ))
}

fn drops(run: &Run, reason: &str) -> u64 {
    run.totals().drops.get(reason).copied().unwrap_or(0)
}

/// Bytes that wait in all queues of a port.
fn waiting(run: &Run, node: &str, number: u16) -> u32 {
    view(run, node, number, |port| port.waiting_bytes())
}

/// Bit p: priority p of a port is paused.
fn paused(run: &Run, node: &str, number: u16) -> u8 {
    view(run, node, number, rocelab_fabric::Port::paused)
}

fn view<T>(run: &Run, node: &str, number: u16, of: impl Fn(&rocelab_fabric::Port) -> T) -> T {
    let id = run.plan.topology.node_by_name(node).expect("the node exists");
    let mut ports = run.simulation.network().ports();
    let view = ports.find(|view| view.node == id && view.number == number);
    of(view.expect("the port exists").port)
}

fn us(us: u64) -> SimTime {
    SimTime::from_ps(us * 1_000_000)
}

/// When watchdogs saw what is meant.
fn storms(run: &Run, is_meant: fn(&QueueStorm) -> bool) -> impl Iterator<Item = SimTime> {
    run.records.iter().filter_map(move |record| match &record.kind {
        RecordKind::Storm(storm) if is_meant(storm) => Some(record.key.time),
        _ => None,
    })
}

/// The storm is held where it is: no other queue takes part in it.
fn assert_no_harm(run: &Run) {
    assert!(storms(run, |storm| storm.lasted.is_none()).all(|begins| begins < us(2000)));
    assert!(run.flow_ends().iter().any(|end| end.flow == 1), "the other flow is through");
    assert_eq!(waiting(run, "leaf-1", 0), 0, "nothing waits for the host of the storm");
}

#[test]
fn a_watchdog_drops_on_after_a_link_that_was_down() {
    let run = storm_and("lasts = \"100us\"");
    assert!(drops(&run, "link_down") > 0);
    assert_no_harm(&run);
}

#[test]
fn a_link_that_is_down_stays_so_whatever_a_watchdog_says() {
    let run = storm_and("");
    let ends: Vec<_> = storms(&run, |storm| storm.lasted.is_some()).collect();
    assert!(ends.contains(&us(2200)), "nobody can ask for pauses any more: {ends:?}");
    assert_no_harm(&run);
}

#[test]
fn a_watchdog_acts_on_a_queue_with_all_of_its_priorities() {
    let flow = |priority: u8, from: u8| {
        format!(
            "[[workload.flows]]\npriority = {priority}\n\
             list = [{{ from = \"host-{from}\", to = \"host-0\", bytes = \"100MB\" }}]\n"
        )
    };
    for action in ["drop", "forward"] {
        let run = run(&star(&format!(
            "[switch]\nlossless = [3, 4]\nqueue_of = {{ 4 = 3 }}\n[watchdog.switch]\ndetect = \"200us\"\n\
             restore = \"200us\"\npoll = \"50us\"\naction = \"{action}\"\n[[failure]]\nkind = \"pause-storm\"\n\
             host = \"host-0\"\npriorities = [3]\nat = \"1ms\"\n{}{}",
            flow(3, 1),
            flow(4, 2)
        )));
        assert_eq!(run.totals().storms, 1, "{action}");
        assert_eq!(drops(&run, "headroom_exceeded"), 0, "{action}");
        if action == "drop" {
            assert_eq!(waiting(&run, "switch-0", 0), 0, "{action}");
            // From 1.25 ms on the senders are free of each other: 40 Gbps each.
            let dropped = drops(&run, "watchdog");
            assert!(dropped > 2 * 11_000, "{dropped}");
        }
    }
}

/// A slow receiver whose memory is full from 0.2 to 3 ms; a storm begins at 1 ms.
fn slow_in_a_storm(lasts: &str) -> String {
    star(&format!(
        "[[slow_receiver]]\nhosts = [\"host-0\"]\nrate = \"1Gbps\"\nxoff = \"500KB\"\nxon = \"100KB\"\n\
         buffer = \"1MB\"\n[[failure]]\nkind = \"pause-storm\"\nhost = \"host-0\"\nat = \"1ms\"\n{lasts}{FLOW}"
    ))
}

fn frames_handled(run: &Run) -> u64 {
    let (_, counts) = run.simulation.network().slow_receivers().next().expect("one");
    counts.frames
}

#[test]
fn a_slow_receiver_in_a_storm_handles_nothing_and_resumes_nobody() {
    let mut run = Run::new(plan(&slow_in_a_storm("")));
    run.run_until(us(1010));
    let handled = frames_handled(&run);
    assert!(handled > 50, "{handled} of 1,086 bytes at 1 Gbps in 1 ms");
    run.finish();
    assert_eq!(frames_handled(&run), handled);
    assert_eq!(paused(&run, "switch-0", 0), 1 << 3);
    assert_eq!(run.count_pauses(|event| matches!(event, PauseEvent::Resume(_))), 0);
}

#[test]
fn the_end_of_a_storm_does_not_open_a_slow_receiver_that_is_full() {
    let mut run = Run::new(plan(&slow_in_a_storm("lasts = \"50us\"\n")));
    run.run_until(us(1049));
    let handled = frames_handled(&run);
    assert_eq!(paused(&run, "switch-0", 0), 1 << 3);
    run.run_until(us(1060));
    assert_eq!(paused(&run, "switch-0", 0), 1 << 3);
    run.finish();
    assert!(frames_handled(&run) > handled + 200, "it goes on, 3 ms at 1 Gbps");
    assert_eq!(drops(&run, "receiver_full"), 0);
}

#[test]
fn storms_of_one_nic_end_when_the_last_one_does() {
    let storm = |at: &str, lasts: &str, more: &str| {
        format!(
            "[[failure]]\nkind = \"pause-storm\"\nhost = \"host-0\"\nat = \"{at}\"\nlasts = \"{lasts}\"\n{more}"
        )
    };
    let both = storm("1ms", "1ms", "") + &storm("1.5ms", "2ms", "");
    let mut run = Run::new(plan(&star(&(both + FLOW))));
    run.run_until(us(1100));
    let delivered = run.totals().packets_delivered;
    run.run_until(us(3000));
    assert_eq!(paused(&run, "switch-0", 0), 1 << 3);
    assert_eq!(run.totals().packets_delivered, delivered);
    run.finish();
    // Nearly 500 us at 40 Gbps, frames of 1,086 bytes and 20 between them.
    let after = run.totals().packets_delivered - delivered;
    assert!((2_200..2_262).contains(&after), "{after}");
}

#[test]
fn a_muted_storm_ends_as_quietly_as_it_was() {
    // Both are muted after 300 us; the second one asks for pauses until 2.8 ms.
    let failures = "[watchdog.nic]\ndetect = \"300us\"\n\
                    [[failure]]\nkind = \"pause-storm\"\nhost = \"host-0\"\nat = \"1ms\"\nlasts = \"1.6ms\"\n\
                    [[failure]]\nkind = \"pause-storm\"\nhost = \"host-0\"\nat = \"2.5ms\"\nlasts = \"1ms\"\n";
    let mut run = Run::new(plan(&star(&format!("{failures}{FLOW}"))));
    for (time, expected) in [(1290, 1 << 3), (1310, 0), (2510, 1 << 3), (2790, 1 << 3), (2810, 0)] {
        run.run_until(us(time));
        assert_eq!(paused(&run, "switch-0", 0), expected, "at {time} us");
    }
}

#[test]
fn a_link_runs_at_the_lowest_rate_that_failures_leave_it() {
    let slow = |rate: &str, at: &str, lasts: &str| {
        format!(
            "[[failure]]\nkind = \"link-rate\"\nport = \"switch-0:1\"\nrate = \"{rate}\"\nat = \"{at}\"\n\
             lasts = \"{lasts}\"\n"
        )
    };
    let failures = slow("10Gbps", "100us", "400us") + &slow("1Gbps", "300us", "500us");
    let mut run = Run::new(plan(&star(&(failures + FLOW))));
    let mut sent = Vec::new();
    for time in [20, 90, 120, 290, 320, 490, 520, 790, 820, 920] {
        run.run_until(us(time));
        sent.push(run.sent("host-1", 0));
    }
    // Of each 1,106 byte times 1,086 are counted.
    let gbps = [(40, 70), (10, 170), (1, 170), (1, 270), (40, 100)];
    for (window, (rate, us)) in sent.chunks(2).zip(gbps) {
        let expected = (rate * 125 * us) as f64 * 1086.0 / 1106.0;
        let off = (window[1] - window[0]) as f64 - expected;
        assert!(off.abs() < 2.0 * 1086.0, "{rate} Gbps: {off} bytes off");
    }
}

#[test]
fn pauses_are_asked_for_again_when_quanta_are_of_another_length() {
    // The pause of host-1 is on its way as its link changes from 100 Mbps to 40 Gbps: it lasts for
    // 839 us and not for 336 ms, half of which its switch would wait.
    let run = run(&star(&format!(
        "[switch]\nxoff = \"0B\"\n[[failure]]\nkind = \"pause-storm\"\nhost = \"host-0\"\nat = \"0s\"\n\
         [[failure]]\nkind = \"link-rate\"\nport = \"host-1:0\"\nrate = \"100Mbps\"\nat = \"0s\"\n\
         lasts = \"100us\"\n{}",
        FLOW.replace("\"100MB\"", "\"100MB\", start = \"8us\"")
    )));
    assert!(run.count_pauses(|event| *event == PauseEvent::Refresh) > 4);
    assert_eq!(run.totals().frames_dropped, 0);
}

#[test]
fn a_pause_that_is_yet_to_take_effect_ends_with_its_link() {
    // Asked for at 100 us, and again when the link is back at 250 us.
    let mut run = Run::new(plan(&star(&format!(
        "[switch]\npause_response = \"500us\"\n[[failure]]\nkind = \"pause-storm\"\nhost = \"host-0\"\n\
         at = \"100us\"\n[[failure]]\nkind = \"link-down\"\nport = \"switch-0:0\"\nat = \"200us\"\n\
         lasts = \"50us\"\n{FLOW}"
    ))));
    for (time, expected) in [(590, 0), (740, 0), (760, 1 << 3)] {
        run.run_until(us(time));
        assert_eq!(paused(&run, "switch-0", 0), expected, "at {time} us");
    }
}

#[test]
fn a_link_that_flaps_carries_no_more_than_its_rate() {
    let run = run(&star(&format!(
        "[[failure]]\nkind = \"link-rate\"\nport = \"host-1:0\"\nrate = \"1Gbps\"\nat = \"0s\"\n\
         [[failure]]\nkind = \"link-down\"\nport = \"host-1:0\"\nat = \"10us\"\nlasts = \"1us\"\n\
         repeat = 500\ninterval = \"7.3us\"\n{FLOW}"
    )));
    let (sent, possible) = (run.sent("host-1", 0), 4_000 * 125);
    assert!((possible * 9 / 10..=possible).contains(&sent), "{sent} of {possible} bytes");
}

#[test]
fn a_slow_receiver_pauses_what_is_lossless_at_its_switch() {
    let run = run(&star(&format!(
        "[switch]\nlossless = []\n[[switch.override]]\nswitches = [\"switch-0\"]\nlossless = [3]\n\
         [[slow_receiver]]\nhosts = [\"host-0\"]\nrate = \"10Gbps\"\n{FLOW}"
    )));
    assert!(run.totals().pauses > 0);
    assert_eq!(run.totals().frames_dropped, 0);
}

#[test]
fn a_storm_pauses_what_is_lossless_at_its_switch() {
    let run = run(&star(&format!(
        "[switch]\nlossless = []\n[[switch.override]]\nswitches = [\"switch-0\"]\nlossless = [3, 5]\n\
         [[failure]]\nkind = \"pause-storm\"\nhost = \"host-0\"\nat = \"1ms\"\n{FLOW}"
    )));
    assert_eq!(paused(&run, "switch-0", 0), 1 << 3 | 1 << 5);
}
