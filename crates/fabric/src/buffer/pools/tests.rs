use proptest::prelude::*;
use rocelab_units::Bytes;

use super::*;
use crate::SharedBuffer;
use crate::buffer::SwitchBuffer;

fn config() -> SwitchConfig {
    SwitchConfig {
        buffer: Bytes::new(100_000),
        alpha: Ratio::new(1, 1),
        xon_offset: Bytes::new(1_000),
        ..SwitchConfig::default()
    }
}

fn buffer(config: &SwitchConfig) -> PoolBuffer {
    PoolBuffer::new(config, &[Bytes::new(10_000); 2]).expect("there is room")
}

fn arrival(ingress: u16, egress: u16, priority: u8, len: u32) -> Arrival {
    Arrival { ingress, egress, priority, len, egress_queue: 0 }
}

fn priority(number: u8) -> Priority {
    Priority::new(number).expect("it exists")
}

#[test]
fn a_frame_takes_whole_cells() {
    let mut buffer = buffer(&SwitchConfig { cell: Bytes::new(208), ..config() });
    assert_eq!(buffer.admit(arrival(0, 1, 3, 209)), Admission::Stored);
    assert_eq!((buffer.stored(), buffer.held(0, 3)), (416, 416));
    buffer.release(Departure { ingress: 0, egress: 1, priority: 3, len: 209 });
    assert_eq!(buffer.stored(), 0);
}

#[test]
fn each_priority_has_its_alpha() {
    let alphas = [(priority(3), Ratio::new(1, 16)), (priority(0), Ratio::new(2, 1))];
    let config = SwitchConfig {
        priority_alpha: alphas.into(),
        lossless: vec![3, 4],
        egress_alpha: Some(Ratio::new(1, 2)),
        ..config()
    };
    let buffer = buffer(&config);
    let thresholds = [3, 4, 0, 1].map(|priority| buffer.threshold(priority));
    // Two lossless priorities of two ports have 10,000 bytes of headroom each.
    assert_eq!(thresholds, [60_000 / 16, 60_000, 120_000, 30_000]);
}

#[test]
fn headroom_can_be_shared() {
    let config = SwitchConfig {
        headroom_pool: Some(Bytes::new(12_000)),
        xoff: Some(Bytes::new(1_000)),
        ..config()
    };
    let mut buffer = buffer(&config);
    for ingress in 0..2 {
        assert_eq!(buffer.admit(arrival(ingress, 0, 3, 1_000)), Admission::Stored);
        assert_eq!(buffer.admit(arrival(ingress, 0, 3, 6_000)), Admission::StoredAndPause);
    }
    let reason = DropReason::HeadroomPoolExceeded { used: 12_000, len: 500, limit: 12_000 };
    assert_eq!(buffer.admit(arrival(0, 0, 3, 500)), Admission::Dropped(reason));
    let departure = Departure { ingress: 1, egress: 0, priority: 3, len: 6_000 };
    assert!(!buffer.release(departure), "it holds the threshold still");
    assert_eq!(buffer.admit(arrival(0, 0, 3, 500)), Admission::Stored);
    let reason = DropReason::HeadroomExceeded { used: 6_500, len: 4_000, limit: 10_000 };
    assert_eq!(buffer.admit(arrival(0, 0, 3, 4_000)), Admission::Dropped(reason));
}

#[test]
fn a_lossy_queue_has_its_reserve_and_two_thresholds() {
    let config = SwitchConfig {
        egress_reserve: Bytes::new(2_000),
        egress_alpha: Some(Ratio::new(1, 10)),
        lossy_ingress_alpha: Some(Ratio::new(1, 5)),
        ..config()
    };
    let mut buffer = buffer(&config);
    // Headroom 20,000 and reserves 2 x 7 x 2,000 leave 52,000.
    assert_eq!(buffer.threshold(0), 5_200);
    for egress in 0..2 {
        assert_eq!(buffer.admit(arrival(0, egress, 0, 2_000)), Admission::Stored);
    }
    assert_eq!(buffer.threshold(0), 5_200, "reserves are not of the shared pool");
    assert_eq!(buffer.admit(arrival(0, 0, 0, 4_000)), Admission::Stored);
    let limit = 48_000 / 10 + 2_000;
    let reason = DropReason::EgressThreshold { queued: 6_000, len: 1_500, limit };
    assert_eq!(buffer.admit(arrival(1, 0, 0, 1_500)), Admission::Dropped(reason));
    let reason = DropReason::IngressThreshold { used: 8_000, len: 2_000, limit: 9_600 };
    assert_eq!(buffer.admit(arrival(0, 1, 0, 2_000)), Admission::Dropped(reason));
    assert_eq!(buffer.admit(arrival(1, 1, 0, 2_000)), Admission::Stored);
}

