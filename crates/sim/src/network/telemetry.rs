//! What switches write into packets, for the algorithms that ask for it. Which signals there are, and
//! how each is written, is in the crate `wire`.
//!
//! Bytes sent count as long as they occupy the link, with preamble and gap, so that a port that is
//! always busy has a utilization of 1. By the rules of HPCC's ns-3 simulator frames have neither.

use rocelab_fabric::{PacketId, Serialisation};
use rocelab_state::{Result, load_value, save_value, unfit};
use rocelab_transport::congestion_control::{Feedback, Telemetry as Carried};
use rocelab_units::{Duration, SimTime};
use rocelab_wire::{EgressPort, TelemetryHeader, TelemetryKind, TelemetryWriter};

use super::packet::{Body, Packet, PacketOf};
use super::port::NetworkPort;
use crate::Plan;
use crate::profile::{HostPacket, Profile, Shared};

/// Picoseconds in a nanosecond.
const PS_PER_NS: u64 = 1_000;

/// The telemetry of a run.
#[derive(Debug)]
pub(super) struct Telemetry {
    /// Of packets that carry some beside them, by their place in the pool.
    headers: Vec<TelemetryHeader>,
    /// Byte times that a frame occupies its link for beyond its own bytes.
    gap_bytes: u32,
    /// By kind, those that somebody asks for.
    writers: [Option<Writers>; TelemetryKind::ALL.len()],
}

/// Who writes one kind of telemetry.
#[derive(Debug)]
struct Writers {
    /// By port of all, if each keeps something.
    by_port: Vec<TelemetryWriter>,
    /// Else, for all of them.
    common: TelemetryWriter,
}

impl Writers {
    #[inline]
    fn at(&mut self, port: u32) -> &mut TelemetryWriter {
        self.by_port.get_mut(port as usize).unwrap_or(&mut self.common)
    }
}

impl Telemetry {
    /// Saves what a port keeps.
    pub(super) fn save_port(&self, port: u32, to: &mut Vec<u8>) -> Result {
        let mut of_port = self.kept().filter_map(|writers| writers.by_port.get(port as usize));
        of_port.try_for_each(|writer| writer.save(to))
    }

    /// Loads what a port keeps.
    pub(super) fn load_port(&mut self, port: u32, from: &mut &[u8]) -> Result {
        let all = self.writers.iter_mut().flatten();
        let mut of_port = all.filter_map(|writers| writers.by_port.get_mut(port as usize));
        of_port.try_for_each(|writer| writer.load(from))
    }

    /// Saves which kinds somebody asks for: packets under way say that they carry them.
    pub(super) fn save_kinds(telemetry: Option<&Self>, to: &mut Vec<u8>) -> Result {
        save_value(&Self::kinds(telemetry), to)
    }

    /// Loads which kinds somebody asked for, which must be those of now.
    pub(super) fn load_kinds(telemetry: Option<&Self>, from: &mut &[u8]) -> Result {
        let saved: Vec<String> = load_value(from)?;
        if saved == Self::kinds(telemetry) {
            Ok(())
        } else {
            Err(unfit(
                "the telemetry of packets, for a congestion control that follows another delay",
            ))
        }
    }

