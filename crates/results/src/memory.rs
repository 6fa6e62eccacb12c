//! Results in memory.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::marker::PhantomData;

use crate::{MapNode, PauseCauses, Record, Table};

/// Keeps the results of a run in memory. There are no files, so captured frames are lost.
///
/// ```
/// use rocelab_results::{MemorySink, PauseEvent, PauseRecord, Value};
///
/// let sink = MemorySink::default();
/// let mut pauses = sink.records::<PauseRecord<'_>>();
/// pauses.add(&PauseRecord {
///     time_ps: 7,
///     node: "leaf-0".into(),
///     port: 3,
///     priority: 3,
///     event: PauseEvent::Pause,
///     quanta: 65_535,
///     duration_ps: None,
/// });
/// pauses.finish();
///
/// let results = sink.finish();
/// let pauses = &results.tables["pfc"];
/// assert_eq!(pauses.len(), 1);
/// assert_eq!(pauses.array("event").expect("a column").value(0), Value::Text("pause"));
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
    /// Starts the records of one type. At most one writer of a type exists at a time.
    pub fn records<R: Record>(&self) -> TableWriter<'_, R> {
        TableWriter { table: Table::of::<R>(), sink: self, record: PhantomData }
    }

    pub(crate) fn keep_pause_causes(&self, causes: PauseCauses) {
        self.results.borrow_mut().pause_causes = Some(causes);
    }

    pub(crate) fn keep_nodes(&self, nodes: Vec<MapNode>) {
        self.results.borrow_mut().nodes = nodes;
    }

    /// All results so far; of records, those of writers that are finished.
    pub fn finish(self) -> MemoryResults {
        self.results.into_inner()
    }
}

impl<R: Record> TableWriter<'_, R> {
    /// Appends a record.
    pub fn add(&mut self, record: &R) {
        self.table.add(record);
    }

    /// Hands the table over. If the writer is dropped instead, there is none.
    pub fn finish(self) {
        self.sink.results.borrow_mut().tables.insert(R::NAME, self.table);
    }
}
