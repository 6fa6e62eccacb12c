//! What `docs/transport.md` shows, runs.

use rocelab_sim::Ending;

use crate::support::run;

#[test]
fn the_examples_run() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/transport.md");
    let page = std::fs::read_to_string(path).expect("the page is there");
    let examples: Vec<&str> =
        page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(examples.len(), 2);
    for example in examples {
        let run = run(example);
        assert_eq!(run.ending, Ending::Finished, "{example}");
        if let Some(report) = run.simulation.network().integrity() {
            assert_eq!((report.flows, report.bytes), (1, 1_000_000));
            assert!(report.violations.is_empty());
        }
    }
}
