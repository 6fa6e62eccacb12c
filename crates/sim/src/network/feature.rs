//! What a feature of the network is: where it is interested in frames that arrive, what it does with them, and its state.
//!
//! A feature sees the network and changes none of it, but its own state, frames, and its timers. So it never reaches
//! into another node, and whoever writes one need not know the path of a packet. What it wants done, its verdict says.

use std::sync::Arc;

use rocelab_engine::{EventKey, EventQueue, TieOrder};
use rocelab_fabric::{NodeId, PacketId};
use rocelab_state::Result;
use rocelab_units::SimTime;

use super::emission::Emission;
use super::event::Event;
use super::failure::Failures;
use super::layout::Layout;
use super::node::{Host, Node, Switch};
use super::owners::Owners;
use super::packet::{Packet, PacketOf, PacketPool};
use super::passed::Passed;
use super::port::{FarEnd, NetworkPort};
use super::saved_packets::SavedPackets;
use super::side::SideData;
use crate::Plan;
use crate::profile::Profile;
use crate::record::{DropCause, Totals};

/// A feature, of the [list](super::features). It exists in networks whose plan asks for it, and is asked about frames
/// that arrive over links that some feature is interested in.
pub(super) trait Feature<P: Profile>: Sized {
    /// The feature in a part of a network, if the plan asks for it. It says over which links it is to be asked.
    fn set_up(network: SetUp<'_, P>) -> Option<Box<Self>>;

    /// What becomes of a frame that has arrived: at a switch or a host, over a link that may be no concern of this
    /// feature.
    fn judge(&mut self, arrival: &Arrival, scene: Scene<'_, P>) -> Verdict;

    /// The next frame that the feature lets go, after a verdict to hold one; it goes on to the next feature.
    fn release(&mut self) -> Option<PacketId> {
        None
    }

    /// Saves the state that belongs to a part of the network.
    ///
    /// # Errors
    /// If a number is not one.
    fn save(&self, of: StateOf, packets: &SavedPackets<'_>, to: &mut Vec<u8>) -> Result {
        _ = (of, packets, to);
        Ok(())
    }

    /// Loads what [`Feature::save`] has saved.
    ///
    /// # Errors
    /// If it does not fit.
    fn load(&mut self, of: StateOf, packets: &mut SavedPackets<'_>, from: &mut &[u8]) -> Result {
        _ = (of, packets, from);
        Ok(())
    }
}

/// A frame whose last bit has arrived at the end of a link; with cut-through, its first 64 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) key: EventKey,
    /// The port that has sent it.
    pub(super) port: u32,
    /// Where it arrives.
    pub(super) far: FarEnd,
    pub(super) id: PacketId,
}

/// What becomes of a frame.
#[derive(Debug)]
pub(super) enum Verdict {
    /// It goes on to the next feature, and after the last one to the node.
    Continue,
    /// It goes on, and the switch forwards it by the port of this number.
    Redirect(u16),
    /// It goes on once for each of these ports of the switch, of which there is at least one.
    Replicate(Vec<u16>),
    /// It is dropped.
    Drop(DropCause),
    /// The feature keeps it, and [lets go](Feature::release) now what it does not keep any longer.
    Hold,
    /// It enters the NIC of a host that takes time.
    Enter,
    /// The NIC of a slow host keeps it in its memory.
    Store {
        /// Whether it asks for pauses because of it.
        pauses: bool,
        /// Whether it begins with it, as nothing was there before.
        begins: bool,
    },
}

/// What some of a feature's state belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) enum StateOf {
    /// The direction of a link that this port sends on.
    Link(u32),
    /// A port, of all.
    Port(u32),
    /// A switch, by its place among the switches.
    Switch(u32),
    /// A host, by its place among the hosts.
    Host(u32),
}

/// What a feature may see and change as it judges a frame.
#[derive(Debug)]
pub(super) struct Scene<'a, P: Profile> {
    pub(super) sight: Sight<'a, P>,
    pub(super) frames: Frames<'a, P>,
    pub(super) timers: Timers<'a, P>,
    /// Frames that the switch is to send, in this order, before it does anything with the frame that has arrived.
    pub(super) emissions: &'a mut Vec<Emission<PacketOf<P>>>,
    /// Owners of queue pairs, where captures or notifications of congestion ask for them.
    pub(super) owners: Option<&'a Owners>,
}

