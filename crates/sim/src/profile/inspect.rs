//! Looking inside a host: what was counted, how far flows have come, and what stands still. No packet's way
//! leads through here.

use rocelab_transport::stack::StreamCounts;
use rocelab_transport::tcp::TcpCounters;
use rocelab_transport::{Backlog, Counters, HostSide, PathMigration, Standing};
use rocelab_units::SimTime;

use super::{HostPacket, NvlinkUse};
use crate::record::{Allowed, OpenOperation, Ping, Violation};
use crate::{FlowPlan, Plan};

/// What can be seen inside a host whose frames carry packets `R`. What a host does not have, it does not
/// say.
pub trait Inspect<R: HostPacket> {
    /// What was counted.
    fn counters(&self) -> &Counters;

    /// Queue pairs that took their alternate paths, in order.
    fn path_migrations(&self) -> &[PathMigration] {
        &[]
    }

    /// What its TCP counted, if it has any.
    fn tcp_counters(&self) -> Option<&TcpCounters> {
        None
    }

    /// Ends of connections that its TCP keeps.
    fn tcp_connections(&self) -> usize {
        0
    }

    /// What it counted of each stream of which it is one end, by its number in the plan.
    fn stream_counts(&self) -> Vec<(u32, StreamCounts)> {
        Vec::new()
    }

    /// Whether a stream that begins here has something left to send.
    fn has_streams_left(&self) -> bool {
        false
    }

    /// The pings that it has sent, in the order of sending.
    fn pings(&self) -> &[Ping] {
        &[]
    }

    /// Whether it is bound to send later by itself, beside pings.
    fn will_send(&self) -> bool;

    /// The host itself, if it takes time, and how many ends of flows its programs have yet to find.
    fn host_and_ends(&self) -> Option<(&HostSide, u64)> {
        None
    }

    /// What passed its place in a domain of NVLink, if anything can.
    fn nvlink_use(&self) -> Option<NvlinkUse> {
        None
    }

    /// How far a flow has come that started here and has not ended.
    fn progress(&self, number: u32, flow: &FlowPlan) -> Option<FlowProgress>;

    /// The estimate of congestion (`alpha`, 0 to 1) of the congestion control of a flow that started here, at `now`.
    fn alpha(&self, flow: &FlowPlan, now: SimTime) -> Option<f64> {
        _ = (flow, now);
        None
    }

    /// Packets that the source of an unfinished flow has sent again.
    fn retransmissions(&self, number: u32, flow: &FlowPlan) -> u64;

    /// Whether the source of a flow that has started has nothing of it left to send.
    fn has_sent_all(&self, flow: &FlowPlan) -> bool {
        _ = flow;
        false
    }

    /// Messages of a flow that have not arrived at this host, its destination on an unreliable
    /// service.
    fn undelivered_messages(&self, flow: &FlowPlan) -> u64 {
        _ = flow;
        0
    }

    /// The operations of applications that have started here and not ended.
    fn open_operations(&self) -> Vec<OpenOperation> {
        Vec::new()
    }

    /// The member of a program that a member here waits for, in an operation that it has begun with a connection.
    fn awaited_member(&self, connection: u32) -> Option<u32> {
        _ = connection;
        None
    }

    /// Connections of which it is the client, and members of programs here, with operations that are open or to come.
    fn open_connections(&self) -> u32 {
        0
    }

    /// What integrity mode finds wrong at this end of a flow that has completed.
    fn violations(&self, plan: &Plan, number: u32) -> Vec<Violation> {
        _ = (plan, number);
        Vec::new()
    }

    /// What a queue pair waits for, where there are queue pairs.
    fn standing(&self, qpn: u32) -> Option<Standing> {
        _ = qpn;
        None
    }

    /// Whether a flow that started here waits for the MAC address of its next hop.
    fn waits_for_address(&self, flow: u32) -> bool {
        _ = flow;
        false
    }

    /// Whether there are any [`backlogs`](Self::backlogs).
    fn has_backlogs(&self) -> bool {
        false
    }

    /// The queue pairs that have data to send and an open window, where there are queue pairs. In no
    /// order; one may come twice.
    fn backlogs(&self) -> impl Iterator<Item = Backlog> {
        std::iter::empty()
    }

    /// The flow that a queue pair belongs to, where packets name queue pairs.
    fn flow_of(&self, qpn: u32) -> Option<u32> {
        _ = qpn;
        None
    }

    /// The flow that a packet belongs to which arrived here, if it is a flow's.
    fn flow_in(&self, packet: &R) -> Option<u32> {
        self.flow_of(packet.as_rdma()?.dest_qp())
    }

    /// The flow that a TCP connection of this host belongs to.
    fn flow_of_connection(&self, connection: u32) -> Option<u32> {
        _ = connection;
        None
    }

    /// The connection of an application that a queue pair belongs to.
    fn connection_of(&self, qpn: u32) -> Option<u32> {
        _ = qpn;
        None
    }
}

/// How far a flow has come, as its source knows.
#[derive(Clone, Copy, Debug)]
pub struct FlowProgress {
    /// Payload that is acknowledged; on an unreliable service, that was sent (bytes).
    pub acknowledged: u64,
    /// What its congestion control allows; none if the source does not send the payload (READ).
    pub allowed: Option<Allowed>,
    /// Payload that was sent and not acknowledged, or that a READ asked for and that has not come (bytes). It says nothing of
    /// unreliable services, and of TCP.
    pub in_flight: u64,
}
