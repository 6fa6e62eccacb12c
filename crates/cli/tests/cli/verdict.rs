//! What `rocelab run` says of how a run went, and its exit code.

use crate::program::{Desk, Ended, repository_argument};

/// Runs `small.toml` with `more` behind it.
fn small(more: &str) -> (Desk, Ended) {
    let desk = Desk::new();
    desk.write("small.toml", format!("{}{more}", crate::program::SMALL));
    let ended = desk.rocelab(&["run", "small.toml", "--out", "out"]);
    (desk, ended)
}

#[test]
fn a_deadlock_is_told_also_where_the_run_goes_on() {
    let ring = repository_argument("scenarios/hotnets16-ring.toml");
    let desk = Desk::new();
    let run = |more: &[&str]| desk.rocelab(&[&["run", &ring, "--out"], more].concat());
    let stopped = run(&["stopped"]);
    assert_eq!(stopped.code, Some(1), "{stopped:?}");
    assert!(stopped.stderr.starts_with("deadlock at "), "{stopped:?}");
    let on = run(&["on", "--set", "on_deadlock=continue", "--set", "stop=2ms"]);
    assert_eq!(on.code, Some(1), "{on:?}");
    let told = format!("warning: {}\n", stopped.stderr.lines().next().unwrap_or_default());
    assert_eq!(on.stderr, told, "{on:?}");
    let before = run(&["before", "--set", "on_deadlock=continue", "--set", "stop=10us"]);
    assert_eq!((before.code, before.stderr.as_str()), (Some(0), ""), "{before:?}");
}

#[test]
fn lossless_frames_that_are_dropped_are_told_by_reason() {
    let (desk, ended) = small(
        "[congestion_control.none]\n[switch]\nheadroom = \"2KB\"\nxoff = \"10KB\"\n[[failure]]\nkind = \"host-down\"\n\
         host = \"host-0\"\nat = \"5us\"\nlasts = \"10us\"\n",
    );
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let drops = desk.json("out/summary.json")["lossless_drops"].clone();
    let [late, stopped] =
        ["headroom_exceeded", "receiver_stopped"].map(|reason| drops[reason].as_u64().unwrap_or(0));
    assert!(late > 0 && stopped > 0, "{drops}");
    let told = format!(
        "warning: {} frames of lossless priorities were dropped (headroom_exceeded {late}, \
         receiver_stopped {stopped}): see drops.csv\n",
        late + stopped
    );
    assert_eq!(ended.stderr, told);
}

#[test]
fn what_links_lose_is_nobody_elses_fault() {
    let (desk, ended) = small("[[faults]]\naction = \"drop\"\nto = \"host-0\"\ncount = 1\n");
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    let summary = desk.json("out/summary.json");
    assert_eq!((&summary["drops"]["fault"], summary.get("lossless_drops")), (&1.into(), None));
}

#[test]
fn rdma_that_is_not_lossless_is_told_before() {
    let (_, ended) = small("[roce]\npriority = 1\n");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let told = "RDMA of priority 1 (3 flows) is lossy at every switch: where memory is full its frames are \
                dropped; name the priority in `switch.lossless`, or send it with one that is named there";
    assert_eq!(ended.stderr, format!("warning: small.toml: {told}\n"));

    let desk = Desk::with_small();
    let lossy = ["check", "small.toml", "--set", "roce.priority=1"];
    let answer = desk.succeeds(&lossy);
    assert!(
        answer.starts_with("small.toml: 4 hosts, 4 links, 3 flows: ok, 1 warning\n"),
        "{answer}"
    );
    assert!(answer.contains(&format!("\n  warn  lossy priority       {told}\n")), "{answer}");
    let json = desk.succeeds(&[&lossy[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["faults"], &json["warnings"]), (&0.into(), &1.into()));
    assert_eq!(json["proof"]["lossy_priorities"][0]["flows"], 3);
}

#[test]
fn warnings_of_a_folder_name_their_scenario() {
    let desk = Desk::new();
    let faults =
        "[roce]\nack_timeout = 0\n[[faults]]\naction = \"drop\"\nopcode = \"data\"\nnth = 1\n";
    for name in ["a", "b"] {
        let small = crate::program::SMALL.replace("100KB", "1KB");
        desk.write(&format!("all/{name}.toml"), format!("{small}{faults}"));
    }
    let ended = desk.rocelab(&["run", "all", "--quiet"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    for name in ["a", "b"] {
        for told in ["nothing moves any more", "stuck since"] {
            let path = format!("all/{name}.toml: ");
            let is_it = |line: &str| line.contains(&path) && line.contains(told);
            assert!(ended.stderr.lines().any(is_it), "{path}{told}: {ended:?}");
        }
    }
}
