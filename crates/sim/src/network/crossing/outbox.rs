//! What goes from one part of a network to others.

use std::collections::BTreeSet;

use rocelab_engine::EventKey;
use rocelab_units::SimTime;

use crate::network::packet::{Packet, PacketOf};
use crate::network::side::Company;
use crate::profile::{Profile, Shared};

/// What goes from one part to another in a window.
#[derive(Debug)]
pub(crate) struct Batch<R, M> {
    /// Those of a link in the order in which they started on it.
    pub(in crate::network) frames: Vec<Packet<R>>,
    /// For each frame its link, by its place among those that are cut, and when it arrives.
    pub(in crate::network) crossings: Vec<(u32, EventKey)>,
    /// What goes beside some of them, by their places.
    pub(in crate::network) company: Vec<(u32, Company)>,
    /// Those that are lost, by their places: their link went down at the instant in which they
    /// started.
    pub(in crate::network) doomed: BTreeSet<u32>,
    /// What messages say that have been posted.
    pub(in crate::network) messages: Vec<M>,
    /// When something of the first frame arrives.
    pub(in crate::network) first_arrival: SimTime,
}

/// What goes to the other parts in this window.
#[derive(Debug)]
pub(in crate::network) struct Outbox<R, M> {
    /// By part, ascending: those to which something has gone in any window.
    pub(in crate::network) batches: Vec<(u32, Batch<R, M>)>,
    /// Those that came from elsewhere and are empty now: their memory is used again.
    pub(in crate::network) spare: Vec<Batch<R, M>>,
}

/// Spare batches that a part keeps at the most.
pub(in crate::network) const SPARE: usize = 16;

/// The batches of a network.
pub(crate) type BatchOf<P> = Batch<PacketOf<P>, MessageOf<P>>;
/// What a message says.
pub(in crate::network) type MessageOf<P> = <<P as Profile>::Shared as Shared>::Message;

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
    pub(in crate::network) fn is_empty(&self) -> bool {
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
    pub(in crate::network) fn to(&mut self, part: u32) -> &mut Batch<R, M> {
        let place = self.batches.binary_search_by_key(&part, |(part, _)| *part);
        let place = place.unwrap_or_else(|place| {
            self.batches.insert(place, (part, Batch::default()));
            place
        });
        &mut self.batches[place].1
    }
}
