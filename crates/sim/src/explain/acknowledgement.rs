//! What the wait for an acknowledgement of TCP is made of.

use super::category::Category;
use super::trail::Trail;

/// An acknowledgement with which a sender went on (picoseconds).
#[derive(Clone, Copy, Debug)]
pub(super) struct Acknowledgement {
    /// When the sender's protocol had it.
    pub(super) through: u64,
    stays: [Stay; 4],
}

/// A time that went by at one of the ends, and not on the way between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stay {
    /// Whether at the sender; else at the receiver.
    pub(super) at_sender: bool,
    pub(super) category: Category,
    /// Picoseconds.
    pub(super) from: u64,
    pub(super) to: u64,
}

impl Acknowledgement {
    /// That which came this way; none if it is not known what it answers.
    pub(super) fn new(trail: &Trail, through: u64) -> Option<Self> {
        let answered = trail.answers.as_ref()?;
        let stay = |at_sender, category, from, to| Stay { at_sender, category, from, to };
        let stays = [
            stay(false, Category::HostStack, answered.request.arrived(), answered.through),
            stay(false, Category::DelayedAck, answered.through, answered.ready),
            stay(false, Category::HostStack, answered.ready, answered.released),
            stay(true, Category::HostStack, trail.arrived(), through),
        ];
        Some(Self { through, stays })
    }

    /// What of the time from `from` to `to` went by at the ends.
    pub(super) fn stays(&self, (from, to): (u64, u64)) -> impl Iterator<Item = Stay> + use<> {
        let clipped = self.stays.into_iter().map(move |stay| Stay {
            from: stay.from.max(from),
            to: stay.to.min(to),
            ..stay
        });
        clipped.filter(|stay| stay.from < stay.to)
    }
}
