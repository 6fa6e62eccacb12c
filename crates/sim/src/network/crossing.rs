//! Frames on their way from one part of a network to another, and what messages of applications
//! say that go there.

use rocelab_engine::{EventKey, EventQueue};
use rocelab_fabric::PacketId;
use rocelab_transport::Content;
use rocelab_transport::congestion_control::Telemetry as Carried;
use rocelab_transport::tcp::SackBlocks;
use rocelab_units::SimTime;
use rocelab_wire::TelemetryHeader;

use super::notes::Noted;
use super::packet::{Body, Packet};
use super::{Event, Network, PacketOf};
use crate::profile::{HostPacket, Profile, Shared};

/// What goes from one part to another in a window.
#[derive(Debug)]
pub(crate) struct Batch<R, M> {
    /// In the order in which they started on their links.
    frames: Vec<Packet<R>>,
    /// What goes beside some of them, by their places.
    company: Vec<(u32, Company)>,
    /// What messages say that have been posted.
    messages: Vec<M>,
    /// When something of the first frame arrives.
    first_arrival: SimTime,
}

/// What goes to the other parts in this window.
#[derive(Debug)]
pub(super) struct Outbox<R, M> {
    /// By part.
    batches: Vec<Batch<R, M>>,
}

/// What goes beside a packet.
#[derive(Debug, Default)]
struct Company {
    content: Option<Content>,
    telemetry: Option<TelemetryHeader>,
    sacks: Option<SackBlocks>,
    noted: Option<Noted>,
}

/// The batches of a network.
pub(crate) type BatchOf<P> = Batch<PacketOf<P>, MessageOf<P>>;
/// What a message says.
pub(super) type MessageOf<P> = <<P as Profile>::Shared as Shared>::Message;

impl<R, M> Default for Batch<R, M> {
    fn default() -> Self {
        let first_arrival = SimTime::NEVER;
        Self { frames: Vec::new(), company: Vec::new(), messages: Vec::new(), first_arrival }
    }
}

impl<R, M> Batch<R, M> {
    /// Whether nothing goes.
    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.messages.is_empty()
    }

    /// When it first makes something happen.
    pub(crate) fn first_arrival(&self) -> SimTime {
        self.first_arrival
    }
}

impl<R, M> Outbox<R, M> {
    pub(super) fn new(parts: u32) -> Self {
        let mut batches = Vec::new();
        batches.resize_with(parts as usize, Batch::default);
        Self { batches }
    }
}

impl<P: Profile> Network<P> {
    /// A frame starts on the link of `port`, which leads into another part.
    #[cold]
    #[inline(never)]
    pub(super) fn leave(&mut self, port: u32, id: PacketId, arrival: EventKey, part: u32) {
        let company = self.take_company(id);
        let far = self.ports[port as usize].far;
        let head =
            if far.cuts_through { self.head_of(port, id, arrival.time) } else { arrival.time };
        let packet = self.pool.get(id).crossing(self.places.cut_link_at(far.port), arrival);
        let batch = &mut self.outbox.batches[part as usize];
        batch.first_arrival = batch.first_arrival.min(head);
        if let Some(company) = company {
            let place = u32::try_from(batch.frames.len()).unwrap_or(u32::MAX);
            batch.company.push((place, company));
        }
        batch.frames.push(packet);
        self.pool.remove(id);
    }

    /// Takes what goes to another part.
    pub(crate) fn take_batch(&mut self, part: u32) -> BatchOf<P> {
        for (host, message) in self.shared.take_messages() {
            let part = self.part.cut().part_of(host);
            self.outbox.batches[part as usize].messages.push(message);
        }
        std::mem::take(&mut self.outbox.batches[part as usize])
    }

    /// Takes in what comes from another part.
    pub(crate) fn enter(&mut self, batch: BatchOf<P>, queue: &mut EventQueue<Event>) {
        let mut company = batch.company.into_iter().peekable();
        for (place, packet) in (0u32..).zip(batch.frames) {
            let (link, arrival) = packet.crossed();
            let Some(port) = self.places.beyond(link) else {
                debug_assert!(false, "a frame on a link that does not lead here");
                continue;
            };
            let id = self.pool.insert(packet.entered());
            if let Some((_, company)) = company.next_if(|(of, _)| *of == place) {
                self.put_company(id, company);
            }
            self.put_on_link(port, id, arrival, queue);
        }
        for message in batch.messages {
            self.shared.hear(message);
        }
    }

    fn take_company(&mut self, id: PacketId) -> Option<Company> {
        let packet = self.pool.get(id);
        let noted = self.notes.as_mut().map(|notes| notes.take(id));
        let mut company = Company { noted, ..Company::default() };
        match &packet.body {
            Body::Rdma(body) if body.has_company() => {
                let telemetry = self.telemetry.as_ref();
                let telemetry = telemetry.map_or(Carried::None, |all| all.of(id, body.telemetry()));
                company.telemetry = telemetry.to_header();
                company.content = self.contents.take(id);
            }
            Body::Tcp(segment) => company.sacks = self.sacks.of(id, segment).copied(),
            Body::Rdma(_) | Body::Pfc(_) => {}
        }
        let Company { content, telemetry, sacks, noted } = &company;
        let is_alone =
            content.is_none() && telemetry.is_none() && sacks.is_none() && noted.is_none();
        (!is_alone).then_some(company)
    }

    fn put_company(&mut self, id: PacketId, company: Company) {
        if let Some(content) = company.content {
            self.contents.put(id, content);
        }
        if let (Some(telemetry), Some(header)) = (&mut self.telemetry, company.telemetry) {
            telemetry.start(id, header);
        }
        if let Some(sacks) = company.sacks {
            self.sacks.put(id, sacks);
        }
        if let (Some(notes), Some(noted)) = (&mut self.notes, company.noted) {
            notes.put_noted(id, noted);
        }
    }
}
