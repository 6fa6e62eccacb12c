//! Telemetry in RoCE packets: one signal a file, and one line each in the list below.
//!
//! A signal is what switches write into data packets, and acknowledgements bring back, for the sake
//! of a congestion control. Its file says which header it has on the wire, how a port of a switch
//! writes into it, what that port keeps for it, and what it tells the sender. The list makes the
//! types of any signal, their bytes, their text, and the name that scenarios and JSON use.

mod signal;

use core::fmt;

pub use signal::EgressPort;
use signal::{Form, Properties, Signal};

use crate::{Bth, Opcode, Transport};

/// The high three bits of an opcode.
const SERVICE: u8 = 0b1110_0000;

/// The low five bits of the opcode of a selective acknowledge with telemetry. They differ from its
/// bits without telemetry, because that opcode is among those for INT. The standard reserves both.
const SELECTIVE_ACKNOWLEDGE: u8 = 0x18;

/// Makes modules, [`TelemetryKind`], [`TelemetryHeader`], [`TelemetryUnits`] and
/// [`TelemetryWriter`] from one list. A line says what the header has and what its units are; `()` for
/// none. Each module has a `Writer` with its [`Signal`].
macro_rules! signals {
    ($($(#[$doc:meta])*
       $variant:ident($header:ty, $units:ty) = $name:literal => $module:ident,)*) => {
        $(mod $module;)*

        /// The data that switches write into the packets of a reliable connection.
        ///
        /// IBTA reserves the opcodes whose high three bits are 110 or 111 for manufacturers, and
        /// there is no published format for telemetry in RoCE. Here these bits say that a
        /// telemetry header follows the BTH: 110 for INT, 111 for any other, whose second 16 bits
        /// then say of which kind it is. The low five bits are those of the operation, whose own
        /// extension headers follow the telemetry. (A selective acknowledge has 0x18 in these bits:
        /// 0xd5 is its opcode without telemetry.)
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "state", derive(borsh::BorshSerialize, borsh::BorshDeserialize))]
        pub enum TelemetryKind {
            $($(#[$doc])* $variant,)*
        }

        impl TelemetryKind {
            /// All kinds, in the order of the list.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// The name that scenarios and JSON use.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Length of the header on the wire, in bytes: a multiple of four.
            #[must_use]
            pub const fn header_len(self) -> usize {
                match self { $(Self::$variant => <$module::Writer as Signal>::LEN,)* }
            }

            /// Its units, if its headers have a [queueing time](TelemetryHeader::queueing_ns).
            #[must_use]
            pub fn queueing_units(self) -> Option<TelemetryUnits> {
                match self {
                    $(Self::$variant => {
                        <$module::Writer as Signal>::QUEUEING.map(TelemetryUnits::$variant)
                    })*
                }
            }

            const fn form(self) -> Form {
                match self { $(Self::$variant => <$module::Writer as Signal>::FORM,)* }
            }

            const fn properties(self) -> Properties {
                match self { $(Self::$variant => <$module::Writer as Signal>::PROPERTIES,)* }
            }
        }

        /// The header that follows the BTH of a packet that carries telemetry. All numbers are
        /// big-endian. A switch that changes it must also update the ICRC, which covers it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "state", derive(borsh::BorshSerialize, borsh::BorshDeserialize))]
        pub enum TelemetryHeader {
            $($(#[$doc])* $variant($header),)*
        }

        impl TelemetryHeader {
            /// The header at the sender: no switch has written into it.
            #[must_use]
            pub fn empty(kind: TelemetryKind) -> Self {
                match kind { $(TelemetryKind::$variant => Self::$variant(Default::default()),)* }
            }

            /// The kind of this telemetry.
            #[must_use]
            pub const fn kind(&self) -> TelemetryKind {
                match self { $(Self::$variant(_) => TelemetryKind::$variant,)* }
            }

            /// Reads a header at the start of `bytes`. `None` if these bytes are no such header:
            /// too few, or with contents that this kind does not have.
            #[must_use]
            pub fn parse(kind: TelemetryKind, bytes: &[u8]) -> Option<Self> {
                let bytes = bytes.get(..kind.header_len())?;
                if !kind.form().is_of(bytes) {
                    return None;
                }
                match kind {
                    $(TelemetryKind::$variant => {
                        <$module::Writer as Signal>::parse(bytes).map(Self::$variant)
                    })*
                }
            }

            /// Passes the bytes of the header to `sink`, piece by piece in wire order.
            pub fn for_each(&self, sink: impl FnMut(&[u8])) {
                match self {
                    $(Self::$variant(header) => <$module::Writer as Signal>::emit(header, sink),)*
                }
            }

            /// The time that frames wait in the switches on the way, if that is what it tells (ns).
            #[must_use]
            pub fn queueing_ns(&self) -> Option<u64> {
                match self {
                    $(Self::$variant(header) => {
                        <$module::Writer as Signal>::queueing_ns(header)
                    })*
                }
            }
        }

        impl fmt::Display for TelemetryHeader {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$variant(header) => <$module::Writer as Signal>::display(header, f),)*
                }
            }
        }

        /// Serialized as an object with one field, of the kind's name, such as `{"pint": value}`.
        #[cfg(feature = "serde")]
        impl serde::Serialize for TelemetryHeader {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeStruct as _;
                let mut object = serializer.serialize_struct("TelemetryHeader", 1)?;
                match self {
                    $(Self::$variant(header) => object.serialize_field($name, header)?,)*
                }
                object.end()
            }
        }

        /// What all switches and senders of a network must agree on to understand a signal.
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub enum TelemetryUnits {
            $($(#[$doc])* $variant($units),)*
        }

        impl TelemetryUnits {
            /// The kind that they are of.
            #[must_use]
            pub const fn kind(self) -> TelemetryKind {
                match self { $(Self::$variant(_) => TelemetryKind::$variant,)* }
            }
        }

        /// What a port of a switch has for a signal: how it writes, and what it keeps for that.
        #[derive(Debug, Clone, Copy)]
        pub enum TelemetryWriter {
            $($(#[$doc])* $variant($module::Writer),)*
        }

        impl TelemetryWriter {
            /// That of a port that has sent nothing. What it averages, it averages over
            /// `average_ns` (ns), which is the longest round-trip time of the idle network.
            #[must_use]
            pub fn new(units: TelemetryUnits, average_ns: u64) -> Self {
                match units {
                    $(TelemetryUnits::$variant(units) => {
                        Self::$variant(<$module::Writer as Signal>::new(units, average_ns))
                    })*
                }
            }

            /// A frame that takes as long as `bytes` on the link begins to leave at `now_ps` (ps).
            #[inline]
            pub fn on_departure(&mut self, now_ps: u64, bytes: u32) {
                match self { $(Self::$variant(writer) => writer.on_departure(now_ps, bytes),)* }
            }

            /// Writes into the header of a frame that leaves by `port`, if it is of this kind.
            /// `random` gives 31 random bits each time.
            #[inline]
            pub fn write(
                &mut self,
                header: &mut TelemetryHeader,
                port: &EgressPort,
                random: &mut impl FnMut() -> u32,
            ) {
                match (self, header) {
                    $((Self::$variant(writer), TelemetryHeader::$variant(header)) => {
                        writer.write(header, port, random);
                    })*
                    #[allow(unreachable_patterns, reason = "with a single line in the list")]
                    _ => {}
                }
            }

            /// Appends what it keeps to `to`.
            ///
            /// # Errors
            /// If a number is not one (NaN), and those of `to`.
            #[cfg(feature = "state")]
            pub fn save<W: borsh::io::Write>(&self, to: &mut W) -> borsh::io::Result<()> {
                match self { $(Self::$variant(writer) => writer.save(to),)* }
            }

            /// Reads what it keeps from `from`.
            ///
            /// # Errors
            /// If these are not bytes that [`save`](Self::save) wrote.
            #[cfg(feature = "state")]
            pub fn load<R: borsh::io::Read>(&mut self, from: &mut R) -> borsh::io::Result<()> {
                match self { $(Self::$variant(writer) => writer.load(from),)* }
            }
        }
    };
}

signals! {
    /// One record of each switch: in-band network telemetry, as HPCC needs it.
    Int(IntHeader, IntUnits) = "int" => int,
    /// One value for the whole path: probabilistic in-band network telemetry.
    Pint(u16, PintUnits) = "pint" => pint,
    /// How long frames wait on the path, in nanoseconds.
    Queueing(u32, ()) = "queueing" => queueing,
    /// How long the receiving host takes, and the hops of the path: only in acknowledgements.
    Endpoint(EndpointReport, ()) = "endpoint" => endpoint,
}

pub use endpoint::EndpointReport;
pub use int::{IntHeader, IntHop, IntUnits};
pub use pint::{PintUnits, pint_utilization};

impl TelemetryHeader {
    /// What the ends of the path tell, if that is what it is.
    #[inline]
    #[must_use]
    pub const fn endpoint(&self) -> Option<EndpointReport> {
        match self {
            Self::Endpoint(report) => Some(*report),
            _ => None,
        }
    }

    /// The packet has crossed so many routers. Nothing if this kind does not tell it.
    pub const fn set_hops(&mut self, hops: u16) {
        if let Self::Endpoint(report) = self {
            report.hops = hops;
        }
    }

    /// A NIC at an end of the path keeps the frame for `held_ns`, and memory has it after `delay_ns` (ns). Nothing if this
    /// kind does not tell it.
    pub fn note_endpoint(&mut self, held_ns: u64, delay_ns: u64) {
        if let Self::Endpoint(report) = self {
            report.add(held_ns, delay_ns);
        }
    }
}

impl TelemetryKind {
    /// The opcode of a packet with this telemetry whose operation is that of `opcode`; `None` if
    /// `opcode` is not of a reliable connection.
    #[must_use]
    pub const fn opcode(self, opcode: Opcode) -> Option<u8> {
        let service = self.form().service();
        match opcode.transport() {
            Transport::Rc if opcode.has_sack() => Some(service | SELECTIVE_ACKNOWLEDGE),
            Transport::Rc => Some(service | opcode as u8),
            _ => None,
        }
    }

    /// The opcode without telemetry of packets with this opcode; `None` if it stands for no
    /// telemetry.
    #[must_use]
    pub const fn operation(opcode: u8) -> Option<Opcode> {
        match (opcode & SERVICE, opcode & !SERVICE) {
            (0b1100_0000 | 0b1110_0000, SELECTIVE_ACKNOWLEDGE) => {
                Some(Opcode::RcSelectiveAcknowledge)
            }
            (0b1100_0000 | 0b1110_0000, operation) => Opcode::from_u8(operation),
            _ => None,
        }
    }

    /// Whether a packet with this opcode may carry it.
    #[must_use]
    pub const fn is_of_opcode(self, opcode: u8) -> bool {
        opcode & SERVICE == self.form().service() && Self::operation(opcode).is_some()
    }

    /// The telemetry of a packet with this opcode, if these bytes follow its BTH; `None` if it
    /// carries none.
    #[must_use]
    pub fn of_packet(opcode: u8, after_bth: &[u8]) -> Option<Self> {
        let is_it = |kind: &Self| kind.is_of_opcode(opcode) && kind.form().is_of(after_bth);
        Self::ALL.into_iter().find(is_it)
    }

    /// Whether only acknowledgements carry it: it is of what the receiver knows.
    #[must_use]
    pub const fn is_echo(self) -> bool {
        self.properties().is_echo
    }

    /// Bytes that it takes in a packet of this operation.
    #[must_use]
    pub const fn len_in(self, opcode: Opcode) -> usize {
        if self.is_echo() && !opcode.is_response() { 0 } else { self.header_len() }
    }

    /// What the field calls it, as its text does.
    #[must_use]
    pub const fn label(self) -> &'static str {
        self.properties().label
    }

    /// The rates of ports that it has numbers for (Gbit/s); `None` if it needs none.
    #[must_use]
    pub const fn rates_gbps(self) -> Option<&'static [u64]> {
        self.properties().rates_gbps
    }

    /// The most switches that it has room for, one record each; `None` if it has no records.
    #[must_use]
    pub const fn max_hops(self) -> Option<usize> {
        self.properties().max_hops
    }

    /// The parameter of congestion controls that says in which [units](TelemetryUnits) it is; empty
    /// if there is none.
    #[must_use]
    pub const fn units_key(self) -> &'static str {
        self.properties().units_key
    }

    /// Whether each port of a switch keeps something for it.
    #[must_use]
    pub const fn keeps_state(self) -> bool {
        self.properties().keeps_state
    }

    /// Whether switches round it at random.
    #[must_use]
    pub const fn is_random(self) -> bool {
        self.properties().is_random
    }
}

