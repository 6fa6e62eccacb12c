//! Whatever the bytes: a MAD comes back byte for byte, and connection managers that get it, in any
//! order, altered, twice or never, do not panic, remember nothing for ever, and come to rest.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rocelab_transport::cm::{
    AcceptReply, CmConfig, CmEvent, CmTransmit, ConnectRequest, ConnectionId, ConnectionManager,
};
use rocelab_units::SimTime;
use rocelab_wire::Gid;
use rocelab_wire::cm::{CmPath, CmaHeader, MAD_LEN, Mad, RejectReason};

const SERVICE: u64 = 0x0106_1c06;
/// Every message, each sixteen times, for each connection: no manager has more to do.
const MOST_TIMEOUTS: usize = 64;
/// More would be slow, and show little.
const MOST_COMMANDS: usize = 48;

fuzz_target!(|bytes: &[u8]| {
    check_bytes(bytes);
    let mut hosts = Hosts::new();
    let mut rest = bytes;
    for _ in 0..MOST_COMMANDS {
        let Some((&[command, argument], behind)) = rest.split_first_chunk::<2>() else { break };
        rest = behind;
        hosts.run(command, argument, rest);
    }
    hosts.come_to_rest();
});

fn check_bytes(bytes: &[u8]) {
    match Mad::parse(bytes) {
        Ok(mad) => {
            assert_eq!(mad.to_bytes(), bytes[..MAD_LEN]);
            assert!(!mad.to_string().contains('\n'));
        }
        Err(error) => assert!(bytes.len() < MAD_LEN && error.offset() == 0),
    }
    if let Ok(header) = CmaHeader::parse(bytes) {
        assert_eq!(header.to_bytes(), bytes[..CmaHeader::LEN]);
        let _ = header.to_string();
    }
    if let Ok(path) = CmPath::parse(bytes) {
        assert_eq!(path.to_bytes(), bytes[..CmPath::LEN]);
        let _ = path.to_string();
    }
}

struct Hosts {
    managers: [ConnectionManager; 2],
    now: SimTime,
    /// All that was ever sent, with its sender.
    sent: Vec<(u32, CmTransmit)>,
    /// All connections that were ever heard of, with their host.
    connections: Vec<(usize, ConnectionId)>,
}

impl Hosts {
    fn new() -> Self {
        let manager = |host: u8| {
            let gid = Gid::from_ipv4([10, 0, 0, host]);
            let mut manager = ConnectionManager::new(CmConfig::new(gid, u64::from(host)));
            manager.listen(SERVICE);
            manager
        };
        Self {
            managers: [manager(0), manager(1)],
            now: SimTime::ZERO,
            sent: Vec::new(),
            connections: Vec::new(),
        }
    }

    fn run(&mut self, command: u8, argument: u8, rest: &[u8]) {
        let host = usize::from(command >> 7);
        let picked = usize::from(argument).checked_rem(self.connections.len());
        let picked = picked.map(|at| self.connections[at]);
        match (command & 0x7f, picked) {
            (0, _) => self.connect(host, argument),
            (1, Some((host, connection))) => {
                let reply = AcceptReply::new(u32::from(argument), 2);
                let _ = self.managers[host].accept(self.now, connection, &reply);
            }
            (2, Some((host, connection))) => {
                let reason = RejectReason::CONSUMER_DEFINED;
                let _ = self.managers[host].reject(connection, reason, rest);
            }
            (3, Some((host, connection))) => {
                let _ = self.managers[host].disconnect(self.now, connection);
            }
            (4, Some((host, connection))) => {
                let _ = self.managers[host].abandon(self.now, connection);
            }
            (5, _) => self.managers[host].on_data_received(u32::from(argument)),
            (6, _) => self.time_out(host),
            (7, _) => self.managers[host].receive(self.now, u32::from(argument & 1), rest),
            (8.., _) => self.deliver(argument, rest),
            _ => {}
        }
        self.drain();
    }

    fn connect(&mut self, host: usize, argument: u8) {
        let destination = 1 - u32::try_from(host).expect("one of two");
        let gid = Gid::from_ipv4([10, 0, 0, 9]);
        let request = ConnectRequest::new(destination, gid, SERVICE, u32::from(argument), 1);
        let connection = self.managers[host].connect(self.now, &request).expect("it is valid");
        self.connections.push((host, connection));
    }

    fn time_out(&mut self, host: usize) {
        let deadline = self.managers[host].poll_timeout();
        if deadline < SimTime::NEVER {
            self.now = self.now.max(deadline);
            self.managers[host].handle_timeout(self.now);
        }
    }

    /// Delivers something that was sent once, perhaps with one byte changed.
    fn deliver(&mut self, argument: u8, rest: &[u8]) {
        let Some(at) = usize::from(argument).checked_rem(self.sent.len()) else { return };
        let (source, mut message) = self.sent[at].clone();
        if let [0xff, at, value, ..] = rest {
            message.mad[usize::from(*at)] ^= value;
        }
        let to = usize::try_from(message.destination).expect("one of two");
        if let Some(manager) = self.managers.get_mut(to) {
            manager.receive(self.now, source, &message.mad);
        }
    }

    fn drain(&mut self) {
        for (host, manager) in self.managers.iter_mut().enumerate() {
            while let Some(event) = manager.poll_event() {
                if let CmEvent::ConnectRequested { connection, .. } = event {
                    self.connections.push((host, connection));
                }
            }
            while let Some(message) = manager.poll_transmit() {
                self.sent.push((u32::from(host == 1), message));
            }
        }
    }

    /// Time passes, and nothing arrives any more.
    fn come_to_rest(&mut self) {
        for host in [0, 1] {
            let mut left = MOST_TIMEOUTS * self.managers[host].connections();
            while self.managers[host].poll_timeout() < SimTime::NEVER {
                left = left.checked_sub(1).expect("it comes to rest");
                self.time_out(host);
                self.drain();
                self.sent.clear();
            }
        }
        for (host, connection) in core::mem::take(&mut self.connections) {
            let _ = self.managers[host].abandon(self.now, connection);
        }
        for host in [0, 1] {
            self.time_out(host);
            while self.managers[host].poll_timeout() < SimTime::NEVER {
                self.time_out(host);
            }
            assert_eq!(self.managers[host].connections(), 0);
        }
    }
}
