//! NCCL's protocols: what they send for the data, and in which pieces.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::algorithm::Algorithm;
use crate::collective::{Collective, Kind};

/// How NCCL moves data through the buffers of a connection, and tells the receiver that they are there.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum Protocol {
    /// Each 8 bytes have 4 of data and a flag of 4: no fence, half of the rate.
    #[serde(rename = "ll")]
    Ll,
    /// Each 128 bytes have 120 of data and a flag.
    #[serde(rename = "ll128")]
    Ll128,
    /// Data as they are, and a flag after them.
    #[serde(rename = "simple")]
    Simple,
}

/// How a protocol cuts the data of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The most data of a block in one pass (bytes).
    pub chunk: u64,
    /// Messages of a chunk.
    pub slices: u32,
    /// Messages of a connection that may be posted and not yet consumed by the receiver.
    pub window: u32,
}

/// Steps of a connection's buffer.
const STEPS: u32 = 8;

const KIB: u64 = 1024;

impl Protocol {
    /// Every protocol.
    pub const ALL: &[Self] = &[Self::Ll, Self::Ll128, Self::Simple];

    /// The name that a scenario uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ll => "ll",
            Self::Ll128 => "ll128",
            Self::Simple => "simple",
        }
    }

    /// What goes over the network for a message of so many bytes of data (bytes): whole lines of 8 bytes with LL, of 128 with
    /// LL128.
    pub const fn wire_bytes(self, data: u64) -> u64 {
        match self {
            Self::Ll => data.div_ceil(4) * 8,
            Self::Ll128 => data.div_ceil(120) * 128,
            Self::Simple => data,
        }
    }

    /// Data that one step of a connection's buffer holds (bytes): the eighth part.
    pub const fn step(self) -> u64 {
        match self {
            Self::Ll => 32 * KIB,
            Self::Ll128 => 600 * KIB / 16 * 15,
            Self::Simple => 512 * KIB,
        }
    }

    /// How NCCL cuts a collective on so many channels. `None` where the algorithm is not one of NCCL's.
    ///
    /// Rings of all-reduce, all-gather and reduce-scatter have, with Simple, chunks of four steps in two slices; all others one
    /// step. LL128 halves the chunks of trees, down to 32 KiB, while a channel has fewer than eight of them. NVLS has chunks of 128 KiB, as sends and receives.
    pub fn cut(self, algorithm: Algorithm, collective: &Collective, channels: u32) -> Option<Cut> {
        let one = |chunk| Cut { chunk, slices: 1, window: STEPS };
        let cut = match (algorithm, collective.kind()) {
            (Algorithm::Ring, Kind::AllReduce | Kind::AllGather | Kind::ReduceScatter)
                if self == Self::Simple =>
            {
                Cut { chunk: 4 * self.step(), slices: 2, window: STEPS / 2 }
            }
            (Algorithm::DoubleBinaryTree, _) if self == Self::Ll128 => {
                one(self.tree_chunk(collective.bytes() / u64::from(channels.max(1)) / 2))
            }
            (Algorithm::Ring | Algorithm::DoubleBinaryTree, _) => one(self.step()),
            (Algorithm::Nvls | Algorithm::NcclSendReceive | Algorithm::Pxn, _) => {
                one(self.step().min(128 * KIB))
            }
            _ => return None,
        };
        // Elements are not cut.
        let element = u64::from(collective.element());
        Some(Cut { chunk: (cut.chunk - cut.chunk % element).max(element), ..cut })
    }

    /// The chunk of a tree that carries so many bytes.
    fn tree_chunk(self, bytes: u64) -> u64 {
        let mut chunk = self.step();
        while chunk > 32 * KIB && bytes / chunk < u64::from(STEPS) {
            chunk /= 2;
        }
        chunk.max(32 * KIB)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_on_the_wire() {
        let wire = |data| Protocol::ALL.iter().map(|one| one.wire_bytes(data)).collect::<Vec<_>>();
        assert_eq!(wire(0), [0, 0, 0]);
        assert_eq!(wire(1), [8, 128, 1]);
        assert_eq!(wire(120), [240, 128, 120]);
        // A step fills its part of the buffer: 64 KiB, 600 KiB and 512 KiB.
        let buffers: Vec<_> =
            Protocol::ALL.iter().map(|one| one.wire_bytes(one.step()) / KIB).collect();
        assert_eq!(buffers, [64, 600, 512]);
    }
}
