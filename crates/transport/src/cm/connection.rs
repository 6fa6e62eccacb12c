//! One connection, as one host sees it.

use rocelab_units::{Duration, SimTime};
use rocelab_wire::cm::MAD_LEN;

use super::ConnectionParameters;

/// Where a connection is (Linux `include/rdma/ib_cm.h`, `enum ib_cm_state`, without those states in
/// which it waits for the application between a REP and the RTU).
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(super) enum State {
    /// Active: REQ sent; after an MRA only the time is longer.
    ReqSent,
    /// Passive: REQ received, the application is asked.
    ReqReceived,
    /// Passive: REP sent; after an MRA only the time is longer.
    RepSent,
    /// Both sides know all.
    Established,
    /// DREQ sent.
    DreqSent,
    /// DREQ received, the application is asked.
    DreqReceived,
    /// Over, but packets may still be on their way.
    TimeWait,
}

#[derive(Clone, Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(super) struct Connection {
    pub(super) state: State,
    /// The peer's communication ID; 0 as long as it is unknown.
    pub(super) remote_id: u32,
    /// The ID that answers carry: the REQ's, and then the peer's DREQ's.
    pub(super) transaction_id: u64,
    /// How the queue pair is set up; what the peer has not said yet is 0.
    pub(super) parameters: ConnectionParameters,
    /// How long to wait for an answer.
    pub(super) response_timeout: Duration,
    /// How long to wait for the present one: longer after an MRA.
    pub(super) wait: Duration,
    pub(super) max_cm_retries: u8,
    /// The message that waits for its answer.
    pub(super) unanswered: Option<Box<[u8; MAD_LEN]>>,
    /// How often it may still be sent again.
    pub(super) retries_left: u8,
    /// When something is to be done; [`SimTime::NEVER`] if nothing is.
    pub(super) deadline: SimTime,
}
