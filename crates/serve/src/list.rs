//! The page that lists all runs.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, context};
use rocelab_report::run_facts;
use rocelab_results::RunProgress;
use serde::Serialize;

use crate::folder::{COMPARED, Content, Folder, Run};

const TEMPLATE: &str = include_str!("../assets/list.html");
const STYLE: &str = include_str!("../assets/list.css");
const SCRIPT: &str = include_str!("../assets/list.js");

/// A row of the list.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    /// What a sweep set for the run; empty if it is no point of one.
    set: String,
    /// What the run is and how it went; empty if it cannot be read.
    facts: Vec<String>,
    error: Option<String>,
}

/// A sweep with several points that are complete.
#[derive(Debug, Serialize)]
struct Sweep {
    /// The path of its folder; empty if that is the folder that is served.
    name: String,
    points: usize,
    /// Whether a page can compare them all.
    is_compared: bool,
}

/// The sweeps in the folder, in the order of their points.
fn sweeps(content: &Content) -> Vec<Sweep> {
    let mut found: Vec<Sweep> = Vec::new();
    for name in content.runs.iter().filter_map(Run::sweep) {
        // The runs are sorted by their paths, so the points of a sweep follow each other.
        match found.last_mut().filter(|last| last.name == name) {
            Some(last) => last.points += 1,
            None => found.push(Sweep { name: name.to_owned(), points: 1, is_compared: true }),
        }
    }
    found.retain(|sweep| sweep.points > 1);
    for sweep in &mut found {
        sweep.is_compared = sweep.points <= COMPARED;
    }
    found
}

/// A run that is not complete.
#[derive(Debug, Serialize)]
pub(crate) struct Growing {
    name: String,
    /// `running`, `killed`, or `running elsewhere or killed`.
    state: &'static str,
    /// Share that is done, in percent with one decimal, rounded down; `None` if it is not known.
    percent: Option<String>,
    /// What has happened, in words.
    told: String,
}

/// What changes while the page is open.
#[derive(Debug, Serialize)]
pub(crate) struct State {
    growing: Vec<Growing>,
    /// Number of complete runs: if it changes, the page is loaded again.
    runs: usize,
}

impl State {
    pub(crate) fn of(content: &Content) -> Self {
        let growing = content.growing.iter().map(|(name, growing)| {
            let state = match growing.is_running {
                Some(true) => "running",
                Some(false) => "killed",
                None => "running elsewhere, or killed",
            };
            let progress = growing.progress.as_ref();
            let told = progress.map(|now| {
                let time = rocelab_report::time_text(now.simulated_ps);
                let flows = format!("{} of {} flows", now.flows_ended, now.flows);
                let operations = format!("{} operations", now.operations_ended);
                match (now.flows, now.operations_ended) {
                    (_, 0) => format!("{time} simulated, {flows} ended"),
                    (0, _) => format!("{time} simulated, {operations} ended"),
                    _ => format!("{time} simulated, {flows} and {operations} ended"),
                }
            });
            let checkpoint = growing.checkpoint_ps.map(rocelab_report::time_text);
            let told = told.or(checkpoint.map(|time| format!("checkpoint at {time}")));
            Growing {
                name: name.clone(),
                state,
                percent: progress.and_then(RunProgress::known_share).map(percent),
                told: told.unwrap_or_default(),
            }
        });
        Self { growing: growing.collect(), runs: content.runs.len() }
    }
}

/// A run that goes on is never at 100 %.
fn percent(share: f64) -> String {
    format!("{:.1}", (share * 1000.0).floor() / 10.0)
}

fn row(run: &Run) -> Row {
    let name = run.name.clone();
    match run.results() {
        Ok(results) => {
            let set = results.point_settings().unwrap_or_default();
            Row { name, set, facts: run_facts(results.summary()).to_vec(), error: None }
        }
        Err(error) => Row { name, set: String::new(), facts: Vec::new(), error: Some(error) },
    }
}

/// The page.
pub(crate) fn list_html(folder: &Folder, title: &str) -> String {
    let content = folder.content();
    let state = State::of(&content);
    let rows: Vec<Row> = content.runs.iter().map(row).collect();
    let has_points = rows.iter().any(|row| !row.set.is_empty());
    let mut templates = Environment::new();
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    let page = templates.add_template("list", TEMPLATE).and_then(|()| {
        templates.get_template("list")?.render(context! {
            title,
            rows => Serde(rows),
            has_points,
            sweeps => Serde(sweeps(&content)),
            most => COMPARED,
            growing => Serde(&state.growing),
            runs => state.runs,
            heads => rocelab_report::RUN_FACTS,
            version => env!("CARGO_PKG_VERSION"),
            style => STYLE,
            script => SCRIPT,
        })
    });
    // The template is a part of the program, so an error here is a defect of the program; a test
    // renders it.
    page.unwrap_or_else(|error| format!("<!DOCTYPE html><title>defect</title><p>{error}"))
}
