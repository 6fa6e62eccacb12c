//! `rocelab report`.

use crate::program::Desk;

/// A desk with the results of the small scenario in `results`.
pub(crate) fn desk_with_results() -> Desk {
    let desk = Desk::with_small();
    desk.succeeds(&["run", "small.toml", "--out", "results"]);
    desk
}

#[test]
fn the_page_is_one_file_and_replaced_only_when_asked() {
    let desk = desk_with_results();
    let answer = desk.succeeds(&["report", "results"]);
    assert_eq!(answer, "report: results/report.html\n");
    let page = desk.text("results/report.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    // What a browser would fetch stands in one of these.
    for word in ["<link rel=\"stylesheet\"", "<script src", "@import", "<img"] {
        assert!(!page.contains(word), "{word}");
    }

    let ended = desk.rocelab(&["report", "results"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    let expected = "error: --out = results/report.html: exists; replace it with --force\n";
    assert_eq!(ended.stderr, expected);

    desk.succeeds(&["report", "results", "--force"]);
    assert!(desk.text("results/report.html") == page, "equal results give equal pages");
    let answer = desk.succeeds(&["report", "results", "-o", "page.html"]);
    assert_eq!(answer, "report: page.html\n");
    assert!(desk.text("page.html") == page);
}

#[test]
fn what_is_no_results_directory_is_bad_input() {
    let desk = desk_with_results();
    let ended = desk.rocelab(&["report", "absent"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    let expected =
        "error: absent: no results (no summary.json): name a directory that a run wrote\n";
    assert_eq!(ended.stderr, expected);

    desk.write("results/flows.csv", "flow\nfirst\n");
    let ended = desk.rocelab(&["report", "results"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    assert!(ended.stderr.contains("results/flows.csv"), "{ended:?}");
    assert!(!desk.path("results/report.html").exists());
}

/// `/dev/full` opens and then has no space: the machine fails half-way.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_the_machines_failure() {
    let desk = desk_with_results();
    let ended = desk.rocelab(&["report", "results", "-o", "/dev/full", "--force"]);
    assert_eq!(ended.code, Some(4), "{ended:?}");
    assert!(ended.stderr.starts_with("error: /dev/full: "), "{ended:?}");
}
