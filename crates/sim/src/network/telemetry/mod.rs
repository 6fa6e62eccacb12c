//! What switches write into packets, for the algorithms that ask for it: one word each hop (INT,
//! for HPCC), or one value for the whole path (PINT).
//!
//! Bytes sent count as long as they occupy the link, with preamble and gap, so that a port that is
//! always busy has a utilisation of 1. By the rules of HPCC's ns-3 simulator frames have neither.

mod pint;

use rocelab_fabric::{PacketId, Serialisation};
use rocelab_transport::congestion_control::{Feedback, Telemetry as Carried};
use rocelab_units::{Duration, SimTime};
use rocelab_wire::{IntHeader, IntHop, TelemetryHeader};

use self::pint::{Encoding, Meter, PS_PER_NS};
use super::packet::{Body, Packet, PacketOf};
use super::port::NetworkPort;
use crate::Plan;
use crate::profile::{Carries, HostPacket, Profile, Shared};

/// The telemetry of a run.
#[derive(Debug)]
pub(super) struct Telemetry {
    /// Of packets that carry a word each hop, by their place in the pool.
    headers: Vec<IntHeader>,
    /// Of packets that carry one value beside them, likewise.
    values: Vec<u16>,
    /// Byte times that a frame occupies its link for beyond its own bytes.
    gap_bytes: u32,
    /// The multiplier of the units of bytes and queue lengths.
    multiplier: u32,
    /// Where one value is carried for the whole path.
    pint: Option<Pint>,
}

/// What switches keep for PINT.
#[derive(Debug)]
struct Pint {
    encoding: Encoding,
    /// By port of all.
    meters: Vec<Meter>,
}

impl Telemetry {
    /// What PINT measures at a port, if that is asked for.
    pub(super) fn meter(&mut self, port: u32) -> Option<&mut Meter> {
        self.pint.as_mut()?.meters.get_mut(port as usize)
    }

    /// What the algorithms of `plan` ask for, if they ask for anything; `base_rtt` is the time
    /// that utilisation is averaged over, and there are so many `ports`.
    pub(super) fn new(plan: &Plan, ports: usize, base_rtt: Duration) -> Option<Box<Self>> {
        let mut telemetry = Self {
            headers: Vec::new(),
            values: Vec::new(),
            gap_bytes: u32::try_from(plan.gap_bytes()).unwrap_or(u32::MAX),
            multiplier: 1,
            pint: None,
        };
        let mut is_wanted = false;
        for algorithm in plan.algorithms() {
            // Plans ask for the same units at all hosts.
            let feedback = algorithm.feedback(plan.nic_rate());
            is_wanted |= feedback.telemetry().is_some();
            match feedback {
                Feedback::Int { multiplier } => telemetry.multiplier = multiplier,
                Feedback::Pint { log_base } => {
                    telemetry.pint = Some(Pint {
                        encoding: Encoding::new(log_base.as_f64()),
                        meters: vec![Meter::new(base_rtt); ports],
                    });
                }
                _ => {}
            }
        }
        is_wanted.then(|| Box::new(telemetry))
    }

    /// What is kept beside a packet, which says what it carries.
    #[inline]
    pub(super) fn of(&self, id: PacketId, carries: Carries) -> Carried<'_> {
        let place = id.0 as usize;
        match carries {
            Carries::Nothing => Carried::None,
            Carries::Hops => self.headers.get(place).map_or(Carried::None, Carried::Int),
            Carries::Value => {
                self.values.get(place).map_or(Carried::None, |&value| Carried::Pint(value))
            }
        }
    }

    /// A packet starts with this: nothing, or in an acknowledgement what its packet collected.
    #[inline]
    pub(super) fn start(&mut self, id: PacketId, header: TelemetryHeader) {
        match header {
            TelemetryHeader::Int(header) => put(&mut self.headers, id, header),
            TelemetryHeader::Pint(value) => put(&mut self.values, id, value),
        }
    }

    /// A packet carries what another does.
    pub(super) fn copy(&mut self, original: PacketId, copy: PacketId) {
        let place = original.0 as usize;
        if let Some(header) = self.headers.get(place).cloned() {
            put(&mut self.headers, copy, header);
        }
        if let Some(&value) = self.values.get(place) {
            put(&mut self.values, copy, value);
        }
    }

    /// A frame leaves by a port.
    #[inline]
    pub(super) fn note_departure(&mut self, now: SimTime, port: u32, frame_len: u16) {
        if let Some(pint) = &mut self.pint {
            pint.meters[port as usize].note_departure(now, u32::from(frame_len) + self.gap_bytes);
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
        match body.telemetry() {
            Carries::Nothing => {}
            Carries::Hops => {
                let rate = port.port.link().rate().bits_per_second();
                let hop = IntHop::new(
                    now.ps() / PS_PER_NS,
                    port.sent.bytes + port.sent.frames * u64::from(self.gap_bytes),
                    u64::from(port.port.waiting_bytes()),
                    rate,
                    self.multiplier,
                );
                if let Some(hop) = hop {
                    self.headers[id.0 as usize].push(hop);
                }
            }
            Carries::Value => {
                let Some(pint) = &mut self.pint else { return };
                let meter = &mut pint.meters[place as usize];
                let rate = port.port.link().rate();
                let mut random = || shared.telemetry_bits(place);
                let utilisation =
                    meter.measure(now, u64::from(port.port.waiting_bytes()), rate, &mut random);
                let value = pint.encoding.encode(utilisation, &mut random);
                if let Some(within) = body.value() {
                    *within = (*within).max(u64::from(value));
                } else if let Some(beside) = self.values.get_mut(id.0 as usize) {
                    *beside = (*beside).max(value);
                }
            }
        }
    }
}

/// Puts `what` at the place of a packet.
fn put<T: Clone + Default>(places: &mut Vec<T>, id: PacketId, what: T) {
    let place = id.0 as usize;
    if places.len() <= place {
        places.resize(place + 1, T::default());
    }
    places[place] = what;
}
