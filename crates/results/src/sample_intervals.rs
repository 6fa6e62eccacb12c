//! The sampling intervals of a run, read from the scenario as it ran.

use std::collections::BTreeMap;
use std::path::Path;

use rocelab_units::Duration;
use serde::Deserialize;

use crate::{ResultsError, SCENARIO_TOML};

/// The part of `scenario.resolved.toml` that is needed here.
#[derive(Deserialize)]
struct Resolved {
    /// The sections `[sample.NAME]`.
    #[serde(default)]
    sample: BTreeMap<String, Sampling>,
}

#[derive(Deserialize)]
struct Sampling {
    interval: Duration,
}

/// The intervals by the names of their sections; empty if there is no such file.
pub(crate) fn read(folder: &Path) -> Result<BTreeMap<String, Duration>, ResultsError> {
    let path = folder.join(SCENARIO_TOML);
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let text = std::fs::read_to_string(&path).map_err(ResultsError::read(&path))?;
    let resolved: Resolved = toml::from_str(&text)
        .map_err(|error| ResultsError::Malformed { path, reason: error.to_string() })?;
    Ok(resolved.sample.into_iter().map(|(name, sampling)| (name, sampling.interval)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_from(text: &str) -> Result<BTreeMap<String, Duration>, ResultsError> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(SCENARIO_TOML), text).unwrap();
        read(folder.path())
    }

    #[test]
    fn intervals_are_those_of_the_sections() {
        let text = "seed = 1\n[roce]\nversion = 2\n[sample.queues]\ninterval = \"10us\"\n\
                    ports = [\"switch-0\"]\n[sample.rates]\ninterval = \"1ms\"\n";
        let intervals = read_from(text).unwrap();
        let expected = [("queues", Duration::from_us(10)), ("rates", Duration::from_ms(1))];
        assert!(intervals.iter().map(|(name, interval)| (&**name, *interval)).eq(expected));
        assert!(read_from("seed = 1\n").unwrap().is_empty());
        assert!(read(tempfile::tempdir().unwrap().path()).unwrap().is_empty());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = read_from("[sample.marks]\ninterval = \"10 parsecs\"\n").unwrap_err();
        let error = error.to_string();
        assert!(error.contains(SCENARIO_TOML) && error.contains("10 parsecs"), "{error}");
    }
}
