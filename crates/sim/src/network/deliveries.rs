//! Payload that hosts accepted, by time: what goodput is made of.

use rocelab_results::DeliveryLog;
use rocelab_units::SimTime;

use super::packet::PacketOf;
use super::sampling::Sampling;
use crate::profile::{AcceptedPayload, HostPacket, Inspect, OtherStacks, Profile};
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
        let window = plan.measure.map(|window| window.bounds_ps());
        let log_from = |origin: SimTime| {
            let log = DeliveryLog::with_origin(origin.ps());
            match window {
                Some((from, to)) => log.with_window(from, to),
                None => log,
            }
        };
        let log_of = |transport| {
            let own = plan.flows.iter().filter(|flow| flow.transport == transport);
            let first = own.map(|flow| flow.start).min().unwrap_or_default();
            log_from(first)
        };
        let log_of_app = |app: &AppPlan| log_from(app.start);
        Self {
            is_plain: plan.apps.is_empty() && plan.sampling.rates.is_none(),
            flows: log_of(Transport::Rdma),
            segments: log_of(Transport::Tcp),
            apps: plan.apps.iter().map(log_of_app).collect(),
        }
    }

    /// A host accepted so much payload of a packet.
    #[inline]
    pub(super) fn note<P: Profile>(
        &mut self,
        now: SimTime,
        host: &P::EndHost,
        (packet, bytes): (&PacketOf<P>, u64),
        plan: &Plan,
        sampling: &mut Sampling,
    ) {
        if self.is_plain {
            self.flows.add(now.ps(), bytes);
        } else {
            self.note_whose::<P>(now, host, (packet, bytes), plan, sampling);
        }
    }

    #[cold]
    #[inline(never)]
    fn note_whose<P: Profile>(
        &mut self,
        now: SimTime,
        host: &P::EndHost,
        (packet, bytes): (&PacketOf<P>, u64),
        plan: &Plan,
        sampling: &mut Sampling,
    ) {
        let connection = packet.as_rdma().and_then(|rdma| host.connection_of(rdma.dest_qp()));
        if let Some(connection) = connection {
            let app = plan.connections[connection as usize].app as usize;
            return self.apps[app].add(now.ps(), bytes);
        }
        self.flows.add(now.ps(), bytes);
        if let Some(flow) = host.flow_in(packet) {
            sampling.note_accepted(flow, bytes);
        }
    }

    /// Notes what other stacks of a host, if it has any, have accepted since.
    #[inline]
    pub(super) fn note_frames<P: Profile>(
        &mut self,
        now: SimTime,
        host: &mut P::EndHost,
        sampling: &mut Sampling,
    ) {
        while let Some(AcceptedPayload { flow, bytes }) = host.poll_accepted() {
            self.segments.add(now.ps(), bytes);
            if let Some(flow) = flow {
                sampling.note_accepted(flow, bytes);
            }
        }
    }

    /// How much was accepted.
    pub(super) fn bytes(&self) -> u64 {
        self.logs().map(DeliveryLog::total).sum()
    }

    /// What was accepted, to add it to what other parts accepted.
    pub(super) fn accepted(&self) -> Accepted {
        let Self { is_plain: _, flows, segments, apps } = self;
        Accepted { flows: flows.clone(), segments: segments.clone(), apps: apps.clone() }
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
        let mut all = self.flows.emptied(first);
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
