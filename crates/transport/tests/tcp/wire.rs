//! Two hosts, one clock, and a full-duplex wire with a latency and a rule for faults.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use rocelab_transport::tcp::{
    SackBlocks, TcpCompletion, TcpConnectionConfig, TcpEnd, TcpHost, TcpHostConfig, TcpParameters,
    TcpReceiver, TcpRole, TcpSegment, TcpSender, TcpTransmit,
};
use rocelab_units::{Bandwidth, Bytes, Duration, SimTime};

/// Payload of a full segment with the MTU of [`parameters`].
pub(crate) const MSS: u64 = 1_000;

/// What becomes of a frame on the wire.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fate {
    Deliver,
    Drop,
    /// It arrives with "congestion experienced", if it is ECN-capable.
    Mark,
    /// It arrives twice, the second time so much later.
    Duplicate(Duration),
    /// It arrives so much later, behind others.
    Delay(Duration),
}

/// A segment that left a host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    pub(crate) time: SimTime,
    pub(crate) side: usize,
    pub(crate) segment: TcpSegment,
    pub(crate) sack: Option<SackBlocks>,
}

pub(crate) type Rule = Box<dyn FnMut(&Departure) -> Fate>;

/// Host 0 sends, host 1 receives.
pub(crate) struct Pair {
    pub(crate) hosts: [TcpHost; 2],
    pub(crate) now: SimTime,
    pub(crate) latency: Duration,
    pub(crate) rule: Rule,
    pub(crate) log: Vec<Departure>,
    pub(crate) keep_log: bool,
    pub(crate) completions: [Vec<(SimTime, TcpCompletion)>; 2],
    line_rate: Bandwidth,
    free: [SimTime; 2],
    on_wire: BinaryHeap<Reverse<(SimTime, usize)>>,
    arrivals: Vec<Option<(usize, TcpSegment, Option<SackBlocks>)>>,
}

/// Segments of 1000 bytes, each acknowledged in pairs from the start.
pub(crate) fn parameters(algorithm: &str) -> TcpParameters {
    let text = format!(
        "mtu = 1040
        quick_acks = 0
        [congestion_control.{algorithm}]"
    );
    toml::from_str(&text).unwrap()
}

impl Pair {
    /// Two hosts at 10 Gb/s, 50 us apart, with one connection.
    pub(crate) fn new(parameters: TcpParameters) -> Self {
        Self::with_connections(parameters, 1, 0xffff_f000)
    }

    pub(crate) fn with_connections(
        parameters: TcpParameters,
        count: u32,
        initial_sequence: u32,
    ) -> Self {
        let parameters = Arc::new(TcpParameters { priority: 1, ..parameters });
        assert_eq!(parameters.validate(), Ok(()));
        let host = |seed| {
            TcpHost::new(TcpHostConfig {
                parameters: Arc::clone(&parameters),
                encapsulation_len: 34,
                ip_header_len: 20,
                seed,
            })
        };
        let mut hosts = [host(1), host(2)];
        for number in 0..count {
            for (side, role) in [(0, TcpRole::Sender), (1, TcpRole::Receiver)] {
                hosts[side].open(TcpConnectionConfig {
                    number,
                    peer: number,
                    role,
                    destination: 7,
                    entropy: number,
                    initial_sequence,
                });
            }
        }
        Self {
            hosts,
            now: SimTime::ZERO,
            latency: Duration::from_us(50),
            rule: Box::new(|_| Fate::Deliver),
            log: Vec::new(),
            keep_log: true,
            completions: [Vec::new(), Vec::new()],
            line_rate: Bandwidth::from_gbps(10),
            free: [SimTime::ZERO; 2],
            on_wire: BinaryHeap::new(),
            arrivals: Vec::new(),
        }
    }

    /// Connection 0 is to bring so many bytes across.
    pub(crate) fn transfer(&mut self, bytes: u64) {
        self.transfer_on(0, bytes);
    }

    pub(crate) fn transfer_on(&mut self, connection: u32, bytes: u64) {
        let now = self.now;
        self.hosts[0].post_send(now, connection, 1, bytes).unwrap();
        self.hosts[1].post_receive(now, connection, 2, bytes).unwrap();
    }

    pub(crate) fn sender(&self) -> &TcpSender {
        match self.hosts[0].connection(0).unwrap().end() {
            TcpEnd::Sender(sender) => sender,
            TcpEnd::Receiver(_) => unreachable!(),
        }
    }

