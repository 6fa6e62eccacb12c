//! Carries points out, each into a results directory of its own.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rocelab_results::{
    Machine, Overwrite, POINT_TXT, Results, ResultsDir, ResultsError, RunInfo, clear_leftovers,
};
use rocelab_scenario::Scenario;
use rocelab_sim::{Ending, Execution, store_scenario};

use crate::{Sweep, SweepError};

/// The clocks of the machine, which simulations must not look at themselves.
pub trait Clock: Sync {
    /// Seconds since some moment.
    fn wall_s(&self) -> f64;
    /// CPU seconds that the calling thread has used.
    fn cpu_s(&self) -> f64;
}

/// What became of a point.
#[derive(Debug)]
pub enum Status {
    /// Its results are in place.
    Done,
    /// It has no results.
    Failed(SweepError),
    /// It has not been carried out, or was broken off.
    Open,
}

/// What is told while points are carried out.
#[derive(Debug)]
pub enum Observed<'a> {
    /// Points go on.
    Running,
    /// One has ended.
    Ended {
        /// Its number.
        point: usize,
        /// What became of it.
        status: &'a Status,
    },
}

/// The points of a sweep, and where their results are.
#[derive(Debug)]
pub struct Points<'s> {
    sweep: &'s Sweep,
    folder: PathBuf,
    overwrite: Overwrite,
}

impl<'s> Points<'s> {
    /// Those of `sweep`, with results below `folder`. Results of other settings that are there are refused, or
    /// replaced.
    pub fn new(sweep: &'s Sweep, folder: &Path, overwrite: Overwrite) -> Self {
        Self { sweep, folder: folder.to_owned(), overwrite }
    }

