//! What few networks have.

use std::sync::Arc;

use rocelab_engine::TieOrder;

use super::capture::Capture;
use super::crossing::{MessageOf, Outbox};
use super::faults::Faults;
use super::idle_backlog::IdleBacklogs;
use super::owners::Owners;
use super::packet::PacketOf;
use super::passed::Passed;
use super::receiver::Receivers;
use super::sampling::Sampling;
use super::tables::Tables;
use crate::profile::Profile;

/// What is outside the common path of a packet.
#[derive(Debug)]
pub(super) struct Features<P: Profile> {
    pub(super) sampling: Sampling,
    pub(super) receivers: Receivers,
    pub(super) idle_backlogs: IdleBacklogs,
    /// What links do to frames, where rules say so.
    pub(super) faults: Option<Box<Faults>>,
    /// What switches know of hosts, where that is not everything.
    pub(super) tables: Option<Box<Tables>>,
    pub(super) capture: Option<Capture>,
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
            sampling: Sampling::default(),
            receivers: Receivers::default(),
            idle_backlogs: IdleBacklogs::default(),
            faults: None,
            tables: None,
            capture: None,
            passed: None,
            owners,
            outside,
            outbox: Outbox::default(),
        }
    }
}