    pub(crate) fn receiver(&self) -> &TcpReceiver {
        match self.hosts[1].connection(0).unwrap().end() {
            TcpEnd::Receiver(receiver) => receiver,
            TcpEnd::Sender(_) => unreachable!(),
        }
    }

    /// Data that left host 0.
    pub(crate) fn data(&self) -> impl Iterator<Item = &Departure> {
        self.log.iter().filter(|departure| departure.side == 0)
    }

    /// Acknowledgements that left host 1.
    pub(crate) fn acks(&self) -> impl Iterator<Item = &Departure> {
        self.log.iter().filter(|departure| departure.side == 1)
    }

    /// Runs until nothing is to be done any more.
    pub(crate) fn run(&mut self) {
        self.advance(SimTime::from_ps(u64::MAX - 1));
        for host in &self.hosts {
            assert_eq!(host.poll_timeout(), SimTime::NEVER);
        }
    }

    /// Runs until `end`.
    pub(crate) fn run_until(&mut self, end: SimTime) {
        self.advance(end);
        self.now = self.now.max(end);
    }

    fn advance(&mut self, end: SimTime) {
        for step in 0_u64.. {
            assert!(step < 50_000_000, "it does not end");
            self.transmit();
            let next = self.next();
            if next > end {
                break;
            }
            self.now = self.now.max(next);
            self.arrive();
            for host in &mut self.hosts {
                host.handle_timeout(self.now);
            }
            self.collect();
        }
    }

    fn next(&self) -> SimTime {
        let mut next = self.on_wire.peek().map_or(SimTime::NEVER, |&Reverse((time, _))| time);
        for (host, &free) in self.hosts.iter().zip(&self.free) {
            next = next.min(host.poll_timeout());
            if host.is_ready(0) {
                next = next.min(free.max(self.now));
            }
        }
        next
    }

    fn transmit(&mut self) {
        for side in 0..2 {
            if self.free[side] > self.now {
                continue;
            }
            if let Some(transmit) = self.hosts[side].poll_transmit(self.now, 0) {
                self.depart(side, &transmit);
            }
        }
    }

    fn depart(&mut self, side: usize, transmit: &TcpTransmit) {
        let segment = transmit.segment;
        let sack = self.hosts[side].sack_blocks(&segment);
        let bytes = Bytes::new(u64::from(transmit.frame_len) + 20);
        self.free[side] = self.now + self.line_rate.transmission_time(bytes);
        let departure = Departure { time: self.now, side, segment, sack };
        let mut arrival = segment;
        let at = self.free[side] + self.latency;
        let (first, second) = match (self.rule)(&departure) {
            Fate::Deliver => (Some(at), None),
            Fate::Drop => (None, None),
            Fate::Mark => {
                if arrival.ecn().is_capable() {
                    arrival.set_ce();
                }
                (Some(at), None)
            }
            Fate::Duplicate(later) => (Some(at), Some(at + later)),
            Fate::Delay(later) => (Some(at + later), None),
        };
        for at in [first, second].into_iter().flatten() {
            self.on_wire.push(Reverse((at, self.arrivals.len())));
            self.arrivals.push(Some((1 - side, arrival, sack)));
        }
        if self.keep_log {
            self.log.push(departure);
        }
    }

    fn arrive(&mut self) {
        while let Some(&Reverse((time, index))) = self.on_wire.peek() {
            if time > self.now {
                break;
            }
            self.on_wire.pop();
            let (side, segment, sack) = self.arrivals[index].take().unwrap();
            self.hosts[side].receive(self.now, &segment, sack.as_ref());
        }
        if self.on_wire.is_empty() {
            self.arrivals.clear();
        }
    }

    fn collect(&mut self) {
        for (host, completions) in self.hosts.iter_mut().zip(&mut self.completions) {
            while let Some(completion) = host.poll_completion() {
                completions.push((self.now, completion));
            }
        }
    }

    /// The only completion of each side.
    pub(crate) fn check_done(&self, bytes: u64) {
        for side in 0..2 {
            let completion = self.completions[side][0].1;
            assert_eq!((self.completions[side].len(), completion.bytes), (1, bytes));
        }
        assert_eq!(self.hosts[1].counters().payload_delivered, bytes);
        assert_eq!((self.receiver().delivered(), self.receiver().waiting()), (bytes, 0));
        assert_eq!((self.sender().acknowledged(), self.sender().in_flight()), (bytes, 0));
    }
}

/// Which segment of the stream of a connection that began at `first` a departure is.
pub(crate) fn number(departure: &Departure, first: u32) -> u64 {
    u64::from(departure.segment.seq.wrapping_sub(first)) / MSS
}
