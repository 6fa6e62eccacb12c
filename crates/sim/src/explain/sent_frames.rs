//! Data that an end sent, and what of it was sent in vain.

use std::collections::BTreeMap;

use rocelab_fabric::NodeId;

use super::category::{LossSignal, Lost};
use crate::Plan;
use crate::network::DropCause;

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
    /// The port that it came in by there, and the one that it should have left by.
    pub(super) ingress: u16,
    pub(super) egress: Option<u16>,
    /// Why.
    pub(super) cause: DropCause,
}

impl Loss {
    /// Where it was, and why, by names.
    pub(super) fn told(&self, plan: &Plan) -> Lost {
        let node = &plan.topology.nodes[self.node as usize].name;
        let rule = match self.cause {
            DropCause::Fault(rule) => plan.faults.get(rule as usize).map(|rule| rule.name.clone()),
            _ => None,
        };
        Lost {
            place: self.egress.map_or_else(|| node.clone(), |port| format!("{node}:{port}")),
            ingress_port: self.egress.is_none().then_some(self.ingress),
            reason: self.cause.name(),
            rule,
        }
    }
}

/// Later frames that bring what one brought, by their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Again {
    /// The first that brings some of it.
    pub(super) first: usize,
    /// The one with which all of it that came again had.
    pub(super) last: usize,
}

/// By frame, in order: which later ones bring the same again.
pub(super) fn sent_again(frames: &[SentFrame]) -> Vec<Option<Again>> {
    let mut packets: BTreeMap<(bool, u32), usize> = BTreeMap::new();
    let mut stream = Stream::default();
    let mut again: Vec<Option<Again>> = frames
        .iter()
        .enumerate()
        .rev()
        .map(|(index, frame)| match frame.what {
            Sent::Packet { psn, kind } => {
                let next = packets.insert((kind == PacketKind::Result, psn), index);
                let next = next.filter(|next| next - index < HALF_OF_ALL_PSNS);
                next.map(|next| Again { first: next, last: next })
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
    /// A frame before all others brings this part; gives those that bring it again.
    fn insert(&mut self, from: u64, to: u64, frame: usize) -> Option<Again> {
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
        let others =
            overlapping.into_iter().map(|(_, _, other)| Again { first: other, last: other });
        others.reduce(|a, b| Again { first: a.first.min(b.first), last: a.last.max(b.last) })
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

    /// It was lost, and is brought again by later frames.
    pub(super) fn add(&mut self, frame: usize, loss: Loss, again: Option<Again>) {
        self.by_frame.insert(frame, loss);
        if let Some(Again { last, .. }) = again {
            self.ends.entry(last).or_default().push(frame);
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

    /// The first and the last that bring each again.
    fn again(whats: &[Sent]) -> Vec<Option<(usize, usize)>> {
        let frames = (0..).zip(whats).map(|(start, &what)| SentFrame { start, what });
        let again = sent_again(&frames.collect::<Vec<_>>());
        again.into_iter().map(|again| again.map(|again| (again.first, again.last))).collect()
    }

    #[test]
    fn packets_are_known_by_their_numbers_and_directions() {
        let packet = |psn: u32, kind: PacketKind| Sent::Packet { psn, kind };
        let (message, result) = (PacketKind::Message, PacketKind::Result);
        let sent = [packet(1, message), packet(2, message), packet(1, result), packet(1, message)];
        assert_eq!(again(&sent), [Some((3, 3)), None, None, None]);
    }

    #[test]
    fn a_loss_is_made_good_when_all_of_it_has_been_sent_again() {
        let time = 5;
        let cause = DropCause::Link;
        let loss = Loss { left: 0, time, node: 0, ingress: 0, egress: None, cause };
        let mut losses = OpenLosses::default();
        losses.add(0, loss, Some(Again { first: 1, last: 2 }));
        losses.pass(1);
        assert_eq!(losses.first().map(|loss| loss.time), Some(time));
        losses.pass(2);
        assert!(losses.first().is_none());
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
        // Of the second frame 16 to 20 do not come again.
        assert_eq!(
            again(&sent),
            [Some((3, 4)), Some((3, 6)), Some((5, 5)), None, None, None, None]
        );
    }
}