impl<P: Profile> Scene<'_, P> {
    /// The same for one feature of several.
    pub(super) fn lend(&mut self) -> Scene<'_, P> {
        let Self { sight, frames, timers, emissions, owners } = self;
        let Frames { pool, side, totals, passed } = frames;
        let Timers { queue, order, nodes } = timers;
        Scene {
            sight: *sight,
            frames: Frames { pool, side, totals, passed: passed.as_deref_mut() },
            timers: Timers { queue, order, nodes },
            emissions,
            owners: *owners,
        }
    }
}

/// What a feature may see.
#[derive(Debug)]
pub(super) struct Sight<'a, P: Profile> {
    pub(super) plan: &'a Plan,
    pub(super) routing: &'a P::Routing,
    pub(super) layout: &'a Layout,
    pub(super) ports: &'a [NetworkPort<P>],
    pub(super) switches: &'a [Switch<P>],
    pub(super) failures: &'a Failures<P>,
}

// Not derived: that would ask it of the profile, too.
impl<P: Profile> Clone for Sight<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Profile> Copy for Sight<'_, P> {}

/// The frames of a part of a network, and what is counted of them.
#[derive(Debug)]
pub(super) struct Frames<'a, P: Profile> {
    pub(super) pool: &'a mut PacketPool<PacketOf<P>>,
    pub(super) side: &'a mut SideData,
    pub(super) totals: &'a mut Totals,
    /// For one who looks at single events.
    pub(super) passed: Option<&'a mut Vec<Passed>>,
}

impl<P: Profile> Frames<'_, P> {
    /// A packet.
    pub(super) fn get(&self, id: PacketId) -> &Packet<PacketOf<P>> {
        self.pool.get(id)
    }

    /// A second frame like the first, with all that is kept beside it.
    pub(super) fn duplicate(&mut self, id: PacketId) -> PacketId {
        let copy = self.pool.insert(*self.pool.get(id));
        self.totals.frames_created += 1;
        self.side.copy(id, copy);
        if let Some(passed) = &mut self.passed {
            passed.push(Passed::Doubled { packet: id, copy });
        }
        copy
    }
}

/// Where a feature arms its events.
#[derive(Debug)]
pub(super) struct Timers<'a, P: Profile> {
    pub(super) queue: &'a mut EventQueue<Event>,
    pub(super) order: &'a mut P::Order,
    pub(super) nodes: &'a mut [Node<P>],
}

impl<P: Profile> Timers<'_, P> {
    /// An event at a node.
    pub(super) fn arm(&mut self, node: NodeId, time: SimTime, event: Event) {
        let tie = self.order.reserve(&mut self.nodes[node as usize].order);
        self.queue.push(EventKey { time, tie }, event);
    }
}

/// A part of a network in which features are set up.
#[derive(Debug)]
pub(super) struct SetUp<'a, P: Profile> {
    pub(super) plan: &'a Arc<Plan>,
    pub(super) layout: &'a Layout,
    pub(super) nodes: &'a [Node<P>],
    pub(super) hosts: &'a [Host<P>],
    pub(super) switches: &'a [Switch<P>],
    pub(super) ports: &'a mut [NetworkPort<P>],
    pub(super) side: &'a mut SideData,
}

impl<P: Profile> SetUp<'_, P> {
    /// The same for one feature of several.
    pub(super) fn lend(&mut self) -> SetUp<'_, P> {
        let &mut Self { plan, layout, nodes, hosts, switches, .. } = self;
        SetUp { plan, layout, nodes, hosts, switches, ports: self.ports, side: self.side }
    }

    /// Frames that a port sends are looked at as they arrive, if the port chosen so is here.
    pub(super) fn look_at_arrivals(&mut self, mut from: impl FnMut(u32, &FarEnd) -> bool) {
        for (place, port) in (0u32..).zip(&mut *self.ports) {
            if from(place, &port.far) {
                port.far.look_at_arrivals();
            }
        }
    }
}
