//! The names of the files in a results directory.

use std::path::{Component, Path};

use crate::record_types::RECORD_TYPES;

/// Every pause with its cause.
pub(crate) const PAUSES_JSON: &str = "pauses.json";
/// How far a run is, while it lasts.
pub(crate) const PROGRESS_JSON: &str = "progress.json";
/// Information that differs from run to run.
pub(crate) const RUN_JSON: &str = "run.json";
/// The scenario as it ran, with all defaults.
pub const SCENARIO_TOML: &str = "scenario.resolved.toml";
/// What the results of a point of a sweep depend on.
pub const POINT_TXT: &str = "point.txt";
/// The numbers of a run that are the same each time.
pub(crate) const SUMMARY_JSON: &str = "summary.json";
/// The nodes.
pub(crate) const TOPOLOGY_JSON: &str = "topology.json";

/// The files at the top of a results directory, except records and captures.
const TOP: [&str; 12] = [
    "fct.txt",
    crate::leftovers::LOCK,
    PAUSES_JSON,
    "pfc.txt",
    "qlen.txt",
    POINT_TXT,
    PROGRESS_JSON,
    "report.html",
    RUN_JSON,
    SCENARIO_TOML,
    SUMMARY_JSON,
    TOPOLOGY_JSON,
];

/// Whether a path inside a results directory is reserved for the results themselves: one of their
/// files, or a path in one of their folders. Upper and lower case are not distinguished, because
/// some file systems do not distinguish them.
#[must_use]
pub fn is_name_of_results(file: &Path) -> bool {
    let top = file.components().find(|part| *part != Component::CurDir);
    let Some(Component::Normal(top)) = top else { return false };
    let top = top.to_string_lossy().to_ascii_lowercase();
    TOP.contains(&top.as_str()) || is_of_records(&top) || is_capture(&top)
}

/// Whether this is a file of records, or a folder of such files.
fn is_of_records(name: &str) -> bool {
    let top = |file: &'static str| file.split('/').next() == Some(name);
    RECORD_TYPES.iter().any(|records| top(records.file) || records.parquet.is_some_and(top))
}

/// Whether this is `capture.pcapng`, or the file of one port: `capture-PORT.pcap`.
fn is_capture(name: &str) -> bool {
    let port = name.strip_prefix("capture-").and_then(|rest| rest.strip_suffix(".pcap"));
    name == "capture.pcapng" || port.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        DropRecord, HostRecord, IngressSample, LinkRecord, MarkSample, MemorySample,
        MonitoringRecord, NvlinkRecord, OperationRecord, PauseRecord, QueueSample, RateSample,
        Record, StormRecord, SwitchRecord, UtilisationSample,
    };

    #[test]
    fn every_file_of_records_has_a_name_of_results() {
        let files = [
            DropRecord::FILE,
            "flows.csv",
            "flows.parquet",
            RUN_JSON,
            SUMMARY_JSON,
            PAUSES_JSON,
            TOPOLOGY_JSON,
            HostRecord::FILE,
            IngressSample::FILE,
            LinkRecord::FILE,
            MarkSample::FILE,
            MemorySample::FILE,
            MonitoringRecord::FILE,
            NvlinkRecord::FILE,
            OperationRecord::FILE,
            PauseRecord::FILE,
            QueueSample::FILE,
            RateSample::FILE,
            StormRecord::FILE,
            SwitchRecord::FILE,
            UtilisationSample::FILE,
            "capture.pcapng",
            "capture-leaf-0-port-3.pcap",
        ];
        for file in files {
            assert!(is_name_of_results(Path::new(file)), "{file}");
        }
    }

    #[test]
    fn spelling_does_not_matter_and_other_names_are_free() {
        for file in ["Run.JSON", "./flows.parquet", "samples/mine.csv", "flows.csv/mine.csv"] {
            assert!(is_name_of_results(Path::new(file)), "{file}");
        }
        for file in ["mine/flows.csv", "flows.txt", "capture.pcap", "../run.json", "/run.json"] {
            assert!(!is_name_of_results(Path::new(file)), "{file}");
        }
    }
}
