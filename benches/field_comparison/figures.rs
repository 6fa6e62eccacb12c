//! The figures of the steps.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rocelab_benches::percentile::percentiles;
use rocelab_benches::{repository, text};
use rocelab_results::{Overwrite, ResultsDir, RunInfo};
use rocelab_sim::Planning;
use rocelab_sim::reference;

use crate::Failure;
use crate::steps::{Case, Rules, Step};

/// The figures of a step: means over the seeds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    /// Mean flow completion time in microseconds.
    pub(crate) mean_fct: f64,
    /// The standard deviation of the mean completion time over the seeds.
    pub(crate) deviation: f64,
    /// Mean, median and 99th percentile of the slowdowns. In all steps they are relative to the
    /// nominal times of the profile's run.
    pub(crate) slowdown: [f64; 3],
    /// Number of pauses of ports that were not paused.
    pub(crate) pauses: f64,
}

/// Runs the steps of a case.
pub(crate) fn of(case: &Case, scratch: &Path) -> Result<Vec<Figures>, Failure> {
    let mut nominal = BTreeMap::new();
    let mut all = Vec::new();
    for (index, step) in case.steps.iter().enumerate() {
        eprintln!("{}: {} ...", case.name, step.says);
        let seeds = if step.rules == Rules::Profile { 1 } else { case.seeds };
        let mut runs = Vec::new();
        for seed in 1..=seeds {
            let overrides = overrides(&case.steps[..=index], seed);
            runs.push(Run::of(case, step.rules, &overrides, scratch)?);
        }
        if index == 0 {
            nominal = runs[0].flows.iter().map(|(&flow, times)| (flow, times.ideal)).collect();
        }
        all.push(average(&runs, &nominal)?);
    }
    Ok(all)
}

/// The settings after the last of these steps.
fn overrides(steps: &[Step], seed: u32) -> Vec<(String, String)> {
    let last = steps.len() - 1;
    let holds = |(index, step): &(usize, &Step)| {
        *index == last || (step.rules == steps[last].rules && !step.aside)
    };
    let sets = steps.iter().enumerate().filter(holds).flat_map(|(_, step)| step.sets);
    let mut overrides: Vec<_> =
        sets.map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    overrides.push(("seed".to_owned(), seed.to_string()));
    overrides
}

/// Times of a flow in picoseconds.
#[derive(Clone, Copy, Debug)]
struct Times {
    fct: f64,
    ideal: f64,
}

#[derive(Debug)]
struct Run {
    /// By number.
    flows: BTreeMap<u64, Times>,
    pauses: u64,
}

impl Run {
    fn of(
        case: &Case,
        rules: Rules,
        overrides: &[(String, String)],
        scratch: &Path,
    ) -> Result<Self, Failure> {
        let scenario = match rules {
            Rules::Profile => {
                format!("crates/sim/tests/golden/hpcc-ns3/{}/config.txt", case.name)
            }
            Rules::Native => format!("scenarios/field-comparison/{}.toml", case.name),
        };
        let plan = reference::load(&repository().join(scenario), overrides)?.scenario.plan()?;
        let directory = ResultsDir::create(scratch.join(case.name), Overwrite::Replace)?;
        let outcome = rocelab_sim::run(
            Arc::new(plan),
            (&directory).into(),
            rocelab_sim::Execution::SEQUENTIAL,
            &mut |_| ControlFlow::Continue(()),
        )?;
        let results = directory.finish(&outcome.summary, &RunInfo::default())?;
        let flows = flows(&text(&results.join("flows.csv"))?)?;
        Ok(Self { flows, pauses: outcome.summary.pfc.pauses })
    }
}

/// The times in a `flows.csv`. Every flow must be complete.
fn flows(csv: &str) -> Result<BTreeMap<u64, Times>, Failure> {
    let mut lines = csv.lines();
    let names: Vec<_> = lines.next().unwrap_or_default().split(',').collect();
    let at = |name: &str| {
        names.iter().position(|one| *one == name).ok_or_else(|| format!("no column {name}"))
    };
    let (flow, fct, ideal) = (at("flow")?, at("fct_ps")?, at("ideal_fct_ps")?);
    let mut times = BTreeMap::new();
    for line in lines {
        let fields: Vec<_> = line.split(',').collect();
        let field = |index: usize| fields.get(index).copied().unwrap_or_default();
        let fct = field(fct).parse().map_err(|_| format!("`{line}` did not complete"))?;
        times.insert(field(flow).parse()?, Times { fct, ideal: field(ideal).parse()? });
    }
    Ok(times)
}

fn average(runs: &[Run], nominal: &BTreeMap<u64, f64>) -> Result<Figures, Failure> {
    let mut fcts = Vec::new();
    let mut slowdowns = Vec::new();
    for run in runs {
        fcts.push(mean(run.flows.values().map(|times| times.fct * 1e-6)));
        let slowdown = |(flow, times): (&u64, &Times)| Some(times.fct / nominal.get(flow)?);
        let of_run: Option<Vec<_>> = run.flows.iter().map(slowdown).collect();
        let of_run = of_run.ok_or("the profile's run had other flows")?;
        let average = mean(of_run.iter().copied());
        let [p50, p99] = percentiles(of_run, [50, 99]).ok_or("no flows")?;
        slowdowns.push([average, p50, p99]);
    }
    let mean_fct = mean(fcts.iter().copied());
    let variance = mean(fcts.iter().map(|fct| (fct - mean_fct) * (fct - mean_fct)));
    Ok(Figures {
        mean_fct,
        deviation: variance.sqrt(),
        slowdown: [0, 1, 2].map(|index| mean(slowdowns.iter().map(|of_run| of_run[index]))),
        pauses: mean(runs.iter().map(|run| run.pauses as f64)),
    })
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    sum / f64::from(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_means_over_runs_of_figures_of_a_run() {
        let run = |fcts: [f64; 2], pauses| Run {
            flows: (0..).zip(fcts.map(|fct| Times { fct, ideal: 1.0 })).collect(),
            pauses,
        };
        let nominal = [(0, 1e6), (1, 2e6)].into();
        let runs = [run([3e6, 2e6], 4), run([5e6, 4e6], 5)];
        let figures = average(&runs, &nominal).unwrap();
        // Means 2.5 us and 4.5 us; slowdowns 3, 1 and 5, 2.
        assert_eq!((figures.mean_fct, figures.deviation, figures.pauses), (3.5, 1.0, 4.5));
        assert_eq!(figures.slowdown, [2.75, 1.5, 4.0]);
    }

    #[test]
    fn a_step_keeps_what_steps_before_it_set_but_those_aside() {
        let step = |rules, sets, aside| Step { says: "", rules, sets, aside };
        let steps = [
            step(Rules::Profile, &[("a", "1")], false),
            step(Rules::Native, &[("b", "2")], false),
            step(Rules::Native, &[("c", "3")], true),
            step(Rules::Native, &[("d", "4")], false),
        ];
        let keys = |count| -> String {
            overrides(&steps[..count], 7).iter().map(|(key, _)| &key[..1]).collect()
        };
        assert_eq!([keys(1), keys(2), keys(3), keys(4)], ["as", "bs", "bcs", "bds"]);
    }
}
