//! What a port does with frames, pauses and failures.

use rocelab_wire::Pfc;

use super::*;
use crate::chain::tests::Links;
use crate::scheduler::SchedulerConfig;

fn port() -> Port {
    let link = Link::new(Bandwidth::from_gbps(100), Duration::ZERO);
    Port::new(link, Scheduler::new(&SchedulerConfig::Strict), u16::MAX)
}

#[test]
fn a_paused_priority_waits_and_others_pass() {
    let mut links = Links(vec![0; 4]);
    let len = |_: &Links, id: PacketId| 100 + id.0;
    let mut port = port();
    port.enqueue(&mut links, PacketId(0), 3, 100);
    port.enqueue(&mut links, PacketId(1), 3, 101);
    port.enqueue(&mut links, PacketId(2), 1, 102);
    let mut stop = Pfc { reserved: 0, class_enable_vector: 1 << 3, quanta: [9; 8] };
    port.receive_control(SimTime::ZERO, &stop.into());
    assert_eq!(port.dequeue(&links, len), Some((PacketId(2), 1)));
    assert!(!port.has_eligible());
    assert_eq!(port.dequeue(&links, len), None);
    assert_eq!(port.queued(3), 201);
    stop.quanta[3] = 0;
    port.receive_control(SimTime::from_ps(5), &stop.into());
    assert_eq!(port.dequeue(&links, len), Some((PacketId(0), 3)));
    assert_eq!(port.dequeue(&links, len), Some((PacketId(1), 3)));
    assert_eq!(port.queued(3), 0);
}

#[test]
fn what_waits_counts_over_all_priorities_and_with_pfc_frames() {
    use crate::{OnOffFlowControl, TruncatingLink};

    let mut links = Links(vec![0; 4]);
    let link = TruncatingLink::new(Bandwidth::from_gbps(100), Duration::ZERO);
    let scheduler = Scheduler::new(&SchedulerConfig::Strict);
    let mut port = Port::with_flow_control(link, scheduler, OnOffFlowControl::new());
    port.enqueue(&mut links, PacketId(0), 3, 1_048);
    port.enqueue(&mut links, PacketId(1), 5, 60);
    port.request_pause(3);
    port.request_resume(3);
    assert_eq!(port.waiting_bytes(), 1_048 + 60 + 2 * 43);
    assert_eq!(port.take_control_frame(SimTime::ZERO), Some(Pfc::uniform(1 << 3, u16::MAX).into()));
    assert_eq!(port.waiting_bytes(), 1_048 + 60 + 43);
}

#[test]
fn a_watchdog_s_discards_outlast_a_link_that_fails() {
    let mut port = port();
    port.discard(1 << 3);
    port.cut_off();
    assert_eq!([3, 4].map(|priority| port.place_of(priority)), [None, None]);
    port.discard(1 << 3);
    assert_eq!(port.place_of(4), None, "a port that is down stays so");
    port.start_up(SimTime::ZERO);
    assert_eq!([3, 4].map(|priority| port.place_of(priority)), [None, Some(4)]);
    port.discard(0);
    assert_eq!(port.place_of(3), Some(3));
}

#[test]
fn what_holds_for_a_queue_holds_for_all_of_its_priorities() {
    let queue_of = Some([0, 1, 2, 3, 3, 5, 6, 7]);
    let extras = PortExtras { queue_of, ..PortExtras::default() };
    let mut port = port().with_extras(Some(Box::new(extras)));
    assert_eq!((port.priorities_of(3), port.priorities_of(4)), (0b1_1000, 0));
    port.discard(1 << 3);
    assert_eq!([3, 4, 5].map(|priority| port.place_of(priority)), [None, None, Some(5)]);
    port.receive_control(SimTime::ZERO, &Pfc::uniform(1 << 4, 9).into());
    assert_eq!(port.blocked(), 1 << 3);
    assert_eq!((port.obeyed(), port.pauses_of(3)), (1 << 4, 1 << 4));
    port.ignore_pauses(1 << 3);
    assert_eq!((port.blocked(), port.obeyed()), (0, 0));
}

#[test]
fn what_every_frame_touches_stands_first() {
    assert_eq!(std::mem::offset_of!(Port, scheduler), 40);
    assert_eq!(std::mem::offset_of!(Port, link), 16);
}

