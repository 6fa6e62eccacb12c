//! The sampling intervals of a run.

use std::collections::BTreeMap;
use std::path::Path;

use rocelab_units::Duration;
use serde::Deserialize;

use crate::{ResultsError, SCENARIO_TOML, SampleInterval, Summary};

/// The part of `scenario.resolved.toml` that is needed here.
#[derive(Deserialize)]
struct Resolved {
    #[serde(default)]
    sample: Sample,
}

/// What the scenario says of samples: sections `[sample.NAME]`, or a word.
#[derive(Deserialize)]
#[serde(untagged)]
enum Sample {
    Sections(BTreeMap<String, Sampling>),
    #[expect(dead_code, reason = "it says that there is a word")]
    Word(String),
}

impl Default for Sample {
    fn default() -> Self {
        Self::Sections(BTreeMap::new())
    }
}

#[derive(Deserialize)]
struct Sampling {
    interval: Duration,
}

/// The intervals by the names of their sections: those of the summary, or, in the results of an older build, of the
/// scenario; empty if there are none.
pub(crate) fn read(
    folder: &Path,
    summary: &Summary,
) -> Result<BTreeMap<String, SampleInterval>, ResultsError> {
    let path = folder.join(SCENARIO_TOML);
    if !summary.sample_intervals.is_empty() || !path.exists() {
        return Ok(summary.sample_intervals.clone());
    }
    let text = std::fs::read_to_string(&path).map_err(ResultsError::read(&path))?;
    let resolved: Resolved = toml::from_str(&text)
        .map_err(|error| ResultsError::Malformed { path, reason: error.to_string() })?;
    let Sample::Sections(sections) = resolved.sample else { return Ok(BTreeMap::new()) };
    let fixed =
        |(name, sampling): (String, Sampling)| (name, SampleInterval::fixed(sampling.interval));
    Ok(sections.into_iter().map(fixed).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_from(text: &str) -> Result<BTreeMap<String, SampleInterval>, ResultsError> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(SCENARIO_TOML), text).unwrap();
        read(folder.path(), &Summary::default())
    }

    #[test]
    fn older_results_have_the_intervals_of_the_scenario() {
        let text = "seed = 1\n[roce]\nversion = 2\n[sample.queues]\ninterval = \"10us\"\n\
                    ports = [\"switch-0\"]\n[sample.rates]\ninterval = \"1ms\"\n";
        let intervals = read_from(text).unwrap();
        let expected = [("queues", Duration::from_us(10)), ("rates", Duration::from_ms(1))];
        let expected = expected.map(|(name, interval)| (name, SampleInterval::fixed(interval)));
        assert!(intervals.iter().map(|(name, interval)| (&**name, *interval)).eq(expected));
        assert!(read_from("seed = 1\n").unwrap().is_empty());
        assert!(read_from("sample = \"off\"\n").unwrap().is_empty());
        let nothing = tempfile::tempdir().unwrap();
        assert!(read(nothing.path(), &Summary::default()).unwrap().is_empty());
    }

    #[test]
    fn those_of_the_summary_have_precedence() {
        let interval = SampleInterval { first_ps: 7, double_after: Some(100) };
        let intervals = BTreeMap::from([("queues".to_owned(), interval)]);
        let summary = Summary { sample_intervals: intervals.clone(), ..Summary::default() };
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(SCENARIO_TOML), "sample = \"default\"\n").unwrap();
        assert_eq!(read(folder.path(), &summary).unwrap(), intervals);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = read_from("[sample.marks]\ninterval = \"10 parsecs\"\n").unwrap_err();
        assert!(error.to_string().contains(SCENARIO_TOML), "{error}");
    }
}
