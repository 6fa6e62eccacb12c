//! What is measured at regular intervals, for results: each node that has something to measure has
//! an event of its own.

pub(in crate::network) mod flow_watch;
mod histogram;
mod link_window;
mod samplers;
mod saved;

use std::collections::BTreeMap;
use std::sync::Arc;

use rocelab_engine::{EventKey, Tie};
use rocelab_fabric::{BufferPolicy, NodeId, Serialisation};
use rocelab_results::SampleInterval;
use rocelab_units::SimTime;

use self::flow_watch::WatchedEnd;
use self::histogram::QueueHistogram;
pub(crate) use self::histogram::QueueHistogramDump;
pub(crate) use self::link_window::CountersThen;
use self::link_window::MeasuredLink;
use self::samplers::{Counted, ReceivedFlow, SampledFlow, Sampler, Timing};
pub(in crate::network) use self::samplers::{Measured, Sampling};
use super::core::Network;
use super::digest::Records;
use super::event::Event;
use super::feature::Timers;
use super::link_rates::LinkRates;
use super::node::{Host, Role, Switch};
use super::part::Part;
use super::port::NetworkPort;
use crate::plan::QueueMonitor;
use crate::profile::{FlowProgress, Inspect, Profile};
use crate::record::{
    FlowGoodput, FlowRate, FlowState, IngressHeld, MarksCounted, MemoryHeld, PortUse, QueueLength,
    Record, RecordKind,
};
use crate::{MeasurePlan, Plan, PortSamplingPlan};

/// A network in which something is measured.
#[derive(Debug)]
pub(crate) struct Measuring<'a, P: Profile> {
    plan: &'a Arc<Plan>,
    part: &'a Part,
    hosts: &'a [Host<P>],
    ports: &'a mut [NetworkPort<P>],
    switches: &'a [Switch<P>],
    rates: &'a LinkRates,
    records: &'a mut Records,
    sampling: &'a mut Sampling,
    timers: Timers<'a, P>,
}

impl<P: Profile> Network<P> {
    /// What is measured here.
    pub(crate) fn measuring(&mut self) -> Measuring<'_, P> {
        let Self {
            plan,
            layout,
            hosts,
            ports,
            switches,
            failures,
            course,
            features,
            queue,
            order,
            nodes,
            ..
        } = self;
        Measuring {
            plan,
            part: &layout.part,
            hosts,
            ports,
            switches,
            rates: &failures.link_rates,
            records: &mut course.records,
            sampling: &mut features.sampling,
            timers: Timers { queue, order, nodes },
        }
    }
}