impl fmt::Display for TelemetryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

impl Bth {
    /// The opcode without telemetry, if the opcode says that there is some.
    #[must_use]
    pub const fn operation_with_telemetry(&self) -> Option<Opcode> {
        TelemetryKind::operation(self.opcode)
    }

    /// The header of the same packet with telemetry. Unchanged if its opcode is not of a reliable
    /// connection.
    #[must_use]
    pub fn with_telemetry(self, kind: TelemetryKind) -> Self {
        let opcode = self.opcode().and_then(|opcode| kind.opcode(opcode));
        Self { opcode: opcode.unwrap_or(self.opcode), ..self }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::IntHop;

    fn bytes_of(header: &TelemetryHeader) -> Vec<u8> {
        let mut bytes = Vec::new();
        header.for_each(|part| bytes.extend_from_slice(part));
        bytes
    }

    #[test]
    fn opcodes_are_those_of_manufacturers() {
        assert_eq!(TelemetryKind::Int.opcode(Opcode::RcRdmaWriteOnly), Some(0xca));
        assert_eq!(TelemetryKind::Pint.opcode(Opcode::RcAcknowledge), Some(0xf1));
        assert_eq!(TelemetryKind::Int.opcode(Opcode::UcSendOnly), None);
        assert_eq!(TelemetryKind::Int.opcode(Opcode::Cnp), None);
        let found: Vec<u8> =
            (0..=255).filter(|&opcode| TelemetryKind::operation(opcode).is_some()).collect();
        // 25 operations of reliable connections and the selective acknowledge, each with INT and
        // with others.
        assert_eq!(found.len(), 52);
        assert!(found.iter().all(|&opcode| opcode >= 0xc0));
        for opcode in found {
            let plain = TelemetryKind::operation(opcode).unwrap();
            for kind in TelemetryKind::ALL.into_iter().filter(|kind| kind.is_of_opcode(opcode)) {
                assert_eq!(kind.opcode(plain), Some(opcode));
                assert_eq!(Bth::new(plain, 1, 2).with_telemetry(kind).opcode, opcode);
            }
        }
        assert_eq!(TelemetryKind::operation(0xdf), None, "0x1f is no operation");
        assert_eq!(TelemetryKind::operation(0xd5), None, "a selective acknowledge without");
        assert_eq!(TelemetryKind::Int.opcode(Opcode::RcSelectiveAcknowledge), Some(0xd8));
        assert_eq!(TelemetryKind::Pint.opcode(Opcode::RcSelectiveAcknowledge), Some(0xf8));
        let uc = Bth::new(Opcode::UcSendOnly, 1, 2);
        assert_eq!(uc.with_telemetry(TelemetryKind::Int), uc);
    }

    #[test]
    fn headers_stand_where_the_figure_says() {
        let mut header = IntHeader::default();
        // Rate number 4; time 5; 3 x 128 bytes sent; 2 x 80 bytes wait.
        header.push(IntHop::new(5, 3 * 128, 2 * 80, 100_000_000_000, 1).unwrap());
        let mut expected = [0; 44];
        expected[..8].copy_from_slice(&[0x80, 0, 0, 0xa0, 0, 0x06, 0, 0x02]);
        expected[41] = 1;
        assert_eq!(bytes_of(&TelemetryHeader::Int(header)), expected);
        assert_eq!(bytes_of(&TelemetryHeader::Pint(0x1234)), [0x12, 0x34, 0, 0]);
        assert_eq!(TelemetryHeader::Pint(7).to_string(), "PINT 7");
    }

    #[test]
    fn kinds_have_names() {
        assert_eq!(TelemetryKind::Int.to_string(), "INT");
        assert_eq!(TelemetryKind::Pint.to_string(), "PINT");
        let names: BTreeSet<_> = TelemetryKind::ALL.map(TelemetryKind::name).into();
        assert_eq!(names.len(), TelemetryKind::ALL.len());
    }

    #[test]
    fn no_two_kinds_have_one_form() {
        for kind in TelemetryKind::ALL {
            let empty = bytes_of(&TelemetryHeader::empty(kind));
            assert_eq!(empty.len(), kind.header_len());
            assert_eq!(empty.len() % 4, 0);
            let opcode = kind.opcode(Opcode::RcSendOnly).unwrap();
            assert_eq!(TelemetryKind::of_packet(opcode, &empty), Some(kind));
            assert_eq!(TelemetryHeader::parse(kind, &empty), Some(TelemetryHeader::empty(kind)));
            assert_eq!(TelemetryHeader::parse(kind, &empty[1..]), None);
            assert_eq!(TelemetryHeader::empty(kind).kind(), kind);
            let tells = TelemetryHeader::empty(kind).queueing_ns().is_some();
            assert_eq!(tells, kind.queueing_units().is_some(), "{kind}");
        }
    }

    #[test]
    fn what_is_none_is_refused() {
        for kind in [TelemetryKind::Int, TelemetryKind::Pint] {
            let mut odd = bytes_of(&TelemetryHeader::empty(kind));
            *odd.last_mut().unwrap() = 1;
            assert_eq!(TelemetryHeader::parse(kind, &odd), None);
        }
        let mut six_records = [0; 44];
        six_records[41] = 6;
        assert_eq!(TelemetryHeader::parse(TelemetryKind::Int, &six_records), None);
    }

    proptest! {
        #[test]
        fn any_legal_bytes_come_back(
            hops in any::<[[u8; 8]; 5]>(), count in 0..=5_u8, value: [u8; 2]) {
            let int = [hops.as_flattened(), &[0, count, 0, 0]].concat();
            let pint = [value.as_slice(), &[0, 0]].concat();
            for (kind, bytes) in [(TelemetryKind::Int, int), (TelemetryKind::Pint, pint)] {
                let header = TelemetryHeader::parse(kind, &bytes).unwrap();
                prop_assert_eq!(header.kind(), kind);
                prop_assert_eq!(bytes_of(&header), bytes);
            }
        }
    }
}
