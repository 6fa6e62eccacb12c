//! What the presets of DCQCN make of an incast: `scenarios/dcqcn-presets.toml`, and the table of
//! `docs/model.md`.

use crate::support::{Run, shipped};

/// The values that a preset gives to what the presets differ in, as `docs/model.md` has them.
type Preset = [(&'static str, &'static str); 12];

const PAPER: Preset = [
    ("g", "\"1/256\""),
    ("initial_alpha", "\"1\""),
    ("alpha_interval", "\"55us\""),
    ("rate_decrease_interval", "\"50us\""),
    ("max_cut", "\"1\""),
    ("clamp_target_rate", "true"),
    ("cnp_interval", "\"50us\""),
    ("increase_timer", "\"55us\""),
    ("fast_recovery_threshold", "5"),
    ("additive_increase", "\"40Mbps\""),
    ("hyper_increase", "\"200Mbps\""),
    ("min_rate", "\"100Mbps\""),
];

/// At 400 Gbit/s.
const HPCC: Preset = [
    ("g", "\"1/256\""),
    ("initial_alpha", "\"1\""),
    ("alpha_interval", "\"1us\""),
    ("rate_decrease_interval", "\"4us\""),
    ("max_cut", "\"1\""),
    ("clamp_target_rate", "false"),
    ("cnp_interval", "\"0s\""),
    ("increase_timer", "\"300us\""),
    ("fast_recovery_threshold", "1"),
    ("additive_increase", "\"80Mbps\""),
    ("hyper_increase", "\"800Mbps\""),
    ("min_rate", "\"1Gbps\""),
];

const NVIDIA: Preset = [
    ("g", "\"5/1024\""),
    ("initial_alpha", "\"1023/1024\""),
    ("alpha_interval", "\"1us\""),
    ("rate_decrease_interval", "\"4us\""),
    ("max_cut", "\"1/2\""),
    ("clamp_target_rate", "false"),
    ("cnp_interval", "\"4us\""),
    ("increase_timer", "\"300us\""),
    ("fast_recovery_threshold", "1"),
    ("additive_increase", "\"5Mbps\""),
    ("hyper_increase", "\"50Mbps\""),
    ("min_rate", "\"1Mbps\""),
];

/// What the form of the paper has alone, as that of adapters is.
const ONLY_OF_THE_PAPER: [(&str, &str); 4] = [
    ("byte_counter", "\"0B\""),
    ("alpha_update", "\"periodic\""),
    ("cut_on_first_cnp", "false"),
    ("growing_hyper_increase", "false"),
];

/// When the last flow ends (ps).
fn last_end(preset: &str, with: Option<(&str, &str)>) -> u64 {
    let with = with.map(|(key, value)| format!(", {key} = {value}")).unwrap_or_default();
    let parameters = format!("{{ preset = \"{preset}\"{with} }}");
    let mut run =
        Run::new(shipped("dcqcn-presets.toml", &[("congestion_control.dcqcn", &parameters)]));
    run.finish();
    run.assert_complete(&parameters);
    run.flow_ends().iter().map(|end| end.finished.ps()).max().expect("there are flows")
}

/// The values of other presets that a preset does not have, each once.
fn exchanges(own: &Preset, others: [&Preset; 2]) -> Vec<(&'static str, &'static str)> {
    let mut found = Vec::new();
    for exchanged in others.into_iter().flatten() {
        if !own.contains(exchanged) && !found.contains(exchanged) {
            found.push(*exchanged);
        }
    }
    found
}

/// Rows of the table: a preset, what is exchanged, and the milliseconds that are told.
fn table() -> Vec<(String, String, String)> {
    let document = include_str!("../../../../docs/model.md");
    let cells = |line: &str| -> Option<(String, String, String)> {
        let mut cells = line.split('|').map(|cell| cell.trim().replace('`', ""));
        let (_, preset, with) = (cells.next()?, cells.next()?, cells.next()?);
        let told = cells.next()?.strip_suffix(" ms")?.to_owned();
        ["paper", "hpcc", "nvidia"].contains(&preset.as_str()).then_some((preset, with, told))
    };
    document.lines().filter_map(cells).collect()
}

/// The table has every exchange that changes the end by a tenth, with its figure, and no other.
#[test]
fn the_table_of_presets_is_what_runs_show() {
    let mut expected = Vec::new();
    let presets = [
        ("paper", &PAPER, [&HPCC, &NVIDIA]),
        ("hpcc", &HPCC, [&PAPER, &NVIDIA]),
        ("nvidia", &NVIDIA, [&PAPER, &HPCC]),
    ];
    for (preset, own, others) in presets {
        let as_it_is = last_end(preset, None);
        let told = |ps: u64| format!("{:.2}", ps as f64 / 1e9);
        expected.push((preset.to_owned(), "as it is".to_owned(), told(as_it_is)));
        let mut exchanged = exchanges(own, others);
        if preset == "paper" {
            exchanged.extend(ONLY_OF_THE_PAPER);
        }
        for (key, value) in exchanged {
            let end = last_end(preset, Some((key, value)));
            if end.abs_diff(as_it_is) * 10 >= as_it_is {
                expected.push((preset.to_owned(), format!("{key} = {value}"), told(end)));
            }
        }
    }
    let mut found = table();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

/// 32 MB over 400 Gbit/s. With pacing gaps that did not follow the rate it took 34.1 ms.
#[test]
fn rates_that_come_back_are_used_at_once() {
    assert!(last_end("nvidia", None) < 1_000_000_000);
}
