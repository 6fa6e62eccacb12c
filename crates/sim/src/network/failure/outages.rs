//! What is broken.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rocelab_engine::EventKey;
use rocelab_fabric::NodeId;
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Bandwidth, SimTime};

use crate::Plan;
use crate::network::link_rates::LinkRates;
use crate::network::packet::{Packet, PacketOf};
use crate::network::watchdog::Watchdogs;
use crate::profile::{Profile, Routing as _};
use crate::record::DropCause;

/// What fails, and what follows from it.
#[derive(Debug)]
pub(in crate::network) struct Failures<P: Profile> {
    pub(in crate::network) outages: Outages,
    pub(in crate::network) link_rates: LinkRates,
    pub(in crate::network) watchdogs: Watchdogs,
    /// For each link of the topology, whether frames may cross it.
    pub(in crate::network) active_links: Vec<bool>,
    /// The first routes, once there are others: those over all links.
    pub(in crate::network) routing_when_whole: Option<Arc<P::Routing>>,
    pub(in crate::network) rerouted: Arc<Rerouted<P>>,
}

impl<P: Profile> Failures<P> {
    /// Why a frame is dropped that a switch has no way for by the `routing` of now: because of links that are
    /// down, if it had one when none was.
    #[cold]
    pub(in crate::network) fn no_way(
        &self,
        routing: &P::Routing,
        switch: NodeId,
        packet: &Packet<PacketOf<P>>,
    ) -> DropCause {
        let had_way = || {
            let whole = self.routing_when_whole.as_deref().unwrap_or(routing);
            let &Packet { source, destination, flow_hash, .. } = packet;
            whole.egress(switch, source, destination, flow_hash).is_some()
        };
        if self.outages.are_links_down() && had_way() {
            DropCause::LinkDown
        } else {
            DropCause::NoRoute
        }
    }

    /// Nothing has failed, and these links carry frames.
    pub(in crate::network) fn new(active_links: &[bool], rerouted: Arc<Rerouted<P>>) -> Self {
        Self {
            outages: Outages::new(active_links),
            link_rates: LinkRates::default(),
            watchdogs: Watchdogs::default(),
            active_links: active_links.to_vec(),
            routing_when_whole: None,
            rerouted,
        }
    }
}

/// What is broken.
#[derive(Debug)]
pub(in crate::network) struct Outages {
    /// By link: how many failures hold it down.
    pub(in crate::network) down: Vec<u32>,
    /// By link: whether frames may cross it while it is up, since routes were made the last time.
    pub(in crate::network) forwarding: Vec<bool>,
    /// Whether some links were down then.
    pub(in crate::network) lacks_links: bool,
    /// By link: the rates of the failures that slow it down.
    pub(in crate::network) rates: BTreeMap<u32, Vec<Bandwidth>>,
    /// By host of the whole network: how many failures hold it down.
    pub(in crate::network) hosts_down: BTreeMap<NodeId, u32>,
    /// By host: the storms of its NIC.
    pub(in crate::network) storms: BTreeMap<u32, Storms>,
    /// By port whose transmitter is shut down: what it was about.
    pub(in crate::network) interrupted: BTreeMap<u32, Interrupted>,
    /// The links that the routes of now were made over, if they were made anew.
    pub(in crate::network) routed_over: Option<Vec<bool>>,
    /// Steps of the plan that were taken.
    pub(in crate::network) steps: usize,
}

// Storms and interrupted transmitters are saved with their hosts and ports.
rocelab_state::state!(Outages {
    values: down, forwarding, lacks_links, rates, hosts_down, routed_over, steps;
    kept: storms, interrupted
});

/// The routes of the last step that made any: every part of a network has the same.
#[derive(Debug)]
pub(in crate::network) struct Rerouted<P: Profile> {
    pub(in crate::network) last: Mutex<Option<RoutesOfStep<P>>>,
}

/// A step of the plan, and its routes, if there are any.
pub(in crate::network) type RoutesOfStep<P> = (u32, Option<Arc<<P as Profile>::Routing>>);

impl<P: Profile> Default for Rerouted<P> {
    fn default() -> Self {
        Self { last: Mutex::new(None) }
    }
}

