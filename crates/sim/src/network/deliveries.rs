//! Payload that hosts accepted, by time: what goodput is made of.

use rocelab_engine::EventKey;
use rocelab_results::DeliveryLog;

use super::{Network, PacketOf};
use crate::profile::{EndHost, HostPacket, Profile};
use crate::scenario::Transport;
use crate::{AppPlan, Plan};

/// Payload that the hosts of a part accepted. Each byte counts once, when it first comes to the host that
/// it is for: the destination, or the source of a READ.
#[derive(Debug)]
pub(super) struct Deliveries {
    /// Whether all is of flows of RDMA and nobody asks of which: what is asked first.
    is_plain: bool,
    flows: DeliveryLog,
    /// Of flows of TCP.
    segments: DeliveryLog,
    /// By application.
    apps: Vec<DeliveryLog>,
}

impl Deliveries {
    /// Nothing yet. The bins of each log begin with the first of what it is of.
    pub(super) fn new(plan: &Plan) -> Self {
        let log_of = |transport| {
            let own = plan.flows.iter().filter(|flow| flow.transport == transport);
            let first = own.map(|flow| flow.start).min().unwrap_or_default();
            DeliveryLog::with_origin(first.ps())
        };
        let log_of_app = |app: &AppPlan| DeliveryLog::with_origin(app.start.ps());
        Self {
            is_plain: plan.apps.is_empty() && plan.sampling.rates.is_none(),
            flows: log_of(Transport::Rdma),
            segments: log_of(Transport::Tcp),
            apps: plan.apps.iter().map(log_of_app).collect(),
        }
    }

    /// All logs: of the flows of RDMA, of those of TCP, and of each application.
    pub(super) fn logs(&self) -> impl Iterator<Item = &DeliveryLog> {
        [&self.flows, &self.segments].into_iter().chain(&self.apps)
    }

    /// The same, to change.
    pub(super) fn logs_mut(&mut self) -> impl Iterator<Item = &mut DeliveryLog> {
        [&mut self.flows, &mut self.segments].into_iter().chain(&mut self.apps)
    }
}

/// What was accepted of flows and applications.
#[derive(Clone, Debug)]
pub struct Accepted {
    /// Of flows of RDMA.
    pub flows: DeliveryLog,
    /// Of flows of TCP.
    pub segments: DeliveryLog,
    /// By application.
    pub apps: Vec<DeliveryLog>,
}

impl Accepted {
    /// Of all flows, from the first of them on.
    pub fn all_flows(&self) -> DeliveryLog {
        let logs = [&self.flows, &self.segments];
        let filled = logs.into_iter().filter(|log| log.total() > 0);
        let first = filled.clone().map(DeliveryLog::origin_ps).min().unwrap_or_default();
        let mut all = DeliveryLog::with_origin(first);
        filled.for_each(|log| all.merge_later(log));
        all
    }

    /// Adds what other parts accepted.
    pub(crate) fn add(&mut self, other: &Self) {
        self.flows.merge(&other.flows);
        self.segments.merge(&other.segments);
        for (sum, log) in self.apps.iter_mut().zip(&other.apps) {
            sum.merge(log);
        }
    }
}

impl<P: Profile> Network<P> {
    /// A host accepted so much payload of a packet.
    #[inline]
    pub(super) fn note_accepted(
        &mut self,
        key: EventKey,
        host: u32,
        packet: &PacketOf<P>,
        bytes: u64,
    ) {
        if self.deliveries.is_plain {
            self.deliveries.flows.add(key.time.ps(), bytes);
        } else {
            self.note_accepted_of(key, host, packet, bytes);
        }
    }

    #[cold]
    #[inline(never)]
    fn note_accepted_of(&mut self, key: EventKey, host: u32, packet: &PacketOf<P>, bytes: u64) {
        let end_host = &self.hosts[host as usize].end_host;
        let connection = packet.as_rdma().and_then(|rdma| end_host.connection_of(rdma.dest_qp()));
        if let Some(connection) = connection {
            let app = self.plan.connections[connection as usize].app as usize;
            return self.deliveries.apps[app].add(key.time.ps(), bytes);
        }
        self.deliveries.flows.add(key.time.ps(), bytes);
        if let Some(flow) = end_host.flow_in(packet) {
            self.sampling.note_accepted(flow, bytes);
        }
    }

    /// Notes what the TCP of a host, if it has any, has accepted since.
    #[inline]
    pub(super) fn note_segments_accepted(&mut self, key: EventKey, host: u32) {
        while let Some((flow, bytes)) = self.hosts[host as usize].end_host.poll_accepted() {
            self.deliveries.segments.add(key.time.ps(), bytes);
            if let Some(flow) = flow {
                self.sampling.note_accepted(flow, bytes);
            }
        }
    }

    /// How much was accepted here.
    pub(crate) fn accepted_bytes(&self) -> u64 {
        self.deliveries.logs().map(DeliveryLog::total).sum()
    }

    /// What was accepted here.
    pub(crate) fn accepted(&self) -> Accepted {
        let Deliveries { is_plain: _, flows, segments, apps } = &self.deliveries;
        Accepted { flows: flows.clone(), segments: segments.clone(), apps: apps.clone() }
    }
}
