//! `rocelab report`.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Args;
use rocelab_report::{ScenarioSetting, SettingDefault};
use rocelab_results::{Checkpoints, Results, SCENARIO_TOML};
use rocelab_sim::{DefaultValue, Scenario, Setting};

use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::new_file;
use crate::progress::Stages;

/// Arguments of `rocelab report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// A results directory.
    #[arg(value_name = "RESULTS")]
    path: PathBuf,
    /// Write the page to this file; without it, to report.html in the results directory.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the file if it exists; an earlier report.html in the results is replaced without it.
    #[arg(long)]
    force: bool,
}

/// Writes one HTML file.
pub(crate) fn execute(arguments: &ReportArguments) -> Result<Exit, Failure> {
    let results = open(&arguments.path)?;
    let stages = Stages::of_one(false, "reading results");
    let page = rocelab_report::report_html_with(&results, &settings_of(&arguments.path))?;
    drop(stages);
    let out = arguments.out.clone().unwrap_or_else(|| arguments.path.join("report.html"));
    // Where no other file is named, a page of ours is there to be replaced.
    let replace = arguments.force || arguments.out.is_none() && is_own_page(&out);
    let scenario = scenario_of(&arguments.path);
    let inputs = inputs_of(&arguments.path, scenario.as_ref());
    new_file::write("--out", &out, &page, replace, &inputs)?;
    answer::print(&format!("report: {}\n", out.display()))?;
    Ok(Exit::Done)
}

/// Whether a file is a page that this program made.
fn is_own_page(path: &Path) -> bool {
    let mut beginning = Vec::new();
    let read = File::open(path).and_then(|file| file.take(1024).read_to_end(&mut beginning));
    read.is_ok() && rocelab_report::is_page(&String::from_utf8_lossy(&beginning))
}

/// What the scenario of a results directory says, with its defaults; nothing if it cannot be read.
pub(crate) fn settings_of(results: &Path) -> Vec<ScenarioSetting> {
    let setting = |one: Setting| ScenarioSetting {
        key: one.key,
        value: one.value,
        default: match one.default {
            DefaultValue::Same => SettingDefault::Same,
            DefaultValue::Other(value) => SettingDefault::Other(value),
            DefaultValue::None => SettingDefault::None,
            DefaultValue::Required => SettingDefault::Required,
        },
    };
    let known = rocelab_sim::settings(&results.join(SCENARIO_TOML)).unwrap_or_default();
    known.into_iter().map(setting).collect()
}

/// The scenario in a results directory, if it can be read.
pub(crate) fn scenario_of(results: &Path) -> Option<Scenario> {
    Scenario::load(&results.join(SCENARIO_TOML), &[]).ok()
}

/// The inputs of a page: the results, and the files that their scenario names.
pub(crate) fn inputs_of<'a>(results: &Path, scenario: Option<&'a Scenario>) -> Inputs<'a> {
    let of_scenario = scenario.map(Inputs::of_scenario).unwrap_or_default();
    of_scenario.and(Inputs::of_results(results))
}

/// Opens the results in the directory at `path`.
pub(crate) fn open(path: &Path) -> Result<Results, Failure> {
    if !path.join("summary.json").is_file() {
        let shown = path.display();
        return Err(Failure::Input(if Checkpoints::hold_growing(path) {
            format!(
                "{shown}: the run is not over: `rocelab resume {shown}` goes on with it if it was \
                 broken off"
            )
        } else {
            format!("{shown}: no results (no summary.json): name a directory that a run wrote")
        }));
    }
    Ok(Results::open(path)?)
}
