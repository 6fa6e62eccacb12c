//! The progress bar.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rocelab_results::{ResultsDir, RunProgress};
use rocelab_sim::Progress;
use rocelab_units::SimTime;

/// Shows the progress of a run; shows nothing if standard error is not a terminal.
#[derive(Debug)]
pub(crate) struct Bar {
    bar: ProgressBar,
    started: Stopwatch,
}

/// Wall-clock time. Only the command line may use it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

/// The machine's clock.
#[expect(clippy::disallowed_types, reason = "the command line measures the machine's time")]
type Instant = std::time::Instant;

impl Stopwatch {
    /// Starts now.
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// Time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Tells others how far a run is, at most once a second: `rocelab serve` shows it.
#[derive(Debug)]
pub(crate) struct Told<'d> {
    directory: &'d ResultsDir,
    last: Stopwatch,
}

impl<'d> Told<'d> {
    /// Tells it in the folder in which the results grow, first in a second.
    pub(crate) fn new(directory: &'d ResultsDir) -> Self {
        Self { directory, last: Stopwatch::start() }
    }

    /// Tells `progress`, unless it did within the last second.
    pub(crate) fn tell(&mut self, progress: &Progress) {
        if self.last.elapsed() < Duration::from_secs(1) {
            return;
        }
        self.last = Stopwatch::start();
        let told = RunProgress {
            simulated_ps: progress.now.ps(),
            stop_ps: progress.stop.map(SimTime::ps),
            flows_ended: progress.flows_ended.into(),
            flows: progress.flows as u64,
            operations_ended: progress.operations_ended,
            share: progress.fraction(),
        };
        // A run does not end because others cannot be told of it.
        let _ = self.directory.tell_progress(&told);
    }
}

/// Steps of the bar.
const STEPS: u64 = 1000;

impl Bar {
    /// A bar, hidden if `quiet` or if standard error is not a terminal.
    pub(crate) fn new(quiet: bool) -> Self {
        let bar = bar(quiet, STEPS, "{bar:30} {msg}");
        Self { bar, started: Stopwatch::start() }
    }

    /// Shows `progress`.
    pub(crate) fn show(&self, progress: &Progress) {
        if self.bar.is_hidden() {
            return;
        }
        let elapsed = self.started.elapsed().as_secs_f64();
        let done = progress.fraction();
        let left = if done > 0.0 { elapsed / done - elapsed } else { f64::NAN };
        let eta = if left.is_finite() { format!("{left:.0}s left") } else { "?".into() };
        self.bar.set_message(format!(
            "{}  {}  {:.1}M packets/s  {eta}",
            simulated(progress.now, progress.stop),
            ended(progress),
            progress.traversals as f64 / elapsed / 1e6,
        ));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
        self.bar.set_position((done * STEPS as f64) as u64);
    }

    /// Removes the bar.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// A bar of so many steps that looks like this, hidden if `quiet` or if standard error is not a terminal.
pub(crate) fn bar(quiet: bool, steps: u64, template: &str) -> ProgressBar {
    let visible = !quiet && std::io::stderr().is_terminal();
    let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(steps), target);
    let style = ProgressStyle::with_template(template);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

/// Shows the name and duration of work whose progress cannot be measured; shows nothing if standard
/// error is not a terminal. Dropping it removes the display.
#[derive(Debug)]
pub(crate) struct Stages {
    bar: ProgressBar,
}

impl Stages {
    /// A number of stages, hidden if `quiet` or if standard error is not a terminal.
    pub(crate) fn new(quiet: bool, count: u64) -> Self {
        let bar = Bar::new(quiet).bar;
        bar.set_length(count);
        let style = ProgressStyle::with_template("{spinner} {bar:30} {msg}  {elapsed}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Self { bar }
    }

    /// Starts the next stage; `number` stages are complete.
    pub(crate) fn begin(&self, number: u64, what: &'static str) {
        self.bar.set_position(number);
        self.bar.set_message(what);
    }

    /// A single stage.
    pub(crate) fn of_one(quiet: bool, what: &'static str) -> Self {
        let stages = Self::new(quiet, 1);
        stages.begin(0, what);
        stages
    }
}

impl Drop for Stages {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Simulated time, of that at which the run ends at the latest: `1.2 ms of 10 ms`.
fn simulated(now: SimTime, stop: Option<SimTime>) -> String {
    match stop {
        Some(stop) => format!("{} of {}", rounded(now), rounded(stop)),
        None => rounded(now),
    }
}

/// A time with at most one decimal, in the largest unit of which there is one.
fn rounded(time: SimTime) -> String {
    const UNITS: [(u64, &str); 4] =
        [(1_000_000_000_000, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1_000, "ns")];
    let ps = time.ps();
    let unit = UNITS.into_iter().find(|(scale, _)| ps >= *scale);
    let (scale, name) = unit.unwrap_or((1, "ps"));
    // Downwards: a run is not at its end before its end.
    let tenths = u128::from(ps) * 10 / u128::from(scale);
    match tenths % 10 {
        0 => format!("{} {name}", tenths / 10),
        tenth => format!("{}.{tenth} {name}", tenths / 10),
    }
}

/// The numbers of flows and operations that have ended.
fn ended(progress: &Progress) -> String {
    let flows = format!("{}/{} flows", progress.flows_ended, progress.flows);
    let operations = format!("{} operations", progress.operations_ended);
    match (progress.flows, progress.operations_ended) {
        (_, 0) => flows,
        (0, _) => operations,
        _ => format!("{flows}, {operations}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simulated_time_is_told_in_a_unit_that_fits() {
        let told =
            |ps, stop: Option<u64>| simulated(SimTime::from_ps(ps), stop.map(SimTime::from_ps));
        assert_eq!(told(1_234_567_890, Some(10_000_000_000)), "1.2 ms of 10 ms");
        assert_eq!(told(999_999, Some(50_000_000_000)), "999.9 ns of 50 ms");
        assert_eq!(told(9_999_999_999, Some(10_000_000_000)), "9.9 ms of 10 ms");
        assert_eq!(told(2_010_000_000_000, None), "2 s");
        assert_eq!(told(0, None), "0 ps");
    }
}
