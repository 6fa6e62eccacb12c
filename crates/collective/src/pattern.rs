//! From what an algorithm does with blocks to a schedule of messages.

use core::fmt;
use std::collections::BTreeSet;

use crate::block::{Block, Blocks, Pair, Place};
use crate::collective::{Collective, Kind};
use crate::division::{Division, Extent, split};
use crate::schedule::{Memory, Message, Operation, Piece, Schedule, Step};

/// What an algorithm does with blocks, without their sizes. A channel has the same number of streams each, and goes through
/// the rounds of all of them once for each pass over the data.
pub(crate) trait Pattern: fmt::Debug + Send + Sync {
    /// Lanes of a channel.
    fn streams(&self) -> u32 {
        1
    }

    /// Switches that take part.
    fn switches(&self) -> u32 {
        0
    }

    /// Slots for blocks on their way that each rank has.
    fn slots(&self) -> u32 {
        0
    }

    /// Rounds of a member in a stream of a channel.
    fn rounds(&self, at: Position) -> u32;

    /// Tells `visit` what a member receives and sends in round `round`.
    fn round(&self, at: Position, round: u32, visit: &mut dyn FnMut(Way, Transfer));

    /// Tells `visit` whom a member sends to; may name one more than once. By default it looks at all rounds.
    fn peers(&self, at: Position, visit: &mut dyn FnMut(u32)) {
        for round in 0..self.rounds(at) {
            self.round(at, round, &mut |way, transfer| {
                if way == Way::Send {
                    visit(transfer.peer);
                }
            });
        }
    }

    /// So many of the first members send each block at least once, of `members`. By default it is all.
    fn senders_of_all(&self, members: u32) -> u32 {
        members
    }
}

/// A stream of a channel at a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// The member.
    pub(crate) rank: u32,
    /// The channel.
    pub(crate) channel: u32,
    /// Which lane of the channel.
    pub(crate) stream: u32,
}

/// To the member or from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// It comes.
    Receive,
    /// It goes.
    Send,
}

/// Blocks that go from one member to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transfer {
    /// The member at the other end.
    pub(crate) peer: u32,
    /// The stream of the receiver that takes them.
    pub(crate) stream: u32,
    /// What the receiver does.
    pub(crate) operation: Operation,
    /// The blocks.
    pub(crate) blocks: Blocks,
}

/// The schedule of a pattern and a division of the data.
#[derive(Debug)]
pub(crate) struct Patterned<P> {
    pub(crate) collective: Collective,
    pub(crate) division: Division,
    pub(crate) pattern: P,
}

/// Where a step is among passes, rounds and slices.
#[derive(Clone, Copy)]
struct Within {
    pass: u64,
    round: u32,
    slice: u32,
}

impl<P: Pattern> Patterned<P> {
    fn members(&self) -> u32 {
        self.collective.ranks() + self.pattern.switches()
    }

    fn position(&self, rank: u32, lane: u32) -> Option<Position> {
        let streams = self.pattern.streams();
        let (channel, stream) = (lane / streams, lane % streams);
        let exists = rank < self.members() && channel < self.division.channels();
        exists.then_some(Position { rank, channel, stream })
    }

    fn within(&self, at: Position, number: u64) -> Option<Within> {
        let (rounds, slices) =
            (u64::from(self.pattern.rounds(at)), u64::from(self.division.slices()));
        if rounds == 0 {
            return None;
        }
        let (pass, turn) = (number / slices / rounds, number / slices % rounds);
        // Both are below a 32-bit number.
        let (round, slice) = (u32::try_from(turn).ok()?, u32::try_from(number % slices).ok()?);
        (pass < self.division.passes(at.channel)).then_some(Within { pass, round, slice })
    }

    fn message(&self, at: Position, within: Within, transfer: Transfer) -> Message {
        let size = |block| self.division.slice(at.channel, within.pass, block, within.slice).bytes;
        debug_assert!(transfer.peer != at.rank, "a member sends nothing to itself");
        Message {
            peer: transfer.peer,
            lane: at.channel * self.pattern.streams() + transfer.stream,
            bytes: transfer.blocks.iter().map(size).sum(),
            operation: transfer.operation,
        }
    }

    fn piece(&self, channel: u32, from: u32, to: u32, block: Block, extent: Extent) -> Piece {
        let (source, destination) = match block {
            Block::Part(_) => (extent.start, extent.start),
            Block::Across => (extent.start, self.collective.bytes() + extent.start),
            Block::Pair(pair) => {
                let at = |rank, place| self.address(rank, pair, place);
                let within = |place| self.within_block(channel, place, extent);
                (at(from, pair.from) + within(pair.from), at(to, pair.to) + within(pair.to))
            }
        };
        Piece { source, destination, bytes: extent.bytes }
    }

    /// Where in the block of a pair a piece begins. Blocks of several sizes come to a slot, at the same time on
    /// several channels: there, each channel has the place that its part of the largest block would have.
    fn within_block(&self, channel: u32, place: Place, extent: Extent) -> u64 {
        match place {
            Place::Input | Place::Output => extent.start,
            Place::Slot(_) => {
                let room = self.division.share(self.division.largest_block(), channel);
                room.start + extent.start - extent.share
            }
        }
    }

