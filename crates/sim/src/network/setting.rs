//! What all parts of a network have in common.

use std::sync::Arc;

use rocelab_fabric::topology::{Adjacency, Neighbour, Partitioning};
use rocelab_fabric::{NodeId, Serialisation};
use rocelab_units::{Duration, SimTime};

use super::failure::Rerouted;
use super::owners::Owners;
use super::units::units_of;
use crate::Plan;
use crate::address::path_entropy;
use crate::profile::{BuildError, Profile};

/// What all parts of a network have in common.
#[derive(Debug)]
pub struct Setting<P: Profile> {
    pub(super) plan: Arc<Plan>,
    pub(super) adjacency: Arc<Adjacency>,
    pub(super) routing: Arc<P::Routing>,
    /// Those that were made last as something broke or was mended.
    pub(super) rerouted: Arc<Rerouted<P>>,
    pub(super) owners: Option<Arc<Owners>>,
    pub(super) units: Partitioning,
}

impl<P: Profile> Setting<P> {
    /// What the parts of a network of `plan` have in common at time zero.
    ///
    /// # Errors
    /// If a flow has no way.
    pub fn new(plan: Arc<Plan>) -> Result<Self, BuildError> {
        Ok(Self {
            adjacency: Arc::new(plan.topology.adjacency()),
            routing: Arc::new(P::routing(&plan, &plan.active_links)?),
            rerouted: Arc::new(Rerouted::default()),
            owners: Owners::new(&plan).map(Arc::new),
            units: units_of(&plan),
            plan,
        })
    }

    /// The plan of the network.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How nodes are put into units.
    pub(crate) fn units(&self) -> &Partitioning {
        &self.units
    }

    /// The least time from the start of a frame at one end of any of these links to its arrival at the other,
    /// after which what happens there can be felt here; for ever if there are none. It is that of the shortest
    /// frame, and of one of Ethernet that is cut through these are the bytes that a switch waits for.
    pub(crate) fn lookahead(&self, links: impl Iterator<Item = u32>) -> Duration {
        let shortest = self.plan.shortest_frame();
        let taken = |way: P::Link| way.transmit(SimTime::ZERO, shortest).arrival;
        let least = links.flat_map(|link| self.ways_over(link)).map(taken).min();
        least.unwrap_or(SimTime::NEVER).since(SimTime::ZERO)
    }

    /// The same, where hosts of a domain of NVLink are in several of these places too.
    pub(crate) fn lookahead_between<T: PartialEq>(
        &self,
        links: impl Iterator<Item = u32>,
        place: impl Fn(NodeId) -> T,
    ) -> Duration {
        let by_link = self.lookahead(links);
        self.plan.nvlink.lookahead(place).map_or(by_link, |by_nvlink| by_nvlink.min(by_link))
    }

    /// Both directions of a link.
    pub(super) fn ways_over(&self, link: u32) -> [P::Link; 2] {
        let ends = &self.plan.topology.links[link as usize];
        [ends.a, ends.b].map(|node| P::link(&self.plan, &Neighbour { node, link }))
    }
}

impl Plan {
    /// Hash of a flow's addresses and entropy field: what equal-cost multipath goes by. On InfiniBand its lowest bits, as many as the
    /// LMC says, are the path bits: those of the entropy.
    pub fn flow_hash(&self, source: NodeId, destination: NodeId, entropy: u32) -> u32 {
        let encapsulation = self.roce.encapsulation_of(source);
        let hash = self.roce.addresses.flow_hash(encapsulation, source, destination, entropy);
        let path_bits = self.roce.path_bits_mask();
        hash & !path_bits | entropy & path_bits
    }

    /// The entropy fields that packets of a queue pair may have whose first is `entropy`: as many as the
    /// policy of path entropy has numbers.
    pub(crate) fn entropies(&self, entropy: u32) -> impl Iterator<Item = u32> + Clone {
        let encapsulation = self.roce.encapsulation;
        let numbers = self.common_queue_pair().path_entropy.numbers();
        (0..numbers).map(move |place| path_entropy(encapsulation, entropy, place))
    }

    /// The [hashes](Self::flow_hash) of these but the first.
    pub(crate) fn more_flow_hashes(
        &self,
        source: NodeId,
        destination: NodeId,
        entropy: u32,
    ) -> Vec<u32> {
        let more = self.entropies(entropy).skip(1);
        more.map(|entropy| self.flow_hash(source, destination, entropy)).collect()
    }
}
