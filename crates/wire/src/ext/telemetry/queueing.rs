//! Queueing delay: each switch adds how long a frame that comes now would wait in the port.
//!
//! On the wire: zero (16), signal number 1 (16), sum (32, in ns). The sum is 0 before the first switch.

use core::fmt;

use super::signal::{EgressPort, Form, Properties, Signal};

/// The number of the signal, after the zeros.
const NUMBER: u16 = 1;
/// The zeros that precede it, and the bytes of the sum.
const ZEROS: [u8; 2] = [0; 2];
const SUM_LEN: usize = size_of::<u32>();

/// Bits in a byte, and nanoseconds in a second.
const BITS: u128 = 8;
const NS_PER_S: u128 = 1_000_000_000;

/// Adds the time that the bytes in a port's queues take to leave at its rate, rounded down. The sum
/// stays at what 32 bits can hold.
#[derive(Debug, Clone, Copy)]
pub struct Writer;

impl Signal for Writer {
    type Header = u32;
    type Units = ();
    const FORM: Form = Form::Value(NUMBER);
    const LEN: usize = ZEROS.len() + size_of_val(&NUMBER) + SUM_LEN;
    const PROPERTIES: Properties = Properties::new("queueing delay");
    const QUEUEING: Option<()> = Some(());

    fn parse(bytes: &[u8]) -> Option<u32> {
        let sum: &[u8; SUM_LEN] = bytes.last_chunk()?;
        bytes.starts_with(&ZEROS).then(|| u32::from_be_bytes(*sum))
    }

    fn emit(sum: &u32, mut sink: impl FnMut(&[u8])) {
        sink(&ZEROS);
        sink(&NUMBER.to_be_bytes());
        sink(&sum.to_be_bytes());
    }

    fn display(sum: &u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "queueing delay {sum} ns")
    }

    fn queueing_ns(sum: &u32) -> Option<u64> {
        Some(u64::from(*sum))
    }

    fn new((): (), _: u64) -> Self {
        Self
    }

    #[inline]
    fn write(&mut self, sum: &mut u32, port: &EgressPort, _: &mut impl FnMut() -> u32) {
        // 64 bits do not hold this product above 2.3 GB; 128 bits hold all.
        let bits_ns = u128::from(port.waiting_bytes) * BITS * NS_PER_S;
        let wait = bits_ns / u128::from(port.rate_bps.max(1));
        *sum = sum.saturating_add(u32::try_from(wait).unwrap_or(u32::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TelemetryHeader, TelemetryKind};

    fn written(before: u32, waiting_bytes: u64, rate_bps: u64) -> u32 {
        let port = EgressPort { now_ps: 7, rate_bps, sent_bytes: 9, waiting_bytes };
        let mut sum = before;
        Writer.write(&mut sum, &port, &mut || panic!("nothing is random"));
        sum
    }

    #[test]
    fn what_waits_is_divided_by_the_rate() {
        assert_eq!(written(0, 0, 100_000_000_000), 0);
        // 1,250 bytes take 100 ns at 100 Gb/s, and 1,000 ns at 10.
        assert_eq!(written(30, 1_250, 100_000_000_000), 130);
        assert_eq!(written(130, 1_250, 10_000_000_000), 1_130);
        assert_eq!(written(0, 12, 100_000_000_000), 0, "0.96 ns");
        assert_eq!(written(u32::MAX - 5, 1_250, 100_000_000_000), u32::MAX);
        assert_eq!(written(0, u64::MAX, 0), u32::MAX);
        assert_eq!(written(0, 40_000_000_000, 800_000_000_000), 400_000_000, "40 GB");
    }

    #[test]
    fn bytes_stand_where_the_figure_says() {
        let header = TelemetryHeader::Queueing(0x0102_0304);
        let mut bytes = Vec::new();
        header.for_each(|part| bytes.extend_from_slice(part));
        assert_eq!(bytes, [0, 0, 0, 1, 1, 2, 3, 4]);
        assert_eq!(TelemetryHeader::parse(TelemetryKind::Queueing, &bytes), Some(header));
        for changed in 0..4 {
            let mut other = bytes.clone();
            other[changed] ^= 0x80;
            assert_eq!(TelemetryHeader::parse(TelemetryKind::Queueing, &other), None);
        }
        assert_eq!(header.to_string(), "queueing delay 16909060 ns");
    }
}
