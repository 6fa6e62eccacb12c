//! What a member of a program asks its host for.

use core::fmt;

use rocelab_units::{Duration, SimTime};

/// What a member asks its host for, in one call of it. All of it happens at this instant, in order.
pub struct Posts<'a> {
    now: SimTime,
    actions: &'a mut Vec<Action>,
    dice: &'a mut dyn FnMut() -> f64,
}

/// One thing that a member asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A work request.
    Post {
        /// The queue pair.
        over: Over,
        /// What it does.
        verb: Verb,
        /// Its payload (bytes).
        bytes: u32,
        /// See [`Posts::post`].
        tag: u64,
    },
    /// To be woken.
    Wait {
        /// When.
        until: SimTime,
        /// See [`Posts::wait`].
        tag: u64,
    },
    /// An operation begins.
    Begin {
        /// See [`Posts::begin`].
        with: u32,
        /// Its number.
        number: u64,
    },
    /// An operation is done.
    End {
        /// Its number.
        number: u64,
    },
}

/// One of the queue pairs by which a member reaches another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Over {
    /// The member at the other end.
    pub to: u32,
    /// Its number, from 0, among the connections of the pair of which `end` says the side, in the order of
    /// [`connections`](super::Definition::connections).
    pub number: u32,
    /// Which end of the connection is here.
    pub end: End,
}

/// An end of a connection between two members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// That of the first of the pair.
    Client,
    /// That of the second.
    Server,
    /// That of the first, if there is such a connection, else that of the second.
    Either,
}

/// What a work request of a program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// SEND: the other member is told.
    Send,
    /// RDMA WRITE: the other member is told nothing.
    Write,
    /// RDMA WRITE with immediate data: the other member is told. The data are the lower half of the tag.
    WriteWithImmediate,
    /// RDMA READ: the other member is told nothing.
    Read,
}

impl Verb {
    /// Whether the other member is told: the message takes a receive request there.
    pub const fn is_noticed(self) -> bool {
        matches!(self, Self::Send | Self::WriteWithImmediate)
    }
}

impl<'a> Posts<'a> {
    /// What a member asks for at `now` goes into `actions`. `dice` gives random numbers from 0 to 1.
    pub const fn new(
        now: SimTime,
        actions: &'a mut Vec<Action>,
        dice: &'a mut dyn FnMut() -> f64,
    ) -> Self {
        Self { now, actions, dice }
    }

    /// The time.
    pub const fn now(&self) -> SimTime {
        self.now
    }

    /// The next number of the member's own random stream: from 0 to 1, 1 excluded, uniform.
    pub fn uniform(&mut self) -> f64 {
        (self.dice)()
    }

    /// Posts a work request of at most 2^31 `bytes` to a member that this one is connected to: over the first connection of
    /// which this is the client, if there is one. The `tag` comes back with the completion, and is given to the
    /// other member if that is told.
    pub fn post(&mut self, to: u32, verb: Verb, bytes: u32, tag: u64) {
        self.post_over(Over { to, number: 0, end: End::Either }, verb, bytes, tag);
    }

    /// Posts a work request, as [`post`](Self::post), over one of several connections.
    pub fn post_over(&mut self, over: Over, verb: Verb, bytes: u32, tag: u64) {
        self.actions.push(Action::Post { over, verb, bytes, tag });
    }

    /// Has [`on_timer`](super::Program::on_timer) called so much later, with `tag`.
    pub fn wait(&mut self, time: Duration, tag: u64) {
        self.actions.push(Action::Wait { until: self.now.saturating_add(time), tag });
    }

    /// An operation begins; its number is one that this member has not used with `with`. The results show it with the
    /// connection to that member, of which this one is the client.
    pub fn begin(&mut self, with: u32, number: u64) {
        self.actions.push(Action::Begin { with, number });
    }

    /// The open operation of this number is done.
    pub fn end(&mut self, number: u64) {
        self.actions.push(Action::End { number });
    }
}

impl fmt::Debug for Posts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { now, actions, dice: _ } = self;
        f.debug_struct("Posts").field("now", now).field("actions", actions).finish_non_exhaustive()
    }
}