    /// The sweep.
    pub fn sweep(&self) -> &'s Sweep {
        self.sweep
    }

    /// The folder with all results.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The results directory of a point.
    pub fn directory(&self, point: usize) -> PathBuf {
        self.folder.join("points").join(point.to_string())
    }

    /// Carries out those points of `numbers` that have no results yet, so many at once as there are `threads`.
    /// `observe` is called from any thread, and may break all of them off. Returns what became of each, in their
    /// order.
    pub fn carry_out(
        &self,
        numbers: &[usize],
        threads: usize,
        clock: &dyn Clock,
        observe: &(dyn Fn(&Observed<'_>) -> ControlFlow<()> + Sync),
    ) -> Vec<Status> {
        // Points at once would find each other's new folders in their way. An error shows where one writes.
        let _ = std::fs::create_dir_all(self.folder.join("points"));
        clear_leftovers(&self.directory(0));
        let next = AtomicUsize::new(0);
        let statuses: Vec<Mutex<Status>> =
            numbers.iter().map(|_| Mutex::new(Status::Open)).collect();
        let work = || {
            while let Some((&point, status)) =
                at(numbers, &statuses, next.fetch_add(1, Ordering::Relaxed))
            {
                let ended = self.carry_out_one(point, clock, observe);
                let goes_on = observe(&Observed::Ended { point, status: &ended });
                let is_open = matches!(ended, Status::Open);
                *status.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = ended;
                if is_open || goes_on.is_break() {
                    next.store(numbers.len(), Ordering::Relaxed);
                }
            }
        };
        std::thread::scope(|scope| {
            let others = threads.clamp(1, numbers.len().max(1)) - 1;
            for _ in 0..others {
                // With fewer threads it takes longer.
                let _ = std::thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        statuses
            .into_iter()
            .map(|status| status.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()))
            .collect()
    }

    /// Carries out a point, if it has no results yet.
    fn carry_out_one(
        &self,
        point: usize,
        clock: &dyn Clock,
        observe: &(dyn Fn(&Observed<'_>) -> ControlFlow<()> + Sync),
    ) -> Status {
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let status = match self.run(point, clock, observe) {
                Ok(true) => Status::Done,
                Ok(false) => Status::Open,
                Err(error) => self.failed_unless_done(point, error),
            };
            self.note_failure(point, &status);
            status
        }));
        ended.unwrap_or_else(|panic| {
            let message = panic.downcast_ref::<String>().cloned();
            let message =
                message.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
            Status::Failed(SweepError::Defect { message: message.unwrap_or_default() })
        })
    }

    /// Where a cluster gives a point to two tasks, the first one's results are in the second one's way.
    fn failed_unless_done(&self, point: usize, error: SweepError) -> Status {
        let second = match &error {
            SweepError::Results(ResultsError::Exists { .. }) => None,
            SweepError::Results(ResultsError::NotMoved { partial, .. }) => Some(partial),
            _ => return Status::Failed(error),
        };
        if matches!(self.look_for(point), Ok(Status::Done)) {
            // They are the same. One that cannot be removed is in nobody's way.
            let _ = second.map(std::fs::remove_dir_all);
            return Status::Done;
        }
        Status::Failed(error)
    }

    /// What there is of a point, whoever carried it out.
    pub fn found(&self, point: usize) -> Status {
        match self.look_for(point) {
            Ok(status) => status,
            Err(error) => Status::Failed(error),
        }
    }

    fn look_for(&self, point: usize) -> Result<Status, SweepError> {
        let scenario = self.sweep.load_point(&self.sweep.points()[point])?;
        let settings = self.settings(point, &scenario)?;
        if self.has_results(point, &settings)? {
            return Ok(Status::Done);
        }
        let told = std::fs::read_to_string(self.failure_file(point)).unwrap_or_default();
        // One of other settings says nothing of these.
        Ok(match told.strip_suffix(&settings) {
            Some(message) => {
                let message = message.trim_end().to_owned();
                Status::Failed(SweepError::Earlier { message })
            }
            None => Status::Open,
        })
    }

    /// Why a point failed, for those who put the results of all points together.
    fn note_failure(&self, point: usize, status: &Status) {
        // Whoever carries it out is told in any case: what cannot be noted is no failure of the point.
        let Status::Failed(error) = status else { return };
        let loaded = self.sweep.load_point(&self.sweep.points()[point]);
        let settings = loaded.ok().and_then(|one| self.settings(point, &one).ok());
        let text = format!("{error}\n\n{}", settings.unwrap_or_default());
        let _ = std::fs::write(self.failure_file(point), text);
    }

    /// Beside the point's directory.
    fn failure_file(&self, point: usize) -> PathBuf {
        self.directory(point).with_extension("failed.txt")
    }

    fn has_results(&self, point: usize, settings: &str) -> Result<bool, SweepError> {
        let path = self.directory(point);
        if Results::open(&path).is_err() {
            return Ok(false);
        }
        let found = std::fs::read_to_string(path.join(POINT_TXT)).unwrap_or_default();
        match self.overwrite {
            _ if found == settings => Ok(true),
            Overwrite::Replace => Ok(false),
            Overwrite::Refuse => Err(SweepError::OtherSettings { path }),
        }
    }

    /// What a point's results depend on, but for the files that its scenario names.
    fn settings(&self, point: usize, scenario: &Scenario) -> Result<String, SweepError> {
        let all = &self.sweep.points()[point];
        let path = self.directory(point).join(POINT_TXT);
        let resolved = scenario
            .to_toml()
            .map_err(|error| ResultsError::Encode { path, reason: error.to_string() })?;
        let version = RunInfo::default().version;
        Ok(format!("# rocelab {version}, point {point}: {all}\n{resolved}"))
    }

    /// Runs a point; whether it came to its end.
    fn run(
        &self,
        point: usize,
        clock: &dyn Clock,
        observe: &(dyn Fn(&Observed<'_>) -> ControlFlow<()> + Sync),
    ) -> Result<bool, SweepError> {
        if observe(&Observed::Running).is_break() {
            return Ok(false);
        }
        let scenario = self.sweep.load_point(&self.sweep.points()[point])?;
        let settings = self.settings(point, &scenario)?;
        if self.has_results(point, &settings)? {
            return Ok(true);
        }
        // What was told of an earlier attempt says nothing of this one, should it be killed.
        let _ = std::fs::remove_file(self.failure_file(point));
        let plan = self.sweep.plan_point(&self.sweep.points()[point], &scenario)?;
        let directory = ResultsDir::create(self.directory(point), self.overwrite)?;
        store_scenario(&scenario, &directory)?;
        directory.write_text(POINT_TXT, &settings)?;
        let (wall, cpu) = (clock.wall_s(), clock.cpu_s());
        let execution = Execution::SEQUENTIAL;
        let outcome =
            rocelab_sim::run(Arc::new(plan), (&directory).into(), execution, &mut |_| {
                observe(&Observed::Running)
            })?;
        if outcome.ending == Ending::Interrupted {
            return Ok(false);
        }
        let mut info = RunInfo {
            wall_s: clock.wall_s() - wall,
            cpu_s: clock.cpu_s() - cpu,
            events: outcome.events,
            machine: Machine::current(),
            host: host(),
            congestion_controls: outcome.congestion_controls.clone(),
            ..RunInfo::default()
        };
        info.set_rates(outcome.events, outcome.summary.link_traversals.total);
        directory.finish(&outcome.summary, &info)?;
        Ok(true)
    }
}

/// The `place`th number with its status.
fn at<'a>(
    numbers: &'a [usize],
    statuses: &'a [Mutex<Status>],
    place: usize,
) -> Option<(&'a usize, &'a Mutex<Status>)> {
    numbers.get(place).zip(statuses.get(place))
}

/// The name of this machine, where the operating system tells it.
pub(crate) fn host() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}