    /// Where a rank has the block of a pair: what it has for others is first, then what it gets, then the slots.
    fn address(&self, rank: u32, pair: Pair, place: Place) -> u64 {
        let sent = |to| self.division.sent_before(rank, to);
        let got = |to| self.division.got_before(rank, to);
        let ranks = self.collective.ranks();
        match place {
            Place::Input => sent(pair.destination),
            Place::Output => sent(ranks) + got(pair.source),
            Place::Slot(slot) => {
                sent(ranks) + got(ranks) + u64::from(slot) * self.division.largest_block()
            }
        }
    }

    fn memory_of_pairs(&self, rank: u32) -> Memory {
        let own = |place| Pair { source: rank, destination: rank, from: place, to: place };
        let end = |slot| self.address(rank, own(Place::Slot(slot)), Place::Slot(slot));
        let sent = self.division.sent_before(rank, self.collective.ranks());
        Memory {
            input: 0..sent,
            output: sent..end(0),
            bytes: end(self.pattern.slots()),
            copies: vec![Piece {
                source: self.address(rank, own(Place::Input), Place::Input),
                destination: self.address(rank, own(Place::Output), Place::Output),
                bytes: self.division.pair_bytes(rank, rank),
            }],
        }
    }

    fn peers(&self, rank: u32) -> BTreeSet<u32> {
        let mut peers = BTreeSet::new();
        for at in (0..self.lanes()).filter_map(|lane| self.position(rank, lane)) {
            self.pattern.peers(at, &mut |peer| {
                peers.insert(peer);
            });
        }
        peers
    }
}

impl<P: Pattern> Schedule for Patterned<P> {
    fn collective(&self) -> &Collective {
        &self.collective
    }

    fn lanes(&self) -> u32 {
        self.division.channels() * self.pattern.streams()
    }

    fn steps(&self, rank: u32, lane: u32) -> u64 {
        let Some(at) = self.position(rank, lane) else { return 0 };
        let steps = u64::from(self.pattern.rounds(at)) * u64::from(self.division.slices());
        self.division.passes(at.channel).saturating_mul(steps)
    }

    fn step(&self, rank: u32, lane: u32, number: u64, step: &mut Step) {
        step.clear();
        let Some(at) = self.position(rank, lane) else { return };
        let Some(within) = self.within(at, number) else { return };
        self.pattern.round(at, within.round, &mut |way, transfer| {
            let message = self.message(at, within, transfer);
            match way {
                Way::Receive => step.receives.push(message),
                Way::Send => step.sends.push(message),
            }
        });
    }

    fn pieces(&self, rank: u32, lane: u32, number: u64, send: usize) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let Some(at) = self.position(rank, lane) else { return pieces };
        let Some(within) = self.within(at, number) else { return pieces };
        let mut sends = 0;
        self.pattern.round(at, within.round, &mut |way, transfer| {
            if way == Way::Receive {
                return;
            }
            if sends == send {
                pieces.extend(transfer.blocks.iter().filter_map(|block| {
                    let extent = self.division.slice(at.channel, within.pass, block, within.slice);
                    let piece = || self.piece(at.channel, rank, transfer.peer, block, extent);
                    (extent.bytes > 0).then(piece)
                }));
            }
            sends += 1;
        });
        pieces
    }

    fn connections(&self) -> Box<dyn Iterator<Item = (u32, u32)> + '_> {
        let of = |rank| self.peers(rank).into_iter().map(move |peer| (rank, peer));
        Box::new((0..self.members()).flat_map(of))
    }

    fn switches(&self) -> u32 {
        self.pattern.switches()
    }

    fn memory(&self, rank: u32) -> Memory {
        let (kind, bytes) = (self.collective.kind(), self.collective.bytes());
        let in_place = |input, output| Memory { input, output, bytes, copies: Vec::new() };
        if rank >= self.collective.ranks() {
            return in_place(0..0, 0..0);
        }
        let all = 0..bytes;
        let block = || {
            let element = u64::from(self.collective.element());
            let block = split(bytes, element, self.collective.ranks(), rank);
            block.start..block.start + block.bytes
        };
        let at_root = if rank == self.collective.root() { all.clone() } else { 0..0 };
        match kind {
            Kind::AllReduce => in_place(all.clone(), all),
            Kind::AllGather => in_place(block(), all),
            Kind::ReduceScatter => in_place(all, block()),
            Kind::Broadcast => in_place(at_root, all),
            Kind::Reduce => in_place(all, at_root),
            Kind::Gather => in_place(block(), at_root),
            Kind::Scatter => in_place(at_root, block()),
            Kind::AllToAll | Kind::AllToAllV => self.memory_of_pairs(rank),
            Kind::SendReceive => Memory {
                input: 0..bytes,
                output: bytes..2 * bytes,
                bytes: 2 * bytes,
                copies: Vec::new(),
            },
            Kind::Barrier => in_place(0..0, 0..0),
        }
    }

    fn largest_message(&self) -> u64 {
        // The first channel and pass have the largest parts of all blocks, and the first slice is the largest.
        let mut largest = 0;
        for rank in 0..self.pattern.senders_of_all(self.members()) {
            for stream in 0..self.pattern.streams() {
                let at = Position { rank, channel: 0, stream };
                for round in 0..self.pattern.rounds(at) {
                    let within = Within { pass: 0, round, slice: 0 };
                    self.pattern.round(at, round, &mut |_, transfer| {
                        largest = largest.max(self.message(at, within, transfer).bytes);
                    });
                }
            }
        }
        largest
    }
}
