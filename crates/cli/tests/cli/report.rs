//! `rocelab report`.

use crate::program::Sandbox;

/// A folder with the results of the small scenario in `results`.
pub(crate) fn sandbox_with_results() -> Sandbox {
    let sandbox = Sandbox::with_small();
    sandbox.succeeds(&["run", "small.toml", "--out", "results"]);
    sandbox
}

#[test]
fn the_page_is_one_file_and_replaced_only_when_asked() {
    let sandbox = sandbox_with_results();
    let answer = sandbox.succeeds(&["report", "results"]);
    assert_eq!(answer, "report: results/report.html\n");
    let page = sandbox.text("results/report.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    // A browser would load other files because of one of these.
    for word in ["<link rel=\"stylesheet\"", "<script src", "@import", "<img"] {
        assert!(!page.contains(word), "{word}");
    }

    // A page of ours is replaced; anything else is not, nor what is named.
    sandbox.succeeds(&["report", "results"]);
    assert!(sandbox.text("results/report.html") == page, "equal results give equal pages");
    sandbox.write("results/report.html", "<!DOCTYPE html>mine");
    for (arguments, file) in [
        (&["report", "results"][..], "results/report.html"),
        (&["report", "results", "-o", "results/report.html"], "results/report.html"),
    ] {
        let ended = sandbox.rocelab(arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
        let expected = format!("error: --out = {file}: exists; replace it with --force\n");
        assert_eq!(ended.stderr, expected);
    }

    sandbox.succeeds(&["report", "results", "--force"]);
    assert!(sandbox.text("results/report.html") == page, "equal results give equal pages");
    let answer = sandbox.succeeds(&["report", "results", "-o", "page.html"]);
    assert_eq!(answer, "report: page.html\n");
    assert!(sandbox.text("page.html") == page);
}

/// What was set is told from what holds without being written.
#[test]
fn the_page_tells_the_scenario_from_its_defaults() {
    let sandbox = Sandbox::with_small();
    sandbox.succeeds(&["run", "small.toml", "--out", "results", "--set", "roce.path_mtu=4096"]);
    sandbox.succeeds(&["report", "results"]);
    let page = sandbox.text("results/report.html");
    for row in [
        r#"["roce.path_mtu","4096","1024"]"#,
        r#"["topology.single-switch.hosts","4","must be given"]"#,
        r#"["roce.retry_count","7"]"#,
    ] {
        assert!(page.contains(row), "{row}");
    }
    // It has the default marking of switches, which nobody wrote.
    assert!(page.contains(r#"["switch.ecn.kmin","100KB"]"#));
}

#[test]
fn what_is_no_results_directory_is_bad_input() {
    let sandbox = sandbox_with_results();
    let ended = sandbox.rocelab(&["report", "absent"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    let expected =
        "error: absent: no results (no summary.json): name a directory that a run wrote\n";
    assert_eq!(ended.stderr, expected);

    sandbox.write("results/flows.csv", "flow\nfirst\n");
    let ended = sandbox.rocelab(&["report", "results"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    assert!(ended.stderr.contains("results/flows.csv"), "{ended:?}");
    assert!(!sandbox.path("results/report.html").exists());
}

/// `/dev/full` can be opened, but a write fails: the machine fails during the work.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_the_machines_failure() {
    let sandbox = sandbox_with_results();
    let ended = sandbox.rocelab(&["report", "results", "-o", "/dev/full", "--force"]);
    assert_eq!(ended.code, Some(4), "{ended:?}");
    assert!(ended.stderr.starts_with("error: /dev/full: "), "{ended:?}");
}
