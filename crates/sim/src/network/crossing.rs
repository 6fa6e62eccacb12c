//! Frames on their way from one part of a network to another, and what messages of applications
//! say that go there.

mod bytes;
mod outbox;

use rocelab_engine::EventKey;
use rocelab_fabric::PacketId;
use rocelab_units::SimTime;

pub(crate) use self::outbox::BatchOf;
use self::outbox::SPARE;
pub(in crate::network) use self::outbox::{Batch, MessageOf, Outbox};
use super::core::Network;
use super::node::Role;
use super::other_frames::OtherFrames;
use crate::profile::{Profile, Shared};

/// A part of a network, where frames leave it and come into it.
#[derive(Debug)]
pub(crate) struct Crossing<'a, P: Profile>(pub(crate) &'a mut Network<P>);

impl<P: Profile> Crossing<'_, P> {
    /// A frame starts on the link of `port`, which leads into another part.
    #[cold]
    #[inline(never)]
    pub(super) fn leave(&mut self, port: u32, id: PacketId, arrival: EventKey, part: u32) {
        let company = self.0.side.take_company(id, self.0.pool.get(id));
        let far = self.0.ports[port as usize].far;
        let head = if far.switch.cuts_through() {
            self.0.ports[port as usize].head_of(self.0.pool.get(id).frame_len, arrival.time)
        } else {
            arrival.time
        };
        let batch = self.0.features.outbox.to(part);
        batch.first_arrival = batch.first_arrival.min(head);
        if let Some(company) = company {
            let place = u32::try_from(batch.frames.len()).unwrap_or(u32::MAX);
            batch.company.push((place, company));
        }
        batch.frames.push(*self.0.pool.get(id));
        batch.crossings.push((self.0.layout.places.cut_link_at(far.port), arrival));
        self.0.pool.remove(id);
    }

    /// The link of `port` goes down. If it leads into another part, the frames that go there by it are
    /// lost: windows end before what happens outside, so they have started at this instant.
    pub(super) fn doom_leaving(&mut self, port: u32) {
        let far = &self.0.ports[port as usize].far;
        let Role::Elsewhere(part) = far.role else { return };
        let link = self.0.layout.places.cut_link_at(far.port);
        let Batch { crossings, doomed, .. } = self.0.features.outbox.to(part);
        let places = (0u32..).zip(&*crossings).filter(|(_, (of, _))| *of == link);
        doomed.extend(places.map(|(place, _)| place));
    }

    /// Takes what goes to other parts, each with its number.
    pub(crate) fn take_batches(self) -> impl Iterator<Item = (u32, BatchOf<P>)> {
        let network = self.0;
        for (host, message) in network.shared.take_messages() {
            let part = network.layout.part.cut().part_of(host);
            let batch = network.features.outbox.to(part);
            batch.first_arrival = batch.first_arrival.min(P::Shared::happens_at(&message));
            batch.messages.push(message);
        }
        let Outbox { batches, spare } = &mut network.features.outbox;
        let filled = batches.iter_mut().filter(|(_, batch)| !batch.is_empty());
        filled
            .map(|(part, batch)| (*part, std::mem::replace(batch, spare.pop().unwrap_or_default())))
    }

    /// Takes in what comes from another part.
    pub(crate) fn enter(&mut self, mut batch: BatchOf<P>) {
        let mut company = batch.company.drain(..).peekable();
        let crossed = batch.frames.drain(..).zip(batch.crossings.drain(..));
        for (place, (packet, (link, arrival))) in (0u32..).zip(crossed) {
            let Some(port) = self.0.layout.places.beyond(link) else {
                debug_assert!(false, "a frame on a link that does not lead here");
                continue;
            };
            let id = self.0.pool.insert(packet.entered());
            if let Some((_, company)) = company.next_if(|(of, _)| *of == place) {
                self.0.side.put_company(id, company);
            }
            if batch.doomed.contains(&place) {
                self.0.ports[port as usize].rare.doomed += 1;
            }
            self.0.put_on_link(port, id, arrival);
        }
        drop(company);
        for message in batch.messages.drain(..) {
            if let Some(transfer) = self.0.shared.hear(message) {
                OtherFrames(self.0).schedule_transfer(&transfer, true);
            }
        }
        self.keep_spare(batch);
    }

    /// The memory of a batch, whose content is elsewhere now, is used again.
    pub(crate) fn keep_spare(&mut self, mut batch: BatchOf<P>) {
        if self.0.features.outbox.spare.len() < SPARE {
            let Batch { frames, crossings, company, doomed, messages, first_arrival } = &mut batch;
            frames.clear();
            crossings.clear();
            company.clear();
            doomed.clear();
            messages.clear();
            *first_arrival = SimTime::NEVER;
            self.0.features.outbox.spare.push(batch);
        }
    }
}
