//! Pages as files: equal for equal results, limited in size, clear about what is missing, and made
//! of the files that `assets/README.md` lists.

use std::path::Path;

use rocelab_report::{Comparison, compare_html, report_html};
use rocelab_results::{Millionths, Results, ResultsError};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::example::{self, many};

fn results(folder: &Path, scale: u64) -> Results {
    Results::open(example::write(folder, example::NAME, scale)).unwrap()
}

#[test]
fn equal_results_give_equal_pages() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let page = report_html(&results(one.path(), 1)).unwrap();
    assert!(page == report_html(&results(other.path(), 1)).unwrap());
}

#[test]
fn names_cannot_end_a_script() {
    let folder = tempfile::tempdir().unwrap();
    let results = results(folder.path(), 1);
    for page in [report_html(&results).unwrap(), compare_html(&[results.clone(), results]).unwrap()]
    {
        // Data, library and our own scripts: exactly three, whatever a name contains.
        assert_eq!(page.matches("<script").count(), 3);
        assert_eq!(page.matches("</script").count(), 3);
        assert_eq!(page.matches("<!--").count(), 0);
        let policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                      img-src data: blob:;";
        assert!(page.contains(policy));
    }
}

#[test]
fn a_page_does_not_grow_with_the_run() {
    let (small, large) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let small = report_html(&results(small.path(), 5)).unwrap().len();
    let large = report_html(&results(large.path(), 50)).unwrap().len();
    assert!(large < 3 * small && large < 10_000_000, "{small} and {large} bytes");
}

#[test]
fn what_is_missing_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let results = results(folder.path(), 1);
    std::fs::remove_file(results.path().join("queues.csv")).unwrap();
    let page = report_html(&results).unwrap();
    assert!(page.contains("Queues were not sampled. Put [sample.queues]"));
    // Without the links, there is nothing to draw.
    std::fs::remove_file(results.path().join("links.csv")).unwrap();
    assert!(matches!(report_html(&results), Err(ResultsError::Read { .. })));
}

#[test]
fn how_long_samples_hold_is_not_guessed() {
    let folder = tempfile::tempdir().unwrap();
    let results = results(folder.path(), 1);
    std::fs::remove_file(results.path().join("scenario.resolved.toml")).unwrap();
    let error = report_html(&results).unwrap_err().to_string();
    for word in ["queues.csv", "scenario.resolved.toml", "sample.queues.interval"] {
        assert!(error.contains(word), "{error}");
    }
    // Nothing was sampled, so the scenario's intervals are not read.
    std::fs::write(results.path().join("scenario.resolved.toml"), "no scenario").unwrap();
    let error = report_html(&results).unwrap_err().to_string();
    assert!(error.contains("scenario.resolved.toml"), "{error}");
    std::fs::remove_file(results.path().join("queues.csv")).unwrap();
    assert!(report_html(&results).is_ok());
    assert!(compare_html(&[results.clone(), results]).is_ok());
}

#[test]
fn recorded_causes_and_places_are_taken_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let results = results(folder.path(), 1);
    let write = |name: &str, text: &str| std::fs::write(results.path().join(name), text).unwrap();
    write(
        "pauses.json",
        r#"{"pauses": [
            {"node": "spine-0", "port": 0, "priority": 3, "start_ps": 1, "end_ps": 9, "parent": null},
            {"node": "tor-1", "port": 16, "priority": 3, "start_ps": 2, "end_ps": null, "parent": 0}
        ]}"#,
    );
    let page = report_html(&results).unwrap();
    assert!(page.contains(
        r#""tree":{"recorded":true,"branches":[{"depth":0,"by":"tor-0","port":"spine-0:0""#
    ));
    write("pauses.json", "[]");
    assert!(matches!(report_html(&results), Err(ResultsError::Malformed { .. })));
    write("pauses.json", r#"{"pauses": []}"#);
    write("topology.json", r#"{"nodes": [{"name": "tor-0", "kind": "tower"}]}"#);
    let error = report_html(&results).unwrap_err().to_string();
    assert!(error.contains("topology.json") && error.contains("tower"), "{error}");
}

/// The rows of a table of a page.
fn rows(page: &str, table: &str) -> Vec<Vec<Value>> {
    let start = "<script type=\"application/json\" id=\"data\">";
    let data = page.split(start).nth(1).and_then(|rest| rest.split("</script>").next());
    let data: Value = serde_json::from_str(data.unwrap()).unwrap();
    let tables = data["tables"].as_array().unwrap();
    let table = tables.iter().find(|one| one["id"] == table).unwrap();
    serde_json::from_value(table["rows"].clone()).unwrap()
}

#[test]
fn pauses_in_a_deadlock_have_no_other_root() {
    let folder = tempfile::tempdir().unwrap();
    let results = results(folder.path(), 1);
    let causes = |deadlock: &str| {
        format!(
            r#"{{"pauses": [
            {{"node": "tor-0", "port": 16, "priority": 3, "start_ps": 1, "end_ps": null, "parent": null,
              "waits_for": "spine-0:1"{deadlock}}},
            {{"node": "host-3", "port": 0, "priority": 3, "start_ps": 2, "end_ps": null, "parent": 0,
              "waits_for": "tor-0:16"{deadlock}}}
        ]}}"#
        )
    };
    for (deadlock, root) in [("", "spine-0:1"), (", \"deadlock\": 4", "deadlock 4")] {
        std::fs::write(results.path().join("pauses.json"), causes(deadlock)).unwrap();
        let page = report_html(&results).unwrap();
        let victims = rows(&page, "victims");
        assert!(victims.len() > 10 && victims.iter().all(|row| row[7] == root), "{victims:?}");
        let pauses = rows(&page, "pauses");
        assert!(pauses.len() == 2 && pauses.iter().all(|row| row[7] == root), "{pauses:?}");
        let drawn = page.contains(r#""branches":[{"depth":0,"deadlock":4,"#);
        assert_eq!(drawn, !deadlock.is_empty());
    }
}

