//! What a port does with frames, pauses and failures.

use rocelab_state::State as _;
use rocelab_wire::Pfc;

use super::*;
use crate::chain::tests::Links;
use crate::flow_control::{CreditConfig, CreditControl, DATA_LANES};
use crate::scheduler::SchedulerConfig;
use crate::vl_arbiter::VlArbitration;

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

/// A port of a switch of InfiniBand with three inputs and two lanes, of so many blocks each.
fn credited(blocks: u16) -> Port {
    let mut buffer = [0; DATA_LANES];
    buffer[..2].fill(blocks);
    let control = CreditControl::new(CreditConfig {
        buffer,
        far_buffer: buffer,
        update_interval: Duration::from_ns(256),
        is_lossy: false,
        heartbeat: Duration::from_us(10),
    });
    let link = Link::infiniband(Bandwidth::from_gbps(100), Duration::ZERO);
    let tables = SchedulerConfig::VirtualLanes(VlArbitration::default());
    let flow_control = LinkController::Credits(Box::new(control));
    Port::with_flow_control(link, Scheduler::new(&tables), flow_control)
        .with_extras(PortExtras::with_inputs(None, Some(Box::new(InputQueues::new(2, 3)))))
}

fn counted(port: &mut Port) -> CountedPort<'_, Link, LinkController> {
    port.counted().expect("its flow control counts")
}

#[test]
fn a_packet_without_credits_holds_its_lane_back() {
    let len = |_: &Links, id: PacketId| if id.0 == 0 { 4124 } else { 66 };
    let (mut links, now) = (Links(vec![0; 8]), SimTime::from_ps(9));
    let (mut here, mut there) = (credited(65), credited(65));
    counted(&mut here).note_passed(now, (0, 1), 66);
    for (id, lane, input) in [(0, 0, 2), (1, 0, 0), (2, 1, 0)] {
        let bytes = len(&links, PacketId(id));
        counted(&mut here).enqueue(&mut links, PacketId(id), (lane, input), bytes);
    }
    assert_eq!(
        counted(&mut here).dequeue(now, &links, len),
        Some((PacketId(2), 1)),
        "the other lane goes on"
    );
    assert_eq!(
        (here.paused(), here.flow_control().paused_since(0), here.queued(0)),
        (1, Some(now), 4190)
    );
    assert_eq!((counted(&mut here).dequeue(now, &links, len), here.waiting()), (None, 1));
    counted(&mut there).note_arrived(0, 66);
    assert!(!there.has_control_frame());
    assert!(counted(&mut there).note_freed(0, 66) && there.has_control_frame());
    let frame = there.take_control_frame(SimTime::from_ps(300_000)).expect("it is due");
    here.receive_control(now, &frame);
    let order = [(PacketId(0), 0), (PacketId(1), 0)];
    assert_eq!(
        counted(&mut here).dequeue(now, &links, len),
        Some(order[0]),
        "input 2 is after input 1"
    );
    assert_eq!(
        (counted(&mut here).dequeue(now, &links, len), here.paused()),
        (None, 1),
        "no block is left"
    );
    assert_eq!(here.flush_from(0, &links, len), Some(order[1].0));
    assert_eq!((here.waiting(), here.queued(0)), (0, 0));
}

#[test]
fn what_waits_by_input_is_loaded_in_its_order() {
    let len = |_: &Links, _: PacketId| 66;
    let mut links = Links(vec![0; 8]);
    let mut port = credited(200);
    counted(&mut port).note_passed(SimTime::ZERO, (0, 0), 66);
    for (id, input) in [(0, 0), (1, 2), (2, 0), (3, 1)] {
        counted(&mut port).enqueue(&mut links, PacketId(id), (0, input), 66);
    }
    let waiting: Vec<_> = port.waiting_in(0, &links).collect();
    assert_eq!(waiting, [3, 1, 0, 2].map(PacketId));
    let mut saved = Vec::new();
    port.save(&mut saved).expect("it can be saved");
    let mut loaded = credited(200);
    loaded.load(&mut &saved[..]).expect("it fits");
    let inputs = [0, 2, 0, 1];
    for &id in &waiting {
        let frame = (id, 66, inputs[id.0 as usize]);
        loaded.restore_waiting((0, 0), frame, &mut links);
    }
    for id in waiting {
        assert_eq!(counted(&mut loaded).dequeue(SimTime::ZERO, &links, len), Some((id, 0)));
    }
}

#[test]
fn what_counts_no_frames_is_not_asked() {
    assert!(!port().is_counted() && port().counted().is_none());
}