#[test]
fn a_lossless_egress_queue_can_have_a_limit() {
    let config = SwitchConfig { lossless_egress_limit: Some(Bytes::new(3_000)), ..config() };
    let mut buffer = buffer(&config);
    assert_eq!(buffer.admit(arrival(0, 1, 3, 2_500)), Admission::Stored);
    let reason = DropReason::EgressThreshold { queued: 2_500, len: 1_000, limit: 3_000 };
    assert_eq!(buffer.admit(arrival(0, 1, 3, 1_000)), Admission::Dropped(reason));
    assert_eq!(buffer.admit(arrival(0, 0, 3, 1_000)), Admission::Stored);
}

#[test]
fn the_fast_form_serves_where_it_can() {
    let small = SwitchConfig { buffer: Bytes::new(1_000_000), ..SwitchConfig::default() };
    let headroom = [Bytes::new(10_000); 2];
    let form = |config: &SwitchConfig| SwitchBuffer::new(config, &headroom).expect("there is room");
    assert!(matches!(form(&small), SwitchBuffer::Shared(_)));
    let cells = SwitchConfig { cell: Bytes::new(208), ..small };
    assert!(matches!(form(&cells), SwitchBuffer::General(_)));
}

/// Bytes that came in by port 0 in priority 3, by the port in whose queue they wait.
fn held_by_egress(queues: &[std::collections::VecDeque<(u16, u32)>]) -> Box<[u32]> {
    let of_port = |egress| queues[index(egress, 3)].iter().filter(|&&(ingress, _)| ingress == 0);
    [0, 1].map(|egress| of_port(egress).map(|&(_, len)| len).sum()).into()
}

proptest! {
    /// Both decide alike, for any sequence of frames, with parameters that both support.
    #[test]
    fn it_is_the_general_form_of_the_shared_buffer(
        reserve in prop_oneof![Just(0u64), 0u64..4_000],
        xoff in prop_oneof![Just(None), (0u64..40_000).prop_map(Some)],
        alpha in 1u32..16,
        steps in prop::collection::vec((0u16..2, 0u16..2, 0u8..8, 64u32..9_000, any::<bool>()), 1..400),
        follows in 0usize..400,
    ) {
        let config = SwitchConfig {
            reserve: Bytes::new(reserve),
            xoff: xoff.map(Bytes::new),
            alpha: Ratio::new(alpha, 4),
            lossless: vec![3, 4],
            ..config()
        };
        let headroom = [Bytes::new(10_000), Bytes::new(9_000)];
        let mut general = PoolBuffer::new(&config, &headroom).expect("there is room");
        let mut fast = SharedBuffer::new(&config, &headroom).expect("there is room");
        let mut queues = vec![std::collections::VecDeque::new(); 16];
        for (step, (ingress, egress, priority, len, arrives)) in steps.into_iter().enumerate() {
            if step == follows {
                let held = held_by_egress(&queues);
                general.follow(0, 3, held.clone());
                fast.follow(0, 3, held);
            }
            let queue = &mut queues[index(egress, priority)];
            if arrives {
                let egress_queue = queue.iter().map(|&(_, len)| len).sum();
                let arrival = Arrival { ingress, egress, priority, len, egress_queue };
                let decided = general.admit(arrival);
                prop_assert_eq!(decided, fast.admit(arrival));
                if matches!(decided, Admission::Stored | Admission::StoredAndPause) {
                    queue.push_back((ingress, len));
                }
            } else if let Some((ingress, len)) = queue.pop_front() {
                let departure = Departure { ingress, egress, priority, len };
                prop_assert_eq!(general.release(departure), fast.release(departure));
            }
            prop_assert_eq!(general.stored(), fast.stored());
            let held = (step >= follows).then(|| held_by_egress(&queues));
            prop_assert_eq!(general.held_by_egress(0, 3), held.as_deref());
            prop_assert_eq!(fast.held_by_egress(0, 3), held.as_deref());
        }
        for (queue, frames) in queues.iter().enumerate() {
            for &(ingress, len) in frames {
                let egress = u16::try_from(queue / 8).unwrap_or(0);
                let priority = u8::try_from(queue % 8).unwrap_or(0);
                general.release(Departure { ingress, egress, priority, len });
            }
        }
        prop_assert_eq!(general.stored(), 0);
    }
}
