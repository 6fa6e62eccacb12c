//! Samples into their tables, one for each quantity that is sampled.

use rocelab_fabric::NodeId;
use rocelab_results::{
    FlowSample, IngressSample, MarkSample, MemorySample, Millionths, QueueSample, RateSample,
    RecordSink, ResultsError, Sink, UtilisationSample,
};
use rocelab_units::{Duration, SimTime};

use crate::Plan;
use crate::network::{
    FlowGoodput, FlowRate, FlowState, IngressHeld, MarksCounted, MemoryHeld, PortUse, QueueLength,
};

/// What takes the samples.
pub(super) struct Samples<'a> {
    plan: &'a Plan,
    queues: Option<RecordSink<'a, QueueSample<'a>>>,
    marks: Option<RecordSink<'a, MarkSample<'a>>>,
    utilisation: Option<RecordSink<'a, UtilisationSample<'a>>>,
    ingress: Option<RecordSink<'a, IngressSample<'a>>>,
    memory: Option<RecordSink<'a, MemorySample<'a>>>,
    flows: Option<RecordSink<'a, FlowSample<'a>>>,
    rates: Option<RecordSink<'a, RateSample<'a>>>,
}

impl<'a> Samples<'a> {
    /// Creates those that the plan asks for.
    pub(super) fn create(plan: &'a Plan, sink: Sink<'a>) -> Result<Self, ResultsError> {
        let sampling = &plan.sampling;
        Ok(Self {
            plan,
            queues: sampling.queues.as_ref().map(|_| sink.records()).transpose()?,
            marks: sampling.marks.as_ref().map(|_| sink.records()).transpose()?,
            utilisation: sampling.utilisation.as_ref().map(|_| sink.records()).transpose()?,
            ingress: sampling.ingress.as_ref().map(|_| sink.records()).transpose()?,
            memory: sampling.ingress.as_ref().map(|_| sink.records()).transpose()?,
            flows: sampling.flows.as_ref().map(|_| sink.records()).transpose()?,
            rates: sampling.rates.as_ref().map(|_| sink.records()).transpose()?,
        })
    }

    pub(super) fn queue(
        &mut self,
        time: SimTime,
        length: &QueueLength,
    ) -> Result<(), ResultsError> {
        let Some(queues) = &mut self.queues else { return Ok(()) };
        queues.write(&QueueSample {
            time_ps: time.ps(),
            node: name(self.plan, length.node).into(),
            port: length.port,
            priority: length.priority,
            queue_bytes: u64::from(length.bytes),
        })
    }

    pub(super) fn marks(
        &mut self,
        time: SimTime,
        counted: &MarksCounted,
    ) -> Result<(), ResultsError> {
        let Some(marks) = &mut self.marks else { return Ok(()) };
        marks.write(&MarkSample {
            time_ps: time.ps(),
            node: name(self.plan, counted.node).into(),
            port: counted.port,
            marks: counted.marks,
        })
    }

    pub(super) fn port_use(&mut self, time: SimTime, port: &PortUse) -> Result<(), ResultsError> {
        let Some(utilisation) = &mut self.utilisation else { return Ok(()) };
        let Some(rate_bps) = rate_bps(port.bytes, port.interval) else { return Ok(()) };
        let capacity = port.capacity.bits_per_second();
        utilisation.write(&UtilisationSample {
            time_ps: time.ps(),
            node: name(self.plan, port.node).into(),
            port: port.port,
            rate_bps,
            utilisation: Millionths::ratio(rate_bps, capacity).unwrap_or_default(),
        })
    }

    pub(super) fn ingress(
        &mut self,
        time: SimTime,
        held: &IngressHeld,
    ) -> Result<(), ResultsError> {
        let Some(ingress) = &mut self.ingress else { return Ok(()) };
        ingress.write(&IngressSample {
            time_ps: time.ps(),
            node: name(self.plan, held.node).into(),
            port: held.port,
            priority: held.priority,
            held_bytes: u64::from(held.stored) + u64::from(held.headroom),
            xoff_bytes: held.thresholds.map(|(xoff, _)| xoff),
            xon_bytes: held.thresholds.map(|(_, xon)| xon),
            headroom_bytes: held.headroom.into(),
            headroom_limit_bytes: held.headroom_limit.into(),
        })
    }

