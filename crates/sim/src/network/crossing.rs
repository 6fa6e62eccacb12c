//! Frames on their way from one part of a network to another, and what messages of applications
//! say that go there.

mod bytes;

use std::collections::BTreeSet;

use rocelab_engine::EventKey;
use rocelab_fabric::PacketId;
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_transport::Content;
use rocelab_transport::congestion_control::Telemetry as Carried;
use rocelab_transport::tcp::SackBlocks;
use rocelab_units::SimTime;
use rocelab_wire::TelemetryHeader;

use super::notes::Noted;
use super::packet::{Body, Packet};
use super::{Network, PacketOf, Role};
use crate::profile::{HostPacket, Profile, Shared};

/// What goes from one part to another in a window.
#[derive(Debug)]
pub(crate) struct Batch<R, M> {
    /// Those of a link in the order in which they started on it.
    frames: Vec<Packet<R>>,
    /// For each frame its link, by its place among those that are cut, and when it arrives.
    crossings: Vec<(u32, EventKey)>,
    /// What goes beside some of them, by their places.
    company: Vec<(u32, Company)>,
    /// Those that are lost, by their places: their link went down at the instant in which they
    /// started.
    doomed: BTreeSet<u32>,
    /// What messages say that have been posted.
    messages: Vec<M>,
    /// When something of the first frame arrives.
    first_arrival: SimTime,
}

/// What goes to the other parts in this window.
#[derive(Debug)]
pub(super) struct Outbox<R, M> {
    /// By part, ascending: those to which something has gone in any window.
    batches: Vec<(u32, Batch<R, M>)>,
    /// Those that came from elsewhere and are empty now: their memory is used again.
    spare: Vec<Batch<R, M>>,
}

/// Spare batches that a part keeps at the most.
const SPARE: usize = 16;

/// What goes beside a packet.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub(super) struct Company {
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
        Self {
            frames: Vec::new(),
            crossings: Vec::new(),
            company: Vec::new(),
            doomed: BTreeSet::new(),
            messages: Vec::new(),
            first_arrival: SimTime::NEVER,
        }
    }
}

impl<R, M> Batch<R, M> {
    /// Whether nothing goes.
    fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.messages.is_empty()
    }

    /// When it first makes something happen.
    pub(crate) fn first_arrival(&self) -> SimTime {
        self.first_arrival
    }
}

impl<R, M> Default for Outbox<R, M> {
    fn default() -> Self {
        Self { batches: Vec::new(), spare: Vec::new() }
    }
}

impl<R, M> Outbox<R, M> {
    /// What goes to a part.
    fn to(&mut self, part: u32) -> &mut Batch<R, M> {
        let place = self.batches.binary_search_by_key(&part, |(part, _)| *part);
        let place = place.unwrap_or_else(|place| {
            self.batches.insert(place, (part, Batch::default()));
            place
        });
        &mut self.batches[place].1
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
        let batch = self.outbox.to(part);
        batch.first_arrival = batch.first_arrival.min(head);
        if let Some(company) = company {
            let place = u32::try_from(batch.frames.len()).unwrap_or(u32::MAX);
            batch.company.push((place, company));
        }
        batch.frames.push(*self.pool.get(id));
        batch.crossings.push((self.places.cut_link_at(far.port), arrival));
        self.pool.remove(id);
    }

    /// The link of `port` goes down. If it leads into another part, the frames that go there by it are
    /// lost: windows end before what happens outside, so they have started at this instant.
    pub(super) fn doom_leaving(&mut self, port: u32) {
        let far = &self.ports[port as usize].far;
        let Role::Elsewhere(part) = far.role else { return };
        let link = self.places.cut_link_at(far.port);
        let Batch { crossings, doomed, .. } = self.outbox.to(part);
        let places = (0u32..).zip(&*crossings).filter(|(_, (of, _))| *of == link);
        doomed.extend(places.map(|(place, _)| place));
    }

    /// Takes what goes to other parts, each with its number.
    pub(crate) fn take_batches(&mut self) -> impl Iterator<Item = (u32, BatchOf<P>)> {
        for (host, message) in self.shared.take_messages() {
            let part = self.part.cut().part_of(host);
            self.outbox.to(part).messages.push(message);
        }
        let Outbox { batches, spare } = &mut self.outbox;
        let filled = batches.iter_mut().filter(|(_, batch)| !batch.is_empty());
        filled
            .map(|(part, batch)| (*part, std::mem::replace(batch, spare.pop().unwrap_or_default())))
    }

    /// Takes in what comes from another part.
    pub(crate) fn enter(&mut self, mut batch: BatchOf<P>) {
        let mut company = batch.company.drain(..).peekable();
        let crossed = batch.frames.drain(..).zip(batch.crossings.drain(..));
        for (place, (packet, (link, arrival))) in (0u32..).zip(crossed) {
            let Some(port) = self.places.beyond(link) else {
                debug_assert!(false, "a frame on a link that does not lead here");
                continue;
            };
            let id = self.pool.insert(packet.entered());
            if let Some((_, company)) = company.next_if(|(of, _)| *of == place) {
                self.put_company(id, company);
            }
            if batch.doomed.contains(&place) {
                self.ports[port as usize].doomed += 1;
            }
            self.put_on_link(port, id, arrival);
        }
        drop(company);
        for message in batch.messages.drain(..) {
            self.shared.hear(message);
        }
        self.keep_spare(batch);
    }

    /// The memory of a batch, whose content is elsewhere now, is used again.
    pub(crate) fn keep_spare(&mut self, mut batch: BatchOf<P>) {
        if self.outbox.spare.len() < SPARE {
            let Batch { frames, crossings, company, doomed, messages, first_arrival } = &mut batch;
            frames.clear();
            crossings.clear();
            company.clear();
            doomed.clear();
            messages.clear();
            *first_arrival = SimTime::NEVER;
            self.outbox.spare.push(batch);
        }
    }

    fn take_company(&mut self, id: PacketId) -> Option<Company> {
        let company = self.company_of(id);
        if company.is_some() {
            self.contents.take(id);
            if let Some(notes) = &mut self.notes {
                notes.forget_sampled(id);
            }
        }
        company
    }

    /// What is kept beside a packet.
    pub(super) fn company_of(&self, id: PacketId) -> Option<Company> {
        let packet = self.pool.get(id);
        let noted = self.notes.as_ref().map(|notes| notes.noted(id));
        let mut company = Company { noted, ..Company::default() };
        match &packet.body {
            Body::Rdma(body) if body.has_company() => {
                let telemetry = self.telemetry.as_ref();
                let telemetry = telemetry.map_or(Carried::None, |all| all.of(id, body.telemetry()));
                company.telemetry = telemetry.to_header();
                company.content = self.contents.of(id).cloned();
            }
            Body::Tcp(segment) => company.sacks = self.sacks.of(id, segment).copied(),
            Body::Rdma(_) | Body::Pfc(_) => {}
        }
        let Company { content, telemetry, sacks, noted } = &company;
        let is_alone =
            content.is_none() && telemetry.is_none() && sacks.is_none() && noted.is_none();
        (!is_alone).then_some(company)
    }

    pub(super) fn put_company(&mut self, id: PacketId, company: Company) {
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
