//! The NIC of HPCC's ns-3 simulator: arbitration, pacing, window and wake-ups.

mod checkpoint;

use std::sync::Arc;

use rocelab_transport::Algorithm;
use rocelab_transport::congestion_control::Path;
use rocelab_transport::hpcc_ns3::{
    Config, Departure, Flow, FlowEnd, Host, Kind, Nic, Packet, Receiver,
};
use rocelab_units::{Bandwidth, Bytes, Duration, SimTime};

/// What the NIC needs from outside: numbers in order, and the receiving ends of two flows.
#[derive(Default)]
struct Outside {
    reserved: u64,
    receivers: [Receiver; 2],
}

impl Host for Outside {
    type Tie = u64;

    fn reserve(&mut self) -> u64 {
        self.reserved += 1;
        self.reserved
    }

    fn receiver(&mut self, flow: u32) -> &mut Receiver {
        &mut self.receivers[flow as usize]
    }

    fn sample(&mut self) -> u32 {
        0
    }
}

const LINE: Bandwidth = Bandwidth::from_gbps(8);

fn config(algorithm: &str) -> Arc<Config> {
    Arc::new(Config {
        payload_bytes: 1_000,
        chunk_bytes: 4_000,
        back_to_chunk: false,
        ack_interval_bytes: 1,
        scale_window: false,
        pace_at_rate: true,
        ack_priority: 3,
        algorithm: toml::from_str::<Algorithm>(algorithm).unwrap(),
        sampled_acks: 0,
        serialisation: |bytes, rate| rate.transmission_time(Bytes::new(bytes.into())),
    })
}

/// A byte takes 1 ns, so that a full packet (1048 bytes) takes 1048 ns.
const fn at(ns: u64) -> SimTime {
    SimTime::from_ps(ns * 1_000)
}

fn nic(algorithm: &str) -> (Nic<u64>, Outside) {
    (Nic::new(config(algorithm), LINE), Outside::default())
}

fn start(nic: &mut Nic<u64>, number: u32, size: u32, window: u64) {
    let flow = Flow { number, destination: 9, ports: 100 << 16 | 10_000, size, priority: 3 };
    let path = Path {
        line_rate: LINE,
        base_rtt: Duration::from_us(4),
        bdp: window,
        path_mtu: 1_000,
        others: 0,
        seed: 0,
        start: SimTime::ZERO,
    };
    nic.start(at(0), &flow, &path, window);
}

fn sent(departure: Option<Departure>) -> Option<(u32, u32, u16)> {
    departure.map(|d| (d.packet.flow, d.packet.sequence, d.frame_len))
}

/// Receives `departure` at another NIC and gives that one's answer back to the first.
fn answer(outside: &mut Outside, departure: &Departure, now: SimTime) -> Departure {
    let (mut far, _) = nic("none = {}");
    let sends = far.receive(now, &departure.packet, 5, departure.ports, None, outside);
    assert!(sends);
    far.poll_transmit(now, 0, outside).unwrap()
}

#[test]
fn flows_take_turns_and_pacing_counts_from_the_start_of_a_transmission() {
    let (mut nic, mut outside) = nic("none = {}");
    start(&mut nic, 0, 1_500, 0);
    start(&mut nic, 1, 5_000, 0);
    // The scan begins behind the queue pair that was served last, at first number 0.
    assert_eq!(sent(nic.poll_transmit(at(0), 0, &mut outside)), Some((1, 0, 1_048)));
    assert_eq!(sent(nic.poll_transmit(at(0), 0, &mut outside)), Some((0, 0, 1_048)));
    // Both wait for their pacing; the first is released 1048 ns after its start.
    assert_eq!(nic.poll_transmit(at(1_000), 0, &mut outside), None);
    assert_eq!(nic.next_timeout(), Some((at(1_048), 1)));
    assert!(nic.handle_timeout(at(1_048), 1, &mut outside), "it tries to send");
    assert_eq!(sent(nic.poll_transmit(at(1_048), 0, &mut outside)), Some((1, 1_000, 1_048)));
    assert_eq!(sent(nic.poll_transmit(at(1_048), 0, &mut outside)), Some((0, 1_000, 548)));
}

