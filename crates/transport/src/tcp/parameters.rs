//! What TCP connections are told when they are set up.

use std::sync::Arc;

use rocelab_units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{TCP_HEADER_LEN, TcpAlgorithm};
use crate::congestion_control::InvalidParameter;

/// The shortest IP MTU that every IPv4 host takes (bytes).
const MIN_MTU: u16 = 576;

/// The longest IP MTU whose frames have lengths of 16 bits (bytes).
const MAX_MTU: u16 = 65_000;

/// What hosts' TCP does. Defaults are those of Linux, unless something else is said; `net/tcp.h`
/// there has the timers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TcpParameters {
    /// How the window reacts to acknowledgements and to congestion.
    pub congestion_control: TcpAlgorithm,
    /// Whether segments with new data leave as ECT(0), so that switches may mark them (RFC 3168).
    /// dctcp always does so.
    pub ecn: bool,
    /// Priority of all segments, 0 to 7.
    #[schemars(range(max = 7))]
    pub priority: u8,
    /// The longest IP packet (bytes), 576 to 65000: the payload of an Ethernet frame.
    #[schemars(range(min = 576, max = 65_000))]
    pub mtu: u16,
    /// The first congestion window (full segments), 1 to 65535. RFC 6928: 10.
    pub initial_window: u16,
    /// The receive window that is advertised, from one MTU up to 1 GB. The application reads at
    /// once, so that the window never closes.
    pub receive_window: Bytes,
    /// How long an acknowledgement is awaited before the first round-trip time is known. RFC 6298:
    /// 1 s.
    pub initial_rto: Duration,
    /// The retransmission timeout is never shorter: 200 ms in Linux. Data centres often lower it,
    /// to 5 ms for example, and with it `delayed_ack`: a timeout that is shorter than the wait for
    /// an acknowledgement expires for nothing. RFC 6298 has 1 s.
    pub min_rto: Duration,
    /// The retransmission timeout is never longer, however often it doubled: 120 s in Linux.
    pub max_rto: Duration,
    /// How long an acknowledgement waits for another segment at most: 40 ms in Linux, at most 500
    /// ms by RFC 1122. `0s` acknowledges each segment.
    pub delayed_ack: Duration,
    /// Payload of this many full segments is acknowledged at once, at least 1. RFC 5681: 2.
    pub segments_per_ack: u16,
    /// The first segments that a connection receives are acknowledged each, as slow start needs
    /// acknowledgements. Linux: up to 16.
    pub quick_acks: u16,
    /// How much of one connection may wait in its own host for the wire, segments in the send
    /// delay included: at least one full segment does. Linux limits it (TCP small queues) to
    /// 128 KiB at first, later to more. It bounds a connection's rate to limit over `send_delay`.
    pub output_limit: Bytes,
    /// From the wire to the protocol, for each segment: interrupt, driver, IP.
    pub receive_delay: Duration,
    /// From the protocol to the wire, for each segment.
    pub send_delay: Duration,
    /// Mean of a random time, exponentially distributed, that a host that was doing nothing takes
    /// longer, in each of the two directions: waking up, scheduling. Segments that come while
    /// others wait go with them, so that none overtakes another.
    pub jitter: Duration,
}

impl Default for TcpParameters {
    fn default() -> Self {
        Self {
            congestion_control: TcpAlgorithm::default(),
            ecn: false,
            priority: 0,
            mtu: 1_500,
            initial_window: 10,
            receive_window: Bytes::new(6 << 20),
            initial_rto: Duration::from_ms(1_000),
            min_rto: Duration::from_ms(200),
            max_rto: Duration::from_ms(120_000),
            delayed_ack: Duration::from_ms(40),
            segments_per_ack: 2,
            quick_acks: 16,
            output_limit: Bytes::new(128 << 10),
            receive_delay: Duration::ZERO,
            send_delay: Duration::ZERO,
            jitter: Duration::ZERO,
        }
    }
}

impl TcpParameters {
    /// Payload of a full segment (bytes), under an IP header of `ip_header_len` bytes: 20 or 40.
    #[must_use]
    pub const fn mss(&self, ip_header_len: u16) -> u16 {
        self.mtu.saturating_sub(ip_header_len + TCP_HEADER_LEN)
    }

    /// The receive window as segments say it (bytes).
    pub(super) fn window(&self) -> u32 {
        u32::try_from(self.receive_window.get()).unwrap_or(u32::MAX)
    }

    /// Whether connections use ECN.
    pub fn uses_ecn(&self) -> bool {
        self.ecn || self.congestion_control.needs_ecn()
    }

    /// Checks every parameter, but for those of the congestion control, which
    /// [`TcpAlgorithm::validate`] checks.
    ///
    /// # Errors
    /// The first parameter that cannot work, why, and what to write instead.
    pub fn validate(&self) -> Result<(), InvalidParameter> {
        self.validate_sizes()?;
        self.validate_times()
    }

