//! What `docs/faults.md` says is what there is.

use rocelab_sim::Scenario;

use crate::support::{TEN_PACKETS, run};

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/faults.md");
    std::fs::read_to_string(path).expect("the page is there")
}

#[test]
fn the_examples_run() {
    let page = page();
    let examples: Vec<&str> =
        page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!examples.is_empty());
    for example in examples {
        let run = run(&format!("{TEN_PACKETS}{example}"));
        run.assert_complete();
        assert!(!run.faults().is_empty(), "{example}");
    }
}

#[test]
fn every_key_and_action_is_told() {
    let (page, schema) = (page(), Scenario::json_schema());
    let keys = schema["$defs"]["FaultConfig"]["properties"].as_object().expect("keys");
    let verbs = schema["$defs"]["FaultVerb"]["oneOf"].as_array().expect("actions");
    let verbs =
        verbs.iter().map(|verb| format!("**`{}`**", verb["const"].as_str().expect("a name")));
    assert_eq!((keys.len(), verbs.len()), (18, 5));
    for text in keys.keys().map(|key| format!("`{key}`")).chain(verbs) {
        assert!(page.contains(&text), "{text} is not in docs/faults.md");
    }
}
