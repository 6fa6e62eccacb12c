//! The part of a run that its results are about.

use rocelab_units::SimTime;

use super::Scenario;
use crate::plan::{MeasurePlan, Plan};
use crate::scenario::{Fault, ensure};

/// The measuring window, which must begin before it ends, and before the run ends.
pub(super) fn build(scenario: &Scenario) -> Result<Option<MeasurePlan>, Fault> {
    let Some(config) = scenario.measure else { return Ok(None) };
    for (key, time) in [("measure.from", Some(config.from)), ("measure.to", config.to)] {
        ensure(time.is_none_or(|time| time <= SimTime::LATEST), || {
            Fault::at(key, "simulated time does not reach it")
                .help(format!("give at most {}", SimTime::LATEST))
        })?;
    }
    ensure(config.to.is_none_or(|to| to > config.from), || {
        Fault::at("measure.to", format!("the window begins at {}", config.from))
            .help("let it end later, or leave it out to measure until the end")
    })?;
    ensure(scenario.stop.is_none_or(|stop| stop > config.from), || {
        let stop = scenario.stop.unwrap_or_default();
        Fault::at("measure.from", format!("the run stops at {stop}"))
            .value(config.from.to_string())
            .help("let the window begin before, or let the run stop later")
    })?;
    Ok(Some(MeasurePlan { from: config.from, to: config.to }))
}

/// A window in which nothing starts.
pub(super) fn nothing_starts(plan: &Plan) -> Option<Fault> {
    let window = plan.measure.filter(|_| plan.apps.is_empty())?;
    let starts = plan.flows.iter().any(|flow| window.counts(flow.start));
    (!starts).then(|| {
        Fault::at("measure", "no flow starts in the measuring window, so that none is counted")
            .value("")
            .help("let it begin earlier or end later")
    })
}
