//! How data are cut: into blocks, channels, chunks and slices. All cuts are between elements.

use std::sync::Arc;

use crate::block::Block;
use crate::collective::{Collective, Matrix};
use crate::options::Options;

/// What is cut first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Data into blocks, each block into channels, and those into chunks: where each block has its place at the end.
    BlocksFirst,
    /// Data into channels, those into loops, and each loop into blocks of at most a chunk: where blocks
    /// exist only on the way.
    LoopsFirst,
}

/// A range of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The first one; of a pair, counted from the beginning of its block.
    pub(crate) start: u64,
    /// How many.
    pub(crate) bytes: u64,
    /// Where the channel's part of the block begins, counted as `start` is.
    pub(crate) share: u64,
}

/// How the data of a collective are cut.
#[derive(Clone, Debug)]
pub(crate) struct Division {
    bytes: u64,
    element: u64,
    blocks: u32,
    order: Order,
    channels: u32,
    chunk: Option<u64>,
    slices: u32,
    matrix: Option<Arc<Matrix>>,
}

impl Division {
    /// That of `collective` into so many blocks.
    pub(crate) fn new(
        collective: &Collective,
        options: &Options,
        blocks: u32,
        order: Order,
    ) -> Self {
        let matrix = collective.matrix().cloned();
        Self {
            bytes: collective.bytes(),
            element: u64::from(collective.element()),
            blocks,
            order,
            channels: options.channels,
            chunk: options.chunk,
            slices: options.slices,
            matrix,
        }
    }

    /// Messages of a chunk.
    pub(crate) const fn slices(&self) -> u32 {
        self.slices
    }

    /// Channels.
    pub(crate) const fn channels(&self) -> u32 {
        self.channels
    }

    /// How often a channel goes through its steps: at least once, also without data.
    pub(crate) fn passes(&self, channel: u32) -> u64 {
        let Some(chunk) = self.chunk else { return 1 };
        let passes = match self.order {
            Order::BlocksFirst => self.share(self.largest_block(), channel).bytes.div_ceil(chunk),
            Order::LoopsFirst => {
                let loop_bytes = chunk.saturating_mul(u64::from(self.blocks));
                self.share(self.bytes, channel).bytes.div_ceil(loop_bytes)
            }
        };
        passes.max(1)
    }

    /// Block number `block` of a buffer, as a whole.
    pub(crate) fn block(&self, block: u32) -> Extent {
        split(self.bytes, self.element, self.blocks, block)
    }

    /// Bytes of the block from `source` to `destination`.
    pub(crate) fn pair_bytes(&self, source: u32, destination: u32) -> u64 {
        match &self.matrix {
            Some(matrix) => matrix.get(source, destination),
            None => self.block(destination).bytes,
        }
    }

    /// Bytes from `source` to all ranks below `rank`.
    pub(crate) fn sent_before(&self, source: u32, rank: u32) -> u64 {
        match &self.matrix {
            Some(matrix) => (0..rank).map(|one| matrix.get(source, one)).sum(),
            None => self.block(rank).start,
        }
    }

    /// Bytes to `destination` from all ranks below `rank`.
    pub(crate) fn got_before(&self, destination: u32, rank: u32) -> u64 {
        match &self.matrix {
            Some(matrix) => (0..rank).map(|one| matrix.get(one, destination)).sum(),
            None => self.block(destination).bytes * u64::from(rank),
        }
    }

    /// The largest block.
    pub(crate) fn largest_block(&self) -> u64 {
        match &self.matrix {
            Some(matrix) => matrix.largest(),
            None => self.block(0).bytes,
        }
    }

    /// What one pass of a channel carries of a block, in its slice number `slice`.
    pub(crate) fn slice(&self, channel: u32, pass: u64, block: Block, slice: u32) -> Extent {
        let all = self.extent(channel, pass, block);
        if self.slices == 1 {
            return all;
        }
        let length = self.slice_length(all.bytes);
        let begin = length.saturating_mul(u64::from(slice)).min(all.bytes);
        // The last one has the rest.
        let end =
            if slice + 1 == self.slices { all.bytes } else { (begin + length).min(all.bytes) };
        Extent { start: all.start + begin, bytes: end - begin, ..all }
    }

    /// What one pass of a channel carries of a block.
    fn extent(&self, channel: u32, pass: u64, block: Block) -> Extent {
        let whole = match (block, self.order) {
            (Block::Part(block), Order::LoopsFirst) => return self.in_loop(channel, pass, block),
            (Block::Part(block), Order::BlocksFirst) => self.block(block),
            (Block::Across, _) => Extent { bytes: self.bytes, ..Extent::default() },
            (Block::Pair(pair), _) => {
                let bytes = self.pair_bytes(pair.source, pair.destination);
                Extent { bytes, ..Extent::default() }
            }
        };
        let share = self.share(whole.bytes, channel);
        let chunk = self.chunk.unwrap_or(share.bytes);
        let begin = chunk.saturating_mul(pass).min(share.bytes);
        let bytes = (share.bytes - begin).min(chunk);
        let share = whole.start + share.start;
        Extent { start: share + begin, bytes, share }
    }

    /// Block number `block` of loop `pass`. In the last loop, blocks are smaller: as large as the first ones must
    /// be for the rest, rounded up to 16 bytes, so that the last ones may be shorter or empty. Without chunks there is one
    /// loop, of blocks that differ by one element at most.
    fn in_loop(&self, channel: u32, pass: u64, block: u32) -> Extent {
        let share = self.share(self.bytes, channel);
        let Some(chunk) = self.chunk else {
            let within = split(share.bytes, self.element, self.blocks, block);
            let start = share.start + within.start;
            return Extent { start, bytes: within.bytes, share: share.start };
        };
        let blocks = u64::from(self.blocks);
        let begin = chunk.saturating_mul(blocks).saturating_mul(pass).min(share.bytes);
        let rest = share.bytes - begin;
        let length = if rest >= chunk.saturating_mul(blocks) {
            chunk
        } else {
            let elements = (rest / self.element).div_ceil(blocks);
            (elements.next_multiple_of((16 / self.element).max(1)) * self.element).min(chunk)
        };
        let start = (length * u64::from(block)).min(rest);
        let bytes = (rest - start).min(length);
        Extent { start: share.start + begin + start, bytes, share: share.start }
    }

    /// The channel's part of so many bytes.
    pub(crate) fn share(&self, bytes: u64, channel: u32) -> Extent {
        split(bytes, self.element, self.channels, channel)
    }

    /// Bytes of all slices but the last of so many: a multiple of 16 elements, and the 32nd part of the largest slice at least.
    fn slice_length(&self, bytes: u64) -> u64 {
        let slices = u64::from(self.slices);
        let even = (bytes / self.element).div_ceil(16 * slices) * 16 * self.element;
        let least = self.chunk.unwrap_or(0) / slices / 32;
        even.max(least - least % self.element)
    }
}

/// Part number `part` of `parts`, which differ by one element at most: the first ones are the larger ones.
pub(crate) fn split(bytes: u64, element: u64, parts: u32, part: u32) -> Extent {
    let (elements, parts, part) = (bytes / element, u64::from(parts), u64::from(part));
    let (each, rest) = (elements / parts, elements % parts);
    let start = each * part + rest.min(part);
    let bytes = (each + u64::from(part < rest)) * element;
    Extent { start: start * element, bytes, share: start * element }
}
