//! In-band network telemetry of HPCC: each switch appends a record.
//!
//! On the wire: five records of 64 bits, number of records (16), zero (16).

use core::fmt;

use super::signal::{EgressPort, Form, PS_PER_NS, Properties, Signal};
use crate::bits::{get, put};

/// Length of the zeros at the end, which align what follows to four bytes.
const RESERVED_LEN: usize = 2;

/// The units of INT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntUnits {
    /// What the units of bytes and queues are multiplied with, at least 1.
    pub multiplier: u32,
}

/// Appends the record of a port.
#[derive(Debug, Clone, Copy)]
pub struct Writer {
    units: IntUnits,
}

impl Signal for Writer {
    type Header = IntHeader;
    type Units = IntUnits;
    const FORM: Form = Form::Records;
    const LEN: usize = IntHeader::LEN + RESERVED_LEN;
    const PROPERTIES: Properties = Properties {
        rates_gbps: Some(&IntHop::RATES_GBPS),
        max_hops: Some(IntHeader::MAX_HOPS),
        units_key: "int_multiplier",
        ..Properties::new("INT")
    };

    fn parse(bytes: &[u8]) -> Option<IntHeader> {
        let (contents, reserved) = bytes.split_last_chunk::<RESERVED_LEN>()?;
        IntHeader::parse(contents).filter(|_| *reserved == [0; RESERVED_LEN])
    }

    fn emit(header: &IntHeader, mut sink: impl FnMut(&[u8])) {
        sink(&header.to_bytes());
        sink(&[0; RESERVED_LEN]);
    }

    fn display(header: &IntHeader, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(header, f)
    }

    fn new(units: IntUnits, _: u64) -> Self {
        Self { units }
    }

    #[inline]
    fn write(&mut self, header: &mut IntHeader, port: &EgressPort, _: &mut impl FnMut() -> u32) {
        let &EgressPort { now_ps, rate_bps, sent_bytes, waiting_bytes } = port;
        let (time_ns, multiplier) = (now_ps / PS_PER_NS, self.units.multiplier);
        if let Some(hop) = IntHop::new(time_ns, sent_bytes, waiting_bytes, rate_bps, multiplier) {
            header.push(hop);
        }
    }
}

/// Bits per second in one Gbit/s.
const GIGA: u64 = 1_000_000_000;

/// Unit of the count of sent bytes, in bytes; times the multiplier.
const TX_UNIT: u64 = 128;

/// Unit of queue lengths, in bytes; times the multiplier.
const QUEUE_UNIT: u64 = 80;

const TIME_BITS: u32 = 24;
const TX_BITS: u32 = 20;
const QUEUE_BITS: u32 = 17;

const QUEUE_SHIFT: u32 = 0;
const TX_SHIFT: u32 = QUEUE_SHIFT + QUEUE_BITS;
const TIME_SHIFT: u32 = TX_SHIFT + TX_BITS;
const RATE_SHIFT: u32 = TIME_SHIFT + TIME_BITS;

/// What one switch port writes into a packet that leaves by it: 64 bits.
///
/// ```text
///  0      2 3                    26 27               46 47           63
/// +--------+-----------------------+-------------------+--------------+
/// |  rate  |       time (ns)       |    bytes sent     |    queue     |
/// +--------+-----------------------+-------------------+--------------+
/// ```
///
/// Every field holds the low bits of its counter. Bytes sent are in units of 128, the queue in
/// units of 80 bytes, both times a multiplier that all of a network agree on. Widths and units:
/// HPCC's ns-3 simulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "state", derive(borsh::BorshSerialize, borsh::BorshDeserialize))]
pub struct IntHop(u64);

impl IntHop {
    /// The rates for the three bits in a record, by number (Gbit/s).
    pub const RATES_GBPS: [u64; 8] = [10, 25, 40, 50, 100, 200, 400, 800];

    /// The record of a port of `rate_bps` [bit/s] at `time_ns` (ns), after it has sent `tx_bytes`
    /// in total, and while `queue_bytes` wait in it (bytes). `None` for a rate without a number:
    /// the rates with numbers are 10, 25, 40, 50, 100, 200, 400 and 800 Gbit/s. A multiplier of 0
    /// means 1.
    #[must_use]
    pub fn new(
        time_ns: u64,
        tx_bytes: u64,
        queue_bytes: u64,
        rate_bps: u64,
        multiplier: u32,
    ) -> Option<Self> {
        let multiplier = u64::from(multiplier.max(1));
        let rate = (0u64..).zip(Self::RATES_GBPS).find(|&(_, gbps)| gbps * GIGA == rate_bps)?.0;
        let time = low_bits(time_ns, TIME_BITS);
        let tx = low_bits(tx_bytes / (TX_UNIT * multiplier), TX_BITS);
        let queue = low_bits(queue_bytes / (QUEUE_UNIT * multiplier), QUEUE_BITS);
        let fields = [(rate, RATE_SHIFT), (time, TIME_SHIFT), (tx, TX_SHIFT), (queue, QUEUE_SHIFT)];
        Some(Self(fields.into_iter().fold(0, |word, (field, shift)| word | field << shift)))
    }

