//! Samples into their files, one for each quantity that is sampled.

use rocelab_fabric::NodeId;
use rocelab_results::{
    MarkSample, Millionths, QueueSample, RateSample, RecordWriter, ResultsDir, ResultsError,
    UtilisationSample,
};
use rocelab_units::{Duration, SimTime};

use crate::Plan;
use crate::network::{FlowRate, MarksCounted, PortUse, QueueLength};

/// The open files of what is sampled.
pub(super) struct SampleFiles<'a> {
    plan: &'a Plan,
    queues: Option<RecordWriter<QueueSample<'a>>>,
    marks: Option<RecordWriter<MarkSample<'a>>>,
    utilisation: Option<RecordWriter<UtilisationSample<'a>>>,
    rates: Option<RecordWriter<RateSample<'a>>>,
}

impl<'a> SampleFiles<'a> {
    /// Creates those that the plan asks for.
    pub(super) fn create(plan: &'a Plan, directory: &'a ResultsDir) -> Result<Self, ResultsError> {
        let sampling = &plan.sampling;
        Ok(Self {
            plan,
            queues: sampling.queues.as_ref().map(|_| directory.records()).transpose()?,
            marks: sampling.marks.as_ref().map(|_| directory.records()).transpose()?,
            utilisation: sampling.utilisation.as_ref().map(|_| directory.records()).transpose()?,
            rates: sampling.rates.as_ref().map(|_| directory.records()).transpose()?,
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

    pub(super) fn rate(&mut self, time: SimTime, rate: &FlowRate) -> Result<(), ResultsError> {
        let Some(rates) = &mut self.rates else { return Ok(()) };
        let Some(goodput_bps) = rate_bps(rate.bytes, rate.interval) else { return Ok(()) };
        let flow = &self.plan.flows[rate.flow as usize];
        rates.write(&RateSample {
            time_ps: time.ps(),
            flow: u64::from(rate.flow),
            node: name(self.plan, flow.source).into(),
            port: 0, // A host has one.
            priority: flow.priority,
            rate_bps: rate.allowed.map(|allowed| allowed.rate.bits_per_second()),
            window_bytes: rate.allowed.and_then(|allowed| allowed.window),
            goodput_bps,
        })
    }

    /// Writes out what is buffered.
    pub(super) fn flush(&mut self) -> Result<(), ResultsError> {
        self.queues.as_mut().map_or(Ok(()), RecordWriter::flush)?;
        self.marks.as_mut().map_or(Ok(()), RecordWriter::flush)?;
        self.utilisation.as_mut().map_or(Ok(()), RecordWriter::flush)?;
        self.rates.as_mut().map_or(Ok(()), RecordWriter::flush)
    }

    /// Writes out what is buffered and closes the files.
    pub(super) fn finish(self) -> Result<(), ResultsError> {
        self.queues.map_or(Ok(()), RecordWriter::finish)?;
        self.marks.map_or(Ok(()), RecordWriter::finish)?;
        self.utilisation.map_or(Ok(()), RecordWriter::finish)?;
        self.rates.map_or(Ok(()), RecordWriter::finish)
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
