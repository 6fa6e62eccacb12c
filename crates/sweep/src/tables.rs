//! The results of all points, in two tables.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rocelab_results::{
    CombinedWriter, FlowRecord, KeyColumn, KeyValues, KindRecord, OperationCounts, OperationRecord,
    Record, Results, ResultsError, RunRecord,
};

use crate::carry_out::host;
use crate::{Points, SettingValue, Sweep, SweepError};

/// The name of the table of operations.
const OPERATIONS: &str = "operations.parquet";
/// The name of the table of kinds of operations.
const KINDS: &str = "kinds.parquet";

/// Writes `flows.parquet` and `runs.parquet` of the points `done`, in their order, into the folder of the sweep, and
/// `operations.parquet` and `kinds.parquet` if any of them has applications; returns whether one has. The first columns are the number of the point, each swept key, `seed`, each label, and the version and the digest of the run. The tables do not depend on how the points were carried
/// out.
///
/// # Errors
/// [`SweepError::Results`] if results cannot be read or the tables not be written.
pub fn combine(points: &Points<'_>, done: &[usize]) -> Result<bool, SweepError> {
    // Tables of an earlier time are worth more than empty ones.
    if done.is_empty() {
        return Ok(false);
    }
    let results = done.iter().map(|&point| Results::open(points.directory(point)));
    let results = results.collect::<Result<Vec<_>, _>>()?;
    let keys = key_columns(points.sweep(), done, &results);
    write::<RunRecord<'_>>(points.folder(), "runs.parquet", &keys, |writer| {
        for (run, results) in results.iter().enumerate() {
            writer.add(run, &RunRecord::of(results.summary()))?;
        }
        Ok(())
    })?;
    write::<FlowRecord<'_>>(points.folder(), "flows.parquet", &keys, |writer| {
        for (run, results) in results.iter().enumerate() {
            let path = results.path().join(FlowRecord::FILE);
            let (found, expected) =
                (writer.add_file(run, &path)?, results.summary().all_flows().total);
            if found != expected {
                return Err(cut_off(
                    path,
                    &format!("has {found} flows, and the run had {expected}"),
                ));
            }
        }
        Ok(())
    })?;
    combine_operations(points.folder(), &keys, &results)
}

/// Writes the tables of operations and of their kinds; whether there are any. Those of an earlier time, when points had
/// applications, go.
fn combine_operations(
    folder: &Path,
    keys: &[KeyColumn],
    results: &[Results],
) -> Result<bool, SweepError> {
    if results.iter().all(|one| one.summary().operations.is_empty()) {
        remove(folder.join(OPERATIONS))?;
        remove(folder.join(KINDS))?;
        return Ok(false);
    }
    write::<OperationRecord<'_>>(folder, OPERATIONS, keys, |writer| {
        let each = results.iter().enumerate();
        for (run, results) in each.filter(|(_, one)| !one.summary().operations.is_empty()) {
            let path = results.path().join(OperationRecord::FILE);
            let found = writer.add_file(run, &path)?;
            // Operations that never started have no row.
            let ended = |app: &OperationCounts| app.completed + app.failed;
            let summary = results.summary();
            let outside = summary.measured.map_or(0, |window| window.operations_outside);
            let expected = summary.operations.iter().map(ended).sum::<u64>() + outside;
            if found < expected {
                let reason = format!("has {found} operations, and {expected} of the run ended");
                return Err(cut_off(path, &reason));
            }
        }
        Ok(())
    })?;
    write::<KindRecord<'static>>(folder, KINDS, keys, |writer| {
        for (run, results) in results.iter().enumerate() {
            for app in &results.summary().operations {
                for (kind, counts) in results.kinds(app)? {
                    writer.add(run, &KindRecord::of(app.app.clone(), kind, &counts))?;
                }
            }
        }
        Ok(())
    })?;
    Ok(true)
}

/// Removes a file, if there is one.
fn remove(path: PathBuf) -> Result<(), SweepError> {
    match fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(SweepError::Machine { path, error })
        }
        _ => Ok(()),
    }
}

/// The error of a file that has lost rows.
fn cut_off(path: PathBuf, what: &str) -> SweepError {
    let reason = format!("{what}: remove the folder of the point, and run the sweep again");
    ResultsError::Malformed { path, reason }.into()
}