    /// The record as bytes.
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        self.0
    }

    /// The port's rate [bit/s].
    #[must_use]
    pub fn rate_bps(&self) -> u64 {
        let [rate, ..] = (self.0 >> RATE_SHIFT).to_le_bytes();
        Self::RATES_GBPS[usize::from(rate)] * GIGA
    }

    /// Time that passed since `earlier` was written, modulo 2^24 (ns).
    #[must_use]
    pub const fn time_since(&self, earlier: &Self) -> u64 {
        low_bits((self.0 >> TIME_SHIFT).wrapping_sub(earlier.0 >> TIME_SHIFT), TIME_BITS)
    }

    /// Bytes that were sent since `earlier` was written, in whole units of 128 bytes times
    /// `multiplier`, modulo 2^20 of these (bytes).
    #[must_use]
    pub fn bytes_since(&self, earlier: &Self, multiplier: u32) -> u64 {
        let units = low_bits((self.0 >> TX_SHIFT).wrapping_sub(earlier.0 >> TX_SHIFT), TX_BITS);
        units * TX_UNIT * u64::from(multiplier.max(1))
    }

    /// The queue, in whole units of 80 bytes times `multiplier` (bytes).
    #[must_use]
    pub fn queue(&self, multiplier: u32) -> u64 {
        low_bits(self.0 >> QUEUE_SHIFT, QUEUE_BITS) * QUEUE_UNIT * u64::from(multiplier.max(1))
    }

    /// The time that was written, modulo 2^24 (ns).
    const fn time(self) -> u64 {
        low_bits(self.0 >> TIME_SHIFT, TIME_BITS)
    }

    /// The count of bytes sent that was written, in its units, modulo 2^20.
    const fn tx_units(self) -> u64 {
        low_bits(self.0 >> TX_SHIFT, TX_BITS)
    }
}

impl fmt::Display for IntHop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (gbps, time) = (self.rate_bps() / GIGA, self.time());
        let queue = low_bits(self.0 >> QUEUE_SHIFT, QUEUE_BITS);
        write!(f, "{gbps}G t {time} ns tx {} queue {queue}", self.tx_units())
    }
}

/// The records of the switches that a packet passed, in that order: 42 bytes in every data packet
/// of HPCC and in its acknowledgement (Li et al., SIGCOMM 2019; sizes: HPCC's ns-3 simulator).
///
/// On the wire: five records of 64 bits, unused ones zero, then a 16-bit count; big-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct IntHeader {
    hops: [IntHop; Self::MAX_HOPS],
    count: u16,
}

impl IntHeader {
    /// Most records that there is room for.
    pub const MAX_HOPS: usize = 5;

    /// Length on the wire, in bytes.
    pub const LEN: usize = 8 * Self::MAX_HOPS + 2;

    /// Position of the number of records.
    const COUNT: usize = 8 * Self::MAX_HOPS;

    /// Appends the record of one more switch. Returns false if there is no room: records after the
    /// fifth are lost.
    pub fn push(&mut self, hop: IntHop) -> bool {
        match self.hops.get_mut(usize::from(self.count)) {
            Some(free) => {
                *free = hop;
                self.count += 1;
                true
            }
            None => false,
        }
    }

    /// The records, first switch first.
    #[must_use]
    pub fn hops(&self) -> &[IntHop] {
        &self.hops[..usize::from(self.count)]
    }

    /// Reads the header at the start of `bytes`. `None` if there are fewer than [`Self::LEN`]
    /// bytes, or if the number of records is larger than the room for them. The content of unused
    /// records is kept.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let header: &[u8; Self::LEN] = bytes.first_chunk()?;
        let count = u16::from_be_bytes(get::<{ Self::COUNT }, 2, { Self::LEN }>(header));
        let mut hops = [IntHop::default(); Self::MAX_HOPS];
        for (hop, word) in hops.iter_mut().zip(header.as_chunks().0) {
            *hop = IntHop(u64::from_be_bytes(*word));
        }
        (usize::from(count) <= Self::MAX_HOPS).then_some(Self { hops, count })
    }

    /// The header as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        for (word, hop) in bytes.as_chunks_mut().0.iter_mut().zip(&self.hops) {
            *word = hop.0.to_be_bytes();
        }
        put::<{ Self::COUNT }, 2, { Self::LEN }>(&mut bytes, self.count.to_be_bytes());
        bytes
    }
}

