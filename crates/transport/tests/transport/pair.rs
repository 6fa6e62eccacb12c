//! Two NICs, one clock, and a full-duplex wire with a latency and a rule for faults.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use rocelab_transport::{
    AckTimeout, Algorithm, Completion, CompletionStatus, Content, FIRST_QPN, Nic, NicConfig,
    Operation, Packet, PathMtu, QueuePairConfig, QueuePairProfile, ReceiveCompletion,
    ReceiveQueueConfig, Transmit, WorkRequest,
};
use rocelab_units::{Bandwidth, Bytes, Duration, SimTime};
use rocelab_wire::{Encapsulation, TelemetryHeader, encapsulation_len};

/// The queue pair that both ends use unless a test makes more.
pub(crate) const QPN: u32 = FIRST_QPN;

/// What becomes of a frame on the wire.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fate {
    Deliver,
    Drop,
    /// It arrives with "congestion experienced".
    Mark,
    /// It arrives twice, the second time so much later.
    Duplicate(Duration),
    /// It arrives so much later, behind others.
    Delay(Duration),
}

/// A frame that left a NIC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    pub(crate) time: SimTime,
    pub(crate) side: usize,
    pub(crate) transmit: Transmit,
    /// What the packet takes along.
    pub(crate) telemetry: Option<TelemetryHeader>,
}

pub(crate) type Rule = Box<dyn FnMut(&Departure) -> Fate>;

/// What a switch on the wire writes into packets.
pub(crate) type Stamp = Box<dyn FnMut(&Departure, &mut TelemetryHeader)>;

pub(crate) struct Pair {
    pub(crate) nics: [Nic; 2],
    pub(crate) now: SimTime,
    pub(crate) latency: Duration,
    pub(crate) rule: Rule,
    pub(crate) stamp: Stamp,
    pub(crate) log: Vec<Departure>,
    pub(crate) completions: [Vec<Completion>; 2],
    pub(crate) received: [Vec<ReceiveCompletion>; 2],
    /// Length of each message, in the order of its delivery at that side; of several at once, the
    /// sum.
    pub(crate) delivered: [Vec<u64>; 2],
    /// Whether a packet may end several messages, the others having arrived before it.
    pub(crate) reorders: bool,
    /// Whether the NICs are woken at times when nothing is due, too.
    pub(crate) spurious: bool,
    pub(crate) keep_log: bool,
    line_rate: Bandwidth,
    free: [SimTime; 2],
    on_wire: BinaryHeap<Reverse<(SimTime, u64)>>,
    arrivals: Vec<Arrival>,
}

/// A packet on its way to a side.
type Arrival = (usize, Packet, Option<TelemetryHeader>, Option<Content>);

pub(crate) fn profile() -> QueuePairProfile {
    QueuePairProfile {
        ack_interval: 16,
        ack_timeout: AckTimeout::try_from(6).unwrap(),
        ecn_capable: true,
        base_rtt: Duration::from_us(3),
        ..QueuePairProfile::new(PathMtu::try_from(1024).unwrap())
    }
}

/// An algorithm from the text of its table.
pub(crate) fn algorithm(name: &str, parameters: &str) -> Algorithm {
    #[derive(serde::Deserialize)]
    struct Scenario {
        congestion_control: Algorithm,
    }
    let text = format!("[congestion_control.{name}]\n{parameters}");
    toml::from_str::<Scenario>(&text).unwrap().congestion_control
}

/// A connection of queue pair `QPN + index` at both ends.
pub(crate) fn ends(profile: &Arc<QueuePairProfile>, index: u32) -> [QueuePairConfig; 2] {
    let end = |initial_psn, remote_initial_psn| QueuePairConfig {
        qpn: QPN + index,
        dest_qp: QPN + index,
        destination: 7,
        entropy: 0xc000 + index,
        more_entropies: (1..profile.path_entropy.numbers()).map(|place| 0xd000 + place).collect(),
        initial_psn,
        remote_initial_psn,
        priority: 3,
        marking: 3,
        receive_queue: ReceiveQueueConfig::Endless,
        q_key: 0,
        alternate_path: None,
        profile: Arc::clone(profile),
    };
    [end(0xff_fffe, 100), end(100, 0xff_fffe)]
}

pub(crate) fn work(id: u64, operation: Operation, length: u32) -> WorkRequest {
    WorkRequest::new(id, operation, length).to(0x1000, 5)
}

impl Pair {
    /// Two connected NICs at 100 Gb/s, 1 us apart, RoCE v2 over IPv4.
    pub(crate) fn new(profile: QueuePairProfile) -> Self {
        let mut pair = Self::without_queue_pairs(Bandwidth::from_gbps(100));
        pair.connect(ends(&Arc::new(profile), 0));
        pair
    }

    pub(crate) fn without_queue_pairs(line_rate: Bandwidth) -> Self {
        let before_bth = encapsulation_len(Encapsulation::V2Ipv4, false);
        let config =
            NicConfig { line_rate, encapsulation_len: u16::try_from(before_bth).unwrap(), seed: 0 };
        Self {
            nics: [Nic::new(config), Nic::new(config)],
            now: SimTime::ZERO,
            latency: Duration::from_us(1),
            rule: Box::new(|_| Fate::Deliver),
            stamp: Box::new(|_, _| ()),
            log: Vec::new(),
            completions: Default::default(),
            received: Default::default(),
            delivered: Default::default(),
            reorders: false,
            spurious: false,
            keep_log: true,
            line_rate,
            free: [SimTime::ZERO; 2],
            on_wire: BinaryHeap::new(),
            arrivals: Vec::new(),
        }
    }

    pub(crate) fn connect(&mut self, [a, b]: [QueuePairConfig; 2]) {
        self.nics[0].create_queue_pair(a);
        self.nics[1].create_queue_pair(b);
    }

