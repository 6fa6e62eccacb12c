//! Checks that a capture has only what a correct network sends.

use std::collections::BTreeMap;
use std::time::Duration;

use rustc_hash::FxHashMap;

use crate::dissection::{Dissection, Dissector, NotLookedInto, OpcodeName, Protocol};
use crate::fault::Fault;
use crate::flow::{FlowTable, Seen, SharedAddresses};
use crate::integrity;
use crate::observation::Observation;
use crate::{CapturedFrame, Direction, NumberedInterface};

/// Checks the frames of a capture one by one: each by itself, and each packet against the earlier
/// packets of the same queue pair.
///
/// A frame has *faults* if something is wrong: its checksums, lengths, pad or reserved bits, an
/// opcode that is not allowed at its place, a response without a request. Things that happen in
/// correct networks are *observations*: retransmissions, gaps that a NAK explains or that have not
/// been answered yet, negative acknowledgements.
///
/// Memory is bounded: one frame, and some kilobytes for each of at most [`MAX_FLOWS`] flows.
///
/// ```
/// use rocelab_capture::{CaptureReader, Verifier};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use rocelab_capture::{CaptureWriter, Format};
/// # let capture = CaptureWriter::new(Format::PcapNg, Vec::new(), &[])?.finish()?;
/// let mut reader = CaptureReader::new(&capture[..])?;
/// let mut verifier = Verifier::new();
/// while let Some(frame) = reader.next_frame() {
///     let verified = verifier.verify(&frame?);
///     for fault in verified.faults {
///         println!("{fault}");
///     }
/// }
/// assert_eq!(verifier.totals().faulty, 0);
/// # Ok(())
/// # }
/// ```
///
/// [`MAX_FLOWS`]: crate::MAX_FLOWS
#[derive(Debug, Default)]
pub struct Verifier {
    dissector: Dissector,
    flows: FlowTable,
    faults: Vec<Fault>,
    observations: Vec<Observation>,
    totals: Totals,
    opcodes: OpcodeCounts,
    /// The names of interfaces that frames were captured on, by number; the first [`MAX_INTERFACES`] of them.
    interfaces: BTreeMap<usize, Option<String>>,
    not_looked_into: BTreeMap<NotLookedInto, u64>,
}

/// Most interfaces whose names are remembered: this limits memory.
const MAX_INTERFACES: usize = 1 << 14;

/// The common addresses of each interface of a capture.
///
/// A gap is a fault only at a port that all packets of the flow pass, and only the whole capture
/// shows which ports these are. A [`Verifier`] alone knows only the frames so far. So a capture
/// that can be read twice is surveyed first; then its faults do not depend on the order in which
/// hosts appear.
#[derive(Debug, Default)]
pub struct Survey {
    dissector: Dissector,
    shared_addresses: FxHashMap<u32, SharedAddresses>,
}

impl Survey {
    /// Takes the next frame of the capture.
    pub fn note(&mut self, captured: &CapturedFrame<'_>) {
        let dissection = self.dissector.dissect(captured);
        let (mut faults, mut observations) = (Vec::new(), Vec::new());
        integrity::check(&dissection, &mut faults, &mut observations);
        if is_damaged(&faults) {
            return;
        }
        if let Some(packet) = dissection.packet().or_else(|| dissection.beginning()) {
            let shared_addresses =
                self.shared_addresses.entry(number_of_interface(captured)).or_default();
            shared_addresses.add(packet.source, packet.destination);
        }
    }
}

/// The interface's number in the file.
fn number_of_interface(captured: &CapturedFrame<'_>) -> u32 {
    u32::try_from(captured.interface).unwrap_or(u32::MAX)
}

/// The interface's name, if the file has one.
fn name_of_interface<'a>(captured: &CapturedFrame<'a>) -> Option<&'a str> {
    captured.described.and_then(|interface| interface.name.as_deref())
}

/// Whether receivers drop a frame with these faults, so that nothing in it can be trusted.
fn is_damaged(faults: &[Fault]) -> bool {
    let is_damage = |fault: &Fault| {
        matches!(
            fault,
            Fault::Malformed(_)
                | Fault::Icrc { .. }
                | Fault::Fcs { .. }
                | Fault::Vcrc { .. }
                | Fault::PktLen { .. }
        )
    };
    faults.iter().any(is_damage)
}

/// The result of checking a frame.
#[derive(Clone, Copy, Debug)]
pub struct Verified<'a> {
    /// The frame's number in the file, from 1.
    pub number: u64,
    /// Time of the capture, in the file's time.
    pub time: Duration,
    /// Name of the interface, if the file has one.
    pub interface: Option<&'a str>,
    /// Number of the interface in the file, from 0.
    pub interface_number: usize,
    /// Whether the interface sent or received it, if the file says so.
    pub direction: Option<Direction>,
    /// What was captured.
    pub bytes: &'a [u8],
    /// The parsed frame.
    pub dissection: Dissection<'a>,
    /// Its faults.
    pub faults: &'a [Fault],
    /// Its observations.
    pub observations: &'a [Observation],
    /// The number of its flow in [`Verifier::flows`], if it has one.
    pub flow: Option<usize>,
}

/// The result of checking a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Frames.
    pub frames: u64,
    /// Frames with faults.
    pub faulty: u64,
    /// Number of faults: a frame can have several.
    pub faults: u64,
    /// Frames of which only the beginning was captured (because of the snap length): their ICRC and
    /// payload were not checked.
    pub cut: u64,
    /// Frames by protocol, in the order of [`Protocol`].
    by_protocol: [u64; Protocol::ALL.len()],
}

