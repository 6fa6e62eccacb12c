//! The ports that packets come by which are followed.

use rocelab_fabric::NodeId;
use rocelab_units::SimTime;

use super::port_log::PortLog;
use super::traffic::Owner;
use crate::network::watch::{FrameView, View};

/// Frames that are remembered, before it is looked at which of them nobody asks for any more.
const REMEMBERED: usize = 1 << 20;

/// What ports did since they were first looked at.
#[derive(Debug, Default)]
pub(super) struct PortLogs {
    /// By number among all ports.
    logs: Vec<Option<Box<PortLog>>>,
    /// By node, those of its ports that are looked at.
    by_node: Vec<Vec<u32>>,
    /// Frames that were noted since the last time that some were forgotten.
    noted: usize,
    limit: usize,
    /// How many more may be noted than are asked for.
    remembered: usize,
}

impl PortLogs {
    pub(super) fn new() -> Self {
        Self::remembering(REMEMBERED)
    }

    fn remembering(frames: usize) -> Self {
        Self { limit: frames, remembered: frames, ..Self::default() }
    }

    pub(super) fn get(&self, port: u32) -> Option<&PortLog> {
        self.logs.get(port as usize)?.as_deref()
    }

    /// From now on looks at a port. Gives the frame that it is sending, if it was not looked at.
    pub(super) fn open(&mut self, network: View<'_>, port: u32, now: SimTime) -> Option<FrameView> {
        let place = port as usize;
        if self.logs.len() <= place {
            self.logs.resize_with(place + 1, || None);
        }
        let log = &mut self.logs[place];
        if log.is_some() {
            return None;
        }
        let (node, _) = network.place_of_port(port);
        *log = Some(Box::new(PortLog::open(network, port, now)));
        if self.by_node.len() <= node as usize {
            self.by_node.resize_with(node as usize + 1, Vec::new);
        }
        self.by_node[node as usize].push(port);
        network.transmitter(port).last
    }

    /// Whether any port of a node is looked at.
    pub(super) fn has_any_at(&self, node: NodeId) -> bool {
        self.by_node.get(node as usize).is_some_and(|ports| !ports.is_empty())
    }

    /// Notes what an event changed at the ports of a node, or of all; gives the frames that were
    /// started, with their ports.
    pub(super) fn look(
        &mut self,
        network: View<'_>,
        now: SimTime,
        node: Option<NodeId>,
        started: &mut Vec<(u32, FrameView, Owner)>,
    ) {
        let nodes = match node {
            Some(node) => {
                let node = node as usize;
                self.by_node.get(node..=node).unwrap_or_default()
            }
            None => self.by_node.as_slice(),
        };
        for &port in nodes.iter().flatten() {
            let Some(log) = &mut self.logs[port as usize] else { continue };
            if let Some((frame, owner)) = log.look(network, now) {
                self.noted += 1;
                started.push((port, frame, owner));
            }
        }
    }

    /// Whether it is time to [forget](Self::forget).
    pub(super) const fn are_many(&self) -> bool {
        self.noted > self.limit
    }

    /// Nobody asks any longer for what was before `time` (picoseconds).
    pub(super) fn forget(&mut self, time: u64) {
        let kept: usize = self.logs.iter_mut().flatten().map(|log| log.forget(time)).sum();
        self.noted = kept;
        self.limit = 2 * kept + self.remembered;
    }
}

#[cfg(test)]
impl PortLogs {
    /// Forgets much more often.
    pub(super) fn forgetful() -> Self {
        Self::remembering(16)
    }
}
