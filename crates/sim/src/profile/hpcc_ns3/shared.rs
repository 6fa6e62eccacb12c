//! What all nodes share: random generators, and the receiving ends of flows.

use rocelab_engine::mrg32k3a::{AutoStreams, LOSS_STREAM, Seed, Stream};
use rocelab_fabric::PairProperties;
use rocelab_transport::hpcc_ns3::Receiver;
use rocelab_units::Duration;

use super::glibc_random::GlibcRandom;
use crate::profile::{BuildError, DistantTransfer, Shared};
use crate::{HpccNs3Plan, Plan};

/// What all nodes share.
#[derive(Debug)]
pub struct Commons {
    /// Marking dice, one generator a draw; PFC frames take numbers too.
    pub(super) streams: AutoStreams,
    /// Dice of telemetry and of the sampling of acknowledgements.
    pub(super) random: GlibcRandom,
    losses: Losses,
    /// The receiving end of each flow. A flow's completion resets it from afar.
    pub(super) receivers: Vec<Receiver>,
    pub(super) pairs: PairProperties,
    pub(super) base_rtt: Duration,
}

/// Loss on links: each has dice of its own that start alike, or shares those of all links without
/// a loss of their own.
#[derive(Debug, Default)]
struct Losses {
    /// By port of all, of the port that sends: probability and dice.
    directions: Vec<Option<(f64, usize)>>,
    dice: Vec<Stream>,
}

/// Streams that the simulator hands out before the first draw: six a node and two more, and two
/// for each lossy link.
fn first_stream(plan: &Plan) -> u64 {
    let lossy = plan.topology.links.iter().filter(|link| link.loss > 0.0).count();
    6 * plan.topology.nodes.len() as u64 + 2 + 2 * lossy as u64
}

impl Commons {
    pub(super) fn new(plan: &Plan, rules: &HpccNs3Plan) -> Result<Self, BuildError> {
        let pairs = PairProperties::new(&plan.topology, rules.payload_bytes)?;
        Ok(Self {
            streams: AutoStreams::new(Seed::ONE, first_stream(plan)),
            random: GlibcRandom::new(),
            losses: Losses::new(plan, rules.common_loss),
            receivers: vec![Receiver::default(); plan.flows.len()],
            base_rtt: Duration::from_ns(pairs.max_rtt_ns()),
            pairs,
        })
    }
}

impl Losses {
    fn new(plan: &Plan, common_loss: f64) -> Self {
        let links = &plan.topology.links;
        if common_loss <= 0.0 && links.iter().all(|link| link.loss <= 0.0) {
            return Self::default();
        }
        let mut losses = Self::default();
        losses.dice.push(Stream::new(Seed::ONE, LOSS_STREAM)); // That of all links without a loss of their own.
        let of_link: Vec<_> = links
            .iter()
            .map(|link| {
                if link.loss > 0.0 {
                    losses.dice.push(Stream::new(Seed::ONE, LOSS_STREAM));
                    return Some((link.loss, losses.dice.len() - 1));
                }
                (common_loss > 0.0).then_some((common_loss, 0))
            })
            .collect();
        let adjacency = plan.topology.adjacency();
        for node in (0u32..).take(plan.topology.nodes.len()) {
            let ports = adjacency.ports_of(node).iter();
            losses.directions.extend(ports.map(|port| of_link[port.link as usize]));
        }
        losses
    }
}

impl Losses {
    /// Probability and dice of what port number `port` of all sends.
    fn of(&self, port: u32) -> Option<(f64, usize)> {
        self.directions.get(port as usize).copied().flatten()
    }
}

impl Shared for Commons {
    type Message = std::convert::Infallible;

    fn hear(&mut self, message: Self::Message) -> Option<DistantTransfer> {
        match message {}
    }

    fn is_lossy(&self, port: u32) -> bool {
        self.losses.of(port).is_some()
    }

    fn loses(&mut self, port: u32) -> bool {
        self.losses
            .of(port)
            .is_some_and(|(probability, dice)| self.losses.dice[dice].next_uniform() < probability)
    }

    #[inline]
    fn on_flow_control(&mut self) {
        self.streams.skip();
    }

    fn telemetry_bits(&mut self, _port: u32) -> u32 {
        self.random.next()
    }
}