impl fmt::Display for IntHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("INT")?;
        for (i, hop) in self.hops().iter().enumerate() {
            write!(f, "{} {hop}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

const fn low_bits(value: u64, bits: u32) -> u64 {
    value & ((1 << bits) - 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HUNDRED: u64 = 100 * GIGA;

    #[test]
    fn fields_stand_where_the_figure_says() {
        // Rate number 4; time 5; 3 x 128 bytes sent; 2 x 80 bytes wait. As 64 bits: 4 << 61,
        // 5 << 37, 3 << 17 and 2.
        let hop = IntHop::new(5, 3 * 128, 2 * 80, HUNDRED, 1).unwrap();
        assert_eq!(hop.0, 0x8000_0000_0000_0000 | 0xa0_0000_0000 | 0x6_0000 | 2);
        let mut header = IntHeader::default();
        assert!(header.push(hop));
        let mut bytes = [0; IntHeader::LEN];
        bytes[..8].copy_from_slice(&[0x80, 0, 0, 0xa0, 0, 0x06, 0, 0x02]);
        bytes[41] = 1;
        assert_eq!(header.to_bytes(), bytes);
        assert_eq!(IntHeader::parse(&bytes), Some(header));
        assert_eq!(header.to_string(), "INT 100G t 5 ns tx 3 queue 2");
    }

    #[test]
    fn every_rate_has_its_number_and_no_other() {
        for gbps in IntHop::RATES_GBPS {
            assert_eq!(IntHop::new(0, 0, 0, gbps * GIGA, 1).unwrap().rate_bps(), gbps * GIGA);
        }
        assert_eq!(IntHop::new(0, 0, 0, 1, 1), None);
        assert_eq!(IntHop::new(0, 0, 0, HUNDRED + 1, 1), None);
    }

    #[test]
    fn units_round_down_and_grow_with_the_multiplier() {
        let at = |tx, queue| IntHop::new(0, tx, queue, HUNDRED, 4).unwrap();
        // Units of 512 and of 320 bytes.
        assert_eq!(at(1_023, 0).bytes_since(&at(0, 0), 4), 512);
        assert_eq!(at(1_024, 0).bytes_since(&at(511, 0), 4), 1_024);
        assert_eq!(at(0, 319).queue(4), 0);
        assert_eq!(at(0, 641).queue(4), 640);
        assert_eq!(IntHop::new(0, 0, 160, HUNDRED, 0).unwrap().queue(0), 160);
    }

    #[test]
    fn differences_survive_a_counter_that_wraps() {
        let before = IntHop::new((1 << 24) - 10, 128 * ((1 << 20) - 1), 0, HUNDRED, 1).unwrap();
        let after = IntHop::new((1 << 24) + 10, 128 * ((1 << 20) + 1), 0, HUNDRED, 1).unwrap();
        assert_eq!(after.time_since(&before), 20);
        assert_eq!(after.bytes_since(&before, 1), 256);
    }

    #[test]
    fn a_sixth_record_is_lost() {
        let mut header = IntHeader::default();
        let hop = |time| IntHop::new(time, 0, 0, HUNDRED, 1).unwrap();
        for time in 0..5 {
            assert!(header.push(hop(time)));
        }
        assert!(!header.push(hop(5)));
        assert_eq!(header.hops().len(), 5);
        assert_eq!(header.hops()[4], hop(4));
    }

    #[test]
    fn it_is_small() {
        assert_eq!(IntHeader::LEN, 42);
        assert!(size_of::<IntHeader>() <= 64);
    }

    #[test]
    fn impossible_bytes_are_refused() {
        assert_eq!(IntHeader::parse(&[0; 41]), None);
        let mut bytes = [0; 42];
        bytes[41] = 6;
        assert_eq!(IntHeader::parse(&bytes), None);
    }

    proptest! {
        #[test]
        fn any_legal_bytes_come_back(
            hops in any::<[[u8; 8]; 5]>(), count in 0..=5u8) {
            let mut bytes = [0; 42];
            bytes[..40].copy_from_slice(hops.as_flattened());
            bytes[41] = count;
            prop_assert_eq!(IntHeader::parse(&bytes).unwrap().to_bytes(), bytes);
        }

        #[test]
        fn what_fits_is_read_back(
            time in 0..1_u64 << 24, tx in 0..1_u64 << 20, queue in 0..1_u64 << 17) {
            let zero = IntHop::new(0, 0, 0, HUNDRED, 1).unwrap();
            let hop = IntHop::new(time, tx * 128, queue * 80, HUNDRED, 1).unwrap();
            prop_assert_eq!(hop.time_since(&zero), time);
            prop_assert_eq!(hop.bytes_since(&zero, 1), tx * 128);
            prop_assert_eq!(hop.queue(1), queue * 80);
        }
    }
}
