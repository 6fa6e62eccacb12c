//! What the summary says of rules, also of those that never matched.

use std::ops::ControlFlow;

use rocelab_results::{FaultRuleCounts, Overwrite, ResultsDir, Summary};

use crate::support::{TEN_PACKETS, new_folder, plan, rule};

fn summary(text: &str) -> Summary {
    let folder = new_folder();
    let directory =
        ResultsDir::create(folder.join("run"), Overwrite::Refuse).expect("a new folder");
    let outcome = rocelab_sim::run(
        plan(text).into(),
        (&directory).into(),
        rocelab_sim::Execution::SEQUENTIAL,
        &mut |_| ControlFlow::Continue(()),
    );
    drop(directory);
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
    outcome.expect("a run").summary
}

#[test]
fn every_rule_is_told() {
    let rules = [
        rule("action = \"duplicate\"\nnth = 2"),
        rule("action = \"drop\"\nopcode = \"CNP\"\nname = \"lost CNPs\""),
    ];
    let summary = summary(&format!("{TEN_PACKETS}{}", rules.concat()));
    let expected = [("faults[0]", "duplicate", 10, 1), ("lost CNPs", "drop", 0, 0)].map(
        |(rule, action, matched, acted)| FaultRuleCounts {
            rule: rule.into(),
            action: action.into(),
            matched,
            acted,
        },
    );
    assert_eq!(summary.faults, expected);
    let json = serde_json::to_value(&summary).expect("a summary is JSON");
    assert_eq!(json["faults"][1]["acted"], 0);
}

#[test]
fn without_rules_nothing_is_told() {
    let summary = summary(TEN_PACKETS);
    assert!(summary.faults.is_empty());
    let json = serde_json::to_value(&summary).expect("a summary is JSON");
    assert!(json.get("faults").is_none());
}

#[test]
fn the_results_name_the_rule_of_every_drop() {
    let folder = new_folder();
    let rules = "[[faults]]\nname = \"first link\"\naction = \"drop\"\nfrom = \"host-0\"\nnth = 2\n\
                 [[faults]]\naction = \"corrupt\"\nto = \"host-1\"\nnth = 5\n";
    let plan = plan(&format!("{TEN_PACKETS}{rules}"));
    let directory = ResultsDir::create(folder.join("run"), Overwrite::Refuse)
        .expect("the folder takes folders");
    let outcome = rocelab_sim::run(
        plan.into(),
        (&directory).into(),
        rocelab_sim::Execution::SEQUENTIAL,
        &mut |_| ControlFlow::Continue(()),
    )
    .expect("a run");
    let drops = std::fs::read_to_string(directory.working_path().join("drops.csv")).expect("drops");
    let reasons: Vec<_> = drops
        .lines()
        .skip(1)
        .map(|line| line.rsplitn(3, ',').take(2).collect::<Vec<_>>())
        .collect();
    assert_eq!(reasons, [["first link", "fault"], ["", "icrc"]], "{drops}");
    assert_eq!(outcome.summary.drops.total, 2);
    assert_eq!(outcome.summary.drops.by_reason["fault"], 1);
    assert_eq!(outcome.summary.drops.by_reason["icrc"], 1);
    drop(directory);
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
}
