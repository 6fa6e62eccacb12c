//! One frame through one switch, without events: admission, ECN marking, queueing, scheduling,
//! transmission and release. There are sixteen ports; fifteen of them send to the last.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use rocelab_engine::RngStream;
use rocelab_fabric::{
    Admission, Arrival, BufferPolicy, Chain, Departure, EcnConfig, EcnMarker, Link, MarkAt,
    PacketId, Port, Scheduler, SchedulerConfig, SharedBuffer, SwitchConfig,
};
use rocelab_units::{Bandwidth, Bytes, Duration, SimTime};

const PORTS: u16 = 16;
const FRAME: u32 = 1_086;
const PRIORITY: u8 = 3;
/// Number of frames that wait at the congested port.
const WAITING: u32 = 200;

/// A packet that waits.
#[derive(Clone, Copy)]
struct Packet {
    next: PacketId,
    ingress: u16,
    marked: bool,
}

/// All packets.
struct Slab(Vec<Packet>);

impl Chain for Slab {
    fn next(&self, id: PacketId) -> PacketId {
        self.0[id.0 as usize].next
    }

    fn set_next(&mut self, id: PacketId, next: PacketId) {
        self.0[id.0 as usize].next = next;
    }
}

struct Switch {
    slab: Slab,
    buffer: SharedBuffer,
    port: Port,
    marker: EcnMarker,
    draws: RngStream,
    /// The ingress port of the last frame.
    ingress: u16,
    now: SimTime,
}

impl Switch {
    /// A switch with frames at its congested port.
    fn new(scheduler: &SchedulerConfig) -> Self {
        let config = SwitchConfig::default();
        let rate = Bandwidth::from_gbps(100);
        let ecn = EcnConfig {
            kmin: Bytes::new(100_000),
            kmax: Bytes::new(400_000),
            pmax: 0.2,
            per_rate: None,
            mark_at: MarkAt::default(),
            average_weight: None,
        };
        let link = Link::new(rate, Duration::from_ns(15));
        let mut switch = Self {
            slab: Slab(vec![Packet { next: PacketId(0), ingress: 0, marked: false }; 1 << 16]),
            buffer: SharedBuffer::new(&config, &[Bytes::new(40_000); PORTS as usize])
                .expect("a buffer for sixteen ports"),
            port: Port::new(link, Scheduler::new(scheduler), config.pause_quanta),
            marker: EcnMarker::new(&ecn, rate),
            draws: RngStream::new(1, "switch path bench"),
            ingress: 0,
            now: SimTime::ZERO,
        };
        (0..WAITING).for_each(|number| switch.arrive(number));
        switch
    }

    fn arrive(&mut self, number: u32) {
        let id = PacketId(number & 0xffff);
        self.ingress = (self.ingress + 1) % (PORTS - 1);
        let ingress = self.ingress;
        let egress_queue = self.port.queued(PRIORITY);
        let egress = PORTS - 1;
        let arrival = Arrival { ingress, egress, priority: PRIORITY, len: FRAME, egress_queue };
        let admission = self.buffer.admit(arrival);
        assert!(!matches!(admission, Admission::Dropped(_)));
        let marked = self.marker.marks(egress_queue, || self.draws.bits());
        let packet = &mut self.slab.0[id.0 as usize];
        (packet.ingress, packet.marked) = (ingress, marked);
        self.port.enqueue(&mut self.slab, id, PRIORITY, FRAME);
    }

    fn depart(&mut self) {
        let (id, priority) = self.port.dequeue(&self.slab, |_, _| FRAME).expect("frames wait");
        let transmission = self.port.transmit(self.now, FRAME);
        self.now = transmission.free_at;
        let Packet { ingress, marked, .. } = self.slab.0[id.0 as usize];
        let resumes =
            self.buffer.release(Departure { ingress, egress: PORTS - 1, priority, len: FRAME });
        black_box((resumes, marked, transmission));
    }
}

fn switch_path(criterion: &mut Criterion) {
    const FRAMES: u32 = 10_000;
    let mut group = criterion.benchmark_group("switch_path");
    group.throughput(Throughput::Elements(u64::from(FRAMES)));
    let dwrr = SchedulerConfig::Dwrr { weights: vec![1, 1, 1, 8] };
    for (name, scheduler) in [("strict", SchedulerConfig::Strict), ("dwrr", dwrr)] {
        group.bench_function(name, |bencher| {
            let pass = |mut switch: Switch| {
                for number in 0..FRAMES {
                    switch.arrive(WAITING + number);
                    switch.depart();
                }
                switch
            };
            bencher.iter_batched(|| Switch::new(&scheduler), pass, BatchSize::LargeInput);
        });
    }
    group.finish();
}

criterion_group!(benches, switch_path);
criterion_main!(benches);
