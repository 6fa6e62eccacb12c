//! Where the rows go while a run goes on.

use rocelab_results::{
    DropRecord, FlowRecord, OperationRecord, PauseRecord, RecordSink, ResultsError, Sink,
    StormRecord,
};

use super::samples::Samples;
use crate::Plan;

/// What takes the records of each type, but for those that are made at the end.
pub(super) struct Tables<'a> {
    pub(super) flows: RecordSink<'a, FlowRecord<'a>>,
    pub(super) pauses: RecordSink<'a, PauseRecord<'a>>,
    pub(super) drops: RecordSink<'a, DropRecord<'a>>,
    pub(super) samples: Samples<'a>,
    /// Where watchdogs watch.
    pub(super) storms: Option<RecordSink<'a, StormRecord<'a>>>,
    /// Where there are applications.
    pub(super) operations: Option<RecordSink<'a, OperationRecord<'a>>>,
}

impl<'a> Tables<'a> {
    /// Those that the plan asks for.
    pub(super) fn create(plan: &'a Plan, sink: Sink<'a>) -> Result<Self, ResultsError> {
        let watchdog = plan.failures.switch_watchdog.as_ref();
        Ok(Self {
            flows: sink.records()?,
            pauses: sink.records()?,
            drops: sink.records()?,
            samples: Samples::create(plan, sink)?,
            storms: watchdog.map(|_| sink.records()).transpose()?,
            operations: (!plan.apps.is_empty()).then(|| sink.records()).transpose()?,
        })
    }

    /// Writes out what is buffered.
    pub(super) fn flush(&mut self) -> Result<(), ResultsError> {
        self.flows.flush()?;
        self.pauses.flush()?;
        self.drops.flush()?;
        self.samples.flush()?;
        self.storms.as_mut().map_or(Ok(()), RecordSink::flush)?;
        self.operations.as_mut().map_or(Ok(()), RecordSink::flush)
    }

    /// There are no more.
    pub(super) fn finish(self) -> Result<(), ResultsError> {
        self.flows.finish()?;
        self.pauses.finish()?;
        self.drops.finish()?;
        self.samples.finish()?;
        self.storms.map_or(Ok(()), RecordSink::finish)?;
        self.operations.map_or(Ok(()), RecordSink::finish)
    }
}
