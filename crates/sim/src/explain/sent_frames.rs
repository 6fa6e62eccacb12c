//! Data that an end sent, and what of it was sent in vain.

use std::collections::BTreeMap;

use rocelab_fabric::NodeId;

use super::category::LossSignal;

/// More frames than lie between two of one PSN: half of all PSNs.
const HALF_OF_ALL_PSNS: usize = 1 << 23;

/// A frame with data, or a request, that an end sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentFrame {
    /// When its first bit left (picoseconds).
    pub(super) start: u64,
    pub(super) what: Sent,
}

/// What a frame brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    Packet {
        psn: u32,
        kind: PacketKind,
    },
    /// A part of a TCP connection's stream, by its positions.
    Payload {
        from: u64,
        to: u64,
    },
}

/// What a packet is that is no acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PacketKind {
    /// It brings payload.
    Message,
    /// It asks for READ data, or for an atomic operation.
    Request,
    /// It brings what was asked for; its PSN is one of the other end's.
    Result,
}

/// A frame that was dropped on its way, and none of whose copies arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loss {
    /// When it left its host (picoseconds).
    pub(super) left: u64,
    /// When it was dropped (picoseconds).
    pub(super) time: u64,
    /// Where.
    pub(super) node: NodeId,
    /// The port that it should have left by there.
    pub(super) egress: Option<u16>,
    /// Why, as in `drops.csv`.
    pub(super) reason: &'static str,
}

/// By frame, in order: the next one that brings some of the same again.
pub(super) fn sent_again(frames: &[SentFrame]) -> Vec<Option<usize>> {
    let mut packets: BTreeMap<(bool, u32), usize> = BTreeMap::new();
    let mut stream = Stream::default();
    let mut again: Vec<Option<usize>> = frames
        .iter()
        .enumerate()
        .rev()
        .map(|(index, frame)| match frame.what {
            Sent::Packet { psn, kind } => {
                let next = packets.insert((kind == PacketKind::Result, psn), index);
                next.filter(|next| next - index < HALF_OF_ALL_PSNS)
            }
            Sent::Payload { from, to } => stream.insert(from, to, index),
        })
        .collect();
    again.reverse();
    again
}

/// Parts of a stream, none of which overlap: by their starts, the ends and the first frame that brings
/// them.
#[derive(Debug, Default)]
struct Stream(BTreeMap<u64, (u64, usize)>);

impl Stream {
    /// A frame before all others brings this part; gives the first of those that bring some of it.
    fn insert(&mut self, from: u64, to: u64, frame: usize) -> Option<usize> {
        let before = self.0.range(..to).rev();
        let overlapping: Vec<_> = before
            .map(|(&start, &(end, other))| (start, end, other))
            .take_while(|&(_, end, _)| end > from)
            .collect();
        for &(start, end, other) in &overlapping {
            self.0.remove(&start);
            for (start, end) in [(start, from), (to, end)] {
                if start < end {
                    self.0.insert(start, (end, other));
                }
            }
        }
        if from < to {
            self.0.insert(from, (to, frame));
        }
        overlapping.into_iter().map(|(_, _, other)| other).min()
    }
}

/// Which frames were sent in vain, how that was noticed, and what was lost.
#[derive(Debug)]
pub(super) struct Vain {
    /// In the order in which they left.
    pub(super) frames: Vec<VainFrame>,
}

/// One that was, or was not.
#[derive(Clone, Copy, Debug)]
pub(super) struct VainFrame {
    /// When it left.
    pub(super) start: u64,
    /// How it was noticed, if it was sent in vain.
    pub(super) noticed: Option<LossSignal>,
    /// The first loss that was not made good when it left, its own included; if there is none, the first
    /// one until it left again, or the next frame did.
    pub(super) loss: Option<Loss>,
}

impl Vain {
    /// The last frame that left before `time`.
    pub(super) fn at(&self, time: u64) -> Option<&VainFrame> {
        let next = self.frames.partition_point(|frame| frame.start <= time);
        self.frames.get(next.checked_sub(1)?)
    }
}

/// Losses that are not made good yet, while frames are looked at in their order.
#[derive(Debug, Default)]
pub(super) struct OpenLosses {
    /// By the places of the lost frames.
    by_frame: BTreeMap<usize, Loss>,
    /// By the places of frames: those that they bring again.
    ends: BTreeMap<usize, Vec<usize>>,
}

impl OpenLosses {
    /// A frame leaves.
    pub(super) fn pass(&mut self, frame: usize) {
        for lost in self.ends.remove(&frame).unwrap_or_default() {
            self.by_frame.remove(&lost);
        }
    }

    /// It was lost, and is brought again by a later frame.
    pub(super) fn add(&mut self, frame: usize, loss: Loss, again: Option<usize>) {
        self.by_frame.insert(frame, loss);
        if let Some(again) = again {
            self.ends.entry(again).or_default().push(frame);
        }
    }

    /// The first.
    pub(super) fn first(&self) -> Option<Loss> {
        self.by_frame.first_key_value().map(|(_, &loss)| loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(whats: &[Sent]) -> Vec<Option<usize>> {
        let frames = (0..).zip(whats).map(|(start, &what)| SentFrame { start, what });
        sent_again(&frames.collect::<Vec<_>>())
    }

    #[test]
    fn packets_are_known_by_their_numbers_and_directions() {
        let packet = |psn: u32, kind: PacketKind| Sent::Packet { psn, kind };
        let (message, result) = (PacketKind::Message, PacketKind::Result);
        let sent = [packet(1, message), packet(2, message), packet(1, result), packet(1, message)];
        assert_eq!(again(&sent), [Some(3), None, None, None]);
    }

    #[test]
    fn payload_that_is_cut_otherwise_is_found() {
        let payload = |from: u64, to: u64| Sent::Payload { from, to };
        let sent = [
            payload(0, 10),
            payload(10, 20),
            payload(20, 30),
            payload(5, 15),
            payload(0, 5),
            payload(28, 30),
            payload(15, 16),
        ];
        assert_eq!(again(&sent), [Some(3), Some(3), Some(5), None, None, None, None]);
    }
}
