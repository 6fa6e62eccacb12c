//! `flows.parquet` has the same content as `flows.csv`.

use std::fs::File;
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use rocelab_results::{FlowRecord, Overwrite, ResultsDir, ResultsError};

use crate::sample;

/// Every row, field by field, in the format of the CSV file.
fn parquet_rows(path: &Path) -> Vec<Vec<(String, String)>> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap().map(Result::unwrap);
    rows.map(|row| {
        row.get_column_iter()
            .map(|(name, field)| {
                let text = match field {
                    Field::Null => String::new(),
                    Field::Long(value) => value.to_string(),
                    Field::Double(value) => format!("{value:.6}"),
                    Field::Str(text) => text.clone(),
                    other => panic!("{name}: {other:?}"),
                };
                (name.clone(), text)
            })
            .collect()
    })
    .collect()
}

fn csv_rows(path: &Path) -> Vec<Vec<(String, String)>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let names = reader.headers().unwrap().clone();
    let pair = |(name, field): (&str, &str)| (name.to_owned(), field.to_owned());
    reader.records().map(|row| names.iter().zip(row.unwrap().iter()).map(pair).collect()).collect()
}

#[test]
fn the_same_columns_and_rows_as_the_csv() {
    let folder = tempfile::tempdir().unwrap();
    let path = sample::write(&folder.path().join("r"), Overwrite::Refuse).unwrap();
    let rows = parquet_rows(&path.join("flows.parquet"));
    assert_eq!(rows.len(), 4);
    assert_eq!(rows, csv_rows(&path.join("flows.csv")));
}

#[test]
fn many_flows_are_several_row_groups() {
    const FLOWS: u64 = 300_000;
    let folder = tempfile::tempdir().unwrap();
    let directory = ResultsDir::create(folder.path().join("r"), Overwrite::Refuse).unwrap();
    let mut writer = directory.flows().unwrap();
    let sample = &sample::flows()[0];
    for flow in 0..FLOWS {
        let record = FlowRecord { flow, start_ps: flow * 1_000, ..sample.clone() };
        writer.write(&record).unwrap();
    }
    writer.finish().unwrap();
    let path = directory.finish(&sample::summary(), &sample::run_info()).unwrap();

    let file = File::open(path.join("flows.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let metadata = reader.metadata();
    let groups: Vec<_> = metadata.row_groups().iter().map(|group| group.num_rows()).collect();
    assert_eq!(groups, [131_072, 131_072, 300_000 - 2 * 131_072]);
    assert_eq!(metadata.file_metadata().created_by(), Some("rocelab"));
    let starts = reader.get_row_iter(None).unwrap().map(|row| {
        let row = row.unwrap();
        let start = row.get_column_iter().find(|(name, _)| *name == "start_ps");
        start.map(|(_, field)| field.clone())
    });
    for (flow, start) in (0..).zip(starts) {
        assert_eq!(start, Some(Field::Long(flow * 1_000)));
    }
}

#[test]
fn no_flows_are_a_file_without_rows() {
    let folder = tempfile::tempdir().unwrap();
    let directory = ResultsDir::create(folder.path().join("r"), Overwrite::Refuse).unwrap();
    directory.flows().unwrap().finish().unwrap();
    assert_eq!(parquet_rows(&directory.working_path().join("flows.parquet")).len(), 0);
}

#[test]
fn a_number_beyond_parquet_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let directory = ResultsDir::create(folder.path().join("r"), Overwrite::Refuse).unwrap();
    let mut writer = directory.flows().unwrap();
    writer.write(&FlowRecord { bytes: 1 << 63, ..sample::flows()[0].clone() }).unwrap();
    let error = writer.finish().unwrap_err();
    assert!(matches!(error, ResultsError::Encode { .. }));
    assert!(error.to_string().contains("bytes 9223372036854775808"), "{error}");
}
