//! What is kept beside packets, which have one cache line each: content, telemetry, blocks of selective
//! acknowledgements, and notes. Most packets have nothing of it.

use rocelab_fabric::PacketId;
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_transport::Content;
use rocelab_transport::tcp::SackBlocks;
use rocelab_wire::TelemetryHeader;

use super::contents::Contents;
use super::notes::{FrameNotes, Noted};
use super::packet::{Body, Packet, PacketOf};
use super::sacks::Sacks;
use super::telemetry::Telemetry;
use crate::profile::{EndHost, HostPacket, Profile};

/// Tables of what is kept beside packets, by their places in the pool.
#[derive(Debug)]
pub(super) struct SideData {
    /// What packets carry beyond their header words.
    pub(super) contents: Contents,
    /// What selective acknowledgements of TCP say.
    pub(super) sacks: Sacks,
    /// What switches write into packets, where an algorithm asks for it.
    pub(super) telemetry: Option<Box<Telemetry>>,
    /// Where captures, faults, hop limits or tables ask for it.
    pub(super) notes: Option<Box<FrameNotes>>,
}

/// What goes beside a packet.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub(super) struct Company {
    pub(super) content: Option<Content>,
    pub(super) telemetry: Option<TelemetryHeader>,
    pub(super) sacks: Option<SackBlocks>,
    pub(super) noted: Option<Noted>,
}

impl SideData {
    /// Takes over from a host what goes beside the packet that it has just handed out.
    #[inline(never)]
    pub(super) fn start<P: Profile>(
        &mut self,
        end_host: &mut P::EndHost,
        id: PacketId,
        body: &PacketOf<P>,
    ) {
        if let Some(telemetry) = &mut self.telemetry
            && let Some(header) = end_host.take_telemetry(body)
        {
            telemetry.start(id, header);
        }
        if body.has_content()
            && let Some(content) = end_host.take_content(body)
        {
            self.contents.put(id, content);
        }
    }

    /// `copy` has beside it what `original` has.
    pub(super) fn copy(&mut self, original: PacketId, copy: PacketId) {
        if let Some(notes) = &mut self.notes {
            notes.copy(original, copy);
        }
        if let Some(telemetry) = &mut self.telemetry {
            telemetry.copy(original, copy);
        }
        self.contents.copy(original, copy);
        self.sacks.copy(original, copy);
    }

    /// A frame has arrived at a switch; true if its hop limit ends there.
    pub(super) fn expires<R: HostPacket>(&mut self, id: PacketId, packet: &Packet<R>) -> bool {
        let is_routed = packet.body.priority().is_some() && !packet.body.stays_in_domain();
        is_routed && self.notes.as_mut().is_some_and(|notes| !notes.spend_hop(id))
    }

    /// What is kept beside a packet.
    pub(super) fn company_of<R: HostPacket>(
        &self,
        id: PacketId,
        packet: &Packet<R>,
    ) -> Option<Company> {
        let noted = self.notes.as_ref().map(|notes| notes.noted(id));
        let mut company = Company { noted, ..Company::default() };
        match &packet.body {
            Body::Rdma(body) if body.has_company() => {
                let telemetry = self.telemetry.as_ref();
                let telemetry = telemetry.and_then(|all| all.of(id, body.telemetry()));
                company.telemetry = telemetry.copied();
                company.content = self.contents.of(id).cloned();
            }
            Body::Stack(frame) => {
                let segment = frame.as_segment();
                company.sacks = segment.and_then(|segment| self.sacks.of(id, segment)).copied();
            }
            Body::Rdma(_) | Body::Control(_) => {}
        }
        let Company { content, telemetry, sacks, noted } = &company;
        let is_alone =
            content.is_none() && telemetry.is_none() && sacks.is_none() && noted.is_none();
        (!is_alone).then_some(company)
    }

    /// Takes what is kept beside a packet that goes to another part of the network.
    pub(super) fn take_company<R: HostPacket>(
        &mut self,
        id: PacketId,
        packet: &Packet<R>,
    ) -> Option<Company> {
        let company = self.company_of(id, packet);
        if company.is_some() {
            self.contents.take(id);
            if let Some(notes) = &mut self.notes {
                notes.forget_sampled(id);
            }
        }
        company
    }

    /// Keeps beside a packet what was beside it elsewhere.
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
