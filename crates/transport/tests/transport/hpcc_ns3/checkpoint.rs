//! A NIC that is saved, and loaded into one that is set up anew, goes on as if nothing had happened.

use rocelab_wire::{IntHeader, IntHop, TelemetryHeader};

use super::*;

/// Two NICs 500 ns apart, and what is between them.
struct Hosts {
    nics: [Nic<u64>; 2],
    outside: Outside,
    free: [SimTime; 2],
    on_wire: Vec<(SimTime, usize, Departure, IntHeader)>,
    now: SimTime,
    /// What left, when, and with what.
    log: Vec<(SimTime, usize, Departure, IntHeader)>,
    ends: Vec<(SimTime, FlowEnd)>,
}

const SIZES: [u32; 2] = [60_000, 45_500];

/// What the NIC is told of a flow.
fn described(number: u32) -> Option<(Flow, Path, u64)> {
    let size = *SIZES.get(number as usize)?;
    let flow = Flow { number, destination: 1, ports: 100 << 16 | 10_000, size, priority: 3 };
    let base_rtt = Duration::from_us(4);
    Some((
        flow,
        Path {
            line_rate: LINE,
            base_rtt,
            bdp: 8_000,
            path_mtu: 1_000,
            others: 0,
            seed: 0,
            start: SimTime::ZERO,
        },
        8_000,
    ))
}

fn saved(nic: &Nic<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    nic.save(&mut bytes).unwrap();
    bytes
}

impl Hosts {
    fn new(algorithm: &str) -> Self {
        let mut nics = [nic(algorithm).0, nic(algorithm).0];
        for number in 0..2 {
            let (flow, path, window) = described(number).unwrap();
            nics[0].start(at(0), &flow, &path, window);
        }
        Self {
            nics,
            outside: Outside::default(),
            free: [at(0); 2],
            on_wire: Vec::new(),
            now: at(0),
            log: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Runs until nothing is left to do; after each event `after` may do something.
    fn run(&mut self, mut after: impl FnMut(&mut Self)) {
        while self.step() {
            after(self);
        }
    }

    fn step(&mut self) -> bool {
        self.transmit(0);
        self.transmit(1);
        let mut next = self.on_wire.iter().map(|&(time, ..)| time).min();
        for side in [0, 1] {
            let timer = self.nics[side].next_timeout().map(|(time, _)| time);
            let free = Some(self.free[side]).filter(|&free| free > self.now);
            next = next.into_iter().chain(timer).chain(free).min();
        }
        let Some(next) = next else { return false };
        self.now = next;
        for side in [0, 1] {
            while let Some((time, tie)) = self.nics[side].next_timeout().filter(|t| t.0 <= next) {
                self.nics[side].handle_timeout(time, tie, &mut self.outside);
            }
        }
        self.arrive();
        while let Some(end) = self.nics[0].poll_end() {
            self.ends.push((self.now, end));
        }
        true
    }

    /// The fifth and every seventeenth frame is lost, every third marked.
    fn transmit(&mut self, side: usize) {
        if self.free[side] > self.now {
            return;
        }
        let nic = &mut self.nics[side];
        let Some(mut departure) = nic.poll_transmit(self.now, 0, &mut self.outside) else { return };
        let mut telemetry = nic.take_telemetry(&departure.packet);
        self.log.push((self.now, side, departure, telemetry));
        let time = LINE.transmission_time(Bytes::new(departure.frame_len.into()));
        self.free[side] = self.now + time;
        let count = self.log.len();
        if count == 5 || count.is_multiple_of(17) {
            return;
        }
        if departure.packet.kind == Kind::Data {
            if count.is_multiple_of(3) {
                departure.packet.mark();
            }
            let ns = self.now.ps() / 1_000;
            telemetry.push(IntHop::new(ns, ns, ns % 3_000, 10_000_000_000, 1).unwrap());
        }
        let arrival = self.free[side] + Duration::from_ns(500);
        self.on_wire.push((arrival, 1 - side, departure, telemetry));
    }

    fn arrive(&mut self) {
        let now = self.now;
        let due = |(time, ..): &mut (SimTime, usize, Departure, IntHeader)| *time <= now;
        for (_, side, departure, header) in self.on_wire.extract_if(.., due).collect::<Vec<_>>() {
            let header = TelemetryHeader::Int(header);
            let (packet, ports) = (&departure.packet, departure.ports);
            self.nics[side].receive(now, packet, 0, ports, Some(&header), &mut self.outside);
        }
    }

    fn exchange(&mut self, algorithm: &str) {
        for held in &mut self.nics {
            let bytes = saved(held);
            let mut anew = nic(algorithm).0;
            let mut rest = &bytes[..];
            anew.load_with(&mut rest, described).unwrap();
            assert!(rest.is_empty(), "all that was saved was loaded");
            assert_eq!(saved(&anew), bytes, "what was loaded is what was saved");
            *held = anew;
        }
    }
}

#[test]
fn what_is_loaded_goes_on_exactly() {
    for algorithm in [
        "none = {}",
        "dcqcn = { preset = \"hpcc\" }",
        "dcqcn = { preset = \"nvidia\" }",
        "timely = { preset = \"hpcc\" }",
        "dctcp = {}",
        "hpcc = {}",
        "hpcc-pint = {}",
    ] {
        let (mut uninterrupted, mut resumed) = (Hosts::new(algorithm), Hosts::new(algorithm));
        uninterrupted.run(|_| ());
        resumed.run(|hosts| hosts.exchange(algorithm));
        assert_eq!(uninterrupted.ends.len(), 2, "{algorithm}: {:?}", uninterrupted.ends);
        assert!(uninterrupted.ends.iter().any(|(_, end)| end.retransmissions > 0));
        assert_eq!(uninterrupted.log, resumed.log, "{algorithm}");
        assert_eq!(uninterrupted.ends, resumed.ends, "{algorithm}");
        assert_eq!(uninterrupted.nics.map(|nic| saved(&nic)), resumed.nics.map(|nic| saved(&nic)));
    }
}

#[test]
fn what_does_not_fit_is_an_error() {
    let mut hosts = Hosts::new("dcqcn = { preset = \"hpcc\" }");
    for _ in 0..40 {
        hosts.step();
    }
    let bytes = saved(&hosts.nics[0]);
    let load =
        |algorithm: &str, bytes: &[u8]| nic(algorithm).0.load_with(&mut &bytes[..], described);
    assert!(load("dcqcn = { preset = \"hpcc\" }", &bytes).is_ok());
    assert!(load("none = {}", &bytes).is_err(), "another congestion control");
    for end in 0..bytes.len() {
        assert!(load("dcqcn = { preset = \"hpcc\" }", &bytes[..end]).is_err(), "{end}");
    }
    for place in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[place] = damaged[place].wrapping_add(0x5b);
        // Refused, or loaded: no panic.
        let _ = load("dcqcn = { preset = \"hpcc\" }", &damaged);
    }
    let mut unknown = nic("dcqcn = { preset = \"hpcc\" }").0;
    assert!(unknown.load_with(&mut &bytes[..], |_| None).is_err(), "nobody knows the flows");
}
