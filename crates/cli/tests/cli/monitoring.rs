//! A mesh of pings, as users see it.

use crate::program::{Sandbox, repository_argument};

/// Runs the shipped scenario of a mesh into `results`.
fn mesh() -> (Sandbox, String) {
    let sandbox = Sandbox::new();
    let scenario = repository_argument("scenarios/monitoring.toml");
    let kept = ["--checkpoint-every", "500us", "--keep-checkpoints"];
    let arguments = [&["run", &scenario, "--out", "results"][..], &kept].concat();
    let told = sandbox.succeeds(&arguments);
    (sandbox, told)
}

#[test]
fn the_mesh_sees_a_slow_host_and_a_link_that_swallows() {
    let (sandbox, told) = mesh();
    let summary = sandbox.json("results/summary.json");
    let mesh = &summary["monitoring"];
    assert_eq!(mesh["pairs"], 16 * (3 + 3));
    let number = |key: &str| mesh[key].as_u64().expect(key);
    assert_eq!(number("answered") + number("lost") + number("undecided"), number("sent"));
    assert!(number("undecided") > 0 && told.contains(" not decided"), "{told}");
    let most = &mesh["most_lost"];
    let decided = most["sent"].as_u64().unwrap() - most["undecided"].as_u64().unwrap();
    assert!(told.contains(&format!(", {} of {decided}\n", most["lost"])), "{told}");
    assert!(number("lost") > 20, "{mesh}");
    assert_eq!(mesh["round_trip_ps"]["values"], number("answered"));
    // Host 6 wakes its programs 40 us late, be it as the one that pings or the one that answers.
    let slowest = [&mesh["slowest"]["source"], &mesh["slowest"]["destination"]];
    assert!(slowest.iter().any(|host| *host == "host-6"), "{mesh}");
    for line in ["Pings ", " answered, ", "round trip p50 ", "most lost: ", "slowest: "] {
        assert!(told.contains(line), "{line} in {told}");
    }
    // No switch has dropped anything, and nobody was paused.
    assert_eq!(summary["drops"]["total"], summary["drops"]["fault"]);
    assert_eq!(summary["pfc"]["pauses"], 0);

    let (columns, rows) = sandbox.csv("results/monitoring.csv");
    assert_eq!(
        columns,
        [
            "window_ps",
            "source",
            "destination",
            "sent",
            "answered",
            "lost",
            "min_ps",
            "p50_ps",
            "p99_ps",
            "max_ps"
        ]
    );
    // 96 pairs in four windows of 500 us, and the pings at 2 ms.
    assert!((96 * 4..=96 * 5).contains(&rows.len()), "{}", rows.len());
    let of = |row: &[String], name: &str| {
        let place = columns.iter().position(|column| column == name).expect(name);
        row[place].parse::<u64>().ok()
    };
    let sum = |name: &str| rows.iter().filter_map(|row| of(row, name)).sum::<u64>();
    assert_eq!(
        [sum("sent"), sum("answered"), sum("lost")],
        ["sent", "answered", "lost"].map(number)
    );
    for row in &rows {
        let is_slow = row[1] == "host-6" || row[2] == "host-6";
        if let Some(median) = of(row, "p50_ps") {
            assert_eq!(median > 40_000_000, is_slow, "{row:?}");
        }
        // The fourth rack is behind the link, which pings and answers cross.
        let behind = |host: &str| ["host-12", "host-13", "host-14", "host-15"].contains(&host);
        if behind(&row[1]) == behind(&row[2]) {
            assert_eq!(of(row, "lost"), Some(0), "{row:?}");
        }
    }
}

#[test]
fn it_goes_on_from_a_checkpoint_and_in_parts() {
    let (sandbox, _) = mesh();
    let again = ["--out", "branch", "--set", "convergence=0s", "--quiet"];
    sandbox.succeeds(&[&["branch", "results", "--at", "1ms"][..], &again].concat());
    let scenario = repository_argument("scenarios/monitoring.toml");
    for parts in ["2", "4"] {
        let cut = ["--out", parts, "--partitions", parts, "--threads", "2", "--quiet"];
        sandbox.succeeds(&[&["run", &scenario][..], &cut].concat());
    }
    for folder in ["branch", "2", "4"] {
        for file in ["monitoring.csv", "flows.csv", "links.csv"] {
            let (one, other) = (format!("results/{file}"), format!("{folder}/{file}"));
            assert!(sandbox.text(&one) == sandbox.text(&other), "{other}");
        }
        let digest =
            |folder: &str| sandbox.json(&format!("{folder}/summary.json"))["digest"].clone();
        assert_eq!(digest("results"), digest(folder), "{folder}");
    }
}

#[test]
fn the_report_has_a_map_of_pairs_and_other_reports_have_none() {
    let (sandbox, _) = mesh();
    sandbox.succeeds(&["report", "results"]);
    let page = sandbox.text("results/report.html");
    assert!(page.contains("\"mesh\":{\"sources\":[\"host-0\""), "the data of the map");
    assert!(page.contains("monitoring.csv"), "the table");
    let other = Sandbox::with_small();
    let told = other.succeeds(&["run", "small.toml", "--out", "results"]);
    assert!(!told.contains("Pings"), "{told}");
    other.succeeds(&["report", "results"]);
    assert!(!other.text("results/report.html").contains("\"mesh\":"));
    assert!(!other.path("results/monitoring.csv").exists());
}

#[test]
fn explain_tells_of_flows_among_pings() {
    let (sandbox, _) = mesh();
    let told = sandbox.succeeds(&["explain", "results", "--flow", "0"]);
    assert!(told.contains("flow 0"), "{told}");
}
