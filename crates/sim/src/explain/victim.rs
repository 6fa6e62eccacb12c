//! Who suffered from pauses of others.

use serde::Serialize;

/// A flow, or an application's connection, whose packets waited for pauses although none of them
/// crossed the place where those began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Victim {
    /// The flow's number, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<u32>,
    /// The connection's place in the plan, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection: Option<u32>,
    /// Name of the requester's node, or of the client's.
    pub source: String,
    /// Name of the responder's node, or of the server's.
    pub destination: String,
    /// How long, for roots that it has no part in, at least one of its packets waited in a paused queue,
    /// or its host had one to send while its port was paused; an acknowledgement counts while the sender
    /// can do nothing but wait for one (ps).
    pub hol_ps: u64,
    /// The time from its start to its end, or to that of the run (ps).
    pub elapsed_ps: u64,
    /// Pauses that it waited for.
    pub pauses: usize,
    /// The root cause of most of that time, and its share of it (ps).
    pub root: String,
    /// See there.
    pub root_ps: u64,
}
