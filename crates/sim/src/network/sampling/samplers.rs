//! Samplers, and what they know of the time before.

use rocelab_fabric::NodeId;
use rocelab_results::SampleInterval;
use rocelab_state::State;
use rocelab_units::{Duration, SimTime};

use super::flow_watch::WatchedFlows;
use super::histogram::QueueHistogram;
use super::link_window::MeasuredLink;
use crate::plan::{MeasurePlan, QueueMonitor};

/// All samplers of a run; none in most.
#[derive(Debug, Default)]
pub(in crate::network) struct Sampling {
    pub(in crate::network) samplers: Vec<Sampler>,
    /// The place of the first sampler of links in the measuring window, behind which there are no others.
    pub(in crate::network) first_of_links: usize,
    /// The places of all samplers, in order of their nodes.
    by_node: Vec<u32>,
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
    pub(in crate::network) timing: Timing,
    /// When it last did.
    pub(in crate::network) last: SimTime,
    pub(in crate::network) what: Measured,
}

// What it measures is saved with it, but for flows, which are among the sampled ones.
rocelab_state::state!(Sampler { values: last; states: what; kept: node, timing });

/// When a sampler measures.
#[derive(Clone, Copy, Debug)]
pub(in crate::network) enum Timing {
    /// Again and again.
    Every(SampleInterval),
    /// As the measuring window begins and ends.
    Window(MeasurePlan),
    /// As HPCC's simulator looks at queues.
    Monitor(QueueMonitor),
}

impl Timing {
    /// The first time: the start of a run for what there is `at_once`, and else the end of the first interval.
    pub(in crate::network) fn first(self, at_once: bool) -> SimTime {
        match self {
            Self::Every(_) if at_once => SimTime::ZERO,
            Self::Every(interval) => SimTime::from_ps(interval.from(0)),
            Self::Window(window) if window.from == SimTime::ZERO => {
                window.to.map_or(SimTime::NEVER, just_before)
            }
            Self::Window(window) => just_before(window.from),
            Self::Monitor(monitor) => monitor.from,
        }
    }

    /// The next time, if there is one.
    pub(in crate::network) fn next(self, now: SimTime) -> Option<SimTime> {
        match self {
            Self::Every(interval) => {
                Some(now.saturating_add(Duration::from_ps(interval.from(now.ps()))))
            }
            Self::Window(window) => window.to.map(just_before).filter(|to| *to > now),
            Self::Monitor(monitor) => monitor.next(now),
        }
    }
}

/// The picosecond before a time: what happens at that time has not happened then.
const fn just_before(time: SimTime) -> SimTime {
    SimTime::from_ps(time.ps().saturating_sub(1))
}

#[derive(Debug)]
pub(in crate::network) enum Measured {
    /// The queues of ports, by their places among all ports.
    Queues(Vec<u32>),
    /// Marks at ports since the last time.
    Marks(Vec<Counted>),
    /// Bytes sent by ports since the last time, preambles and gaps included.
    Utilisation(Vec<Counted>),
    /// What links carried in the measuring window.
    Links(Vec<MeasuredLink>),
    /// How long queues of a switch's ports were, as HPCC's simulator counts.
    Histograms(Vec<QueueHistogram>),
    /// What ports of a switch hold in its memory, by their numbers there.
    Ingress(Vec<u16>),
    /// What flows may send that begin here, by their places among the sampled ones.
    Rates(Vec<usize>),
    /// Ends of flows that are looked at closely, by their places among these.
    Flows(Vec<usize>),
    /// What came of flows since the last time, by their places among those whose payload comes here.
    Goodput(Vec<usize>),
}

impl Sampler {
    /// Whether it will measure again: all do so for ever, but for those of the measuring window.
    fn is_scheduled(&self) -> bool {
        match self.timing {
            Timing::Every(_) => true,
            Timing::Monitor(monitor) => self.last < monitor.to,
            Timing::Window(window) => self
                .what
                .links()
                .iter()
                .any(|link| link.begin.is_none() || (link.end.is_none() && window.to.is_some())),
        }
    }
}

impl State for Measured {
    fn save(&self, to: &mut Vec<u8>) -> rocelab_state::Result {
        match self {
            Self::Queues(_)
            | Self::Ingress(_)
            | Self::Histograms(_) // There are no checkpoints by the rules of HPCC's simulator.
            | Self::Rates(_)
            | Self::Flows(_)
            | Self::Goodput(_) => Ok(()),
            Self::Marks(ports) | Self::Utilisation(ports) => ports.save(to),
            Self::Links(links) => links.save(to),
        }
    }

    fn load(&mut self, from: &mut &[u8]) -> rocelab_state::Result {
        match self {
            Self::Queues(_)
            | Self::Ingress(_)
            | Self::Histograms(_)
            | Self::Rates(_)
            | Self::Flows(_)
            | Self::Goodput(_) => Ok(()),
            Self::Marks(ports) | Self::Utilisation(ports) => ports.load(from),
            Self::Links(links) => links.load(from),
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
        matches!(self, Self::Queues(_) | Self::Ingress(_) | Self::Histograms(_))
    }

    /// Links in the measuring window; none if it is something else.
    fn links(&self) -> &[MeasuredLink] {
        match self {
            Self::Links(links) => links,
            _ => &[],
        }
    }

    /// Whether it is what has come together over an interval, so that the last one ends with the run.
    pub(in crate::network) const fn is_of_an_interval(&self) -> bool {
        !self.is_of_a_moment() && !matches!(self, Self::Links(_))
    }
}

impl Sampling {
    /// The events of samplers that are scheduled.
    pub(in crate::network) fn events(&self) -> usize {
        self.samplers.iter().filter(|sampler| sampler.is_scheduled()).count()
    }

    /// All samplers are there: from now on those of a node are found.
    pub(in crate::network) fn complete(&mut self) {
        self.by_node = (0..u32::try_from(self.samplers.len()).unwrap_or(u32::MAX)).collect();
        self.by_node.sort_by_key(|&place| self.samplers[place as usize].node);
    }

    /// The places of a node's samplers, in ascending order.
    pub(in crate::network) fn of_node(&self, node: NodeId) -> &[u32] {
        let node_of = |place: &u32| self.samplers[*place as usize].node;
        let begin = self.by_node.partition_point(|place| node_of(place) < node);
        let end = self.by_node.partition_point(|place| node_of(place) <= node);
        &self.by_node[begin..end]
    }

    /// A port's counters in the measuring window, by its place among all ports; `None` without a window.
    pub(in crate::network) fn link(&self, port: u32) -> Option<&MeasuredLink> {
        // In the order of nodes, and so of ports.
        let of_nodes = self.samplers.get(self.first_of_links..)?;
        let node = of_nodes.partition_point(|sampler| {
            sampler.what.links().last().is_none_or(|last| last.port < port)
        });
        let links = of_nodes.get(node)?.what.links();
        links.binary_search_by_key(&port, |link| link.port).ok().map(|place| &links[place])
    }

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
