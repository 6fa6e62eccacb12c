//! The names that a results directory gives to its own files.

use std::path::{Component, Path};

/// The scenario as it ran.
pub const SCENARIO_TOML: &str = "scenario.resolved.toml";

/// Everything that stands at the top of a results directory, but for captures.
const TOP: [&str; 18] = [
    "drops.csv",
    "fct.txt",
    "flows.csv",
    "flows.parquet",
    "links.csv",
    crate::leftovers::LOCK,
    "operations.csv",
    "pauses.json",
    "pfc.csv",
    "pfc.txt",
    "queues.csv",
    "report.html",
    "run.json",
    "samples",
    SCENARIO_TOML,
    "storms.csv",
    "summary.json",
    "topology.json",
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
            crate::flow_writer::FLOWS_CSV,
            crate::flow_writer::FLOWS_PARQUET,
            crate::directory::RUN_JSON,
            crate::directory::SUMMARY_JSON,
            crate::open::PAUSES_JSON,
            crate::open::TOPOLOGY_JSON,
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
