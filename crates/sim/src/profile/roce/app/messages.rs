//! What messages say.
//!
//! A program knows from a message's bytes which operation it belongs to, and which kind that is:
//! the command identifier of a storage protocol, the tag of a remote procedure call. Payload has no
//! bytes here, so what they would say, a number of the sender's choice, waits here for the message. Reliable connections deliver
//! each message once and in order, so the oldest entry is that of the message that has arrived,
//! and nobody reads one before.

use std::collections::VecDeque;

use rocelab_fabric::NodeId;

use crate::{Plan, Side};
use rocelab_state::{BorshDeserialize, BorshSerialize};

/// The messages that are under way to hosts of one part of a network, and those that are posted
/// there for hosts of others.
#[derive(Debug, Default)]
pub(in crate::profile::roce) struct Messages {
    /// By connection of the plan: its place among those of this part; `u32::MAX` if it is none.
    places: Vec<u32>,
    /// The connections with an end in this part.
    here: Vec<OfConnection>,
    /// Posted for hosts of other parts, and not yet told there.
    distant: Vec<(NodeId, DistantMessage)>,
}

/// What waits for the messages of a connection.
#[derive(Debug)]
struct OfConnection {
    /// To the client, then to the server.
    under_way: [VecDeque<u64>; 2],
    /// The host that is in another part, of the client and of the server.
    elsewhere: [Option<NodeId>; 2],
}

/// A message that is posted in one part of a network, for a host of another.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct DistantMessage {
    connection: u32,
    to: Side,
    tag: u64,
}

impl Messages {
    /// Nothing is under way yet.
    pub(in crate::profile::roce) fn new(plan: &Plan, is_here: impl Fn(NodeId) -> bool) -> Self {
        let (mut places, mut here) = (Vec::new(), Vec::new());
        for connection in &plan.connections {
            let elsewhere = [Side::Client, Side::Server].map(|side| {
                let host = connection.end(side).host;
                (!is_here(host)).then_some(host)
            });
            let is_here = elsewhere.contains(&None);
            places.push(u32::try_from(here.len()).ok().filter(|_| is_here).unwrap_or(u32::MAX));
            if is_here {
                here.push(OfConnection { under_way: Default::default(), elsewhere });
            }
        }
        Self { places, here, distant: Vec::new() }
    }

    /// A message is posted that says `tag`, for the end of `to`.
    pub(super) fn post(&mut self, connection: u32, to: Side, tag: u64) {
        let of_connection = self.of(connection);
        match of_connection.elsewhere[side(to)] {
            None => of_connection.under_way[side(to)].push_back(tag),
            Some(host) => self.distant.push((host, DistantMessage { connection, to, tag })),
        }
    }

    /// Takes what was posted for hosts of other parts, with those hosts.
    pub(in crate::profile::roce) fn take_distant(&mut self) -> Vec<(NodeId, DistantMessage)> {
        std::mem::take(&mut self.distant)
    }

    /// A message is under way that was posted in another part.
    pub(in crate::profile::roce) fn hear(&mut self, heard: DistantMessage) {
        self.of(heard.connection).under_way[side(heard.to)].push_back(heard.tag);
    }

    /// Whether a message that was posted in another part is for an end here.
    pub(in crate::profile::roce) fn is_for_here(&self, message: &DistantMessage) -> bool {
        let place = self.places.get(message.connection as usize).copied().unwrap_or(u32::MAX);
        let connection = self.here.get(place as usize);
        connection.is_some_and(|connection| connection.elsewhere[side(message.to)].is_none())
    }

    /// What the message says that has arrived at the end of `at`.
    pub(super) fn take(&mut self, connection: u32, at: Side) -> Option<u64> {
        self.of(connection).under_way[side(at)].pop_front()
    }

    /// What is under way to one side of a connection, if that is here.
    pub(in crate::profile::roce) fn under_way(
        &mut self,
        connection: u32,
        to: Side,
    ) -> &mut VecDeque<u64> {
        &mut self.of(connection).under_way[side(to)]
    }

    /// A connection with an end in this part.
    fn of(&mut self, connection: u32) -> &mut OfConnection {
        &mut self.here[self.places[connection as usize] as usize]
    }
}

/// The place of what is for a side.
const fn side(to: Side) -> usize {
    match to {
        Side::Client => 0,
        Side::Server => 1,
    }
}
