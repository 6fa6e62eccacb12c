//! The root cause of pauses is the same in every output that names it.

use serde_json::{Value, json};

use crate::program::Sandbox;

/// host-2 requests pauses without end, and both flows share the path to its leaf: flow 1, which
/// goes to host-3, is only held up. Frames of both cross thresholds; those of flow 0 fill the
/// memory.
const STORM: &str = r#"stop = "1ms"
[topology.leaf-spine]
leaves = 2
spines = 1
hosts_per_leaf = 2
host_link = { rate = "40Gbps", cable = "3m" }
fabric_link = { rate = "40Gbps", cable = "3m" }
[switch]
buffer = "2MB"
[congestion_control.none]
[[failure]]
kind = "pause-storm"
host = "host-2"
at = "100us"
lasts = "500us"
[workload.flows]
list = [
    { from = "host-0", to = "host-2", bytes = "2MB" },
    { from = "host-1", to = "host-3", bytes = "2MB" },
]
"#;

/// The results of the storm, with links of this rate (Gbit/s) between switches.
fn storm(fabric_link: u32) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("storm.toml", STORM);
    let rate = format!("topology.leaf-spine.fabric_link.rate={fabric_link}Gbps");
    sandbox.rocelab(&["run", "storm.toml", "--set", &rate, "--out", "results", "--quiet"]);
    sandbox
}

/// The ports that were paused for most of the storm, with the root in `pauses.json`.
fn held_up(sandbox: &Sandbox) -> Vec<(String, String)> {
    let causes = sandbox.json("results/pauses.json");
    let pauses = causes["pauses"].as_array().expect("pauses");
    let time = |pause: &Value, end: &str| pause[end].as_u64().unwrap_or(1_000_000_000);
    let long =
        pauses.iter().filter(|one| time(one, "end_ps") - time(one, "start_ps") > 300_000_000);
    long.map(|pause| {
        let mut first = pause;
        while let Some(parent) = first["parent"].as_u64() {
            first = &pauses[usize::try_from(parent).expect("a place in the list")];
        }
        let node = pause["node"].as_str().expect("a name").to_owned();
        (node, first["waits_for"].as_str().expect("a place").to_owned())
    })
    .collect()
}

fn explained(sandbox: &Sandbox) -> Value {
    let answer = sandbox.succeeds(&["explain", "results", "--json"]);
    serde_json::from_str(&answer).expect("JSON")
}

/// The report's tree: depth, who requested the pause, and the paused port.
fn drawn(sandbox: &Sandbox) -> Vec<(u64, String, String)> {
    sandbox.succeeds(&["report", "results", "-o", "page.html"]);
    let page = sandbox.text("page.html");
    let start = "<script type=\"application/json\" id=\"data\">";
    let data = page.split(start).nth(1).and_then(|rest| rest.split("</script>").next());
    let data: Value = serde_json::from_str(data.expect("data")).expect("JSON");
    let branches = data["tree"]["branches"].as_array().expect("branches").clone();
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let branch =
        |one: &Value| (one["depth"].as_u64().expect("depth"), text(&one["by"]), text(&one["port"]));
    branches.iter().map(branch).collect()
}

fn branch(depth: u64, by: &str, port: &str) -> (u64, String, String) {
    (depth, by.to_owned(), port.to_owned())
}

#[test]
fn a_storm_is_the_root_of_all_that_it_holds_up() {
    let sandbox = storm(100);
    let nodes = ["leaf-1", "spine-0", "leaf-0", "host-0", "host-1"];
    let expected = nodes.map(|node| (node.to_owned(), "host-2".to_owned()));
    assert_eq!(held_up(&sandbox), expected);

    let answer = explained(&sandbox);
    let root = &answer["roots"][0];
    assert_eq!((&root["place"], &root["pauses"]), (&json!("host-2"), &json!(5)), "{answer:#}");
    for pause in &answer["longest"].as_array().expect("pauses")[..5] {
        assert_eq!(pause["root"], "host-2", "{answer:#}");
    }
    let [victim] = answer["victims"].as_array().expect("victims").as_slice() else {
        panic!("{answer:#}")
    };
    assert_eq!((&victim["flow"], &victim["root"]), (&json!(1), &json!("host-2")));

    let tree = [
        branch(0, "host-2", "leaf-1:0"),
        branch(1, "leaf-1", "spine-0:1"),
        branch(2, "spine-0", "leaf-0:2"),
        branch(3, "leaf-0", "host-1:0"),
        branch(3, "leaf-0", "host-0:0"),
    ];
    assert_eq!(drawn(&sandbox)[..5], tree);
}

/// Two hosts overload their leaf's uplink: it pauses them before the storm comes, and once more
/// just before it is paused itself. That is the leaf's own congestion; pauses of switches have
/// another cause.
#[test]
fn congestion_beside_a_storm_is_told_from_it() {
    let sandbox = storm(40);
    let expected = [
        ("leaf-1", "host-2"),
        ("spine-0", "host-2"),
        ("host-1", "leaf-0:2"),
        ("host-0", "leaf-0:2"),
        ("leaf-0", "host-2"),
    ];
    assert_eq!(held_up(&sandbox), expected.map(|(node, root)| (node.to_owned(), root.to_owned())));
    let answer = explained(&sandbox);
    let places = answer["roots"].as_array().expect("roots").iter().map(|root| &root["place"]);
    assert_eq!(places.collect::<Vec<_>>(), ["leaf-0:2", "host-2"], "{answer:#}");
    let [victim] = answer["victims"].as_array().expect("victims").as_slice() else {
        panic!("{answer:#}")
    };
    assert_eq!((&victim["flow"], &victim["root"]), (&json!(1), &json!("host-2")));
    let stem = [branch(0, "host-2", "leaf-1:0"), branch(1, "leaf-1", "spine-0:1")];
    assert!(drawn(&sandbox).windows(2).any(|both| both == stem));
}