#[test]
fn a_full_window_whose_pacing_is_over_keeps_the_nic_asleep() {
    let (mut nic, mut outside) = nic("none = {}");
    start(&mut nic, 0, 5_000, 1_000);
    let first = nic.poll_transmit(at(0), 0, &mut outside).unwrap();
    assert_eq!(nic.poll_transmit(at(2_000), 0, &mut outside), None, "the window is full");
    // Its release, at 1048 ns, is past: no wake-up, also not for another flow that is only paced.
    start(&mut nic, 1, 5_000, 0);
    assert_eq!(sent(nic.poll_transmit(at(2_000), 0, &mut outside)), Some((1, 0, 1_048)));
    assert_eq!(nic.poll_transmit(at(2_500), 0, &mut outside), None);
    assert_eq!(nic.next_timeout(), None);
    // An acknowledgement opens the window.
    let ack = answer(&mut outside, &first, at(2_600));
    assert_eq!((ack.packet.kind, ack.packet.sequence, ack.frame_len), (Kind::Ack, 1_000, 60));
    assert_eq!((ack.destination, ack.ports), (5, 10_000 << 16 | 100), "the ports are swapped");
    assert!(nic.receive(at(2_700), &ack.packet, 9, ack.ports, None, &mut outside));
    assert_eq!(sent(nic.poll_transmit(at(2_700), 0, &mut outside)), Some((0, 1_000, 1_048)));
}

#[test]
fn a_pause_stops_data_and_acknowledgements_of_its_priority() {
    let (mut nic, mut outside) = nic("none = {}");
    start(&mut nic, 0, 5_000, 0);
    assert_eq!(nic.poll_transmit(at(0), 1 << 3, &mut outside), None);
    let data = nic.poll_transmit(at(0), 1 << 4, &mut outside).unwrap();
    nic.receive(at(1), &data.packet, 5, data.ports, None, &mut outside);
    assert_eq!(nic.poll_transmit(at(1), 1 << 3, &mut outside), None);
    let ack = nic.poll_transmit(at(1), 0, &mut outside).unwrap();
    assert_eq!(ack.packet.kind, Kind::Ack, "ahead of data");
}

#[test]
fn a_nack_goes_back_to_the_byte_that_is_missing() {
    let (mut nic, mut outside) = nic("none = {}");
    start(&mut nic, 0, 3_000, 0);
    let mut now = 0;
    let mut next = |nic: &mut Nic<u64>, outside: &mut Outside| {
        now += 2_000;
        nic.poll_transmit(at(now), 0, outside).unwrap()
    };
    let _ = next(&mut nic, &mut outside);
    let second = next(&mut nic, &mut outside);
    let nack = answer(&mut outside, &second, at(4_000));
    assert_eq!((nack.packet.kind, nack.packet.sequence), (Kind::Nack, 0));
    nic.receive(at(4_100), &nack.packet, 9, nack.ports, None, &mut outside);
    for sequence in [0, 1_000, 2_000] {
        let departure = next(&mut nic, &mut outside);
        assert_eq!(departure.packet.sequence, sequence);
        let ack = answer(&mut outside, &departure, at(20_000));
        assert!(nic.receive(at(20_000), &ack.packet, 9, ack.ports, None, &mut outside));
    }
    assert_eq!(nic.poll_end(), Some(FlowEnd { flow: 0, retransmissions: 2 }));
    assert_eq!(outside.receivers[0].expected(), 0, "its receiving end is gone");
    assert_eq!(outside.receivers[0].delivered(), 3_000);
    // What comes for it now is for nobody.
    let late = answer(&mut outside, &again(&second.packet), at(21_000));
    assert!(!nic.receive(at(21_000), &late.packet, 9, late.ports, None, &mut outside));
}

fn again(packet: &Packet) -> Departure {
    Departure { packet: *packet, destination: 9, ports: 0, frame_len: 1_048 }
}

#[test]
fn timers_of_controllers_have_places_in_the_order_of_events() {
    let (mut nic, mut outside) = nic("dcqcn = { preset = \"hpcc\" }");
    start(&mut nic, 0, 50_000, 0);
    let mut data = nic.poll_transmit(at(0), 0, &mut outside).unwrap();
    data.packet.mark();
    let ack = answer(&mut outside, &data, at(1_000));
    assert!(ack.packet.has_echo());
    nic.receive(at(2_000), &ack.packet, 9, ack.ports, None, &mut outside);
    // Alpha after 1 us, decrease after 4 us and 1 ns, in this order.
    assert_eq!(nic.next_timeout(), Some((at(3_000), 1)));
    assert!(!nic.handle_timeout(at(3_000), 1, &mut outside), "a timer sends nothing");
    assert_eq!(nic.next_timeout(), Some((at(4_000), 3)), "armed anew: a place of its own");
    assert!(!nic.handle_timeout(at(4_000), 3, &mut outside));
    assert!(!nic.handle_timeout(at(5_000), 4, &mut outside));
    assert!(!nic.handle_timeout(at(6_000), 5, &mut outside));
    assert_eq!(nic.next_timeout(), Some((at(6_001), 2)));
}