impl<P: Profile> Measuring<'_, P> {
    /// Arms the first event of every sampler. What counts over an interval has its first value at the
    /// end of the first one.
    pub(super) fn add_samplers(&mut self) {
        let plan = Arc::clone(self.plan);
        let sampling = &plan.sampling;
        self.add_port_samplers(sampling.queues.as_ref(), Measured::Queues);
        let counted = |ports: Vec<u32>| {
            ports.into_iter().map(|port| Counted { port, before: 0 }).collect::<Vec<_>>()
        };
        self.add_port_samplers(sampling.marks.as_ref(), |ports| Measured::Marks(counted(ports)));
        self.add_port_samplers(sampling.utilisation.as_ref(), |ports| {
            Measured::Utilisation(counted(ports))
        });
        let numbers: Vec<u16> = self.ports.iter().map(|port| port.number).collect();
        self.add_port_samplers(sampling.ingress.as_ref(), |ports| {
            Measured::Ingress(ports.into_iter().map(|port| numbers[port as usize]).collect())
        });
        if let Some(rates) = &sampling.rates {
            self.add_flow_samplers(rates.interval, &rates.flows);
        }
        if let Some(watched) = &sampling.flows {
            self.add_watched(watched.interval, &watched.flows);
        }
        if let Some(monitor) = plan.profile.hpcc_ns3().and_then(|rules| rules.queue_monitor) {
            self.add_queue_monitor(monitor);
        }
        // Without a begin and an end it is the whole run.
        if let Some(window) = plan.measure.filter(|window| !window.is_the_whole_run()) {
            self.add_link_windows(window);
        }
        self.sampling.complete();
        for number in 0..self.sampling.samplers.len() {
            let Sampler { node, timing, ref what, .. } = self.sampling.samplers[number];
            let time = timing.first(what.is_of_a_moment());
            let sampler = u32::try_from(number).unwrap_or(u32::MAX);
            self.timers.arm(node, time, Event::Sample { sampler });
        }
    }

    /// A sampler for each node that `sampled` has ports of.
    fn add_port_samplers(
        &mut self,
        sampled: Option<&PortSamplingPlan>,
        measured: impl Fn(Vec<u32>) -> Measured,
    ) {
        let Some(sampled) = sampled else { return };
        let here = sampled.ports.iter().filter(|(node, _)| self.part.has(*node));
        let mut ports: Vec<_> = here.copied().collect();
        ports.sort_by_key(|&(node, _)| node);
        for of_node in ports.chunk_by(|a, b| a.0 == b.0) {
            let node = of_node[0].0;
            let first = self.timers.nodes[node as usize].first_port;
            let what = measured(of_node.iter().map(|&(_, port)| first + u32::from(port)).collect());
            self.add_sampler(node, sampled.interval, what);
        }
    }

    /// Samplers for each host at which some of the flows begin, and to which their payload comes.
    fn add_flow_samplers(&mut self, interval: SampleInterval, flows: &[u32]) {
        let mut by_source: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
        let mut by_receiver: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
        for &flow in flows {
            let described = &self.plan.flows[flow as usize];
            let (source, receiver) = (described.source, described.receiver());
            if self.part.has(source) {
                by_source.entry(source).or_default().push(self.sampling.flows.len());
                self.sampling.flows.push(SampledFlow { flow, ended: false });
            }
            if self.part.has(receiver) {
                by_receiver.entry(receiver).or_default().push(self.sampling.received.len());
                self.sampling.received.push(ReceivedFlow { flow, bytes: 0 });
            }
        }
        for (source, places) in by_source {
            self.add_sampler(source, interval, Measured::Rates(places));
        }
        for (receiver, places) in by_receiver {
            self.add_sampler(receiver, interval, Measured::Goodput(places));
        }
    }

    /// Samplers for each host at which one of the flows begins or ends.
    fn add_watched(&mut self, interval: SampleInterval, flows: &[u32]) {
        let mut by_host: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
        for &flow in flows {
            let described = &self.plan.flows[flow as usize];
            for node in [described.source, described.destination] {
                if self.part.has(node) {
                    let end = WatchedEnd::new(self.plan, flow, node);
                    by_host.entry(node).or_default().push(self.sampling.watched.push(end));
                }
            }
        }
        for (node, places) in by_host {
            self.add_sampler(node, interval, Measured::Flows(places));
        }
    }

    /// What counts the frames of each port of the nodes here in the measuring window.
    fn add_link_windows(&mut self, window: MeasurePlan) {
        self.sampling.first_of_links = self.sampling.samplers.len();
        let nodes = 0..u32::try_from(self.timers.nodes.len()).unwrap_or(u32::MAX);
        for node in nodes.filter(|node| self.part.has(*node)) {
            let first = self.timers.nodes[node as usize].first_port;
            let ports = (first..).zip(self.ports.iter().skip(first as usize));
            let own = ports.take_while(|(_, port)| port.node == node);
            let links: Vec<_> = own.map(|(port, _)| MeasuredLink::new(port, window)).collect();
            if !links.is_empty() {
                let (timing, what) = (Timing::Window(window), Measured::Links(links));
                self.sampling.samplers.push(Sampler { node, timing, last: SimTime::ZERO, what });
            }
        }
    }

    /// What counts the lengths of queues at each switch.
    fn add_queue_monitor(&mut self, monitor: QueueMonitor) {
        let nodes = 0..u32::try_from(self.timers.nodes.len()).unwrap_or(u32::MAX);
        for node in nodes {
            let Role::Switch(_) = self.timers.nodes[node as usize].role else { continue };
            let first = self.timers.nodes[node as usize].first_port;
            let ports = (first..).zip(self.ports.iter().skip(first as usize));
            let own = ports.take_while(|(_, port)| port.node == node);
            let histograms = own.map(|(port, _)| QueueHistogram::new(port)).collect();
            let (timing, what) = (Timing::Monitor(monitor), Measured::Histograms(histograms));
            self.sampling.samplers.push(Sampler { node, timing, last: SimTime::ZERO, what });
        }
    }

    fn add_sampler(&mut self, node: NodeId, interval: SampleInterval, what: Measured) {
        let timing = Timing::Every(interval);
        self.sampling.samplers.push(Sampler { node, timing, last: SimTime::ZERO, what });
    }

    /// A sampler measures, and comes back after its interval.
    #[cold]
    #[inline(never)]
    pub(super) fn sample(&mut self, key: EventKey, sampler: u32) {
        let mut sampling = std::mem::take(self.sampling);
        if let Some(due) = sampling.samplers.get_mut(sampler as usize) {
            let (flows, received) = (&mut sampling.flows, &mut sampling.received);
            self.measure(key, due, flows, received, &mut sampling.watched.ends);
            if let Some(time) = due.timing.next(key.time) {
                self.timers.arm(due.node, time, Event::Sample { sampler });
            }
        }
        *self.sampling = sampling;
    }

    /// At the end of a run: what counts over an interval, of the one that is not over.
    pub(crate) fn finish_samples(&mut self, now: SimTime) {
        let mut sampling = std::mem::take(self.sampling);
        for sampler in &mut sampling.samplers {
            if sampler.what.is_of_an_interval() {
                // It may have looked once more after all was over.
                let key = EventKey { time: now.max(sampler.last), tie: Tie::default() };
                let (flows, received) = (&mut sampling.flows, &mut sampling.received);
                self.measure(key, sampler, flows, received, &mut sampling.watched.ends);
            }
        }
        *self.sampling = sampling;
    }

    /// At the end of a run that was not interrupted: HPCC's simulator looks at queues until it stops.
    pub(crate) fn finish_histograms(&mut self) {
        self.sampling.finish_histograms(self.ports, self.plan.stop);
    }

    fn measure(
        &mut self,
        key: EventKey,
        sampler: &mut Sampler,
        flows: &mut [SampledFlow],
        received: &mut [ReceivedFlow],
        watched: &mut [WatchedEnd],
    ) {
        let since = std::mem::replace(&mut sampler.last, key.time);
        let interval = key.time.since(since);
        match &mut sampler.what {
            Measured::Queues(ports) => {
                for &port in &*ports {
                    self.sample_queues(key, port);
                }
            }
            Measured::Marks(ports) => {
                for counted in ports {
                    let now = self.ports[counted.port as usize].rare.ecn_marks;
                    let marks = now - std::mem::replace(&mut counted.before, now);
                    let (node, port) = self.place_of(counted.port);
                    let sample = MarksCounted { node, port, marks };
                    self.keep(key, marks > 0, RecordKind::Marks(sample));
                }
            }
            Measured::Utilisation(ports) => {
                for counted in ports {
                    self.sample_use(key, since, counted);
                }
            }
            Measured::Links(links) => {
                links.iter_mut().for_each(|link| link.note(self.ports, key.time));
            }
            Measured::Histograms(histograms) => {
                histograms.iter_mut().for_each(|one| one.look(self.ports, key.time));
            }
            Measured::Ingress(ports) => self.sample_ingress(key, sampler.node, ports),
            Measured::Rates(places) => {
                for &place in &*places {
                    self.sample_flow(key, &mut flows[place]);
                }
            }
            Measured::Flows(places) => {
                for &place in &*places {
                    self.sample_watched(key, &mut watched[place]);
                }
            }
            Measured::Goodput(places) => {
                for &place in &*places {
                    let ReceivedFlow { flow, bytes } = &mut received[place];
                    let (flow, bytes) = (*flow, std::mem::take(bytes));
                    let goodput = FlowGoodput { flow, bytes, interval };
                    self.keep(key, bytes > 0, RecordKind::Goodput(goodput));
                }
            }
        }
    }

    /// Samples what a port has sent since the last time.
    fn sample_use(&mut self, key: EventKey, since: SimTime, counted: &mut Counted) {
        let interval = key.time.since(since);
        let port = &self.ports[counted.port as usize];
        let (counters, rate) = (port.counters(), port.port.link().rate());
        let now = counters.bytes + counters.frames * self.plan.gap_bytes();
        let bytes = now - std::mem::replace(&mut counted.before, now);
        let (node, port) = self.place_of(counted.port);
        let capacity = self.rates.mean_or(counted.port, (since, key.time), rate);
        self.keep(
            key,
            bytes > 0,
            RecordKind::Use(PortUse { node, port, bytes, interval, capacity }),
        );
    }

    fn sample_queues(&mut self, key: EventKey, port: u32) {
        let (node, number) = self.place_of(port);
        for priority in 0..8 {
            let bytes = self.ports[port as usize].port.queued(priority);
            let length = QueueLength { node, port: number, priority, bytes };
            self.keep(key, bytes > 0, RecordKind::Queue(length));
        }
    }

    /// Samples what ports of a switch hold in its memory, and that memory. What is empty is left out.
    fn sample_ingress(&mut self, key: EventKey, node: NodeId, ports: &[u16]) {
        let Role::Switch(switch) = self.timers.nodes[node as usize].role else { return };
        let switches = self.switches;
        let buffer = &switches[switch as usize].buffer;
        let (stored, now, sizes) = (buffer.stored(), buffer.in_use(), buffer.sizes());
        let memory = MemoryHeld {
            node,
            stored,
            shared: (now.shared, sizes.shared),
            headroom: (now.headroom, sizes.headroom),
        };
        self.keep(key, stored > 0, RecordKind::Memory(memory));
        for &port in ports {
            for priority in 0..8 {
                let held = buffer.occupancy(port, priority);
                let sample = IngressHeld {
                    node,
                    port,
                    priority,
                    stored: held.stored,
                    headroom: held.headroom,
                    headroom_limit: held.headroom_limit,
                    thresholds: held.thresholds.map(|limits| (limits.xoff, limits.xon)),
                };
                self.keep(key, held.held() > 0, RecordKind::Ingress(sample));
            }
        }
    }

    fn sample_flow(&mut self, key: EventKey, sampled: &mut SampledFlow) {
        if sampled.ended {
            return;
        }
        let Some(progress) = self.progress_of(sampled.flow) else { return };
        // Of an unreliable service the source only knows that it has sent all.
        let all = self.plan.flows[sampled.flow as usize].bytes;
        sampled.ended = !self.plan.service().is_reliable() && progress.acknowledged == all;
        if let Some(allowed) = progress.allowed {
            let rate = FlowRate { flow: sampled.flow, allowed };
            self.keep(key, true, RecordKind::Rate(rate));
        }
    }

    /// Samples one end of a flow. If nothing is known of it, it is left out.
    fn sample_watched(&mut self, key: EventKey, end: &mut WatchedEnd) {
        let flow = &self.plan.flows[end.flow as usize];
        let is_source = end.node == flow.source;
        let counted = (end.counters.cnps_received, end.counters.out_of_order);
        let before = std::mem::replace(&mut end.before, counted);
        let open = is_source && !end.ended;
        let is_reliable = self.plan.service().is_reliable();
        let progress = if open { self.progress_of(end.flow) } else { None };
        let alpha = if open { self.alpha_of(end.flow, key.time) } else { None };
        let sample = FlowState {
            flow: end.flow,
            node: end.node,
            window: progress.and_then(|progress| progress.allowed?.window),
            in_flight: progress.filter(|_| is_reliable).map(|progress| progress.in_flight),
            rtt_ps: if open { end.rtt_ps } else { None },
            alpha_millionths: alpha.map(millionths),
            cnps: counted.0 - before.0,
            out_of_order: counted.1 - before.1,
        };
        let is_known = sample.in_flight.is_some() || sample.window.is_some() || alpha.is_some();
        let is_worth_it = is_known || counted != before;
        self.keep(key, is_worth_it, RecordKind::Flow(sample));
    }

    fn alpha_of(&self, number: u32, now: SimTime) -> Option<f64> {
        let number = self.plan.posted_flow(number);
        let flow = &self.plan.flows[number as usize];
        let Role::Host(host) = self.timers.nodes[flow.source as usize].role else { return None };
        self.hosts[host as usize].end_host.alpha(flow, now)
    }

    /// How far an open flow has come, as its source knows.
    fn progress_of(&self, number: u32) -> Option<FlowProgress> {
        let flow = &self.plan.flows[number as usize];
        let Role::Host(host) = self.timers.nodes[flow.source as usize].role else { return None };
        self.hosts[host as usize].end_host.progress(number, flow)
    }

    fn place_of(&self, port: u32) -> (NodeId, u16) {
        let port = &self.ports[port as usize];
        (port.node, port.number)
    }

    fn keep(&mut self, key: EventKey, is_worth_it: bool, kind: RecordKind) {
        if is_worth_it {
            self.records.keep_sample(Record { key, kind });
        }
    }
}

/// A share between 0 and 1, in millionths.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is between 0 and 1"
)]
fn millionths(share: f64) -> u32 {
    (share.clamp(0.0, 1.0) * 1e6).round() as u32
}
