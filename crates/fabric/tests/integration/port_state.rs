//! Ports that are saved in the middle of a run. A new port that loads the state goes on like the
//! port that was never saved, although its frames have other places in the slab.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rocelab_fabric::{
    Chain, ControlFrame, FlowControl, Link, OnOffFlowControl, PacketId, Port, PortExtras, Priority,
    Scheduler, SchedulerConfig, Serialisation, ShaperConfig, Shapers, TruncatingLink,
};
use rocelab_state::State;
use rocelab_units::{Bandwidth, Bytes, Duration, SimTime};
use rocelab_wire::Pfc;

/// A slab of frames: the next in the queue, a name, and a length in bytes.
#[derive(Clone, Default)]
struct Frames(Vec<(u32, u32, u32)>);

impl Chain for Frames {
    fn next(&self, id: PacketId) -> PacketId {
        PacketId(self.0[id.0 as usize].0)
    }

    fn set_next(&mut self, id: PacketId, next: PacketId) {
        self.0[id.0 as usize].0 = next.0;
    }
}

impl Frames {
    fn add(&mut self, name: u32, len: u32) -> PacketId {
        self.0.push((0, name, len));
        PacketId(u32::try_from(self.0.len() - 1).expect("there are few"))
    }

    fn len_of(&self, id: PacketId) -> u32 {
        self.0[id.0 as usize].2
    }

    fn name_of(&self, id: PacketId) -> u32 {
        self.0[id.0 as usize].1
    }
}

/// A step of the test: what happens, a priority or queue, and an amount.
type Step = (u8, u8, u16);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Most steps are arrivals and departures.
    let kind = prop_oneof![6 => 0u8..2, 2 => 2u8..5, 1 => 5u8..13];
    prop::collection::vec((kind, 0u8..8, 64u16..9_000), 1..300)
}

struct Host<L, F> {
    port: Port<L, F>,
    frames: Frames,
    now: SimTime,
}

impl<L: Serialisation, F: FlowControl> Host<L, F> {
    /// Carries out a step. Returns the result as text.
    fn step(&mut self, name: u32, (kind, queue, amount): Step) -> String {
        self.now += Duration::from_ns(u64::from(amount) / 10);
        let (now, port, len) = (self.now, &mut self.port, u32::from(amount));
        let pfc = Pfc::uniform(1 << queue, amount % 3 * amount).into();
        match kind {
            0 => {
                let id = self.frames.add(name, len);
                port.enqueue(&mut self.frames, id, queue, len);
            }
            1 => return self.send(),
            2 => port.request_pause(queue),
            3 => port.request_resume(queue),
            4 if !port.defer_control(now, &pfc) => port.receive_control(now, &pfc),
            5 => port.discard(1 << queue),
            6 => port.ignore_pauses(1 << queue),
            7 => port.cut_off(),
            8 => return format!("{:08b}", port.start_up(now)),
            9 => port.set_rate(Bandwidth::from_gbps(10 + u64::from(amount % 300))),
            10 => port.note_passed(queue),
            11 => {
                let flushed = port.flush_from(queue, &self.frames, Frames::len_of);
                return format!("{:?}", flushed.map(|id| self.frames.name_of(id)));
            }
            _ => return format!("{:?}", self.serve()),
        }
        String::new()
    }

    /// Sends a frame, as soon as possible.
    fn send(&mut self) -> String {
        let Self { port, frames, now } = self;
        if !port.is_up() {
            return String::from("down");
        }
        *now = port.free_at().max(*now);
        if let Some(pfc) = port.take_control_frame(*now) {
            return format!("{pfc:?} {:?}", port.transmit(*now, 64));
        }
        let Some((id, queue)) = port.dequeue(frames, Frames::len_of) else {
            return format!("nothing until {:?}: {:?}", port.poll_timeout(), self.serve());
        };
        let len = frames.len_of(id);
        port.note_sent(*now, queue, len);
        format!("{} of {queue}: {:?}", frames.name_of(id), port.transmit(*now, len))
    }

    /// Handles the next timeout.
    fn serve(&mut self) -> Option<ControlFrame> {
        let due = self.port.poll_timeout();
        if due != SimTime::NEVER {
            self.now = self.now.max(due);
        }
        let response = self.port.take_response(self.now);
        if let Some(pfc) = &response {
            self.port.receive_control(self.now, pfc);
        }
        self.port.handle_timeout(self.now);
        response
    }

    /// The observable state, as text.
    fn seen(&self) -> String {
        let Self { port, frames, now } = self;
        let of_queue = |queue: u8| {
            let names = port.waiting_in(queue, frames).map(|id| frames.name_of(id));
            (port.queued(queue), port.place_of(queue), names.collect::<Vec<_>>())
        };
        let pauses = (
            port.paused(),
            port.flow_control().paused_time(*now),
            port.obeyed(),
            port.flow_control().pausing(),
        );
        let times = (port.free_at(), port.poll_timeout(), port.link().rate());
        let may_go = (port.blocked(), port.has_eligible(), port.has_extras(), port.waiting_bytes());
        format!("{:?} {pauses:?} {times:?} {may_go:?}", [0, 1, 2, 3, 4, 5, 6, 7].map(of_queue))
    }

    fn saved(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.port.save(&mut bytes).expect("there are no numbers in it that are none");
        bytes
    }

