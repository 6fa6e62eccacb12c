//! Records as they come about, and the digest that they make with all deliveries.
//!
//! Every node has a digest of its own, of what happens to it and in its own order; they are put
//! together in the order of nodes. So the digest of a run does not depend on which of two nodes comes
//! first where something happens to both at once, as a run that is cut into partitions may have it.

use rocelab_engine::mix;
use rocelab_fabric::NodeId;
use rocelab_units::SimTime;

use crate::record::{Deadlock, DropCause, FlowFailure, PauseEvent, Record, RecordKind};

/// What has been recorded and not been taken.
#[derive(Debug, Default)]
pub(super) struct Records {
    pub(super) kept: Vec<Record>,
    /// By node: the digest of its records, taken or not.
    pub(super) digests: Vec<u64>,
}

impl Records {
    /// Records of a network of `nodes` nodes.
    pub(super) fn of(nodes: usize) -> Self {
        Self { kept: Vec::new(), digests: vec![0; nodes] }
    }

    /// Keeps what happened at a node. It is in the digest.
    #[cold]
    pub(super) fn keep(&mut self, node: NodeId, record: Record) {
        self.cover(node, record.key.time, &words(&record.kind));
        self.kept.push(record);
    }

    /// Hands over what was kept since the last time.
    pub(super) fn take(&mut self) -> Vec<Record> {
        std::mem::take(&mut self.kept)
    }

    /// Keeps what was measured, or what only causes are worked out from. It is not in the digest: to measure changes
    /// nothing.
    pub(super) fn keep_sample(&mut self, record: Record) {
        self.kept.push(record);
    }

    /// Has the digest cover a deadlock, at the queue that its cycle begins with.
    pub(super) fn cover_deadlock(&mut self, found: &Deadlock) {
        let Some(first) = found.cycle.first() else { return };
        let place =
            |queue: &super::StuckQueue| [u64::from(queue.node), at(queue.port, queue.priority)];
        let cycle = found.cycle.iter().flat_map(place);
        let sums = [found.began.ps(), found.queues.len() as u64, found.bytes];
        self.cover(first.node, found.found, &cycle.chain(sums).collect::<Vec<_>>());
    }

    pub(super) fn cover(&mut self, node: NodeId, time: SimTime, words: &[u64]) {
        let digest = &mut self.digests[node as usize];
        *digest = words.iter().fold(mix(*digest ^ time.ps()), |digest, word| mix(digest ^ word));
    }

    /// The digest of a node.
    pub(super) fn digest_mut(&mut self, node: NodeId) -> &mut u64 {
        &mut self.digests[node as usize]
    }

    /// How many are kept.
    pub(super) fn len(&self) -> usize {
        self.kept.len()
    }

    /// Those after the first `known`.
    pub(super) fn since(&self, known: usize) -> &[Record] {
        &self.kept[known..]
    }
}

/// What happened at a node, as a number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeDigest {
    /// The node.
    pub(crate) node: NodeId,
    /// Of packets that arrived, at a host.
    pub(super) arrived: Option<u64>,
    /// Of what is recorded.
    pub(super) recorded: u64,
}

/// One number for what happened at all nodes, in the order of nodes.
pub(crate) fn digest_of(nodes: impl Iterator<Item = NodeDigest>) -> u64 {
    nodes.fold(0, |digest, node| {
        let digest = node.arrived.map_or(digest, |arrived| mix(digest ^ arrived));
        mix(digest ^ node.recorded)
    })
}

/// What is covered of a record, beside when and at which node: what that node knows. What is
/// worked out of a record (the cause of a pause) is left out.
pub(super) fn words(kind: &RecordKind) -> [u64; 4] {
    match kind {
        RecordKind::FlowEnd(end) => {
            let failure = end.failure.map_or(0, FlowFailure::number);
            [1 | failure << 8, end.flow.into(), end.status as u64, end.finished.ps()]
        }
        RecordKind::FlowAcknowledged(end) => [7, end.flow.into(), end.retransmitted_packets, 0],
        RecordKind::OperationEnd(end) => {
            let which = u64::from(end.connection) << 16 | u64::from(end.slot);
            [2 | (end.status as u64) << 8, which, end.operation, end.found.unwrap_or(0)]
        }
        RecordKind::Pause(change) => {
            let (event, paused) = match change.event {
                PauseEvent::Pause => (0, 0),
                PauseEvent::Refresh => (1, 0),
                PauseEvent::Resume(paused) => (2, paused.ps()),
                PauseEvent::Expire(paused) => (3, paused.ps()),
            };
            [3 | event << 8, at(change.port, change.priority), change.quanta.into(), paused]
        }
        RecordKind::PauseRequest(request) => [4, at(request.port, request.priority), 0, 0],
        RecordKind::Drop(dropped) => {
            let egress = dropped.egress.map_or(u64::MAX, u64::from);
            let place = at(dropped.ingress, dropped.priority) | u64::from(dropped.frame_len) << 32;
            [5, place, egress, of_cause(&dropped.cause)]
        }
        RecordKind::Storm(storm) => {
            let lasted = storm.lasted.map_or(u64::MAX, |lasted| lasted.ps());
            [6, at(storm.place.port, storm.place.priority), lasted, 0]
        }
        // Measured, or for causes only: not covered.
        RecordKind::Queue(_)
        | RecordKind::Marks(_)
        | RecordKind::Use(_)
        | RecordKind::Rate(_)
        | RecordKind::Goodput(_)
        | RecordKind::Ingress(_)
        | RecordKind::Flow(_)
        | RecordKind::Memory(_)
        | RecordKind::PauseWithdrawal(_) => [0; 4],
    }
}

