//! Results in memory.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::path::Path;

use crate::{MapNode, PauseCauses, Record, RecordSink, ResultsError, Sink, Table};

/// Keeps the results of a run in memory. There are no files, so captured frames are lost.
///
/// ```
/// use rocelab_results::{MemorySink, PauseEvent, PauseRecord, RecordSink, Sink, Value};
///
/// let sink = MemorySink::default();
/// let mut pauses = sink.records::<PauseRecord<'_>>()?;
/// pauses.write(&PauseRecord {
///     time_ps: 7,
///     node: "leaf-0".into(),
///     port: 3,
///     priority: 3,
///     event: PauseEvent::Pause,
///     quanta: 65_535,
///     duration_ps: None,
/// })?;
/// pauses.finish()?;
///
/// let results = sink.finish();
/// let pauses = &results.tables["pfc"];
/// assert_eq!(pauses.len(), 1);
/// assert_eq!(pauses.array("event").expect("a column").value(0), Value::Text("pause"));
/// # Ok::<(), rocelab_results::ResultsError>(())
/// ```
#[derive(Debug, Default)]
pub struct MemorySink {
    results: RefCell<MemoryResults>,
}

/// The results of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryResults {
    /// Records, by the name of their type. A type without records is missing, as its file would be.
    pub tables: BTreeMap<&'static str, Table>,
    /// Every pause with its cause; `None` if there was none.
    pub pause_causes: Option<PauseCauses>,
    /// The nodes and their positions in a drawing.
    pub nodes: Vec<MapNode>,
}

/// Takes the records of one type.
#[derive(Debug)]
pub struct TableWriter<'s, R> {
    table: Table,
    sink: &'s MemorySink,
    record: PhantomData<fn(&R)>,
}

impl MemorySink {
    /// All results so far; of records, those of writers that are finished.
    pub fn finish(self) -> MemoryResults {
        self.results.into_inner()
    }
}

impl Sink for MemorySink {
    type Records<'s, R: Record + 's> = TableWriter<'s, R>;

    fn records<R: Record>(&self) -> Result<TableWriter<'_, R>, ResultsError> {
        Ok(TableWriter { table: Table::of::<R>(), sink: self, record: PhantomData })
    }

    fn pause_causes(&self, causes: PauseCauses) -> Result<(), ResultsError> {
        self.results.borrow_mut().pause_causes = Some(causes);
        Ok(())
    }

    fn nodes(&self, nodes: Vec<MapNode>) -> Result<(), ResultsError> {
        self.results.borrow_mut().nodes = nodes;
        Ok(())
    }

    fn folder(&self) -> Option<&Path> {
        None
    }
}

impl<R: Record> RecordSink<R> for TableWriter<'_, R> {
    fn write(&mut self, record: &R) -> Result<(), ResultsError> {
        self.table.add(record);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ResultsError> {
        Ok(())
    }

    fn finish(self) -> Result<(), ResultsError> {
        self.sink.results.borrow_mut().tables.insert(R::NAME, self.table);
        Ok(())
    }
}
