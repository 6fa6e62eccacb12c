//! What messages say.
//!
//! A program knows from a message's bytes which operation it belongs to, and which kind that is:
//! the command identifier of a storage protocol, the tag of a remote procedure call. Payload has no
//! bytes here, so what they would say waits here for the message. Reliable connections deliver
//! each message once and in order, so the oldest entry is that of the message that has arrived,
//! and nobody reads one before.

use std::collections::VecDeque;

use crate::{Plan, Side};

/// The messages that are under way on all connections of applications.
#[derive(Debug, Default)]
pub(in crate::profile::roce) struct Messages {
    /// By connection; to the client, then to the server.
    under_way: Vec<[VecDeque<Message>; 2]>,
}

/// What the receiver of a message needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// Which of the open operations.
    pub(super) slot: u16,
    /// Its kind.
    pub(super) kind: u16,
    /// The step that is done with it.
    pub(super) step: u16,
}

impl Messages {
    /// Nothing is under way yet.
    pub(in crate::profile::roce) fn new(plan: &Plan) -> Self {
        let mut under_way = Vec::new();
        under_way.resize_with(plan.connections.len(), Default::default);
        Self { under_way }
    }

    /// A message is posted, for the end of `to`.
    pub(super) fn post(&mut self, connection: u32, to: Side, message: Message) {
        self.queue(connection, to).push_back(message);
    }

    /// The message that has arrived at the end of `at`.
    pub(super) fn take(&mut self, connection: u32, at: Side) -> Option<Message> {
        self.queue(connection, at).pop_front()
    }

    fn queue(&mut self, connection: u32, to: Side) -> &mut VecDeque<Message> {
        let [to_client, to_server] = &mut self.under_way[connection as usize];
        match to {
            Side::Client => to_client,
            Side::Server => to_server,
        }
    }
}
