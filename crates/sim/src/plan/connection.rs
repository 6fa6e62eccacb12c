//! The connections of applications.

use rocelab_fabric::NodeId;

use crate::scenario::Side;

/// A reliable connection of an application, or a way over NVLink that takes the place of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionPlan {
    /// Its application, by its place in [`Plan::apps`](super::Plan::apps).
    pub app: u32,
    /// The two ends: the client's, then the server's.
    pub ends: [ConnectionEndPlan; 2],
    /// Of a program, the members at the two ends, by number.
    pub members: [u32; 2],
    /// Whether it is over NVLink: it has no queue pairs then, and crosses no network. Numbers of queue pairs are those that its ends
    /// would have.
    pub is_nvlink: bool,
    /// Priority 0 to 7.
    pub priority: u8,
    /// UDP source port (v2; 0xC000 to 0xFFFF, if the scenario gives no list) or flow label (v1: 20 bits).
    pub entropy: u32,
    /// The parameters of its queue pairs, by their place in [`Plan::queue_pairs`](super::Plan::queue_pairs).
    pub queue_pairs: u32,
    /// The code points that its workload asks for, by their place in [`Plan::markings`](super::Plan::markings); 0: none.
    pub marking: u8,
}

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionEndPlan {
    /// Where it is.
    pub host: NodeId,
    /// Its queue pair number, 24 bits; those of flows come first.
    pub qpn: u32,
    /// First packet sequence number of its requests, 24 bits.
    pub psn: u32,
}

impl ConnectionPlan {
    /// The end of `side`.
    pub const fn end(&self, side: Side) -> &ConnectionEndPlan {
        match side {
            Side::Client => &self.ends[0],
            Side::Server => &self.ends[1],
        }
    }
}
