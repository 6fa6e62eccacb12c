//! A stall in the words of the results.

use rocelab_fabric::NodeId;
use rocelab_results::{StallRecord, StuckQueuePairRecord, StuckQueueRecord, WaitsFor};
use rocelab_transport::Standing;

use crate::Plan;
use crate::network::{Awaited, FullQueue, StuckQueuePair};
use crate::pause_tree::PauseTree;
use crate::profile::Profile;
use crate::simulation::{Ending, Simulation};

/// Queue pairs, and queues, that `summary.json` describes, at the most; it counts all.
const SHOWN: usize = 16;

/// What is stuck at the end of a run in which nothing moves any more, or that a deadlock ended; of
/// flows those that have not `ended`.
pub(crate) fn stall<P: Profile>(
    plan: &Plan,
    (simulation, ending): (&Simulation<P>, Ending),
    pauses: &PauseTree<'_>,
    ended: &[bool],
) -> StallRecord {
    let network = simulation.network();
    let words = Words { plan, pauses };
    let since = network
        .deadlocks()
        .last()
        .filter(|_| ending == Ending::Deadlocked)
        .map_or(simulation.last_movement(), |deadlock| deadlock.began)
        .min(simulation.now());
    let queue_pairs = network.stuck_queue_pairs(simulation.now(), ended);
    let queues = network.full_queues();
    StallRecord {
        since_ps: since.ps(),
        queue_pairs: queue_pairs.len() as u64,
        queues: queues.len() as u64,
        stuck_queue_pairs: queue_pairs
            .iter()
            .take(SHOWN)
            .map(|one| words.queue_pair(one))
            .collect(),
        stuck_queues: queues.iter().take(SHOWN).map(|one| words.queue(one)).collect(),
    }
}

/// What things are called.
struct Words<'a> {
    plan: &'a Plan,
    pauses: &'a PauseTree<'a>,
}

impl Words<'_> {
    fn queue_pair(&self, stuck: &StuckQueuePair) -> StuckQueuePairRecord {
        let waits_for = match waits_for(stuck) {
            WaitsFor::Pause if self.plan.infiniband.is_some() => WaitsFor::Credits,
            other => other,
        };
        let (at, root) = match (waits_for, stuck.first_at) {
            (WaitsFor::Pause | WaitsFor::Credits, _) => {
                (self.behind(stuck.host, 0), self.root(stuck.host, 0, stuck.priority))
            }
            (_, Some((node, port))) => {
                (format!("{}:{port}", self.name(node)), self.root(node, port, stuck.priority))
            }
            (_, None) => (String::new(), String::new()),
        };
        StuckQueuePairRecord {
            host: self.name(stuck.host),
            qpn: stuck.qpn,
            peer: self.name(stuck.peer),
            flow: stuck.flow.map(u64::from),
            connection: stuck.connection,
            waits_for,
            waits_for_host: match waits_for {
                WaitsFor::Peer => match stuck.awaits {
                    Some(Awaited::Host(host)) => self.name(host),
                    Some(Awaited::Address) | None => String::new(),
                },
                _ => String::new(),
            },
            packets_in_queues: stuck.in_queues,
            at,
            root,
        }
    }

    fn queue(&self, full: &FullQueue) -> StuckQueueRecord {
        let place = &full.place;
        let (paused_by, root) = if full.is_paused {
            let root = self.root(place.node, place.port, place.priority);
            (self.behind(place.node, place.port), root)
        } else {
            (String::new(), String::new())
        };
        StuckQueueRecord {
            switch: self.name(place.node),
            port: place.port,
            priority: place.priority,
            is_lane: self.plan.infiniband.is_some(),
            bytes: full.bytes.into(),
            paused_by,
            awaits_credits: full.is_paused && self.plan.infiniband.is_some(),
            root,
            link_down: !full.link_is_up,
        }
    }

    fn root(&self, node: NodeId, port: u16, priority: u8) -> String {
        let root = self.pauses.root_of(node, port, priority);
        root.map_or_else(String::new, |root| root.to_string())
    }

    /// Name of the node at the other end of a port's link.
    fn behind(&self, node: NodeId, port: u16) -> String {
        let neighbour = self.pauses.adjacency().ports_of(node).get(usize::from(port));
        neighbour.map_or_else(String::new, |neighbour| self.name(neighbour.node))
    }

    fn name(&self, node: NodeId) -> String {
        self.plan.topology.nodes[node as usize].name.clone()
    }
}

fn waits_for(stuck: &StuckQueuePair) -> WaitsFor {
    match stuck.standing {
        Standing::NotConnected if stuck.awaits == Some(Awaited::Address) => WaitsFor::Address,
        Standing::NotConnected => WaitsFor::Connection,
        Standing::Failed | Standing::NoWork => WaitsFor::Peer,
        Standing::Unanswered => WaitsFor::Answer,
        Standing::ReceiverNotReady => WaitsFor::ReceiveRequest,
        Standing::Window => WaitsFor::Window,
        Standing::PacketLimit => WaitsFor::PacketLimit,
        Standing::ReadLimit => WaitsFor::ReadLimit,
        Standing::MaySend(_) if stuck.host_is_down => WaitsFor::Host,
        Standing::MaySend(_) if !stuck.link_is_up => WaitsFor::Link,
        Standing::MaySend(_) if stuck.is_paused => WaitsFor::Pause,
        Standing::MaySend(_) => WaitsFor::Turn,
    }
}
