//! What messages say.
//!
//! A program knows from a message's bytes which operation it belongs to, and which kind that is:
//! the command identifier of a storage protocol, the tag of a remote procedure call. Payload has no
//! bytes here, so what they would say waits here for the message. Reliable connections deliver
//! each message once and in order, so the oldest entry is that of the message that has arrived,
//! and nobody reads one before.

use std::collections::VecDeque;

use rocelab_fabric::NodeId;

use crate::{ConnectionPlan, Plan, Side};

/// The messages that are under way to hosts of one part of a network, and those that are posted
/// there for hosts of others.
#[derive(Debug, Default)]
pub(in crate::profile::roce) struct Messages {
    /// By connection; to the client, then to the server.
    under_way: Vec<[VecDeque<Message>; 2]>,
    /// By connection: the host that is in another part, of the client and of the server.
    elsewhere: Vec<[Option<NodeId>; 2]>,
    /// Posted for hosts of other parts, and not yet told there.
    distant: Vec<(NodeId, DistantMessage)>,
}

/// A message that is posted in one part of a network, for a host of another.
#[derive(Clone, Copy, Debug)]
pub struct DistantMessage {
    connection: u32,
    to: Side,
    message: Message,
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
    pub(in crate::profile::roce) fn new(plan: &Plan, is_here: impl Fn(NodeId) -> bool) -> Self {
        let mut under_way = Vec::new();
        under_way.resize_with(plan.connections.len(), Default::default);
        let elsewhere = |connection: &ConnectionPlan| {
            [Side::Client, Side::Server].map(|side| {
                let host = connection.end(side).host;
                (!is_here(host)).then_some(host)
            })
        };
        let elsewhere = plan.connections.iter().map(elsewhere).collect();
        Self { under_way, elsewhere, distant: Vec::new() }
    }

    /// A message is posted, for the end of `to`.
    pub(super) fn post(&mut self, connection: u32, to: Side, message: Message) {
        let [client, server] = self.elsewhere[connection as usize];
        let host = match to {
            Side::Client => client,
            Side::Server => server,
        };
        match host {
            None => self.queue(connection, to).push_back(message),
            Some(host) => self.distant.push((host, DistantMessage { connection, to, message })),
        }
    }

    /// Takes what was posted for hosts of other parts, with those hosts.
    pub(in crate::profile::roce) fn take_distant(&mut self) -> Vec<(NodeId, DistantMessage)> {
        std::mem::take(&mut self.distant)
    }

    /// A message is under way that was posted in another part.
    pub(in crate::profile::roce) fn hear(&mut self, heard: DistantMessage) {
        self.queue(heard.connection, heard.to).push_back(heard.message);
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
