//! All record types.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use crate::{
    CollectiveRecord, Column, DropRecord, FlowCountersRecord, FlowRecord, FlowSample, HostRecord,
    IngressSample, LinkRecord, MarkSample, MemorySample, MonitoringRecord, NvlinkRecord,
    OperationRecord, PauseRecord, QueueSample, RateSample, Record, ResultsError, StormRecord,
    SwitchRecord, Table, UtilisationSample,
};

/// A record type, as it is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordType {
    /// The name of its table.
    pub name: &'static str,
    /// Its CSV file's path within the results directory.
    pub file: &'static str,
    /// The name of its Parquet file beside the CSV file, if it has one.
    pub parquet: Option<&'static str>,
    /// Its columns, in order.
    pub columns: &'static [Column],
}

impl RecordType {
    /// The declaration of the record type `R`.
    pub const fn of<R: Record>() -> Self {
        Self { name: R::NAME, file: R::FILE, parquet: R::PARQUET, columns: R::COLUMNS }
    }

    /// All records of this type in the results directory `folder`; `None` if it has no file for them.
    ///
    /// # Errors
    /// [`ResultsError::Read`]; [`ResultsError::Malformed`] if a row has not the columns of this type.
    pub fn read(&self, folder: &Path) -> Result<Option<Table>, ResultsError> {
        let path = folder.join(self.file);
        if !path.exists() {
            return Ok(None);
        }
        let file = BufReader::new(File::open(&path).map_err(ResultsError::read(&path))?);
        let malformed = |reason| ResultsError::Malformed { path: path.clone(), reason };
        let mut rows = csv::Reader::from_reader(file);
        let header = rows.headers().map_err(|error| ResultsError::read_csv(&path, error))?;
        if !header.iter().eq(self.columns.iter().map(|column| column.name)) {
            return Err(malformed("its columns are those of another version of rocelab".into()));
        }
        let mut table = Table::of_type(self);
        for row in rows.into_records() {
            let row = row.map_err(|error| ResultsError::read_csv(&path, error))?;
            table.parse(row.iter()).map_err(malformed)?;
        }
        Ok(Some(table))
    }
}

/// All record types, in the order of their names.
pub const RECORD_TYPES: [RecordType; 19] = [
    RecordType::of::<CollectiveRecord<'_>>(),
    RecordType::of::<DropRecord<'_>>(),
    RecordType::of::<FlowCountersRecord<'_>>(),
    RecordType::of::<FlowSample<'_>>(),
    RecordType::of::<FlowRecord<'_>>(),
    RecordType::of::<HostRecord<'_>>(),
    RecordType::of::<IngressSample<'_>>(),
    RecordType::of::<LinkRecord<'_>>(),
    RecordType::of::<MarkSample<'_>>(),
    RecordType::of::<MemorySample<'_>>(),
    RecordType::of::<MonitoringRecord<'_>>(),
    RecordType::of::<NvlinkRecord<'_>>(),
    RecordType::of::<OperationRecord<'_>>(),
    RecordType::of::<PauseRecord<'_>>(),
    RecordType::of::<QueueSample<'_>>(),
    RecordType::of::<RateSample<'_>>(),
    RecordType::of::<StormRecord<'_>>(),
    RecordType::of::<SwitchRecord<'_>>(),
    RecordType::of::<UtilisationSample<'_>>(),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_and_files_differ() {
        assert!(RECORD_TYPES.is_sorted_by(|one, next| one.name < next.name));
        let mut files = RECORD_TYPES.map(|one| one.file);
        files.sort_unstable();
        assert!(files.is_sorted_by(|one, next| one < next));
    }

    /// The unit at the end of a column's name is the unit of the column.
    #[test]
    fn units_are_those_of_the_names() {
        let endings = [("_ps", "ps"), ("_bps", "bit/s"), ("_bytes", "bytes")];
        for column in RECORD_TYPES.iter().flat_map(|one| one.columns) {
            let ending = endings.iter().find(|(ending, _)| column.name.ends_with(ending));
            assert!(ending.is_none_or(|(_, unit)| column.unit == *unit), "{column:?}");
        }
    }
}