/// A port and priority of a node.
pub(super) fn at(port: u16, priority: u8) -> u64 {
    u64::from(port) << 8 | u64::from(priority)
}

pub(super) fn of_cause(cause: &DropCause) -> u64 {
    let rule = if let DropCause::Fault(rule) = cause { u64::from(*rule) } else { 0 };
    cause.name().bytes().fold(rule, |digest, byte| mix(digest ^ u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use rocelab_engine::{EventKey, Tie};
    use rocelab_units::Duration;

    use super::*;
    use crate::network::{
        FrameDropped, PauseChange, PauseRequest, QueueLength, QueueStorm, StuckQueue,
    };

    fn record(ps: u64, kind: RecordKind) -> Record {
        Record { key: EventKey { time: SimTime::from_ps(ps), tie: Tie::default() }, kind }
    }

    fn request(node: NodeId, port: u16, priority: u8) -> (NodeId, RecordKind) {
        let request = PauseRequest {
            node,
            port,
            priority,
            holds: 1 << priority,
            egress: None,
            egress_paused: 0,
        };
        (node, RecordKind::PauseRequest(request))
    }

    fn dropped(node: NodeId, cause: DropCause) -> (NodeId, RecordKind) {
        let (ingress, priority, frame_len) = (1, 3, 1_106);
        let marking = priority;
        let frame =
            FrameDropped { node, ingress, egress: None, priority, marking, frame_len, cause };
        (node, RecordKind::Drop(frame))
    }

    fn pause(node: NodeId, event: PauseEvent) -> (NodeId, RecordKind) {
        let change = PauseChange { node, port: 0, priority: 3, quanta: 9, event };
        (node, RecordKind::Pause(change))
    }

    /// The digests of two nodes to which these things happen.
    fn digests(happened: Vec<(u64, (NodeId, RecordKind))>) -> Vec<u64> {
        let mut records = Records::of(2);
        for (ps, (node, kind)) in happened {
            records.keep(node, record(ps, kind));
        }
        records.digests
    }

    #[test]
    fn which_of_two_nodes_comes_first_does_not_matter() {
        let [first, second] = [(7, request(0, 1, 3)), (7, dropped(1, DropCause::Link))];
        assert_eq!(
            digests(vec![first.clone(), second.clone()]),
            digests(vec![second, first]),
            "at once, at two nodes"
        );
        let [first, second] = [(7, request(0, 1, 3)), (7, request(0, 2, 3))];
        assert_ne!(digests(vec![first.clone(), second.clone()]), digests(vec![second, first]));
    }

    #[test]
    fn everything_that_happens_counts() {
        let place = StuckQueue { node: 0, port: 1, priority: 3 };
        let storm = |lasted| (0, RecordKind::Storm(QueueStorm { place, lasted }));
        let mut all: Vec<_> = vec![
            digests(Vec::new()),
            digests(vec![(7, request(0, 1, 3))]),
            digests(vec![(8, request(0, 1, 3))]),
            digests(vec![(7, request(0, 1, 4))]),
            digests(vec![(7, request(0, 2, 3))]),
            digests(vec![(7, request(1, 1, 3))]),
            digests(vec![(7, dropped(0, DropCause::Watchdog))]),
            digests(vec![(7, dropped(0, DropCause::LinkDown))]),
            digests(vec![(7, dropped(0, DropCause::Fault(0)))]),
            digests(vec![(7, dropped(0, DropCause::Fault(1)))]),
            digests(vec![(7, pause(0, PauseEvent::Pause))]),
            digests(vec![(7, pause(0, PauseEvent::Refresh))]),
            digests(vec![(7, pause(0, PauseEvent::Resume(Duration::from_ps(5))))]),
            digests(vec![(7, pause(0, PauseEvent::Expire(Duration::from_ps(5))))]),
            digests(vec![(7, storm(None))]),
            digests(vec![(7, storm(Some(Duration::from_ps(5))))]),
        ];
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn a_deadlock_counts_and_a_sample_does_not() {
        let mut records = Records::of(2);
        let length = QueueLength { node: 0, port: 1, priority: 3, bytes: 5 };
        records.keep_sample(record(7, RecordKind::Queue(length)));
        assert_eq!((records.len(), &records.digests), (1, &vec![0, 0]));
        let cycle = vec![StuckQueue { node: 1, port: 1, priority: 3 }];
        let (began, found) = (SimTime::from_ps(5), SimTime::from_ps(7));
        records.cover_deadlock(&Deadlock { began, found, queues: cycle.clone(), cycle, bytes: 9 });
        assert_eq!((records.len(), records.digests[0]), (1, 0));
        assert_ne!(records.digests[1], 0);
    }
}