impl<P: Profile> Rerouted<P> {
    /// The routes of a step, which the first part makes that comes to it.
    pub(in crate::network) fn at_step(
        &self,
        step: u32,
        routes: impl FnOnce() -> Option<P::Routing>,
    ) -> Option<Arc<P::Routing>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((of, routing)) if *of == step => routing.clone(),
            _ => {
                let routing = routes().map(Arc::new);
                *last = Some((step, routing.clone()));
                routing
            }
        }
    }
}

/// A transmitter that is shut down.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(in crate::network) struct Interrupted {
    /// When the frame is over, or would be, that it sent last.
    pub(in crate::network) free: EventKey,
    /// Whether a `PortFree` for then is in the event queue.
    pub(in crate::network) armed: bool,
}

impl Outages {
    /// When what a port sends is over, whether or not its transmitter is shut down: that one says `free_at`.
    pub(in crate::network) fn free_at(&self, port: u32, free_at: SimTime) -> SimTime {
        self.interrupted.get(&port).map_or(free_at, |state| state.free.time)
    }

    /// Nothing is, and these links carry frames.
    pub(in crate::network) fn new(forwarding: &[bool]) -> Self {
        Self {
            down: vec![0; forwarding.len()],
            forwarding: forwarding.to_vec(),
            lacks_links: false,
            rates: BTreeMap::new(),
            hosts_down: BTreeMap::new(),
            storms: BTreeMap::new(),
            interrupted: BTreeMap::new(),
            routed_over: None,
            steps: 0,
        }
    }

    /// A `PortFree` of a port that is shut down has left the event queue.
    #[cold]
    #[inline(never)]
    pub(in crate::network) fn forget_free(&mut self, port: u32) {
        if let Some(interrupted) = self.interrupted.get_mut(&port) {
            interrupted.armed = false;
        }
    }

    /// Whether a failure holds a host down, wherever it is.
    pub(in crate::network) fn is_dead(&self, host: NodeId) -> bool {
        self.hosts_down.get(&host).is_some_and(|&failures| failures > 0)
    }

    /// Whether links are down, or were when routes were made the last time.
    pub(in crate::network) fn are_links_down(&self) -> bool {
        self.lacks_links || self.down.iter().any(|&failures| failures > 0)
    }

    /// The rate that failures leave a link, if they lower it.
    pub(in crate::network) fn rate_of(&self, link: u32) -> Option<Bandwidth> {
        self.rates.get(&link)?.iter().min().copied()
    }

    /// Whether a link is down.
    pub(in crate::network) fn is_down(&self, link: u32) -> bool {
        self.down[link as usize] > 0
    }

    /// Whether what was loaded is of a network of so many links.
    pub(in crate::network) fn check(&self, links: usize) -> rocelab_state::Result {
        let routed = self.routed_over.as_ref().map_or(links, Vec::len);
        if [self.down.len(), self.forwarding.len(), routed].iter().all(|&len| len == links) {
            Ok(())
        } else {
            Err(rocelab_state::unfit("the number of links"))
        }
    }

    /// Whether a step of the plan was taken: all before the first one that was not.
    pub(in crate::network) fn has_taken(&self, step: u32) -> bool {
        (step as usize) < self.steps
    }

    /// Whether something will break or be mended yet.
    pub(in crate::network) fn has_more(&self, plan: &Plan) -> bool {
        self.steps < plan.failures.steps.len()
    }
}

/// The pause storms of one NIC that have begun and not ended.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub(in crate::network) struct Storms {
    /// How many there are; with any, it handles nothing that arrives.
    pub(in crate::network) count: u32,
    /// By priority: how many of them ask for its pause.
    pub(in crate::network) pausing: [u32; 8],
}

impl Storms {
    /// Bit p: priority p is to pause.
    pub(in crate::network) fn mask(&self) -> u8 {
        priorities(0xff)
            .filter(|&priority| self.pausing[usize::from(priority)] > 0)
            .fold(0, |mask, priority| mask | 1 << priority)
    }

    pub(in crate::network) fn mute(&mut self, mask: u8) {
        for priority in priorities(mask) {
            self.pausing[usize::from(priority)] -= 1;
        }
    }
}

/// The priorities of a mask (bit p).
pub(in crate::network) fn priorities(mask: u8) -> impl Iterator<Item = u8> {
    (0..8).filter(move |priority| mask & 1 << priority != 0)
}