#[test]
fn runs_are_compared_to_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let runs =
        [1, 2].map(|scale| Results::open(example::write(folder.path(), "same", scale)).unwrap());
    let comparison = Comparison::of(&runs);
    // Both have the same scenario, so the names of the directories are used.
    assert_eq!(comparison.runs, ["results-1", "results-2"]);
    let pauses = comparison.figures.iter().find(|figure| figure.name == "Pauses").unwrap();
    assert_eq!(pauses.ratios, [Some(Millionths::ONE), Some(Millionths(2_000_000))]);
    let table = comparison.table();
    let line = table.lines().find(|line| line.starts_with("Pauses")).unwrap();
    assert!(line.ends_with("3,900  x2.00"), "{line}");
    // All lines of the table have the same length.
    assert!(table.lines().all(|one| one.chars().count() == line.chars().count()), "{table}");
}

#[test]
fn a_comparison_says_which_run_was_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let runs = [1, 2].map(|scale| example::write(folder.path(), "same", scale));
    let summary = runs[1].join("summary.json");
    let text = std::fs::read_to_string(&summary).unwrap();
    let interrupted = text.replace("\"incomplete\": false", "\"incomplete\": true");
    assert_ne!(text, interrupted);
    std::fs::write(&summary, interrupted).unwrap();
    let comparison = Comparison::of(&runs.map(|path| Results::open(path).unwrap()));
    let simulated = &comparison.figures[0];
    assert_eq!(simulated.name, "Simulated");
    let is_said = |text: &String| text.ends_with(", INTERRUPTED");
    assert_eq!(simulated.texts.iter().map(is_said).collect::<Vec<_>>(), [false, true]);
    assert_eq!(comparison.incomplete, [false, true]);
}

/// How many settings are told to be left out is how many are in no name of a group.
#[test]
fn settings_that_are_left_out_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let results = many::sweep(folder.path());
    assert!(!Comparison::of(&results).table().contains("more setting"));
    for (number, run) in results.iter().enumerate() {
        let path = run.path().join("scenario.resolved.toml");
        let mut text = std::fs::read_to_string(&path).unwrap();
        // They follow from the algorithm, and so tell nothing apart.
        let algorithm = number / 5 % 3;
        text += "[switch]\n";
        text.extend((0..23).map(|key| format!("key_{key} = {algorithm}\n")));
        if algorithm == 0 {
            text += "[tcp]\nmss = 1460\n";
        }
        std::fs::write(&path, text).unwrap();
    }
    let comparison = Comparison::of(&results);
    let named_by: Vec<&str> = comparison.named_by.iter().map(String::as_str).collect();
    assert_eq!(named_by, ["congestion_control", "workload.poisson.load"]);
    assert!(comparison.table().contains("\n24 more settings differ; --json has all\n"));
    // What has only one value follows from something else, and is last.
    assert_eq!(comparison.settings.last().unwrap().key, "tcp.mss");
    // Side by side, 20 are listed.
    let two = Comparison::of(&[results[0].clone(), results[5].clone()]);
    assert!(two.table().contains("\n5 more settings differ"), "{}", two.table());
}

/// A run that is there twice takes only its own group's name away, and runs that are no points are groups of their own.
#[test]
fn twins_are_told_apart_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let mut results = many::sweep(folder.path());
    let copy = folder.path().join("copy");
    std::fs::create_dir(&copy).unwrap();
    for file in std::fs::read_dir(results[0].path()).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), copy.join(file.file_name())).unwrap();
    }
    results.insert(0, Results::open(&copy).unwrap());
    let comparison = Comparison::of(&results);
    let groups: Vec<_> = comparison.groups.iter().map(|one| (&*one.name, one.runs.len())).collect();
    assert_eq!(groups.len(), 10);
    let first = [("dcqcn, load 0.3 (copy)", 1), ("dcqcn, load 0.3 (0)", 5), ("hpcc, load 0.3", 5)];
    assert_eq!(groups[..3], first);
    // The same directory twice.
    let twice = [results[1].clone(), results[1].clone(), results[2].clone()];
    let names = Comparison::of(&twice).runs;
    assert!(names[1] == format!("{} (2)", names[0]) && names[2] == "1", "{names:?}");
}

#[test]
fn vendored_files_are_those_that_are_written_down() {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let readme = std::fs::read_to_string(assets.join("README.md")).unwrap();
    let mut checked = 0;
    for entry in std::fs::read_dir(assets.join("uplot")).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("`uplot/{}`", path.file_name().unwrap().to_str().unwrap());
        let hash: String = Sha256::digest(std::fs::read(&path).unwrap())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let row = readme.lines().find(|line| line.starts_with(&format!("| {name}")));
        assert!(row.is_some_and(|row| row.contains(&hash)), "{name}: {hash}");
        checked += 1;
    }
    assert_eq!(checked, 3);
}
