//! A sweep: a scenario, and its points.

use std::path::{Path, PathBuf};

use rocelab_scenario::{Document, Fault, Scenario, ScenarioError, reference};
use rocelab_sim::{Plan, Planning};

use crate::axis::combinations;
use crate::reading::{Reading, is_within};
use crate::{Point, Setting};

/// The most points that a sweep may have.
pub const MAX_POINTS: usize = 1_000_000;

/// A scenario that is run with different values.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The file that it was read from.
    document: Document,
    scenario: PathBuf,
    /// The text of the scenario, as it was when the sweep was read: points do not see later changes.
    text: String,
    /// What is set for all points, before the settings of each.
    overrides: Vec<(String, String)>,
    keys: Vec<String>,
    points: Vec<Point>,
}

impl Sweep {
    /// Reads the `[sweep]` in the file at `path`, which is a scenario or names one (`sweep.scenario`). Keys of
    /// `overrides` that begin with `sweep.` change the sweep, all others the scenario of each point.
    ///
    /// # Errors
    /// If the file cannot be read or is no TOML, has no `[sweep]`, or one with keys or values that cannot be. Scenarios
    /// of points are read when they run: see [`Sweep::load_point`].
    pub fn load(path: &Path, overrides: &[(String, String)]) -> Result<Self, ScenarioError> {
        let text = rocelab_fabric::read_text(path)
            .map_err(|error| ScenarioError::unreadable(path, &error))?;
        Self::parse(&text, path, overrides)
    }

    /// Like [`Sweep::load`], of `text` that stands (or could stand) in the file at `path`.
    ///
    /// # Errors
    /// As [`Sweep::load`].
    pub fn parse(
        text: &str,
        path: &Path,
        overrides: &[(String, String)],
    ) -> Result<Self, ScenarioError> {
        let (of_sweep, overrides): (Vec<_>, Vec<_>) =
            overrides.iter().cloned().partition(|(key, _)| key.starts_with("sweep."));
        let document = Document::new(path, text, &of_sweep);
        let root = document.root()?;
        let reading = Reading::of(&document, root.get_ref())?;
        let (scenario, text) = match reading.scenario()? {
            Some(scenario) => scenario,
            None => (path.to_owned(), text.to_owned()),
        };
        let (axes, keys) = (reading.axes()?, reading.keys()?);
        let count = axes.iter().try_fold(1usize, |all, axis| all.checked_mul(axis.len()));
        if count.is_none_or(|count| count > MAX_POINTS) {
            let fault = Fault::at("sweep", format!("there would be more than {MAX_POINTS} points"));
            return Err(document.report(fault.help("give fewer values, or fewer keys")));
        }
        let points = combinations(&axes);
        let is_swept = |key: &str| {
            let seed = Some("seed").filter(|_| points[0].setting("seed").is_some());
            keys.iter().map(String::as_str).chain(seed).any(|swept| is_within(key, swept))
        };
        if let Some((key, _)) = overrides.iter().find(|(key, _)| is_swept(key)) {
            let document = Document::new(path, "", &overrides);
            let fault = Fault::at(key.clone(), "is swept, so that this value has no effect");
            return Err(document.report(fault.help("change the key in `[sweep]`")));
        }
        drop(root);
        Ok(Self { document, scenario, text, overrides, keys, points })
    }

    /// The file that it was read from.
    pub fn file(&self) -> &Path {
        self.document.file()
    }

    /// The file of the scenario.
    pub fn scenario(&self) -> &Path {
        &self.scenario
    }

    /// The name of the sweep: its file's, without the ending.
    pub fn name(&self) -> String {
        let stem = self.file().file_stem();
        stem.map_or_else(|| "sweep".into(), |stem| stem.to_string_lossy().into_owned())
    }

    /// All keys that points set, in the order of the file; without `seed`.
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// The points, in order.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Reads the scenario with the settings of a point. What is wrong with one of these is told of its place in the
    /// sweep.
    ///
    /// # Errors
    /// As [`Scenario::load`].
    pub fn load_point(&self, point: &Point) -> Result<Scenario, ScenarioError> {
        let overrides = [&self.overrides[..], &point.overrides()].concat();
        let loaded = if reference::is_config(&self.scenario) {
            reference::parse_config(&self.text, &self.scenario, &overrides)
                .map(|loaded| loaded.scenario)
        } else {
            Scenario::parse(&self.text, &self.scenario, &overrides)
        };
        loaded.map_err(|error| self.placed(error, point))
    }

    /// Reads the scenarios of all points. Returns how many have an error.
    ///
    /// # Errors
    /// If all have: the number of the first point, and its error.
    pub fn check(&self) -> Result<usize, (usize, ScenarioError)> {
        let errors = self.points.iter().map(|point| self.load_point(point).err()).enumerate();
        let mut errors = errors.filter_map(|(number, error)| Some((number, error?)));
        let first = errors.next();
        let count = usize::from(first.is_some()) + errors.count();
        match first {
            Some(first) if count == self.points.len() => Err(first),
            _ => Ok(count),
        }
    }

    /// Like [`Planning::plan`] of the scenario of a point, with errors as those of [`Sweep::load_point`].
    ///
    /// # Errors
    /// As [`Planning::plan`].
    pub fn plan_point(&self, point: &Point, scenario: &Scenario) -> Result<Plan, ScenarioError> {
        scenario.plan().map_err(|error| self.placed(error, point))
    }

    /// An error at a setting of a point, told of where the sweep has it.
    fn placed(&self, error: ScenarioError, point: &Point) -> ScenarioError {
        let is_there = |one: &&Setting| {
            *error.text() == format!("{}={}", one.key, one.text) && !error.key().is_empty()
        };
        let found = point.settings.iter().rev().find(is_there);
        let Some(setting) = found.filter(|_| error.file() == Path::new("--set")) else {
            return error;
        };
        let fault = Fault::at(error.key(), error.message()).value(error.value());
        let fault = match error.help() {
            Some(help) => fault.help(help),
            None => fault,
        };
        self.document.report_at(setting.span.clone(), fault)
    }
}
