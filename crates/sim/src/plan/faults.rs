//! Fault rules: what the network asks of each frame.

use rocelab_fabric::{LinkFlowControl, NodeId};
use rocelab_transport::Packet;
use rocelab_units::{Duration, SimTime};

use super::opcodes::OpcodeSet;
use crate::scenario::{CorruptedPart, FaultVerb, PsnRange};

/// A rule that can act.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultRule {
    /// What the results call it.
    pub name: String,
    /// What becomes of the frames that it picks.
    pub action: FaultAction,
    /// The link directions that it watches, by the port that sends: node and port number.
    pub links: Vec<(NodeId, u16)>,
    /// Which frames match.
    pub frames: FrameSelector,
    /// Which of those it picks.
    pub choice: FaultChoice,
    /// How often it acts at the most, on each link direction.
    pub limit: u64,
}

/// What becomes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultAction {
    /// It does not arrive.
    Drop,
    /// It arrives twice.
    Duplicate,
    /// Later frames overtake it.
    Reorder {
        /// It waits until this many packets have passed,
        behind: u32,
        /// and no longer than this.
        within: Duration,
    },
    /// It and all behind it arrive later.
    Delay(Duration),
    /// It arrives with a changed bit.
    Corrupt(CorruptedPart),
}

impl FaultAction {
    /// The name in scenarios and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Drop => FaultVerb::Drop,
            Self::Duplicate => FaultVerb::Duplicate,
            Self::Reorder { .. } => FaultVerb::Reorder,
            Self::Delay(_) => FaultVerb::Delay,
            Self::Corrupt(_) => FaultVerb::Corrupt,
        }
        .name()
    }
}

/// Which frames match a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameSelector {
    /// By opcode.
    pub opcodes: OpcodeSet,
    /// By the queue pair that they go to: its node and number. None: any.
    pub queue_pairs: Vec<(NodeId, u32)>,
    /// By the queue pair number alone.
    pub dest_qp: Option<u32>,
    /// By packet sequence number.
    pub psn: Option<PsnRange>,
    /// Whether only frames with payload match.
    pub with_payload: bool,
    /// They arrive at this time or later,
    pub after: SimTime,
    /// and before this time.
    pub until: SimTime,
}

/// Which of the frames that match a rule picks, counted on each link direction by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FaultChoice {
    /// All.
    All,
    /// The n-th, from 1.
    Nth(u64),
    /// Every n-th.
    Every(u64),
    /// Each with this probability.
    Probability(f64),
    /// Those whose identification ends with 0xff.
    IpIdentification,
}

impl FrameSelector {
    /// Whether a frame for the node `destination` that arrives at `now` matches: a packet, or a frame of flow
    /// `control`.
    pub(crate) fn matches(
        &self,
        now: SimTime,
        destination: NodeId,
        packet: Option<&Packet>,
        control: Option<LinkFlowControl>,
    ) -> bool {
        if now < self.after || now >= self.until {
            return false;
        }
        let Some(packet) = packet else {
            return control.is_some_and(|control| self.opcodes.has_frames_of(control));
        };
        let queue_pair = (destination, packet.dest_qp());
        self.opcodes.contains(packet)
            && (self.queue_pairs.is_empty() || self.queue_pairs.contains(&queue_pair))
            && self.dest_qp.is_none_or(|dest_qp| dest_qp == packet.dest_qp())
            && self.psn.is_none_or(|range| range.contains(packet.psn()))
            && !(self.with_payload && packet.payload_len() == 0)
    }
}
