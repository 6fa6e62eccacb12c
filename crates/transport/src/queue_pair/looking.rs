//! What a queue pair waits for, has posted and has received, to be looked at from outside.

use rocelab_units::SimTime;
use rocelab_wire::CnTag;

use super::outstanding_work::OutstandingWork;
use super::pair::QueuePair;
use super::standing::Standing;
use super::state::QueuePairState;

/// Headers of a data packet with payload behind its encapsulation, ICRC and FCS, preamble and gap, at
/// the most (bytes): BTH, RETH and immediate data. Telemetry and a CN-TAG come on top. An AtomicETH is
/// longer, but goes without payload.
const HEADERS_AND_GAP: u32 = 12 + 16 + 4 + 4 + 4 + 20;

impl QueuePair {
    /// What it waits for. Arbitration, pauses and the port are not its business.
    pub fn standing(&self) -> Standing {
        match self.state {
            QueuePairState::Init | QueuePairState::ReadyToReceive => return Standing::NotConnected,
            QueuePairState::Error => return Standing::Failed,
            QueuePairState::ReadyToSend => {}
        }
        let release = Standing::MaySend(self.pacer.release());
        if self.responder.has_data() {
            return release;
        }
        self.requester.waits_for(self.pacer.window()).unwrap_or(release)
    }

    /// The bytes that a packet of the path MTU takes on the wire, preamble and gap included, at the
    /// most.
    pub(crate) fn largest_frame(&self) -> u32 {
        let encapsulation = u32::from(self.address.encapsulation_len);
        let telemetry = self.pacer.feedback().telemetry();
        let telemetry =
            telemetry.filter(|kind| !kind.is_echo()).map_or(0, |kind| kind.header_len());
        let tag = if self.pacer.is_notified() { CnTag::LEN } else { 0 };
        let extras = u32::try_from(telemetry + tag).unwrap_or(0);
        self.profile.path_mtu.bytes() + encapsulation + extras + HEADERS_AND_GAP
    }

    /// The estimate of congestion that its congestion control keeps (`alpha` of DCQCN and DCTCP, 0 to 1), as it is at
    /// `now`; `None` if it keeps none, or has not begun.
    pub fn alpha(&self, now: SimTime) -> Option<f64> {
        self.pacer.alpha(now)
    }

    /// Its data packets that have left, requests and READ data alike, modulo 2^32.
    pub(crate) const fn departures(&self) -> u32 {
        self.pacer.departures()
    }

    /// Work that is posted and not completed, oldest first.
    pub fn outstanding(&self) -> impl Iterator<Item = OutstandingWork> + '_ {
        self.requester.outstanding()
    }

    /// Whether the request packet with a PSN is here: executed, or kept until its turn.
    pub fn has_request(&self, psn: u32) -> bool {
        self.responder.has_request(psn)
    }

    /// Whether the packet with a PSN of its own is done with: acknowledged, or, of a response, here.
    /// Nothing is after a failure.
    pub fn is_done_with(&self, psn: u32) -> bool {
        self.state != QueuePairState::Error && self.requester.is_done_with(psn)
    }
}
