//! Pauses last as long as they must, and stop what they name and nothing else (IEEE 802.1Qbb).

use std::collections::BTreeMap;

use rocelab_sim::network::PauseEvent;
use rocelab_units::SimTime;

use crate::support::{Run, plan, run, write_file};

/// Senders host-1 and host-2 at 100 Gb/s; receivers host-0 at 10 and host-3 at `rate`.
fn slow_receiver(rate: &str, rest: &str) -> String {
    let file = format!("slow-receiver-{rate}.txt");
    let text = format!(
        "5 1 4\n4\n0 4 10Gbps 15ns 0\n1 4 100Gbps 15ns 0\n2 4 100Gbps 15ns 0\n3 4 {rate} 15ns 0\n"
    );
    write_file(&file, &text);
    format!("[topology.file]\npath = \"{file}\"\n[congestion_control.none]\n{rest}")
}

fn two_to_one(switch: &str) -> String {
    slow_receiver(
        "100Gbps",
        &format!(
            "[switch]\n{switch}\n[workload.flows]\nlist = [\n\
             {{ from = \"host-1\", to = \"host-0\", bytes = \"1MB\" }},\n\
             {{ from = \"host-2\", to = \"host-0\", bytes = \"1MB\" }},\n]\n"
        ),
    )
}

/// The longest time between two PFC frames that ask one port to pause without a resumption.
fn longest_gap(run: &Run) -> u64 {
    let mut last: BTreeMap<(u32, u8), SimTime> = BTreeMap::new();
    let mut longest = 0;
    for (time, change) in run.pauses() {
        let key = (change.node, change.priority);
        if let (PauseEvent::Refresh, Some(before)) = (change.event, last.get(&key)) {
            longest = longest.max(time.since(*before).ps());
        }
        last.insert(key, time);
    }
    longest
}

#[test]
fn a_pause_is_refreshed_before_it_expires() {
    // A quantum is 512 bit times, 5.12 ns at 100 Gb/s. 20 KB drain at 5 Gb/s in 32 us.
    for quanta in [10, 100, 1_000] {
        let text =
            two_to_one(&format!("xoff = \"50KB\"\nxon_offset = \"20KB\"\npause_quanta = {quanta}"));
        let run = run(&text);
        run.assert_complete(&text);
        let refreshes = run.count_pauses(|event| *event == PauseEvent::Refresh);
        let expiries = run.count_pauses(|event| matches!(event, PauseEvent::Expire(_)));
        let gap = longest_gap(&run);
        println!("{quanta} quanta: {refreshes} refreshes, at most {gap} ps apart");
        assert_eq!((run.totals().frames_dropped, expiries), (0, 0), "{text}");
        assert!(refreshes > 0, "{text}");
        assert!(gap < quanta * 5_120, "{gap}: {text}");
    }
}

#[test]
fn other_priorities_keep_flowing() {
    let text = slow_receiver(
        "100Gbps",
        "[switch]\nxoff = \"50KB\"\n[workload.flows]\nlist = [\n\
         { from = \"host-1\", to = \"host-0\", bytes = \"20MB\", priority = 3 },\n\
         { from = \"host-1\", to = \"host-3\", bytes = \"10MB\", priority = 1 },\n]\n",
    );
    let run = run(&text);
    run.assert_complete(&text);
    assert!(run.pauses().iter().all(|(_, change)| change.priority == 3));
    assert!(run.totals().pauses > 0);
    let rate = 10e6 * 8.0 / (run.completion_times()[1] as f64 * 1e-12);
    // Of 100 Gb/s the paused priority takes 10, the headers leave 1024 / 1106.
    let fair = 90e9 * 1024.0 / 1106.0;
    println!("the other priority got {:.2} of {:.2} Gb/s", rate / 1e9, fair / 1e9);
    assert!(rate > fair * 0.97, "{rate} of {fair}");
}

#[test]
fn a_lossy_class_drops_at_its_threshold_and_go_back_n_recovers() {
    let text = "[topology.single-switch]\nhosts = 9\n\
                link = { rate = \"100Gbps\", cable = \"3m\" }\n\
                [roce]\nack_timeout = 8\n[congestion_control.none]\n\
                [switch]\nlossless = []\nbuffer = \"500KB\"\n[workload.incast]\nsenders = 8\n\
                bytes = \"300KB\"\n";
    let run = run(text);
    run.assert_complete(text);
    let totals = run.totals();
    let sent_again = run.simulation.network().nic_counters().retransmitted.packets;
    println!("lossy incast 8:1: {:?} dropped, {sent_again} packets sent again", totals.drops);
    assert_eq!(totals.pauses, 0);
    assert_eq!(totals.drops["egress_threshold"], totals.frames_dropped);
    assert!(totals.frames_dropped > 0 && sent_again >= totals.frames_dropped);
}

#[test]
fn a_long_pause_survives_pauses_of_another_priority() {
    // Priority 3 waits for 10 Gb/s for tens of microseconds, longer than the 10.24 us of a pause;
    // priority 5 of the same port pauses and resumes every few microseconds.
    let text = slow_receiver(
        "50Gbps",
        "[switch]\nlossless = [3, 5]\nxoff = \"50KB\"\nxon_offset = \"20KB\"\n\
         pause_quanta = 2000\n[workload.flows]\nlist = [\n\
         { from = \"host-1\", to = \"host-0\", bytes = \"1MB\", priority = 3 },\n\
         { from = \"host-2\", to = \"host-0\", bytes = \"1MB\", priority = 3 },\n\
         { from = \"host-1\", to = \"host-3\", bytes = \"4MB\", priority = 5 },\n]\n",
    );
    let mut run = Run::new(plan(&text));
    run.finish();
    let expiries = run.count_pauses(|event| matches!(event, PauseEvent::Expire(_)));
    assert_eq!((run.totals().frames_dropped, expiries), (0, 0), "{:?}", run.totals().drops);
    run.assert_complete(&text);
}