    /// The names of the kinds that somebody asks for.
    fn kinds(telemetry: Option<&Self>) -> Vec<&'static str> {
        let writers = telemetry.map_or(&[][..], |telemetry| &telemetry.writers[..]);
        let wanted = TelemetryKind::ALL.into_iter().zip(writers);
        wanted.filter(|(_, writers)| writers.is_some()).map(|(kind, _)| kind.name()).collect()
    }

    fn kept(&self) -> impl Iterator<Item = &Writers> {
        self.writers.iter().flatten()
    }

    /// What the algorithms of `plan` ask for, if they ask for anything; `base_rtt` is the time
    /// that switches average over, and there are so many `ports`.
    pub(super) fn new(plan: &Plan, ports: usize, base_rtt: Duration) -> Option<Box<Self>> {
        let mut telemetry = Self {
            headers: Vec::new(),
            gap_bytes: u32::try_from(plan.gap_bytes()).unwrap_or(u32::MAX),
            writers: TelemetryKind::ALL.map(|_| None),
        };
        for algorithm in plan.algorithms() {
            // Plans ask for the same units at all hosts.
            if let Feedback::Telemetry(units) = algorithm.feedback(plan.nic_rate()) {
                let kind = units.kind();
                let common = TelemetryWriter::new(units, base_rtt.ps() / PS_PER_NS);
                let by_port = vec![common; if kind.keeps_state() { ports } else { 0 }];
                telemetry.writers[kind as usize] = Some(Writers { by_port, common });
            }
        }
        let is_wanted = telemetry.kept().next().is_some();
        is_wanted.then(|| Box::new(telemetry))
    }

    /// What is kept beside a packet that says that it carries this kind.
    #[inline]
    pub(super) fn of(&self, id: PacketId, carries: Option<TelemetryKind>) -> Carried<'_> {
        carries.and_then(|_| self.headers.get(id.0 as usize))
    }

    /// A packet starts with this: nothing, or in an acknowledgement what its packet collected.
    #[inline]
    pub(super) fn start(&mut self, id: PacketId, header: TelemetryHeader) {
        let place = id.0 as usize;
        if self.headers.len() <= place {
            self.headers.resize(place + 1, header);
        }
        self.headers[place] = header;
    }

    /// A packet is handed on by the NIC of a host, which has had it for `held`; memory has it after `delay`.
    pub(super) fn note_endpoint(&mut self, id: PacketId, (held, delay): (Duration, Duration)) {
        if let Some(header) = self.headers.get_mut(id.0 as usize) {
            header.note_endpoint(held.ps() / PS_PER_NS, delay.ps() / PS_PER_NS);
        }
    }

    /// A packet has crossed so many routers, where that is counted otherwise than switch by switch.
    pub(super) fn set_hops(&mut self, id: PacketId, hops: u8) {
        if let Some(header) = self.headers.get_mut(id.0 as usize) {
            header.set_hops(hops.into());
        }
    }

    /// A packet carries what another does.
    pub(super) fn copy(&mut self, original: PacketId, copy: PacketId) {
        if let Some(&header) = self.headers.get(original.0 as usize) {
            self.start(copy, header);
        }
    }

    /// A frame leaves by a port.
    #[inline]
    pub(super) fn note_departure(&mut self, now: SimTime, port: u32, frame_len: u16) {
        let bytes = u32::from(frame_len) + self.gap_bytes;
        for writers in self.writers.iter_mut().flatten() {
            if let Some(writer) = writers.by_port.get_mut(port as usize) {
                writer.on_departure(now.ps(), bytes);
            }
        }
    }

    /// A switch writes into a data packet that leaves by a port now, which stands at this place among all.
    pub(super) fn stamp<P: Profile>(
        &mut self,
        now: SimTime,
        (place, port): (u32, &NetworkPort<P>),
        (id, packet): (PacketId, &mut Packet<PacketOf<P>>),
        shared: &mut P::Shared,
    ) {
        let Body::Rdma(body) = &mut packet.body else { return };
        let Some(kind) = body.telemetry() else { return };
        let Some(writers) = &mut self.writers[kind as usize] else { return };
        let egress = EgressPort {
            now_ps: now.ps(),
            rate_bps: port.port.link().rate().bits_per_second(),
            sent_bytes: port.sent.bytes + port.sent.frames * u64::from(self.gap_bytes),
            waiting_bytes: u64::from(port.port.waiting_bytes()),
        };
        let (writer, mut random) = (writers.at(place), || shared.telemetry_bits(place));
        if let Some(mut within) = body.own_telemetry() {
            writer.write(&mut within, &egress, &mut random);
            body.set_own_telemetry(within);
        } else if let Some(beside) = self.headers.get_mut(id.0 as usize) {
            writer.write(beside, &egress, &mut random);
        }
    }
}
