//! What is captured and not yet written.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use rocelab_capture::Direction;
use rocelab_engine::EventKey;
use rocelab_fabric::NodeId;
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_wire::Frame;

use crate::network::owners::Owners;

/// What is captured and not yet written.
#[derive(Debug)]
pub(in crate::network) struct Capture {
    pub(in crate::network) fcs: bool,
    pub(in crate::network) frames: Vec<CapturedFrame>,
    /// By node, the key of what was captured there last.
    pub(in crate::network) latest: BTreeMap<NodeId, EventKey>,
    /// The first thing that went wrong; nothing is captured after it.
    pub(in crate::network) error: Option<io::Error>,
    /// Whose queue pairs and connections are whose.
    pub(in crate::network) owners: Option<Arc<Owners>>,
}

/// A frame that was captured.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct CapturedFrame {
    /// The event, and so when.
    pub(crate) key: EventKey,
    /// The port, by its place in the plan.
    pub(crate) interface: u16,
    /// Whether it came in or went out.
    #[borsh(serialize_with = "save_direction", deserialize_with = "load_direction")]
    pub(crate) direction: Direction,
    /// All of it.
    pub(crate) bytes: Box<[u8]>,
}

pub(in crate::network) fn save_direction<W: io::Write>(
    direction: &Direction,
    to: &mut W,
) -> io::Result<()> {
    BorshSerialize::serialize(&(*direction == Direction::Outbound), to)
}

pub(in crate::network) fn load_direction<R: io::Read>(from: &mut R) -> io::Result<Direction> {
    let is_outbound = bool::deserialize_reader(from)?;
    Ok(if is_outbound { Direction::Outbound } else { Direction::Inbound })
}

impl Capture {
    /// What was captured since the last time.
    ///
    /// # Errors
    /// The first frame that cannot be one on the wire.
    pub(in crate::network) fn take(&mut self) -> io::Result<Vec<CapturedFrame>> {
        match self.error.take() {
            None => Ok(std::mem::take(&mut self.frames)),
            Some(error) => Err(error),
        }
    }

    /// The key by which a frame of a node is put in order among those of other nodes. What follows from an
    /// event in no time, as what a slow receiver does that handles frames at once, may have a smaller key:
    /// it has that of its cause here, so that no answer stands before its question.
    pub(in crate::network) fn in_order(&mut self, node: NodeId, key: EventKey) -> EventKey {
        let latest = self.latest.entry(node).or_insert(key);
        *latest = key.max(*latest);
        *latest
    }

    pub(in crate::network) fn keep(
        &mut self,
        key: EventKey,
        interface: u16,
        direction: Direction,
        frame: &Frame<'_>,
    ) {
        if self.error.is_some() {
            return;
        }
        let frame = if self.fcs { frame.with_fcs() } else { *frame };
        let mut bytes = vec![0; frame.wire_len()];
        match frame.emit(&mut bytes) {
            Ok(len) => {
                bytes.truncate(len);
                self.keep_bytes(key, interface, direction, bytes);
            }
            Err(error) => self.error = Some(io::Error::other(error)),
        }
    }

    pub(in crate::network) fn keep_bytes(
        &mut self,
        key: EventKey,
        interface: u16,
        direction: Direction,
        bytes: Vec<u8>,
    ) {
        if self.error.is_none() {
            let bytes = bytes.into_boxed_slice();
            self.frames.push(CapturedFrame { key, interface, direction, bytes });
        }
    }
}
