//! UDP (RFC 768) at a constant rate: background traffic that reacts to nothing.
//!
//! Datagram k of a stream is due when the payload of those before it has taken its time at the stream's
//! rate. If the port is busy or paused then, it waits, and those behind it: none is lost in the sending
//! host, and the rate is made up for later. What is lost on the way is lost.

use core::net::IpAddr;

use rocelab_units::{Bandwidth, Bytes, SimTime};
use rocelab_wire::{PROTOCOL_UDP, Udp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Definition, Format, Period, Role, Site, Stream, StreamEnd, StreamPacket};
use crate::congestion_control::InvalidParameter;

/// The first of the ports that senders have: the dynamic ones (RFC 6335).
const FIRST_DYNAMIC_PORT: u16 = 49_152;
/// Number of dynamic ports.
const DYNAMIC_PORTS: u32 = 16_384;
/// The port that datagrams go to: of the discard protocol (RFC 863).
const DISCARD_PORT: u16 = 9;
/// The most payload of a datagram: with IPv6, its IP packet has 9,000 bytes.
const MAX_DATAGRAM: u64 = 8_952;

/// `[[host.stack.udp]]`: one stream of datagrams.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "UdpParameters")]
pub struct Parameters {
    /// The host that sends.
    pub from: String,
    /// The host that receives.
    pub to: String,
    /// Payload in each second, without headers; at most what the sender's link carries.
    pub rate: Bandwidth,
    /// Payload of a datagram. Default: 1,472 bytes, an IPv4 packet of 1,500 bytes.
    #[serde(default = "datagram")]
    pub datagram: Bytes,
    /// Priority 0 to 7.
    #[serde(default)]
    #[schemars(range(max = 7))]
    pub priority: u8,
    /// When the first datagram is due. Default: 0s.
    #[serde(default)]
    pub start: SimTime,
    /// No datagram is due from then on. Default: never; then the run must have a `stop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<SimTime>,
}

const fn datagram() -> Bytes {
    Bytes::new(1_472)
}

impl Parameters {
    pub(super) fn end(&self, role: Role, period: Period) -> End {
        let payload_len = self.format().largest_payload;
        let next = if role == Role::Source { period.start } else { SimTime::NEVER };
        End { rate: self.rate, payload_len, period, sent: 0, next }
    }
}

impl Definition for Parameters {
    fn stream(&self) -> Stream<'_> {
        let &Self { ref from, ref to, priority, start, stop, .. } = self;
        Stream { from, to, priority, start, stop }
    }

    fn format(&self) -> Format {
        const HEADER_LEN: u16 = 8;
        const _: () = assert!(HEADER_LEN as usize == Udp::LEN);
        let largest_payload = u16::try_from(self.datagram.get()).unwrap_or(u16::MAX);
        Format { protocol: PROTOCOL_UDP, header_len: HEADER_LEN, largest_payload }
    }

    fn validate(&self, site: Site) -> Result<(), InvalidParameter> {
        let holds = (1..=MAX_DATAGRAM).contains(&self.datagram.get());
        let problem = "is no payload of a datagram that goes into one frame";
        InvalidParameter::unless(holds, "datagram", &self.datagram, problem, "give 1B to 8952B")?;
        let has_rate = self.rate.bits_per_second() > 0;
        let fix = "give a rate above 0bps, such as \"10Gbps\"";
        InvalidParameter::unless(has_rate, "rate", &self.rate, "sends nothing", fix)?;
        let Format { header_len, largest_payload, .. } = self.format();
        let on_link = site.time_on_link(header_len + largest_payload);
        let holds = on_link <= self.rate.transmission_time(self.datagram);
        let problem = "is more than the sender's link carries, with headers";
        InvalidParameter::unless(holds, "rate", &self.rate, problem, "give a lower rate")
    }

    fn ports(&self, number: u32) -> (u16, u16) {
        let place = u16::try_from(number % DYNAMIC_PORTS).unwrap_or(0);
        (FIRST_DYNAMIC_PORT + place, DISCARD_PORT)
    }

    fn to_bytes(&self, packet: &StreamPacket, source: IpAddr, destination: IpAddr) -> Vec<u8> {
        let (source_port, destination_port) = self.ports(packet.stream);
        let data = vec![0; packet.payload_len.into()];
        let length = self.format().header_len + packet.payload_len;
        let header = Udp { source_port, destination_port, length, checksum: 0 };
        let checksum = header.computed_checksum(source, destination, &data);
        [&Udp { checksum, ..header }.to_bytes()[..], &data].concat()
    }
}

/// One end of a stream.
#[derive(Debug)]
pub(super) struct End {
    rate: Bandwidth,
    payload_len: u16,
    period: Period,
    /// Datagrams that were sent.
    sent: u64,
    /// When the next one is due.
    next: SimTime,
}

rocelab_state::state!(End { values: sent, next; kept: rate, payload_len, period });

impl StreamEnd for End {
    fn next_due(&self) -> SimTime {
        self.next
    }

    fn send(&mut self) -> u16 {
        self.sent += 1;
        // From the beginning, so that rounding does not add up.
        let before = Bytes::new(self.sent.saturating_mul(self.payload_len.into()));
        let due = self.period.start.saturating_add(self.rate.transmission_time(before));
        self.next = if due < self.period.stop { due } else { SimTime::NEVER };
        self.payload_len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every datagram is due at its own time, however many came before.
    #[test]
    fn rounding_does_not_add_up() {
        let parameters: Parameters =
            toml::from_str("from = \"a\"\nto = \"b\"\nrate = \"3Gbps\"\ndatagram = \"1000B\"")
                .expect("a stream");
        let (start, stop) = (SimTime::from_ps(7), SimTime::from_ps(27_000_000_007));
        let mut end = parameters.end(Role::Source, Period { start, stop });
        let mut sent = 0u64;
        while end.next_due() < SimTime::NEVER {
            // 8,000 bits at 3 Gb/s are 8/3 us.
            assert_eq!(end.next_due().ps(), 7 + (sent * 8_000_000).div_ceil(3));
            assert_eq!(end.send(), 1_000);
            sent += 1;
        }
        assert_eq!(sent, 10_125, "27 ms by 8/3 us");
        assert_eq!(parameters.end(Role::Destination, Period { start, stop }).next, SimTime::NEVER);
    }
}
