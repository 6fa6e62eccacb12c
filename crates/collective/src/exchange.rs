//! Algorithms in which every rank sends one message after the other, and gets as many.

use core::fmt;

use crate::block::Blocks;
use crate::pattern::{Pattern, Position, Transfer, Way};
use crate::schedule::Operation;

/// Messages that every rank sends, by number. The messages that a rank gets have the same numbers: number k that it gets is
/// number k of its sender.
pub(crate) trait Exchange: fmt::Debug + Send + Sync {
    /// Lanes of a channel.
    fn streams(&self) -> u32 {
        1
    }

    /// Slots for blocks on their way that each rank has.
    fn slots(&self) -> u32 {
        0
    }

    /// Messages that a rank sends in a stream.
    fn messages(&self, at: Position) -> u32;

    /// The first one of those that are sent together with message `number`, before any of them is received. The
    /// message itself, if each waits for the one before it.
    fn first_of_batch(&self, _at: Position, number: u32) -> u32 {
        number
    }

    /// Where message `number` goes.
    fn destination(&self, at: Position, number: u32) -> u32;

    /// Where message `number` comes from.
    fn source(&self, at: Position, number: u32) -> u32;

    /// What its receiver does with message `number`.
    fn operation(&self, number: u32) -> Operation;

    /// What the sender `at` sends in message `number`.
    fn blocks(&self, at: Position, number: u32) -> Blocks;
}

/// The pattern of an exchange: in round k, message k is sent, after those of the batch before were received.
#[derive(Debug)]
pub(crate) struct Exchanged<E> {
    pub(crate) ranks: u32,
    pub(crate) exchange: E,
}

impl<E: Exchange> Pattern for Exchanged<E> {
    fn streams(&self) -> u32 {
        self.exchange.streams()
    }

    fn slots(&self) -> u32 {
        self.exchange.slots()
    }

    fn rounds(&self, at: Position) -> u32 {
        if at.rank >= self.ranks || self.ranks == 1 {
            return 0;
        }
        match self.exchange.messages(at) {
            0 => 0,
            messages => messages + 1,
        }
    }

    fn round(&self, at: Position, round: u32, visit: &mut dyn FnMut(Way, Transfer)) {
        let (exchange, stream) = (&self.exchange, at.stream);
        let messages = exchange.messages(at);
        let begins = round == messages || exchange.first_of_batch(at, round) == round;
        if round > 0 && begins {
            for number in exchange.first_of_batch(at, round - 1)..round {
                let peer = exchange.source(at, number);
                let operation = exchange.operation(number);
                let blocks = exchange.blocks(Position { rank: peer, ..at }, number);
                visit(Way::Receive, Transfer { peer, stream, operation, blocks });
            }
        }
        if round < messages {
            let peer = exchange.destination(at, round);
            let operation = exchange.operation(round);
            let blocks = exchange.blocks(at, round);
            visit(Way::Send, Transfer { peer, stream, operation, blocks });
        }
    }
}
