//! Endpoint delay: what a receiver tells of itself in its acknowledgements, and how many hops the packet crossed.
//!
//! On the wire: hops (16), signal number 2 (16), endpoint delay (32, in ns), time in NICs (32, in ns). Data packets have nothing
//! of it: their hops are the difference of the hop limit that the sender set and the one that arrives. It follows Swift
//! (Kumar et al., SIGCOMM 2020), which sends time stamps of the remote host back and counts hops by the TTL.

use core::fmt;

use super::signal::{EgressPort, Form, Properties, Signal};

/// The number of the signal, after the hops.
const NUMBER: u16 = 2;

/// What the ends of a path tell of a packet and its acknowledgement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "state", derive(borsh::BorshSerialize, borsh::BorshDeserialize))]
pub struct EndpointReport {
    /// Routers that the packet crossed, which each took one off its hop limit.
    pub hops: u16,
    /// From the arrival of the packet at the receiving NIC until memory has it, and the time of its acknowledgement in the
    /// NIC of the sender (ns).
    pub delay_ns: u32,
    /// The part of the round-trip time that passed in the two NICs after an arrival (ns).
    pub held_ns: u32,
}

impl EndpointReport {
    /// A NIC keeps a frame for `held_ns`, and memory has it after `delay_ns` (ns). Sums stay at what 32 bits can hold.
    pub fn add(&mut self, held_ns: u64, delay_ns: u64) {
        let sum =
            |before: u32, more| before.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
        self.held_ns = sum(self.held_ns, held_ns);
        self.delay_ns = sum(self.delay_ns, delay_ns);
    }
}

/// Counts the hops.
#[derive(Debug, Clone, Copy)]
pub struct Writer;

impl Signal for Writer {
    type Header = EndpointReport;
    type Units = ();
    const FORM: Form = Form::Value(NUMBER);
    const LEN: usize = 12;
    const PROPERTIES: Properties =
        Properties { is_echo: true, ..Properties::new("endpoint delay") };

    fn parse(bytes: &[u8]) -> Option<EndpointReport> {
        let &[h0, h1, _, _, d0, d1, d2, d3, n0, n1, n2, n3] = bytes else { return None };
        Some(EndpointReport {
            hops: u16::from_be_bytes([h0, h1]),
            delay_ns: u32::from_be_bytes([d0, d1, d2, d3]),
            held_ns: u32::from_be_bytes([n0, n1, n2, n3]),
        })
    }

    fn emit(report: &EndpointReport, mut sink: impl FnMut(&[u8])) {
        sink(&report.hops.to_be_bytes());
        sink(&NUMBER.to_be_bytes());
        sink(&report.delay_ns.to_be_bytes());
        sink(&report.held_ns.to_be_bytes());
    }

    fn display(report: &EndpointReport, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EndpointReport { hops, delay_ns, held_ns } = report;
        write!(f, "endpoint delay {delay_ns} ns, {held_ns} ns in NICs, {hops} hops")
    }

    fn new((): (), _: u64) -> Self {
        Self
    }

    #[inline]
    fn write(&mut self, report: &mut EndpointReport, _: &EgressPort, _: &mut impl FnMut() -> u32) {
        report.hops = report.hops.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TelemetryHeader, TelemetryKind};

    #[test]
    fn bytes_stand_where_the_figure_says() {
        let report = EndpointReport { hops: 5, delay_ns: 0x0102_0304, held_ns: 0x0506_0708 };
        let header = TelemetryHeader::Endpoint(report);
        let mut bytes = Vec::new();
        header.for_each(|part| bytes.extend_from_slice(part));
        assert_eq!(bytes, [0, 5, 0, 2, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(TelemetryHeader::parse(TelemetryKind::Endpoint, &bytes), Some(header));
        bytes[3] = 1;
        assert_eq!(TelemetryHeader::parse(TelemetryKind::Endpoint, &bytes), None);
        assert_eq!(header.to_string(), "endpoint delay 16909060 ns, 84281096 ns in NICs, 5 hops");
    }

    #[test]
    fn switches_count_and_nics_add() {
        let port = EgressPort { now_ps: 7, rate_bps: 1, sent_bytes: 9, waiting_bytes: 11 };
        let mut report = EndpointReport::default();
        for _ in 0..3 {
            Writer.write(&mut report, &port, &mut || panic!("nothing is random"));
        }
        report.add(100, 2_000);
        report.add(50, 50);
        assert_eq!(report, EndpointReport { hops: 3, delay_ns: 2_050, held_ns: 150 });
        report.add(u64::MAX, u64::from(u32::MAX));
        assert_eq!(report, EndpointReport { hops: 3, delay_ns: u32::MAX, held_ns: u32::MAX });
    }

    #[test]
    fn only_acknowledgements_carry_it() {
        use crate::Opcode;
        let kind = TelemetryKind::Endpoint;
        assert_eq!(kind.len_in(Opcode::RcRdmaWriteOnly), 0);
        assert_eq!(kind.len_in(Opcode::RcAcknowledge), 12);
        assert_eq!(TelemetryKind::Queueing.len_in(Opcode::RcRdmaWriteOnly), 8);
    }
}
