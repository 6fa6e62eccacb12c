//! `rocelab topo show`.

use crate::program::{Sandbox, repository_argument};

#[test]
fn the_table_counts_tiers_and_links() {
    let sandbox = Sandbox::new();
    let answer =
        sandbox.succeeds(&["topo", "show", &repository_argument("scenarios/incast-v2.toml")]);
    for part in ["64 hosts", "4 switches", "2 switches", "100Gbps", "400Gbps", "150ns"] {
        assert!(answer.contains(part), "no {part} in:\n{answer}");
    }
    assert!(!answer.contains('\x1b'));
    assert!(sandbox.tree().is_empty());
}

#[test]
fn the_drawing_is_svg_and_replaced_only_when_asked() {
    let sandbox = Sandbox::with_small();
    let answer = sandbox.succeeds(&["topo", "show", "small.toml", "--svg", "map.svg"]);
    assert!(answer.ends_with("drawing: map.svg\n"), "{answer}");
    let drawing = sandbox.text("map.svg");
    assert!(drawing.starts_with("<svg") || drawing.starts_with("<?xml"), "{drawing:.80}");
    assert!(drawing.contains("host-3") && drawing.trim_end().ends_with("</svg>"));

    sandbox.write("map.svg", "mine");
    let ended = sandbox.rocelab(&["topo", "show", "small.toml", "--svg", "map.svg"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    assert_eq!(ended.stderr, "error: --svg = map.svg: exists; replace it with --force\n");
    assert_eq!(sandbox.text("map.svg"), "mine");

    sandbox.succeeds(&["topo", "show", "small.toml", "--svg", "map.svg", "--force"]);
    assert_eq!(sandbox.text("map.svg"), drawing);
}

#[test]
fn a_drawing_that_cannot_be_opened_is_bad_input() {
    let sandbox = Sandbox::with_small();
    let ended = sandbox.rocelab(&["topo", "show", "small.toml", "--svg", "absent/map.svg"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    assert!(ended.stderr.starts_with("error: --svg = absent/map.svg: "), "{ended:?}");
    assert!(ended.stderr.contains("name a file that you may write"), "{ended:?}");
    assert_eq!(ended.stderr.lines().count(), 1);
}

/// `/dev/full` can be opened, but a write fails: the machine fails during the work.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_the_machines_failure() {
    let sandbox = Sandbox::with_small();
    let arguments = ["topo", "show", "small.toml", "--svg", "/dev/full", "--force"];
    let ended = sandbox.rocelab(&arguments);
    assert_eq!(ended.code, Some(4), "{ended:?}");
    assert!(ended.stderr.starts_with("error: /dev/full: "), "{ended:?}");

    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = sandbox.program(&["schema"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: standard output: "));
}
