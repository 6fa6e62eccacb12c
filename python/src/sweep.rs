//! Sweeps.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::prelude::*;
use rocelab_results::Overwrite;
use rocelab_sweep::{Clock, Observed, Points, Status, Sweep, SweepError, combine, write_points};

use crate::clock::{Stopwatch, cpu_of_thread};
use crate::error::{in_words_of_python, of_input, of_scenario, of_sweep};

/// A sweep that was read without an error.
#[pyclass(frozen, module = "rocelab")]
#[derive(Debug)]
pub(crate) struct SweepPlan(Sweep);

#[pymethods]
impl SweepPlan {
    /// Reads a file with `[sweep]`.
    #[staticmethod]
    fn load(path: PathBuf, overrides: Vec<(String, String)>) -> PyResult<Self> {
        Sweep::load(&path, &overrides).map(Self).map_err(|error| of_scenario(&error))
    }

    /// Its name.
    #[getter]
    fn name(&self) -> String {
        self.0.name()
    }

    /// The keys that are set, without `seed`.
    #[getter]
    fn keys(&self) -> Vec<String> {
        self.0.keys().to_vec()
    }

    fn __len__(&self) -> usize {
        self.0.points().len()
    }

    /// Reads the scenarios of all points, and raises the first error if all have one.
    fn check(&self, py: Python<'_>) -> PyResult<usize> {
        py.detach(|| self.0.check()).map_err(|(_, error)| of_scenario(&error))
    }

    /// What is set for a point, by key.
    fn point(&self, number: usize) -> PyResult<Vec<(String, String)>> {
        let point = self.0.points().get(number).ok_or_else(|| self.no_point(number))?;
        let settings = point.settings.iter();
        Ok(settings.map(|one| (one.key.clone(), one.value.to_text())).collect())
    }

    /// Carries out those of the points `numbers` that have no results in `folder`. Returns the number of those that
    /// are done, and why others failed.
    fn carry_out(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        numbers: Vec<usize>,
        threads: Option<usize>,
        replaces: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(usize, Vec<(usize, String)>)> {
        if let Some(&number) = numbers.iter().find(|&&number| number >= self.0.points().len()) {
            return Err(self.no_point(number));
        }
        let watch = Mutex::new(Watch { progress, raised: None });
        let statuses = py.detach(|| {
            let cores = || std::thread::available_parallelism().map_or(1, usize::from);
            let threads = threads.unwrap_or_else(cores);
            let points = Points::new(&self.0, &folder, overwrite(replaces));
            // Signals reach Python's first thread alone, so that one waits and others work.
            std::thread::scope(|scope| {
                let work = scope.spawn(|| {
                    points.carry_out(
                        &numbers,
                        threads,
                        &MachineClock(Stopwatch::start()),
                        &|seen| observed(&watch, seen),
                    )
                });
                while !work.is_finished() {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                    look_for_signals(&watch);
                }
                work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
        });
        let watch = watch.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        watch.raised.map_or(Ok(()), Err)?;
        let done = statuses.iter().filter(|status| matches!(status, Status::Done)).count();
        let failed = numbers.iter().zip(&statuses).filter_map(|(&number, status)| match status {
            Status::Failed(error) => Some((number, in_words_of_python(&error.to_string()))),
            _ => None,
        });
        Ok((done, failed.collect()))
    }

    /// Makes the tables of what is in `folder`. Returns the numbers of the points that are done, why others failed, and
    /// those without results.
    #[expect(clippy::type_complexity, reason = "a tuple of Python")]
    fn collect(
        &self,
        py: Python<'_>,
        folder: PathBuf,
    ) -> PyResult<(Vec<usize>, Vec<(usize, String)>, Vec<usize>)> {
        py.detach(|| {
            let points = Points::new(&self.0, &folder, Overwrite::Refuse);
            let all = 0..self.0.points().len();
            let statuses: Vec<Status> = all.clone().map(|point| points.found(point)).collect();
            std::fs::create_dir_all(&folder)
                .map_err(|error| of_sweep(&SweepError::Machine { path: folder.clone(), error }))?;
            write_points(&points, &statuses).map_err(|error| of_sweep(&error))?;
            let (mut done, mut failed, mut open) = (Vec::new(), Vec::new(), Vec::new());
            for (number, status) in all.zip(&statuses) {
                match status {
                    Status::Done => done.push(number),
                    Status::Failed(error) => {
                        failed.push((number, in_words_of_python(&error.to_string())));
                    }
                    Status::Open => open.push(number),
                }
            }
            combine(&points, &done).map_err(|error| of_sweep(&error))?;
            Ok((done, failed, open))
        })
    }
}

impl SweepPlan {
    fn no_point(&self, number: usize) -> PyErr {
        let count = self.0.points().len();
        of_input(format!("point {number}: the sweep has {count} points, counted from 0"))
    }
}

/// What Python hears of a sweep, and says to it.
struct Watch {
    progress: Option<Py<PyAny>>,
    raised: Option<PyErr>,
}

fn overwrite(replaces: bool) -> Overwrite {
    if replaces { Overwrite::Replace } else { Overwrite::Refuse }
}

/// Tells Python of a point that has ended; breaks off once Python has raised something.
fn observed(watch: &Mutex<Watch>, seen: &Observed<'_>) -> ControlFlow<()> {
    let mut watch = watch.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let (Observed::Ended { point, .. }, Some(progress), None) =
        (seen, &watch.progress, &watch.raised)
    {
        let told = Python::attach(|py| progress.call1(py, (*point,)).map(drop));
        watch.raised = told.err();
    }
    if watch.raised.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Whether the user has interrupted the sweep.
fn look_for_signals(watch: &Mutex<Watch>) {
    if let Err(raised) = Python::attach(|py| py.check_signals()) {
        let mut watch = watch.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        watch.raised.get_or_insert(raised);
    }
}

/// The clocks of this machine.
struct MachineClock(Stopwatch);

impl Clock for MachineClock {
    fn wall_s(&self) -> f64 {
        self.0.seconds()
    }

    fn cpu_s(&self) -> f64 {
        cpu_of_thread()
    }
}
