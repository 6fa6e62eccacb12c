//! What is wrong with a plan, and where.

use crate::sweep;

/// The plan, the place of the error (line and column of the plan), and parts of its message.
const WRONG: [(&str, &str, &[&str]); 30] = [
    ("", "1:1", &["no `[sweep]`", "[sweep.grid]"]),
    ("[sweep]\n", "7:1", &["sweep", "nothing is swept", "seeds"]),
    ("[sweep]\nseed = 3\n", "8:1", &["sweep.seed", "no key `seed`", "`seeds`"]),
    ("[sweep]\nseeds = 0\n", "8:9", &["sweep.seeds = 0", "whole number from 1"]),
    ("[sweep]\nseeds = 9223372036854775807\n", "8:9", &["sweep.seeds", "from 1 to 1000000"]),
    (
        "[sweep.random]\ndraws = 1000000000000\nkeys = { stop = [\"1ms\"] }\n",
        "8:9",
        &["sweep.random.draws = 1000000000000", "from 1 to 1000000"],
    ),
    (
        "[sweep.random]\ndraws = 2\nkeys = { a = { from = nan, to = 1.0 } }\n",
        "9:23",
        &["sweep.random.keys.a.from = nan", "no number"],
    ),
    (
        "[sweep.random]\ndraws = 2\nkeys = { a = { from = 0.0, to = inf } }\n",
        "9:33",
        &["sweep.random.keys.a.to = inf", "no number"],
    ),
    (
        "[[sweep.points]]\ncongestion_control.hpcc.eta = 0.9\n[sweep.grid]\ncongestion_control = [\"dcqcn\"]\n",
        "10:1",
        &["congestion_control", "in two places", "take it out"],
    ),
    (
        "[sweep.grid]\nworkload.incast.senders = [1]\n\"workload.incast[0]\" = [{}]\n",
        "9:1",
        &["workload.incast[0]", "a part of another key"],
    ),
    ("[sweep]\nseeds = \"3\"\n", "8:9", &["sweep.seeds = \"3\"", "whole number"]),
    ("[sweep]\nseeds = []\n", "8:9", &["sweep.seeds = []", "empty"]),
    ("[sweep]\nseeds = [1, -2]\n", "8:13", &["sweep.seeds = -2", "from 0"]),
    (
        "[sweep]\nscenario = \"x.toml\"\nseeds = 2\n",
        "1:2",
        &["topology", "another file", "leave `sweep.scenario` out"],
    ),
    ("[sweep]\ngrid = 3\n", "8:8", &["sweep.grid = 3", "a table", "[sweep.grid]"]),
    ("[sweep.grid]\n", "7:1", &["sweep.grid", "no key is swept"]),
    (
        "[sweep.grid]\n\"switch.alpha\" = \"1/4\"\n",
        "8:18",
        &["sweep.grid.switch.alpha = \"1/4\"", "a list of values"],
    ),
    ("[sweep.grid]\nswitch.alpha = []\n", "8:16", &["sweep.grid.switch.alpha = []", "empty"]),
    ("[sweep.zip]\nstop = [1]\n", "7:1", &["sweep.zip", "a list of tables", "[[sweep.zip]]"]),
    (
        "[[sweep.zip]]\nstop = [\"1ms\"]\nseed = [1, 2]\n",
        "9:8",
        &["sweep.zip[0].seed", "has 2 values", "first list of this table 1"],
    ),
    (
        "[[sweep.points]]\nstop = \"1ms\"\n[sweep.grid]\nstop = [\"1ms\"]\n",
        "10:1",
        &["stop", "swept in two places"],
    ),
    ("[sweep]\nseeds = 2\n[sweep.grid]\nseed = [3]\n", "8:9", &["seed", "swept in two places"]),
    ("[sweep.random]\nkeys = { stop = [\"1ms\"] }\n", "7:1", &["sweep.random.draws", "missing"]),
    ("[sweep.random]\ndraws = 2\n", "7:1", &["sweep.random.keys", "no key is swept"]),
    (
        "[sweep.random]\ndraws = 2\nkey = {}\n",
        "9:1",
        &["sweep.random.key", "no key `key`", "`keys`"],
    ),
    (
        "[sweep.random]\ndraws = 2\nkeys = { stop = \"1ms\" }\n",
        "9:17",
        &["sweep.random.keys.stop", "a range or a list"],
    ),
    (
        "[sweep.random]\ndraws = 2\nkeys = { stop = { from = \"1ms\" } }\n",
        "9:17",
        &["`to` is missing"],
    ),
    (
        "[sweep.random]\ndraws = 2\nkeys = { stop = { from = \"2ms\", to = \"1us\" } }\n",
        "9:17",
        &["different units"],
    ),
    (
        "[sweep.random]\ndraws = 2\nkeys = { stop = { from = \"2ms\", to = \"1ms\" } }\n",
        "9:17",
        &["`from` is above `to`"],
    ),
    (
        "[sweep.random]\ndraws = 2\nkeys = { a = { from = 0, to = 1, scale = \"log\" } }\n",
        "9:14",
        &["logarithmic", "above 0"],
    ),
];

#[test]
fn errors_name_the_place_the_key_the_value_and_a_fix() {
    let mut wrong = Vec::new();
    for (text, place, parts) in WRONG {
        let error = sweep(text).map(|sweep| sweep.points().len()).unwrap_err().to_string();
        let has_place = error.starts_with(&format!("plan.toml:{place}: "));
        if !has_place || !parts.iter().all(|part| error.contains(part)) || !error.contains("; ") {
            wrong.push(format!("{text}{place} {parts:?}\n{error}\n"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
