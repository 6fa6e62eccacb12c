//! What a signal is.

use core::fmt;

/// What a signal is, for the port of a switch that writes it. The port has a writer of its own if
/// the signal [keeps state](Properties::keeps_state), else one serves for all.
pub(super) trait Signal: Sized {
    /// What stands in the header; at the sender its default.
    type Header: Copy + Default;
    /// What all of a network must agree on; `()` for nothing.
    type Units: Copy;
    /// Which packets have it.
    const FORM: Form;
    /// Length of the header on the wire, in bytes: a multiple of four.
    const LEN: usize;
    /// What others must know of it.
    const PROPERTIES: Properties;
    /// Its units, if headers have a [queueing time](super::TelemetryHeader::queueing_ns).
    const QUEUEING: Option<Self::Units> = None;

    /// Reads the header from [`LEN`](Self::LEN) bytes that have its [`FORM`](Self::FORM).
    fn parse(bytes: &[u8]) -> Option<Self::Header>;

    /// Passes the bytes of a header to `sink`, with those of its form.
    fn emit(header: &Self::Header, sink: impl FnMut(&[u8]));

    /// Writes a header as text.
    fn display(header: &Self::Header, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// See [`TelemetryHeader::queueing_ns`](super::TelemetryHeader::queueing_ns).
    fn queueing_ns(_: &Self::Header) -> Option<u64> {
        None
    }

    /// See [`TelemetryWriter::new`](super::TelemetryWriter::new).
    fn new(units: Self::Units, average_ns: u64) -> Self;

    /// See [`TelemetryWriter::on_departure`](super::TelemetryWriter::on_departure); only for one that keeps state.
    #[inline]
    fn on_departure(&mut self, _now_ps: u64, _bytes: u32) {}

    /// See [`TelemetryWriter::write`](super::TelemetryWriter::write).
    fn write(
        &mut self,
        header: &mut Self::Header,
        port: &EgressPort,
        random: &mut impl FnMut() -> u32,
    );

    /// See [`TelemetryWriter::save`](super::TelemetryWriter::save); only for one that keeps state.
    #[cfg(feature = "state")]
    fn save<W: borsh::io::Write>(&self, _: &mut W) -> borsh::io::Result<()> {
        Ok(())
    }

    /// See [`TelemetryWriter::load`](super::TelemetryWriter::load); only for one that keeps state.
    #[cfg(feature = "state")]
    fn load<R: borsh::io::Read>(&mut self, _: &mut R) -> borsh::io::Result<()> {
        Ok(())
    }
}

/// What others must know of a signal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Properties {
    /// What the field calls it.
    pub(super) label: &'static str,
    /// The rates of ports that it has numbers for (Gbit/s); none for any.
    pub(super) rates_gbps: Option<&'static [u64]>,
    /// The most switches that it has room for; none for any number.
    pub(super) max_hops: Option<usize>,
    /// The parameter of congestion controls that says in which units it is.
    pub(super) units_key: &'static str,
    /// Whether each port keeps something for it.
    pub(super) keeps_state: bool,
    /// Whether it is rounded at random.
    pub(super) is_random: bool,
    /// Whether only acknowledgements carry it.
    pub(super) is_echo: bool,
}

impl Properties {
    /// Those of a signal with this label and nothing particular.
    pub(super) const fn new(label: &'static str) -> Self {
        Self {
            label,
            rates_gbps: None,
            max_hops: None,
            units_key: "",
            keeps_state: false,
            is_random: false,
            is_echo: false,
        }
    }
}

/// Which packets have a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Opcodes that begin with 110.
    Records,
    /// Opcodes that begin with 111, if the second 16 bits of the header are this number.
    Value(u16),
}

impl Form {
    /// The high three bits of the opcode.
    pub(super) const fn service(self) -> u8 {
        match self {
            Self::Records => 0b1100_0000,
            Self::Value(_) => 0b1110_0000,
        }
    }

    /// Whether a header that begins with these bytes may be of this form, if the opcode is.
    pub(super) const fn is_of(self, bytes: &[u8]) -> bool {
        match (self, bytes) {
            (Self::Records, _) => true,
            (Self::Value(number), [_, _, high, low, ..]) => {
                u16::from_be_bytes([*high, *low]) == number
            }
            (Self::Value(_), _) => false,
        }
    }
}

/// What a switch knows of a port as a frame leaves by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EgressPort {
    /// The time (ps).
    pub now_ps: u64,
    /// The rate of its link [bit/s].
    pub rate_bps: u64,
    /// What it has sent before, counted as long as it occupied the link (bytes).
    pub sent_bytes: u64,
    /// What waits in all of its queues behind the frame (bytes).
    pub waiting_bytes: u64,
}

/// Picoseconds in a nanosecond: telemetry counts in these.
pub(super) const PS_PER_NS: u64 = 1_000;
