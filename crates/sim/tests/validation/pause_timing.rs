//! Two senders at 100 Gb/s, one receiver at 40 Gb/s: when each pause and resumption arrives, to the
//! picosecond.
//!
//! Packets of 1024 bytes, none longer than another. Sender 2 starts 9 ns after sender 1. With `a`
//! the arrival of the first frame at the switch, `s` and `S` the spacing of frames on the fast and
//! the slow link (S = 2.5 s), frames reach the switch at a + k s from sender 1 and 9 ns later from
//! sender 2, and leave it first come, first served at a + m S. XOFF is two frames, memory is given
//! back when a frame starts to leave, and XON waits for an empty ingress (the XON offset exceeds
//! XOFF). So:
//!
//! * sender 2's third frame (k = 2) is the first in headroom: its first one leaves at a + 2.5 s,
//! * sender 1's fourth frame (k = 3) is: its first one left at once, its second leaves at a + 5 s,
//! * a PFC frame takes (8 + 64) x 8 / R + delay back, and the sender ends the frame on the wire,
//! * so four frames of sender 2 and five of sender 1 are under way, and the last of them, the
//!   eighth and the ninth in order, leave at a + 7 S and a + 8 S, which resumes their senders.

use rocelab_sim::network::{PauseChange, PauseEvent};
use rocelab_units::{Duration, SimTime};

use crate::closed_form::Version;
use crate::support::{Run, plan, write_file};

const FAST_BYTE: u64 = 80;
const SLOW_BYTE: u64 = 200;
const DELAY: u64 = 15_000;
const OFFSET: u64 = 9_000;
const FRAME: u64 = Version::V2Ipv4.frame(0, 1024);
/// From the first bit of a PFC frame at the switch to its last bit at a sender.
const PFC_WAY: u64 = (8 + 64) * FAST_BYTE + DELAY;
/// The first frame of sender 1 is in the switch.
const ARRIVAL: u64 = (8 + FRAME) * FAST_BYTE + DELAY;
const FAST: u64 = (8 + FRAME + 12) * FAST_BYTE;
const SLOW: u64 = (8 + FRAME + 12) * SLOW_BYTE;

const PAUSE_1: u64 = ARRIVAL + 3 * FAST + PFC_WAY;
const PAUSE_2: u64 = ARRIVAL + OFFSET + 2 * FAST + PFC_WAY;
const RESUME_1: u64 = ARRIVAL + 8 * SLOW + PFC_WAY;
const RESUME_2: u64 = ARRIVAL + 7 * SLOW + PFC_WAY;

/// The network at `stop`.
fn until(stop: u64) -> Run {
    // The receiver's long cable keeps acknowledgements out of the way of the first PFC frames.
    let file = "two-senders-slow-receiver.txt";
    let links = "4 1 3\n3\n0 3 40Gbps 1us 0\n1 3 100Gbps 15ns 0\n2 3 100Gbps 15ns 0\n";
    write_file(&format!("{stop}-{file}"), links);
    let text = format!(
        "stop = \"{stop}ps\"\n[topology.file]\npath = \"{stop}-{file}\"\n\
         [congestion_control.none]\n[switch]\nxoff = \"{}B\"\nxon_offset = \"10KB\"\n\
         [workload.flows]\nlist = [\n\
         {{ from = \"host-1\", to = \"host-0\", bytes = \"200KiB\", verb = \"send\" }},\n\
         {{ from = \"host-2\", to = \"host-0\", bytes = \"200KiB\", verb = \"send\", \
         start = \"{OFFSET}ps\" }},\n]\n",
        2 * FRAME
    );
    let mut run = Run::new(plan(&text));
    run.finish();
    run
}

fn first(
    run: &Run,
    node: u32,
    is_meant: impl Fn(&PauseEvent) -> bool,
) -> Option<(u64, PauseEvent)> {
    let found =
        |(_, change): &(SimTime, PauseChange)| change.node == node && is_meant(&change.event);
    run.pauses().into_iter().find(found).map(|(time, change)| (time.ps(), change.event))
}

#[test]
fn pauses_and_resumptions_arrive_when_the_formula_says() {
    let run = until(5_000_000);
    let is_resume = |event: &PauseEvent| matches!(event, PauseEvent::Resume(_));
    let is_pause = |event: &PauseEvent| *event == PauseEvent::Pause;
    assert_eq!(first(&run, 1, is_pause), Some((PAUSE_1, PauseEvent::Pause)));
    assert_eq!(first(&run, 2, is_pause), Some((PAUSE_2, PauseEvent::Pause)));
    let lasted = |from, to| PauseEvent::Resume(Duration::from_ps(to - from));
    assert_eq!(first(&run, 1, is_resume), Some((RESUME_1, lasted(PAUSE_1, RESUME_1))));
    assert_eq!(first(&run, 2, is_resume), Some((RESUME_2, lasted(PAUSE_2, RESUME_2))));
    assert_eq!(run.totals().frames_dropped, 0);
}

#[test]
fn a_paused_sender_ends_its_frame_and_starts_no_other() {
    const { assert!(PAUSE_2 < PAUSE_1 && PAUSE_1 + FAST < RESUME_2) };
    let started_by = |time: u64| time / FAST + 1;
    assert_eq!((started_by(PAUSE_1), started_by(PAUSE_2 - OFFSET)), (5, 4));
    // Just after the pause, while the frame is on the wire, and just before the resumption.
    for stop in [PAUSE_1, PAUSE_1 + FAST, RESUME_2 - 1] {
        let run = until(stop);
        assert_eq!(run.port("host-1", 0).1, 5, "at {stop} ps");
        assert_eq!(run.port("host-2", 0).1, 4, "at {stop} ps");
    }
    assert!(until(PAUSE_2 - 1).pauses().is_empty());
    assert_eq!(until(PAUSE_2).pauses().len(), 1);
    assert_eq!(until(RESUME_2).port("host-2", 0).1, 5, "it goes on at once");
}