    pub(crate) fn post(&mut self, side: usize, qpn: u32, work: WorkRequest) {
        self.nics[side].post_send(self.now, qpn, work).unwrap();
    }

    /// Runs until nothing is left to happen.
    #[track_caller]
    pub(crate) fn drive(&mut self) {
        self.drive_until(SimTime::from_ps(60_000_000_000_000));
        assert!(self.on_wire.is_empty(), "still busy after a minute");
    }

    /// Runs until nothing is left to happen, or to `end`.
    pub(crate) fn drive_until(&mut self, end: SimTime) {
        loop {
            self.pump(0);
            self.pump(1);
            let next = self.next_event();
            if next == SimTime::NEVER {
                return;
            }
            assert!(next >= self.now, "nothing is overdue");
            if next > end {
                self.now = end;
                return;
            }
            self.now = next;
            self.wake();
            self.deliver();
        }
    }

    /// Departures of side `side` that carry data or ask for it.
    pub(crate) fn requests(&self, side: usize) -> impl Iterator<Item = &Departure> {
        self.log.iter().filter(move |departure| {
            departure.side == side && departure.transmit.packet.opcode().is_request()
        })
    }

    /// All work of `side` succeeded, in order, each once.
    #[track_caller]
    pub(crate) fn assert_all_succeeded(&self, side: usize, ids: std::ops::Range<u64>) {
        let completions = &self.completions[side];
        let seen: Vec<u64> = completions.iter().map(|completion| completion.id).collect();
        assert_eq!(seen, ids.collect::<Vec<_>>());
        for completion in completions {
            assert_eq!(completion.status, CompletionStatus::Success, "{completion:?}");
        }
    }

    fn pump(&mut self, side: usize) {
        let nic = &mut self.nics[side];
        if self.free[side] > self.now {
            return;
        }
        if nic.next_release() <= self.now {
            nic.handle_timeout(self.now);
        }
        let promised = nic.is_ready(0);
        let transmit = nic.poll_transmit(self.now, 0);
        assert_eq!(promised, transmit.is_some(), "is_ready tells the truth");
        if let Some(transmit) = transmit {
            let telemetry = nic.take_telemetry(&transmit.packet);
            let content = nic.take_content(&transmit.packet);
            assert_eq!(content.is_some(), transmit.packet.has_content(), "a packet says so");
            self.depart(Departure { time: self.now, side, transmit, telemetry }, content);
        }
        self.collect(side);
    }

    fn depart(&mut self, departure: Departure, content: Option<Content>) {
        let Departure { side, transmit, .. } = departure;
        let time_of = |bytes| self.line_rate.transmission_time(Bytes::new(bytes));
        let len = u64::from(transmit.frame_len);
        self.free[side] = self.now + time_of(len + 20);
        let arrival = self.now + time_of(len + 8) + self.latency;
        if self.keep_log {
            self.log.push(departure);
        }
        let mut packet = transmit.packet;
        let mut telemetry = departure.telemetry;
        if let Some(header) = telemetry.as_mut().filter(|_| packet.opcode().is_request()) {
            (self.stamp)(&departure, header);
        }
        let mut arrive = |time, packet| {
            self.on_wire.push(Reverse((time, self.arrivals.len() as u64)));
            self.arrivals.push((1 - side, packet, telemetry, content.clone()));
        };
        match (self.rule)(&departure) {
            Fate::Drop => {}
            Fate::Deliver => arrive(arrival, packet),
            Fate::Mark => {
                packet.set_ce();
                arrive(arrival, packet);
            }
            Fate::Delay(delay) => arrive(arrival + delay, packet),
            Fate::Duplicate(delay) => {
                arrive(arrival, packet);
                arrive(arrival + delay, packet);
            }
        }
    }

    fn next_event(&self) -> SimTime {
        let wire = self.on_wire.peek().map_or(SimTime::NEVER, |&Reverse((time, _))| time);
        let nics = [0, 1].map(|side| {
            let nic = &self.nics[side];
            let sends = if nic.is_ready(0) { self.free[side] } else { SimTime::NEVER };
            let released = nic.next_release().max(self.free[side]);
            sends.min(released).min(nic.poll_timeout())
        });
        wire.min(nics[0]).min(nics[1])
    }

    fn wake(&mut self) {
        for side in [0, 1] {
            if self.spurious || self.nics[side].poll_timeout() <= self.now {
                self.nics[side].handle_timeout(self.now);
                self.collect(side);
            }
        }
    }

    fn deliver(&mut self) {
        while let Some(&Reverse((time, index))) = self.on_wire.peek() {
            if time > self.now {
                break;
            }
            self.on_wire.pop();
            let (side, packet, header, content) =
                &mut self.arrivals[usize::try_from(index).unwrap()];
            let (side, packet, header, content) = (*side, *packet, *header, content.take());
            let telemetry = header.as_ref();
            let before = self.nics[side].counters().clone();
            let source = 1 - u32::try_from(side).unwrap();
            self.nics[side].receive_from(self.now, &packet, telemetry, source, content);
            let after = self.nics[side].counters();
            let messages = after.messages_delivered - before.messages_delivered;
            assert!(messages <= 1 || self.reorders, "a packet ends at most one message");
            if messages > 0 {
                self.delivered[side].push(after.payload_delivered - before.payload_delivered);
            }
            self.collect(side);
        }
    }

    fn collect(&mut self, side: usize) {
        while let Some(completion) = self.nics[side].poll_completion() {
            self.completions[side].push(completion);
        }
        while let Some(completion) = self.nics[side].poll_receive_completion() {
            self.received[side].push(completion);
        }
    }
}