    /// The same state, loaded into another port, with all frames in other places.
    fn loaded(&self, mut port: Port<L, F>) -> Self {
        let bytes = self.saved();
        let mut rest = &bytes[..];
        port.load(&mut rest).expect("the settings are the same");
        assert!(rest.is_empty());
        let mut frames = Frames(vec![(0, 0, 0); 7]);
        for queue in (0..8).rev() {
            for id in self.port.waiting_in(queue, &self.frames) {
                let id = frames.add(self.frames.name_of(id), self.frames.len_of(id));
                port.restore_waiting((queue, queue), (id, 0, 0), &mut frames);
            }
        }
        Self { port, frames, now: self.now }
    }
}

/// Compares a port that runs through with one that is saved in the middle and loaded into a `fresh`
/// one.
fn goes_on<L: Serialisation, F: FlowControl>(fresh: impl Fn() -> Port<L, F>, steps: &[Step]) {
    let mut host = Host { port: fresh(), frames: Frames::default(), now: SimTime::ZERO };
    let (before, after) = steps.split_at(steps.len() / 2);
    for (name, &step) in (0..).zip(before) {
        host.step(name, step);
    }
    let mut other = host.loaded(fresh());
    assert_eq!(other.saved(), host.saved());
    for (name, &step) in (1_000..).zip(after) {
        assert_eq!(other.seen(), host.seen());
        assert_eq!(other.step(name, step), host.step(name, step), "{step:?}");
    }
    assert_eq!(other.saved(), host.saved());
    let bytes = host.saved();
    for end in 0..bytes.len() {
        assert!(fresh().load(&mut &bytes[..end]).is_err(), "cut off at {end}");
    }
}

/// The extras of a port with two shapers, pauses that take effect late, and two priorities in one
/// queue.
fn extras() -> PortExtras {
    let shaper = |gbps| ShaperConfig { rate: Bandwidth::from_gbps(gbps), burst: Bytes::new(9_216) };
    let shapers = [(2, shaper(10)), (5, shaper(40))];
    let priority = |number| Priority::new(number).expect("it is one");
    let shapers = BTreeMap::from(shapers.map(|(number, shaper)| (priority(number), shaper)));
    PortExtras {
        shapers: Shapers::new(&shapers),
        queue_of: Some([0, 1, 2, 3, 3, 5, 6, 7]),
        pause_response: Duration::from_ns(700),
        ..PortExtras::default()
    }
}

fn disciplines() -> impl Strategy<Value = SchedulerConfig> {
    prop_oneof![
        Just(SchedulerConfig::Strict),
        Just(SchedulerConfig::RoundRobin),
        Just(SchedulerConfig::Dwrr { weights: vec![1, 2, 3, 4, 1, 7] }),
    ]
}

fn port(discipline: &SchedulerConfig) -> Port {
    let link = Link::new(Bandwidth::from_gbps(100), Duration::from_ns(50));
    Port::new(link, Scheduler::new(discipline), 500)
}

proptest! {
    #[test]
    fn a_port_goes_on(steps in steps(), discipline in disciplines(), has_extras: bool) {
        let extras = || has_extras.then(|| Box::new(extras()));
        goes_on(|| port(&discipline).with_extras(extras()), &steps);
    }

    #[test]
    fn a_port_of_hpcc_s_simulator_goes_on(steps in steps()) {
        let port = || {
            let link = TruncatingLink::new(Bandwidth::from_gbps(100), Duration::from_ns(50));
            let scheduler = Scheduler::new(&SchedulerConfig::RoundRobin);
            Port::with_flow_control(link, scheduler, OnOffFlowControl::new())
        };
        goes_on(port, &steps);
    }
}

fn bytes_of(port: &Port) -> Vec<u8> {
    let mut bytes = Vec::new();
    port.save(&mut bytes).expect("there are no numbers in it that are none");
    bytes
}

#[test]
fn a_port_has_the_settings_that_it_was_built_with() {
    let mut before = port(&SchedulerConfig::Strict).with_extras(Some(Box::new(extras())));
    before.receive_control(SimTime::ZERO, &Pfc::uniform(1 << 4, 9).into());
    assert_eq!(before.blocked(), 1 << 3, "the queue of priority 4");
    let other = PortExtras { queue_of: None, pause_response: Duration::ZERO, ..extras() };
    let mut after = port(&SchedulerConfig::Strict).with_extras(Some(Box::new(other)));
    after.load(&mut &bytes_of(&before)[..]).expect("it fits");
    assert_eq!((after.blocked(), after.paused()), (1 << 4, 1 << 4));
    assert!(!after.defer_control(SimTime::ZERO, &Pfc::uniform(1, 1).into()));
}

#[test]
fn what_does_not_fit_a_port_is_an_error() {
    let strict = bytes_of(&port(&SchedulerConfig::Strict));
    let turns = bytes_of(&port(&SchedulerConfig::RoundRobin));
    assert!(port(&SchedulerConfig::RoundRobin).load(&mut &strict[..]).is_err());
    let mut ninth = turns.clone();
    // The last two bytes are the priority that was served last, and the flag that there are no
    // extras.
    ninth[turns.len() - 2] = 8;
    assert!(port(&SchedulerConfig::RoundRobin).load(&mut &ninth[..]).is_err());
    let mut still = turns.clone();
    // The rate follows the time and the queues' bytes.
    still[8 + 8 * 4..][..8].fill(0);
    assert!(port(&SchedulerConfig::RoundRobin).load(&mut &still[..]).is_err());
    assert!(port(&SchedulerConfig::RoundRobin).load(&mut &turns[..]).is_ok());
}
