//! Two connection managers, a wire between them, and every message lost once.

mod checkpoint;
mod connecting;
mod disconnecting;
mod robustness;

use CmAttribute::{Drep, Dreq, Mra, Rej, Rep, Req, Rtu};
use rocelab_units::{Duration, SimTime};
use rocelab_wire::Gid;
use rocelab_wire::cm::{
    AnsweredMessage, CmAttribute, CmMessage, CmaHeader, Mad, RejectReason, TCP_PORT_SPACE,
    service_id,
};

use super::*;

const ACTIVE: u32 = 0;
const PASSIVE: u32 = 1;
const SERVICE: u64 = service_id(TCP_PORT_SPACE, 4_791);
const DELAY: Duration = Duration::from_us(2);
/// What the hosts wait for the answer to a REQ, and to anything else.
const REQUEST_TIMEOUT: Duration = Duration::from_ns(2 * 1_073_741_824 + 4_294_967_296);
const RESPONSE_TIMEOUT: Duration = Duration::from_ns(4_294_967_296);
/// How long a connection stays after its end.
const TIME_WAIT: Duration = Duration::from_ns(2_147_483_648);

/// What the passive host's application does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passive {
    Accepts,
    Rejects,
    /// It never decides.
    Sleeps,
}

/// A message that the wire swallows: the n-th of a kind, from 0.
type Loss = (CmAttribute, usize);

struct Hosts {
    managers: [ConnectionManager; 2],
    now: SimTime,
    on_the_wire: Vec<(SimTime, u32, CmTransmit)>,
    losses: Vec<Loss>,
    /// All messages that were sent: by whom, what.
    sent: Vec<(u32, CmAttribute)>,
    events: [Vec<CmEvent>; 2],
    passive: Passive,
    /// How long a message is on its way.
    delay: Duration,
    /// What `accept` said.
    accepted: Option<ConnectionParameters>,
}

impl Hosts {
    fn new(losses: &[Loss]) -> Self {
        let manager = |host: u8| {
            let config = CmConfig {
                first_communication_id: 100 * (u32::from(host) + 1),
                ..CmConfig::new(Gid::from_ipv4([10, 0, 0, host]), u64::from(host))
            };
            let mut manager = ConnectionManager::new(config);
            manager.listen(SERVICE);
            manager
        };
        Self {
            managers: [manager(0), manager(1)],
            now: SimTime::ZERO,
            on_the_wire: Vec::new(),
            losses: losses.to_vec(),
            sent: Vec::new(),
            events: [Vec::new(), Vec::new()],
            passive: Passive::Accepts,
            delay: DELAY,
            accepted: None,
        }
    }

    fn connect(&mut self) -> ConnectionId {
        let gid = Gid::from_ipv4([10, 0, 0, 1]);
        let request = ConnectRequest {
            source_port: 77,
            path_mtu: 4096,
            responder_resources: 4,
            initiator_depth: 16,
            retry_count: 3,
            rnr_retry_count: 5,
            private_data: b"hello".to_vec(),
            ..ConnectRequest::new(PASSIVE, gid, SERVICE, 0x11, 0xaaa)
        };
        self.managers[0].connect(self.now, &request).expect("a valid request")
    }

    /// Runs until nothing is left to do.
    fn run(&mut self) {
        self.run_until(SimTime::NEVER);
    }

    /// Runs until nothing is left to do, or until `end`.
    fn run_until(&mut self, end: SimTime) {
        loop {
            self.step();
            let wire = self.on_the_wire.iter().map(|(at, ..)| *at);
            let timers = self.managers.iter().map(ConnectionManager::poll_timeout);
            let next = wire.chain(timers).min().unwrap_or(SimTime::NEVER);
            if next > end || next == SimTime::NEVER {
                return;
            }
            self.now = self.now.max(next);
            let due = |(at, ..): &mut (SimTime, u32, CmTransmit)| *at <= next;
            for (_, source, message) in self.on_the_wire.extract_if(.., due).collect::<Vec<_>>() {
                let to = usize::try_from(message.destination).unwrap();
                self.managers[to].receive(self.now, source, &message.mad);
            }
            self.managers.iter_mut().for_each(|manager| manager.handle_timeout(next));
        }
    }

    /// Takes all events and messages of both hosts.
    fn step(&mut self) {
        for host in [0, 1] {
            while let Some(event) = self.managers[host].poll_event() {
                self.decide(host, &event);
                self.events[host].push(event);
            }
            while let Some(message) = self.managers[host].poll_transmit() {
                let host = u32::try_from(host).unwrap();
                let mad = Mad::parse(&message.mad).unwrap();
                let kind = mad.message.attribute().unwrap();
                let nth = self.count_sent(kind);
                self.sent.push((host, kind));
                if !self.losses.contains(&(kind, nth)) {
                    self.on_the_wire.push((self.now + self.delay, host, message));
                }
            }
        }
    }

    fn decide(&mut self, host: usize, event: &CmEvent) {
        let manager = &mut self.managers[host];
        match (event, self.passive) {
            (CmEvent::ConnectRequested { connection, .. }, Passive::Accepts) => {
                let reply = AcceptReply {
                    responder_resources: 8,
                    initiator_depth: 8,
                    rnr_retry_count: 6,
                    ..AcceptReply::new(0x22, 0xbbb)
                };
                self.accepted = Some(manager.accept(self.now, *connection, &reply).unwrap());
            }
            (CmEvent::ConnectRequested { connection, .. }, Passive::Rejects) => {
                manager.reject(*connection, RejectReason::CONSUMER_DEFINED, b"no").unwrap();
            }
            (CmEvent::DisconnectRequested { connection }, _) => {
                manager.disconnect(self.now, *connection).unwrap();
            }
            _ => {}
        }
    }

    fn count_sent(&self, kind: CmAttribute) -> usize {
        self.sent.iter().filter(|(_, other)| *other == kind).count()
    }

    fn established(&self, host: usize) -> Vec<ConnectionParameters> {
        let parameters = |event: &CmEvent| match event {
            CmEvent::Established { parameters, .. } => Some(*parameters),
            _ => None,
        };
        self.events[host].iter().filter_map(parameters).collect()
    }

    /// Asserts that each side connected once.
    fn assert_established_once(&self) {
        assert_eq!((self.established(0).len(), self.established(1).len()), (1, 1));
    }

    /// Asserts that each side learned once that the connection is over, and that both know it.
    fn assert_disconnected_once(&self) {
        for events in &self.events {
            let over = |event: &&CmEvent| matches!(event, CmEvent::Disconnected { .. });
            let over: Vec<_> = events.iter().filter(over).collect();
            assert!(matches!(over[..], [CmEvent::Disconnected { confirmed: true, .. }]));
        }
    }

    /// The connection's name at the passive side.
    fn passive_id(&self) -> ConnectionId {
        let id = self.events[1].iter().find_map(|event| match event {
            CmEvent::ConnectRequested { connection, .. } => Some(*connection),
            _ => None,
        });
        id.expect("a request came")
    }

    /// Asserts that nothing is left, and that every message was understood.
    fn assert_all_released(&self) {
        for manager in &self.managers {
            assert_eq!(manager.connections(), 0);
            assert_eq!(manager.poll_timeout(), SimTime::NEVER);
            assert!(manager.by_peer.is_empty() && manager.awaiting_rtu.is_empty());
            assert_eq!(manager.counters().discarded, 0);
        }
    }
}