    pub(super) fn memory(&mut self, time: SimTime, held: &MemoryHeld) -> Result<(), ResultsError> {
        let Some(memory) = &mut self.memory else { return Ok(()) };
        memory.write(&MemorySample {
            time_ps: time.ps(),
            node: name(self.plan, held.node).into(),
            held_bytes: held.stored,
            shared_bytes: held.shared.0,
            shared_limit_bytes: held.shared.1,
            headroom_bytes: held.headroom.0,
            headroom_limit_bytes: held.headroom.1,
        })
    }

    pub(super) fn flow(&mut self, time: SimTime, state: &FlowState) -> Result<(), ResultsError> {
        let Some(flows) = &mut self.flows else { return Ok(()) };
        flows.write(&FlowSample {
            time_ps: time.ps(),
            flow: state.flow.into(),
            node: name(self.plan, state.node).into(),
            port: 0, // A host has one.
            priority: self.plan.flows[state.flow as usize].priority,
            rtt_ps: state.rtt_ps,
            window_bytes: state.window,
            in_flight_bytes: state.in_flight,
            alpha: state.alpha_millionths.map(|share| Millionths(share.into())),
            cnps: state.cnps,
            out_of_order: state.out_of_order,
        })
    }

    pub(super) fn rate(&mut self, time: SimTime, rate: &FlowRate) -> Result<(), ResultsError> {
        let source = self.plan.flows[rate.flow as usize].source;
        let sample = RateSample {
            rate_bps: Some(rate.allowed.rate.bits_per_second()),
            window_bytes: rate.allowed.window,
            ..self.of_flow(time, rate.flow, source)
        };
        self.rates.as_mut().map_or(Ok(()), |rates| rates.write(&sample))
    }

    pub(super) fn goodput(
        &mut self,
        time: SimTime,
        goodput: &FlowGoodput,
    ) -> Result<(), ResultsError> {
        let receiver = self.plan.flows[goodput.flow as usize].receiver();
        let sample = RateSample {
            goodput_bps: rate_bps(goodput.bytes, goodput.interval),
            ..self.of_flow(time, goodput.flow, receiver)
        };
        if sample.goodput_bps.is_none() {
            return Ok(());
        }
        self.rates.as_mut().map_or(Ok(()), |rates| rates.write(&sample))
    }

    /// A row of which nothing is known but whose it is, at one end of the flow.
    fn of_flow(&self, time: SimTime, flow: u32, host: NodeId) -> RateSample<'a> {
        RateSample {
            time_ps: time.ps(),
            flow: u64::from(flow),
            node: name(self.plan, host).into(),
            port: 0, // A host has one.
            priority: self.plan.flows[flow as usize].priority,
            rate_bps: None,
            window_bytes: None,
            goodput_bps: None,
        }
    }

    /// Writes out what is buffered.
    pub(super) fn flush(&mut self) -> Result<(), ResultsError> {
        self.queues.as_mut().map_or(Ok(()), RecordSink::flush)?;
        self.marks.as_mut().map_or(Ok(()), RecordSink::flush)?;
        self.utilisation.as_mut().map_or(Ok(()), RecordSink::flush)?;
        self.ingress.as_mut().map_or(Ok(()), RecordSink::flush)?;
        self.memory.as_mut().map_or(Ok(()), RecordSink::flush)?;
        self.flows.as_mut().map_or(Ok(()), RecordSink::flush)?;
        self.rates.as_mut().map_or(Ok(()), RecordSink::flush)
    }

    /// Writes out what is buffered and closes the files.
    pub(super) fn finish(self) -> Result<(), ResultsError> {
        self.queues.map_or(Ok(()), RecordSink::finish)?;
        self.marks.map_or(Ok(()), RecordSink::finish)?;
        self.utilisation.map_or(Ok(()), RecordSink::finish)?;
        self.ingress.map_or(Ok(()), RecordSink::finish)?;
        self.memory.map_or(Ok(()), RecordSink::finish)?;
        self.flows.map_or(Ok(()), RecordSink::finish)?;
        self.rates.map_or(Ok(()), RecordSink::finish)
    }
}

fn name(plan: &Plan, node: NodeId) -> &str {
    &plan.topology.nodes[node as usize].name
}

/// So many bytes over an interval, in bit/s, rounded down; `None` if it has no length.
fn rate_bps(bytes: u64, interval: Duration) -> Option<u64> {
    const PS_PER_SECOND: u128 = 1_000_000_000_000;
    let rate = (u128::from(bytes) * 8 * PS_PER_SECOND).checked_div(u128::from(interval.ps()))?;
    Some(u64::try_from(rate).unwrap_or(u64::MAX))
}
