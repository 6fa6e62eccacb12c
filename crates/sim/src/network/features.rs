//! The features of the network: what few networks have. Of those that see frames arrive there is a list.

use std::sync::Arc;

use rocelab_engine::TieOrder;
use rocelab_fabric::PacketId;
use rocelab_state::Result;

use super::balancing::Balancing;
use super::capture::Capture;
use super::crossing::{MessageOf, Outbox};
use super::emission::Emission;
use super::faults::Faults;
use super::feature::{Arrival, Feature, Scene, SetUp, StateOf, Verdict};
use super::forwarding::{Forwarding, InDomains};
use super::hops::{HopLimits, StaleGids};
use super::idle_backlog::IdleBacklogs;
use super::ingress::Ingress;
use super::keys::Keys;
use super::link_errors::LinkErrors;
use super::multicast::Multicast;
use super::neighbours::Neighbours;
use super::owners::Owners;
use super::packet::PacketOf;
use super::passed::Passed;
use super::receiver::{Receiver, Receivers};
use super::reception::{Reception, Receptions};
use super::sampling::Sampling;
use super::saved_packets::SavedPackets;
use crate::profile::Profile;

/// Makes storage, set-up, the order in which frames pass features, and saved state.
macro_rules! features {
    ($($(#[$meta:meta])* $field:ident: $feature:ident,)*) => {
        /// What sees frames as they arrive over special links, in this order.
        #[derive(Debug, Default)]
        pub(super) struct ArrivalFeatures {
            $($(#[$meta])* pub(super) $field: Option<Box<$feature>>,)*
        }

        /// How far a frame has come that has arrived.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum Stage {
            /// At the end of its link.
            Link,
            $($(#[$meta])* $feature,)*
        }

        impl ArrivalFeatures {
            /// The features that the plan asks for.
            pub(super) fn set_up<P: Profile>(network: &mut SetUp<'_, P>) -> Self {
                Self { $($field: Feature::<P>::set_up(network.lend()),)* }
            }

            /// What becomes of a frame by the features after `stage`, and which of them says so.
            pub(super) fn judge<P: Profile>(
                &mut self,
                stage: Stage,
                arrival: &Arrival,
                scene: &mut Scene<'_, P>,
            ) -> (Stage, Verdict) {
                $(if stage < Stage::$feature && let Some(feature) = &mut self.$field {
                    match feature.judge(arrival, scene.lend()) {
                        Verdict::Continue => {}
                        verdict => return (Stage::$feature, verdict),
                    }
                })*
                (stage, Verdict::Continue)
            }

            /// The next frame that a feature lets go.
            pub(super) fn release<P: Profile>(&mut self, stage: Stage) -> Option<PacketId> {
                match stage {
                    Stage::Link => None,
                    $(Stage::$feature => Feature::<P>::release(&mut **self.$field.as_mut()?),)*
                }
            }

            /// Saves the state that belongs to a part of the network.
            ///
            /// # Errors
            /// If a number is not one.
            pub(super) fn save<P: Profile>(
                &self,
                of: StateOf,
                packets: &SavedPackets<'_>,
                to: &mut Vec<u8>,
            ) -> Result {
                $(if let Some(feature) = &self.$field {
                    Feature::<P>::save(&**feature, of, packets, to)?;
                })*
                Ok(())
            }

            /// Loads what was saved.
            ///
            /// # Errors
            /// If it does not fit.
            pub(super) fn load<P: Profile>(
                &mut self,
                of: StateOf,
                packets: &mut SavedPackets<'_>,
                from: &mut &[u8],
            ) -> Result {
                $(if let Some(feature) = &mut self.$field {
                    Feature::<P>::load(&mut **feature, of, packets, from)?;
                })*
                Ok(())
            }
        }
    };
}

features! {
    /// Links on which bits change, or whose ends take no long frames.
    link_errors: LinkErrors,
    /// What links do to frames, where rules say so.
    faults: Faults,
    /// Captures of what arrives, and leaves.
    capture: Capture,
    /// What ports of switches ask of frames.
    ingress: Ingress,
    /// Frames for multicast groups.
    multicast: Multicast,
    /// Routers that answer hosts which ask for their MAC addresses.
    neighbours: Neighbours,
    /// Switches that choose among several shortest paths, with state of their own.
    balancing: Balancing,
    /// Bridges and routers in one network.
    domains: InDomains,
    /// Hop limits, where frames may run in circles or captures show them.
    hop_limits: HopLimits,
    /// Switches that do not know every host, or do not look.
    forwarding: Forwarding,
    /// Hosts that others send to by a GID which is not theirs.
    stale_gids: StaleGids,
    /// Hosts that look at P_Keys and Q_Keys, where they may differ.
    keys: Keys,
    /// Hosts that handle frames no faster than they can.
    receivers: Receivers,
    /// Hosts that take time.
    receptions: Receptions,
}

impl ArrivalFeatures {
    /// The slow receiver at a host, if it is one.
    pub(super) fn receiver(&self, host: u32) -> Option<&Receiver> {
        self.receivers.as_ref()?.by_host.get(&host)
    }

    /// The same, to change it.
    pub(super) fn receiver_mut(&mut self, host: u32) -> Option<&mut Receiver> {
        self.receivers.as_mut()?.by_host.get_mut(&host)
    }

    /// What is on its way through the NIC of a host, if that takes time.
    pub(super) fn reception(&self, host: u32) -> Option<&Reception> {
        self.receptions.as_ref()?.by_host.get(&host)
    }

    /// The same, to change it.
    pub(super) fn reception_mut(&mut self, host: u32) -> Option<&mut Reception> {
        self.receptions.as_mut()?.by_host.get_mut(&host)
    }
}

/// What is outside the common path of a packet.
#[derive(Debug)]
pub(super) struct Features<P: Profile> {
    pub(super) arrivals: ArrivalFeatures,
    pub(super) sampling: Sampling,
    pub(super) idle_backlogs: IdleBacklogs,
    /// Frames that features have switches send, until they are sent.
    pub(super) emissions: Vec<Emission<PacketOf<P>>>,
    /// While somebody looks: what came through links that are special.
    pub(super) passed: Option<Vec<Passed>>,
    /// Owners of queue pairs, for captures and notifications of congestion.
    pub(super) owners: Option<Arc<Owners>>,
    /// Tie counter for events that no node causes: failures, and looks from outside.
    pub(super) outside: <P::Order as TieOrder>::OfNode,
    /// What goes to the other parts.
    pub(super) outbox: Outbox<PacketOf<P>, MessageOf<P>>,
}

impl<P: Profile> Features<P> {
    /// None of them, but these owners; and `outside` counts events that no node causes.
    pub(super) fn new(
        owners: Option<Arc<Owners>>,
        outside: <P::Order as TieOrder>::OfNode,
    ) -> Self {
        Self {
            arrivals: ArrivalFeatures::default(),
            sampling: Sampling::default(),
            idle_backlogs: IdleBacklogs::default(),
            emissions: Vec::new(),
            passed: None,
            owners,
            outside,
            outbox: Outbox::default(),
        }
    }
}