    fn validate_sizes(&self) -> Result<(), InvalidParameter> {
        let priority = self.priority;
        let fix = "use a priority from 0 to 7";
        unless(priority <= 7, "priority", &priority, "does not exist", fix)?;
        let mtu = self.mtu;
        let fix = "give 576 to 65000, such as 1500 or 9000";
        unless((MIN_MTU..=MAX_MTU).contains(&mtu), "mtu", &mtu, "is no IP MTU", fix)?;
        for (key, value) in
            [("initial_window", self.initial_window), ("segments_per_ack", self.segments_per_ack)]
        {
            unless(value > 0, key, &value, "sends nothing", "give 1 or more segments")?;
        }
        let window = self.receive_window;
        let holds = (u64::from(mtu)..=1_000_000_000).contains(&window.get());
        let fix = "give one MTU or more, and at most 1GB";
        unless(holds, "receive_window", &window, "is no receive window", fix)
    }

    fn validate_times(&self) -> Result<(), InvalidParameter> {
        let longest = Duration::from_ms(3_600_000);
        for (key, time) in [
            ("initial_rto", self.initial_rto),
            ("min_rto", self.min_rto),
            ("max_rto", self.max_rto),
        ] {
            let holds = Duration::from_us(1) <= time && time <= longest;
            let fix = "give 1us to 3600s, such as \"200ms\"";
            unless(holds, key, &time, "is no retransmission timeout", fix)?;
        }
        let fix = "raise it, or lower min_rto";
        unless(self.min_rto <= self.max_rto, "max_rto", &self.max_rto, "is below min_rto", fix)?;
        for (key, time) in [
            ("delayed_ack", self.delayed_ack),
            ("receive_delay", self.receive_delay),
            ("send_delay", self.send_delay),
            ("jitter", self.jitter),
        ] {
            unless(time <= longest, key, &time, "is longer than any run", "give at most 3600s")?;
        }
        Ok(())
    }
}

fn unless(
    holds: bool,
    key: &'static str,
    value: &dyn std::fmt::Display,
    problem: &'static str,
    fix: &'static str,
) -> Result<(), InvalidParameter> {
    if holds {
        Ok(())
    } else {
        Err(InvalidParameter {
            key,
            value: value.to_string(),
            problem: problem.into(),
            fix: fix.into(),
        })
    }
}

/// What a [`TcpHost`](super::TcpHost) is told at set-up. All connections of a host have the same
/// parameters.
#[derive(Clone, Debug)]
pub struct TcpHostConfig {
    /// What its TCP does.
    pub parameters: Arc<TcpParameters>,
    /// Bytes before the TCP header of every frame: Ethernet (14), an 802.1Q tag (4), IP.
    pub encapsulation_len: u16,
    /// Bytes of the IP header, part of `encapsulation_len`: 20 or 40.
    pub ip_header_len: u16,
    /// Seeds the random stream of [`TcpParameters::jitter`]; each host should have another.
    pub seed: u64,
}

/// What an end of a connection is told when it is opened. Both ends exist from the start: nothing
/// is exchanged to open or to close.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct TcpConnectionConfig {
    /// Its number on this host. Numbers are best dense from 0.
    pub number: u32,
    /// Its number on the other host.
    pub peer: u32,
    /// Which end this is.
    pub role: TcpRole,
    /// Where its segments go, in the words of the network: given back with each of them.
    pub destination: u32,
    /// What equal-cost multipath tells its segments by: given back with each of them.
    pub entropy: u32,
    /// Sequence number of the first payload byte. The same at both ends.
    pub initial_sequence: u32,
}

/// Which end of a connection it is. Data goes one way only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub enum TcpRole {
    /// It sends data and receives acknowledgements.
    Sender,
    /// It receives data and sends acknowledgements.
    Receiver,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid_and_come_back() {
        let parameters = TcpParameters::default();
        assert_eq!(parameters.validate(), Ok(()));
        let text = toml::to_string(&parameters).unwrap();
        assert_eq!(toml::from_str::<TcpParameters>(&text).unwrap(), parameters, "{text}");
        assert_eq!(toml::from_str::<TcpParameters>("").unwrap(), parameters);
        assert_eq!((parameters.mss(20), parameters.mss(40)), (1_460, 1_440));
    }

    #[test]
    fn dctcp_is_always_with_ecn() {
        let parameters: TcpParameters = toml::from_str("[congestion_control.dctcp]").unwrap();
        assert!(parameters.uses_ecn() && !parameters.ecn);
        assert!(!TcpParameters::default().uses_ecn());
    }

    #[test]
    fn wrong_parameters_are_named() {
        for (text, key) in [
            ("priority = 8", "priority"),
            ("mtu = 500", "mtu"),
            ("mtu = 65001", "mtu"),
            ("initial_window = 0", "initial_window"),
            ("segments_per_ack = 0", "segments_per_ack"),
            ("receive_window = \"1499B\"", "receive_window"),
            ("receive_window = \"2GB\"", "receive_window"),
            ("min_rto = \"0s\"", "min_rto"),
            ("max_rto = \"100ms\"", "max_rto"),
            ("send_delay = \"2h\"", "send_delay"),
            ("jitter = \"4000s\"", "jitter"),
        ] {
            match toml::from_str::<TcpParameters>(text) {
                Ok(parameters) => assert_eq!(parameters.validate().unwrap_err().key, key),
                Err(error) => assert!(error.to_string().contains(key), "{error}"),
            }
        }
    }
}