#[test]
fn a_port_sends_one_frame_at_a_time() {
    let mut port = port();
    let first = port.transmit(SimTime::ZERO, 64);
    assert_eq!(first.free_at.ps(), 84 * 80);
    assert_eq!(port.free_at(), first.free_at);
}

/// A control that counts frames: the other end may have `LEFT` more bytes under way of any priority.
#[derive(Clone, Debug)]
struct Credits {
    left: u32,
    freed: u32,
}

rocelab_state::state!(Credits { values: left, freed });

impl FlowControl for Credits {
    const COUNTS_FRAMES: bool = true;

    fn request_pause(&mut self, _: u8) {}

    fn request_resume(&mut self, _: u8) {}

    fn is_pending(&self) -> bool {
        self.freed > 0
    }

    fn pending_bytes(&self) -> u32 {
        0
    }

    /// The quanta of priority 0 stand for bytes that were freed.
    fn take_frame(&mut self, _: SimTime, _: Duration) -> Option<ControlFrame> {
        let freed = u16::try_from(std::mem::take(&mut self.freed)).expect("it is little");
        Some(Pfc::uniform(1, freed).into())
    }

    fn end_of_pauses(&self) -> ControlFrame {
        Pfc::default().into()
    }

    fn receive(&mut self, _: SimTime, frame: &ControlFrame, _: Duration) {
        self.left += u32::from(frame.quanta_of(0).unwrap_or(0));
    }

    fn paused(&self) -> u8 {
        if self.left == 0 { u8::MAX } else { 0 }
    }

    fn paused_since(&self, _: u8) -> Option<SimTime> {
        None
    }

    fn paused_time(&self, _: SimTime) -> Duration {
        Duration::ZERO
    }

    fn poll_timeout(&self) -> SimTime {
        SimTime::NEVER
    }

    fn handle_timeout(&mut self, _: SimTime) {}

    fn may_start(&self, _: u8, len: u32) -> bool {
        len <= self.left
    }

    fn on_started(&mut self, _: u8, len: u32) {
        self.left -= len;
    }

    fn on_freed(&mut self, _: u8, len: u32) {
        self.freed += len;
    }
}

#[test]
fn what_counts_frames_is_asked_before_each_and_told_of_each() {
    let len = |_: &Links, id: PacketId| 100 + id.0;
    let mut links = Links(vec![0; 8]);
    let port = |left| {
        let link = Link::new(Bandwidth::from_gbps(100), Duration::ZERO);
        let scheduler = Scheduler::new(&SchedulerConfig::Strict);
        Port::with_flow_control(link, scheduler, Credits { left, freed: 0 })
    };
    let (mut here, mut there) = (port(250), port(0));
    assert!(here.is_idle_for(SimTime::ZERO, 3, 250) && !here.is_idle_for(SimTime::ZERO, 3, 251));
    here.note_passed(3, 100);
    // A longer frame of a higher priority waits for bytes; a shorter one need not.
    for (id, priority) in [(60, 5), (0, 3), (1, 3)] {
        here.enqueue(&mut links, PacketId(id % 8), priority, 100 + id % 8);
    }
    assert_eq!(here.dequeue(&links, len), Some((PacketId(4), 5)), "104 of 150");
    assert_eq!((here.dequeue(&links, len), here.paused()), (None, 0), "46 are left");
    assert!(here.has_eligible(), "a shorter frame might go");
    here.note_started(1, 46);
    assert_eq!((here.has_eligible(), here.paused()), (false, u8::MAX));
    assert!(there.note_freed(3, 100) && there.has_control_frame());
    let frame = there.take_control_frame(SimTime::ZERO).expect("it is due");
    here.receive_control(SimTime::ZERO, &frame);
    assert_eq!(here.dequeue(&links, len), Some((PacketId(0), 3)));
    assert_eq!((here.dequeue(&links, len), here.paused()), (None, u8::MAX));
}

#[test]
fn what_counts_no_frames_is_not_asked() {
    const { assert!(!LinkController::COUNTS_FRAMES) };
    assert!(!port().note_freed(3, 100));
}
