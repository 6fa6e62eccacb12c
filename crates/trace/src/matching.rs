//! Which message a receive gets.

use std::collections::VecDeque;

use crate::ANY;

/// The receives of one rank that wait for messages, and messages that arrived before their receives.
///
/// A receive gets the first message that arrived of those that match it; a message goes to the first receive that was posted
/// of those that it matches, as in MPI.
#[derive(Clone, Debug, Default)]
pub struct Matching {
    posted: VecDeque<(u32, u32, u32)>,
    arrived: VecDeque<(u32, u32, u32)>,
}

rocelab_state::state!(Matching { values: posted, arrived });

/// A receive or message that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matched(
    /// What the caller gave with it.
    pub u32,
);

impl Matching {
    /// Posts a receive from `peer` with `tag`, each of which may be [`ANY`]; the message that it gets at once.
    pub fn receive(&mut self, peer: u32, tag: u32, receive: u32) -> Option<Matched> {
        let fits = |(from, its_tag, _): &(u32, u32, u32)| matches(peer, tag, *from, *its_tag);
        let found = self.arrived.iter().position(fits);
        let found = found.and_then(|index| self.arrived.remove(index));
        if found.is_none() {
            self.posted.push_back((peer, tag, receive));
        }
        found.map(|(.., message)| Matched(message))
    }

    /// Takes a message that arrived `from` a rank with `tag`; the receive that gets it at once.
    pub fn arrive(&mut self, from: u32, tag: u32, message: u32) -> Option<Matched> {
        let fits = |(peer, its_tag, _): &(u32, u32, u32)| matches(*peer, *its_tag, from, tag);
        let found = self.posted.iter().position(fits);
        let found = found.and_then(|index| self.posted.remove(index));
        if found.is_none() {
            self.arrived.push_back((from, tag, message));
        }
        found.map(|(.., receive)| Matched(receive))
    }

    /// Receives that wait: (peer, tag, what the caller gave), in the order in which they were posted.
    pub fn waiting(&self) -> impl Iterator<Item = (u32, u32, u32)> + '_ {
        self.posted.iter().copied()
    }

    /// Messages that no receive got: (sender, tag, what the caller gave), in the order in which they arrived.
    pub fn unexpected(&self) -> impl Iterator<Item = (u32, u32, u32)> + '_ {
        self.arrived.iter().copied()
    }
}

fn matches(peer: u32, tag: u32, from: u32, its_tag: u32) -> bool {
    (peer == ANY || peer == from) && (tag == ANY || tag == its_tag)
}
