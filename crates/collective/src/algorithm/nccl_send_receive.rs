//! NCCL's order of many sends and receives, as its all-to-all has them.
//!
//! Ranks are in groups of gcd(8, ranks of a server). In round (D, d), a rank sends to the group D further and the place d
//! further in it. D follows 0, 1, 3, 6, 10, ... modulo the power of two that holds all groups, without those that do not
//! exist. Eight rounds are a batch, which goes at once; batches are spread over the channels, and each message has parts on
//! two of them.

use crate::block::{Blocks, Pair, Place};
use crate::collective::{Collective, Kind};
use crate::division::{Division, Order};
use crate::error::Error;
use crate::exchange::{Exchange, Exchanged};
use crate::options::Options;
use crate::pattern::{Patterned, Position};
use crate::schedule::{Operation, Schedule};

pub(super) const SUMMARY: &str = "each rank sends to each other one, in NCCL's order";
pub(super) const KINDS: &[Kind] = &[Kind::AllToAll, Kind::AllToAllV];

/// Rounds of a batch.
const BATCH: u32 = 8;

pub(super) fn schedule(
    collective: &Collective,
    options: &Options,
) -> Result<Box<dyn Schedule>, Error> {
    let ranks = collective.ranks();
    let parts = if options.channels.is_multiple_of(2) { 2 } else { 1 };
    let streams = options.channels / parts;
    let group = common_divisor(BATCH, options.ranks_per_server);
    let exchange = SendReceive { ranks, group, deltas: deltas(ranks / group), streams };
    let parts = Options { channels: parts, ..options.clone() };
    let division = Division::new(collective, &parts, ranks, Order::BlocksFirst);
    let pattern = Exchanged { ranks, exchange };
    Ok(Box::new(Patterned { collective: collective.clone(), division, pattern }))
}

const fn common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// How far away the group of each round is.
fn deltas(groups: u32) -> Vec<u32> {
    let modulus = groups.next_power_of_two();
    let mut delta = 0;
    let all = (0..modulus).map(|number| {
        delta = (delta + number) % modulus;
        delta
    });
    all.filter(|delta| *delta < groups).collect()
}

#[derive(Debug)]
struct SendReceive {
    ranks: u32,
    group: u32,
    deltas: Vec<u32>,
    streams: u32,
}

impl SendReceive {
    /// The first batch of a stream: its bits in reverse order, where streams are a power of two.
    const fn first_batch(&self, stream: u32) -> u32 {
        let bits = self.streams.trailing_zeros();
        if bits == 0 || !self.streams.is_power_of_two() {
            return stream;
        }
        stream.reverse_bits() >> (u32::BITS - bits)
    }

    /// The first round is a rank with itself: it is no message.
    const fn skipped(&self, stream: u32) -> u32 {
        if self.first_batch(stream) == 0 { 1 } else { 0 }
    }

    /// How far message `number` goes: groups, and places in a group.
    fn distance(&self, at: Position, number: u32) -> (u32, u32) {
        let turn = number + self.skipped(at.stream);
        let batch = self.first_batch(at.stream) + turn / BATCH * self.streams;
        let round = batch * BATCH + turn % BATCH;
        (self.deltas[(round / self.group) as usize], round % self.group)
    }

    /// The rank so many groups and places from another one.
    const fn away(&self, rank: u32, groups: u32, places: u32) -> u32 {
        let group = (rank / self.group + groups) % (self.ranks / self.group);
        group * self.group + (rank % self.group + places) % self.group
    }
}

impl Exchange for SendReceive {
    fn streams(&self) -> u32 {
        self.streams
    }

    fn messages(&self, at: Position) -> u32 {
        let (first, batches) = (self.first_batch(at.stream), self.ranks.div_ceil(BATCH));
        if first >= batches {
            return 0;
        }
        let own = (batches - first).div_ceil(self.streams);
        let has_last = (batches - 1 - first).is_multiple_of(self.streams);
        // The last batch may be shorter.
        let missing = if has_last { batches * BATCH - self.ranks } else { 0 };
        own * BATCH - missing - self.skipped(at.stream)
    }

    fn first_of_batch(&self, at: Position, number: u32) -> u32 {
        let skipped = self.skipped(at.stream);
        ((number + skipped) / BATCH * BATCH).saturating_sub(skipped)
    }

    fn destination(&self, at: Position, number: u32) -> u32 {
        let (groups, places) = self.distance(at, number);
        self.away(at.rank, groups, places)
    }

    fn source(&self, at: Position, number: u32) -> u32 {
        let (groups, places) = self.distance(at, number);
        let all = self.ranks / self.group;
        self.away(at.rank, all - groups, self.group - places)
    }

    fn operation(&self, _number: u32) -> Operation {
        Operation::Copy
    }

    fn blocks(&self, at: Position, number: u32) -> Blocks {
        Blocks::Pair(Pair {
            source: at.rank,
            destination: self.destination(at, number),
            from: Place::Input,
            to: Place::Output,
        })
    }
}