/// Writes a table beside its place, and puts it there when it is complete.
fn write<R: Record>(
    folder: &Path,
    name: &str,
    keys: &[KeyColumn],
    rows: impl FnOnce(&mut CombinedWriter<'_, R>) -> Result<(), SweepError>,
) -> Result<(), SweepError> {
    fs::create_dir_all(folder)
        .map_err(|error| SweepError::Machine { path: folder.to_owned(), error })?;
    let (path, partial) = (folder.join(name), partial_file(folder, name));
    let keys: Vec<KeyColumn> = keys.iter().map(beside::<R>).collect();
    let mut writer = CombinedWriter::<R>::create(&partial, &keys)?;
    rows(&mut writer)?;
    writer.finish()?;
    fs::rename(&partial, &path).map_err(|error| SweepError::Machine { path, error })
}

/// Where a file of this name is written before it is complete. Of each process another: two may carry out one sweep. Those
/// that killed processes of this machine left are removed.
pub(crate) fn partial_file(folder: &Path, name: &str) -> PathBuf {
    let prefix = format!(".{name}.partial-{}-", host().unwrap_or_default());
    remove_left_by_killed(folder, &prefix);
    folder.join(format!("{prefix}{}", std::process::id()))
}

/// Removes files with this beginning and the number of a process that is no more. What cannot be told stays.
fn remove_left_by_killed(folder: &Path, prefix: &str) {
    let processes = Path::new("/proc");
    let Ok(entries) = fs::read_dir(folder) else { return };
    if !processes.join("self").exists() {
        return;
    }
    for entry in entries.flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(prefix));
        let process = process.filter(|number| number.bytes().all(|digit| digit.is_ascii_digit()));
        if process.is_some_and(|number| !processes.join(number).exists()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The column of a key beside those of a record. Two columns with one name could not be read.
fn beside<R: Record>(key: &KeyColumn) -> KeyColumn {
    let is_taken = R::COLUMNS.iter().any(|column| column.name == key.name);
    let name = if is_taken { format!("sweep.{}", key.name) } else { key.name.clone() };
    KeyColumn { name, values: key.values.clone() }
}

/// What tells the runs apart.
fn key_columns(sweep: &Sweep, done: &[usize], results: &[Results]) -> Vec<KeyColumn> {
    let column = |name: &str, values| KeyColumn { name: name.to_owned(), values };
    let text = |of: fn(&Results) -> &str| {
        KeyValues::Texts(results.iter().map(|one| Some(of(one).to_owned())).collect())
    };
    let numbers = done.iter().map(|&point| i64::try_from(point).ok()).collect();
    let seeds = results.iter().map(|one| i64::try_from(one.summary().seed).ok()).collect();
    let mut columns = vec![column("point", KeyValues::Integers(numbers))];
    columns.extend(sweep.keys().iter().map(|key| column(key, values_of(sweep, done, key))));
    columns.push(column("seed", KeyValues::Integers(seeds)));
    columns.extend(label_columns(sweep, results));
    columns.push(column("version", text(|one| &one.run().version)));
    columns.push(column("digest", text(|one| &one.summary().digest)));
    columns
}

/// A column for each label of any run that is no swept key.
fn label_columns(sweep: &Sweep, results: &[Results]) -> Vec<KeyColumn> {
    let names: BTreeSet<&String> =
        results.iter().flat_map(|one| one.summary().labels.keys()).collect();
    let column = |label: &String| {
        let texts = results.iter().map(|one| one.summary().labels.get(label).cloned()).collect();
        KeyColumn { name: format!("labels.{label}"), values: KeyValues::Texts(texts) }
    };
    let is_free = |column: &KeyColumn| !sweep.keys().contains(&column.name);
    names.into_iter().map(column).filter(is_free).collect()
}

/// The values of a key: numbers if those of all points are, whether they are done or not.
fn values_of(sweep: &Sweep, done: &[usize], key: &str) -> KeyValues {
    let points = sweep.points();
    let value = |point: usize| points[point].setting(key).map(|setting| &setting.value);
    let values = || done.iter().map(|&point| value(point));
    let has = |is: fn(&SettingValue) -> bool| (0..points.len()).filter_map(value).any(is);
    if has(|value| matches!(value, SettingValue::Text(_))) {
        return KeyValues::Texts(values().map(|value| value.map(SettingValue::to_text)).collect());
    }
    if has(|value| matches!(value, SettingValue::Number(_))) {
        return KeyValues::Numbers(values().map(|value| value.map(number)).collect());
    }
    KeyValues::Integers(values().map(|value| value.map(integer)).collect())
}

fn number(value: &SettingValue) -> f64 {
    match *value {
        SettingValue::Integer(value) => value as f64,
        SettingValue::Number(value) => value,
        SettingValue::Text(_) => f64::NAN,
    }
}

fn integer(value: &SettingValue) -> i64 {
    match *value {
        SettingValue::Integer(value) => value,
        _ => 0,
    }
}