impl Totals {
    /// Frames of this protocol.
    #[must_use]
    pub const fn of_protocol(&self, protocol: Protocol) -> u64 {
        self.by_protocol[protocol as usize]
    }
}

impl Verifier {
    /// A verifier without a survey.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A verifier for a capture that was surveyed.
    #[must_use]
    pub fn with(survey: Survey) -> Self {
        Self { flows: FlowTable::with_shared_addresses(survey.shared_addresses), ..Self::default() }
    }

    /// Checks the next frame of the capture.
    pub fn verify<'a>(&'a mut self, captured: &CapturedFrame<'a>) -> Verified<'a> {
        self.faults.clear();
        self.observations.clear();
        let dissection = self.dissector.dissect(captured);
        integrity::check(&dissection, &mut self.faults, &mut self.observations);
        if !self.interfaces.contains_key(&captured.interface)
            && self.interfaces.len() < MAX_INTERFACES
        {
            let name = name_of_interface(captured).map(str::to_owned);
            self.interfaces.insert(captured.interface, name);
        }
        if let Some(reason) = dissection.not_looked_into {
            *self.not_looked_into.entry(reason).or_default() += 1;
        }
        self.totals.frames += 1;
        self.totals.cut += u64::from(dissection.extent.cut);
        self.totals.by_protocol[dissection.protocol as usize] += 1;

        let mut flow = None;
        if let Some(bth) = dissection.cut_bth {
            self.opcodes.count(bth.opcode, || OpcodeName::of_bth(&bth));
        }
        let whole = dissection.packet();
        if let Some(packet) = &whole {
            self.opcodes.count(packet.bth.opcode, || packet.opcode_name());
        }
        let has_extensions = whole.is_some();
        if let Some(packet) = whole.or_else(|| dissection.beginning()) {
            let operation = match has_extensions {
                true => packet.operation(),
                false => packet.operation_by_header(),
            };
            if let Some(operation) = operation {
                let interface = number_of_interface(captured);
                let seen = Seen {
                    number: captured.number,
                    interface,
                    time: captured.time,
                    packet: &packet,
                    operation,
                    has_extensions,
                    // The length of telemetry is in the telemetry header.
                    has_length: has_extensions || packet.bth.opcode().is_some(),
                };
                flow = follow(&mut self.flows, &seen, &mut self.faults, &mut self.observations);
            }
        }
        self.totals.faults += self.faults.len() as u64;
        self.totals.faulty += u64::from(!self.faults.is_empty());
        let flow = flow.map(|flow| flow as usize);
        Verified {
            number: captured.number,
            time: captured.time,
            interface: name_of_interface(captured),
            interface_number: captured.interface,
            direction: captured.direction,
            bytes: captured.bytes,
            dissection,
            faults: &self.faults,
            observations: &self.observations,
            flow,
        }
    }

    /// The interfaces that frames were captured on, by number.
    pub fn interfaces(&self) -> impl Iterator<Item = NumberedInterface> + '_ {
        let numbered = |(&number, name): (&usize, &Option<String>)| NumberedInterface {
            number,
            name: name.clone(),
        };
        self.interfaces.iter().map(numbered)
    }

    /// The name of the interface with this number, if the file has one.
    #[must_use]
    pub fn interface_name(&self, number: u32) -> Option<&str> {
        self.interfaces.get(&(number as usize))?.as_deref()
    }

    /// The number of frames that were not looked into although they may have RoCE packets in them, by reason.
    pub fn not_looked_into(&self) -> impl Iterator<Item = (NotLookedInto, u64)> + '_ {
        self.not_looked_into.iter().map(|(reason, frames)| (*reason, *frames))
    }

    /// The totals so far.
    #[must_use]
    pub const fn totals(&self) -> &Totals {
        &self.totals
    }

    /// The flows so far.
    #[must_use]
    pub const fn flows(&self) -> &FlowTable {
        &self.flows
    }

    /// The number of packets with each opcode, in numeric order, including packets whose ICRC is
    /// wrong.
    #[must_use]
    pub fn opcodes(&self) -> Vec<OpcodeCount> {
        self.opcodes.list()
    }
}

/// Takes a packet into its flow, and returns the number of that.
fn follow(
    flows: &mut FlowTable,
    seen: &Seen<'_>,
    faults: &mut Vec<Fault>,
    observations: &mut Vec<Observation>,
) -> Option<u32> {
    if is_damaged(faults) {
        flows.note_damaged(seen);
        return None;
    }
    let by_itself = faults.len();
    let flow = flows.observe(seen, faults, observations)?;
    if by_itself > 0 && faults.len() == by_itself {
        flows.count_faulty(flow);
    }
    Some(flow)
}

/// The number of packets with an opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpcodeCount {
    /// Its number.
    pub number: u8,
    /// Its name: see [`Packet::opcode_name`](crate::Packet::opcode_name).
    pub name: OpcodeName,
    /// Number of packets.
    pub packets: u64,
}

#[derive(Debug)]
struct OpcodeCounts {
    packets: [u64; 256],
    names: BTreeMap<u8, OpcodeName>,
}

impl Default for OpcodeCounts {
    fn default() -> Self {
        Self { packets: [0; 256], names: BTreeMap::new() }
    }
}

impl OpcodeCounts {
    fn count(&mut self, number: u8, name: impl FnOnce() -> OpcodeName) {
        let packets = &mut self.packets[usize::from(number)];
        if *packets == 0 {
            self.names.insert(number, name());
        }
        *packets += 1;
    }

    fn list(&self) -> Vec<OpcodeCount> {
        let count = |(&number, &name): (&u8, &OpcodeName)| OpcodeCount {
            number,
            name,
            packets: self.packets[usize::from(number)],
        };
        self.names.iter().map(count).collect()
    }
}
