//! Samplers, and what they know of the time before.

use rocelab_fabric::NodeId;
use rocelab_state::State;
use rocelab_units::{Duration, SimTime};

use super::flow_watch::WatchedFlows;

/// All samplers of a run; none in most.
#[derive(Debug, Default)]
pub(in crate::network) struct Sampling {
    pub(in crate::network) samplers: Vec<Sampler>,
    /// The sampled flows that begin here, in ascending order.
    pub(in crate::network) flows: Vec<SampledFlow>,
    /// The sampled flows whose payload comes here, in ascending order.
    pub(in crate::network) received: Vec<ReceivedFlow>,
    /// The ends of flows here that are looked at closely.
    pub(in crate::network) watched: WatchedFlows,
}

/// Measures one thing at one node.
#[derive(Debug)]
pub(in crate::network) struct Sampler {
    pub(in crate::network) node: NodeId,
    pub(in crate::network) interval: Duration,
    /// When it last did.
    pub(in crate::network) last: SimTime,
    pub(in crate::network) what: Measured,
}

// What it measures is saved with it, but for flows, which are among the sampled ones.
rocelab_state::state!(Sampler { values: last; states: what; kept: node, interval });

#[derive(Debug)]
pub(in crate::network) enum Measured {
    /// The queues of ports, by their places among all ports.
    Queues(Vec<u32>),
    /// Marks at ports since the last time.
    Marks(Vec<Counted>),
    /// Bytes sent by ports since the last time, preambles and gaps included.
    Utilisation(Vec<Counted>),
    /// What ports of a switch hold in its memory, by their numbers there.
    Ingress(Vec<u16>),
    /// What flows may send that begin here, by their places among the sampled ones.
    Rates(Vec<usize>),
    /// Ends of flows that are looked at closely, by their places among these.
    Flows(Vec<usize>),
    /// What came of flows since the last time, by their places among those whose payload comes here.
    Goodput(Vec<usize>),
}

impl State for Measured {
    fn save(&self, to: &mut Vec<u8>) -> rocelab_state::Result {
        match self {
            Self::Queues(_)
            | Self::Ingress(_)
            | Self::Rates(_)
            | Self::Flows(_)
            | Self::Goodput(_) => Ok(()),
            Self::Marks(ports) | Self::Utilisation(ports) => ports.save(to),
        }
    }

    fn load(&mut self, from: &mut &[u8]) -> rocelab_state::Result {
        match self {
            Self::Queues(_)
            | Self::Ingress(_)
            | Self::Rates(_)
            | Self::Flows(_)
            | Self::Goodput(_) => Ok(()),
            Self::Marks(ports) | Self::Utilisation(ports) => ports.load(from),
        }
    }
}

/// A port's counter.
#[derive(Debug)]
pub(in crate::network) struct Counted {
    /// The port, by its place among all ports.
    pub(in crate::network) port: u32,
    /// What it was at the last time.
    pub(in crate::network) before: u64,
}

rocelab_state::state!(Counted { values: before; kept: port });

#[derive(Debug)]
pub(in crate::network) struct SampledFlow {
    pub(in crate::network) flow: u32,
    /// Whether it has ended.
    pub(in crate::network) ended: bool,
}

rocelab_state::state!(SampledFlow { values: ended; kept: flow });

/// A flow whose receiver is here.
#[derive(Debug)]
pub(in crate::network) struct ReceivedFlow {
    pub(in crate::network) flow: u32,
    /// Payload that was accepted since the last time (bytes).
    pub(in crate::network) bytes: u64,
}

rocelab_state::state!(ReceivedFlow { values: bytes; kept: flow });

impl Measured {
    /// Whether it is what there is at one time, and not what has come together over an interval.
    pub(in crate::network) const fn is_of_a_moment(&self) -> bool {
        matches!(self, Self::Queues(_) | Self::Ingress(_))
    }
}

impl Sampling {
    /// A flow has ended, as its `source` knows, well or badly.
    #[cold]
    pub(in crate::network) fn note_end(&mut self, source: NodeId, flow: u32) {
        if let Ok(place) = self.flows.binary_search_by_key(&flow, |sampled| sampled.flow) {
            self.flows[place].ended = true;
        }
        self.watched.note_end(source, flow);
    }

    /// A host here accepted so much payload of a flow.
    #[cold]
    pub(in crate::network) fn note_accepted(&mut self, flow: u32, bytes: u64) {
        if let Ok(place) = self.received.binary_search_by_key(&flow, |received| received.flow) {
            self.received[place].bytes += bytes;
        }
    }
}
