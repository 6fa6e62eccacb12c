//! The names that a results directory gives to its own files.

use std::path::{Component, Path};

/// The flows.
pub(crate) const FLOWS_CSV: &str = "flows.csv";
/// The same, for programs that read columns.
pub(crate) const FLOWS_PARQUET: &str = "flows.parquet";
/// Every pause with its cause.
pub(crate) const PAUSES_JSON: &str = "pauses.json";
/// What varies from run to run.
pub(crate) const RUN_JSON: &str = "run.json";
/// The scenario as it ran.
pub const SCENARIO_TOML: &str = "scenario.resolved.toml";
/// The run in numbers that do not vary.
pub(crate) const SUMMARY_JSON: &str = "summary.json";
/// The nodes.
pub(crate) const TOPOLOGY_JSON: &str = "topology.json";

/// Everything that stands at the top of a results directory, but for captures.
const TOP: [&str; 18] = [
    "drops.csv",
    "fct.txt",
    FLOWS_CSV,
    FLOWS_PARQUET,
    "links.csv",
    crate::leftovers::LOCK,
    "operations.csv",
    PAUSES_JSON,
    "pfc.csv",
    "pfc.txt",
    "queues.csv",
    "report.html",
    RUN_JSON,
    "samples",
    SCENARIO_TOML,
    "storms.csv",
    SUMMARY_JSON,
    TOPOLOGY_JSON,
];

/// Whether a path within a results directory is one that results may have themselves: a file of
/// theirs, or one in a folder of theirs. Large and small letters are alike, as some file systems have
/// it.
#[must_use]
pub fn is_name_of_results(file: &Path) -> bool {
    let top = file.components().find(|part| *part != Component::CurDir);
    let Some(Component::Normal(top)) = top else { return false };
    let top = top.to_string_lossy().to_ascii_lowercase();
    TOP.contains(&top.as_str()) || is_capture(&top)
}

/// `capture.pcapng`, or one file a port: `capture-PORT.pcap`.
fn is_capture(name: &str) -> bool {
    let port = name.strip_prefix("capture-").and_then(|rest| rest.strip_suffix(".pcap"));
    name == "capture.pcapng" || port.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        DropRecord, LinkRecord, MarkSample, OperationRecord, PauseRecord, QueueSample, RateSample,
        Record, StormRecord, UtilisationSample,
    };

    #[test]
    fn every_file_of_records_has_a_name_of_results() {
        let files = [
            DropRecord::FILE,
            FLOWS_CSV,
            FLOWS_PARQUET,
            RUN_JSON,
            SUMMARY_JSON,
            PAUSES_JSON,
            TOPOLOGY_JSON,
            LinkRecord::FILE,
            MarkSample::FILE,
            OperationRecord::FILE,
            PauseRecord::FILE,
            QueueSample::FILE,
            RateSample::FILE,
            StormRecord::FILE,
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
