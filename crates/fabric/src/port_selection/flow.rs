//! A flow that begins or ends at a server.

/// What is known of a flow as it chooses a port of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerFlow {
    /// Ends of flows at this server before this one, in the order of their lists.
    pub number: u64,
    /// Ports of the server, at least 1.
    pub ports: usize,
    /// The place of the flow's other port among the ports of the other server, if that is chosen or given, and belongs to a
    /// server.
    pub peer_port: Option<usize>,
}
