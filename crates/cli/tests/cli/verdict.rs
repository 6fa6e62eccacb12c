//! The final messages of `rocelab run`, and its exit code.

use crate::program::{Ended, Sandbox, repository_argument};

/// Runs `small.toml` with the text `more` appended.
fn small(more: &str) -> (Sandbox, Ended) {
    let sandbox = Sandbox::new();
    sandbox.write("small.toml", format!("{}{more}", crate::program::SMALL));
    let ended = sandbox.rocelab(&["run", "small.toml", "--out", "out"]);
    (sandbox, ended)
}

#[test]
fn a_deadlock_is_told_also_where_the_run_goes_on() {
    let ring = repository_argument("scenarios/hotnets16-ring.toml");
    let sandbox = Sandbox::new();
    let run = |more: &[&str]| sandbox.rocelab(&[&["run", &ring, "--out"], more].concat());
    let stopped = run(&["stopped"]);
    assert_eq!(stopped.code, Some(1), "{stopped:?}");
    assert!(stopped.stderr.starts_with("deadlock at "), "{stopped:?}");
    let on = run(&["on", "--set", "on_deadlock=continue", "--set", "stop=2ms"]);
    assert_eq!(on.code, Some(1), "{on:?}");
    let told = format!("warning: {}\n", stopped.stderr.lines().next().unwrap_or_default());
    // The flows that it holds are frozen, although the run reached its `stop`.
    let rest = on.stderr.strip_prefix(&told).unwrap_or_else(|| panic!("{on:?}"));
    assert!(rest.starts_with("warning: of 3 flows: 3 flows frozen by pauses since "), "{on:?}");
    assert!(rest.ends_with(" us, held by deadlock 0\n"), "{on:?}");
    let before = run(&["before", "--set", "on_deadlock=continue", "--set", "stop=10us"]);
    assert_eq!((before.code, before.stderr.as_str()), (Some(0), ""), "{before:?}");
}

#[test]
fn lossless_frames_that_are_dropped_are_told_by_reason() {
    let (sandbox, ended) = small(
        "[congestion_control.none]\n[switch]\nheadroom = \"2KB\"\nxoff = \"10KB\"\n[[failure]]\nkind = \"host-down\"\n\
         host = \"host-0\"\nat = \"5us\"\nlasts = \"10us\"\n",
    );
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let drops = sandbox.json("out/summary.json")["lossless_drops"].clone();
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

/// 510 of 560 flows do not end, because one NIC pauses the fabric. Earlier, only the `stop` was
/// reported.
#[test]
fn a_stop_does_not_excuse_flows_that_are_frozen() {
    let storm = repository_argument("scenarios/sigcomm16-nic-storm.toml");
    let sandbox = Sandbox::new();
    let run = |more: &[&str]| sandbox.rocelab(&[&["run", &storm, "--out"], more].concat());
    let frozen = run(&["frozen"]);
    assert_eq!(frozen.code, Some(1), "{frozen:?}");
    let told = frozen.stderr.lines().find(|line| line.contains(" frozen by pauses since "));
    let told = told.unwrap_or_else(|| panic!("{frozen:?}"));
    assert!(told.starts_with("warning: of 560 flows: "), "{told}");
    let summary = sandbox.json("frozen/summary.json");
    let flows = summary["frozen"]["flows"].as_u64().unwrap();
    assert!((400..=510).contains(&flows), "{summary:#}");
    assert_eq!(summary["frozen"]["roots"][0]["root"], "host-0", "{summary:#}");
    assert!(frozen.stdout.contains("\nFrozen           "), "{frozen:?}");
    let completed = "\nof 560 flows, 50 finished (510 unfinished, 0 failed); >= at least\n";
    assert!(frozen.stdout.contains(completed), "{frozen:?}");
    // The median of 560 is one of the 510 flows that did not end; it is at least the time for which
    // they have been open.
    let fct = &summary["fct_ps"];
    assert_eq!(fct["at_least"][1], "p50", "{fct:#}");
    assert!(fct["p50"].as_u64() > fct["min"].as_u64().map(|least| 2 * least), "{fct:#}");
    // A watchdog lets the flows continue, and drops frames for this.
    let nic = run(&["nic", "--set", "watchdog.nic.detect=5ms"]);
    assert_eq!(sandbox.json("nic/summary.json").get("frozen"), None, "{nic:?}");
}

#[test]
fn frozen_are_those_flows_that_a_storm_holds_and_no_others() {
    let run = |storm: &str| {
        let sandbox = Sandbox::new();
        let flows = "{ from = \"host-1\", to = \"host-0\", bytes = \"100MB\" },\n\
                     { from = \"host-2\", to = \"host-3\", bytes = \"100MB\" },\n\
                     { from = \"host-3\", to = \"host-2\", bytes = \"10KB\" },\n\
                     { from = \"host-3\", to = \"host-0\", bytes = \"10KB\", start = \"1ms\" },\n";
        let text = format!(
            "stop = \"200us\"\n[topology.single-switch]\nhosts = 4\n\
             link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n\
             [workload.flows]\nlist = [\n{flows}]\n{storm}"
        );
        sandbox.write("storm.toml", text);
        let ended = sandbox.rocelab(&["run", "storm.toml", "--out", "out"]);
        (sandbox.json("out/summary.json")["frozen"].clone(), ended)
    };
    let storm = "[[failure]]\nkind = \"pause-storm\"\nhost = \"host-0\"\nat = \"100us\"\n";
    let (frozen, ended) = run(storm);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let told = "warning: of 4 flows: 1 flow frozen by pauses since 1";
    // The line before it reports the frames that the stopped NIC did not handle.
    let last = ended.stderr.lines().last().unwrap_or_default();
    assert!(last.starts_with(told) && last.ends_with(" us, held by host-0"), "{ended:?}");
    assert_eq!(frozen["flows"], 1);
    // The storm has ended, and the held flows continue.
    let (frozen, ended) = run(&format!("{storm}lasts = \"50us\"\n"));
    assert!(frozen.is_null() && !ended.stderr.contains("frozen"), "{ended:?}");
    // All flows continue, and the `stop` ends the run.
    let (frozen, ended) = run("");
    assert!(frozen.is_null(), "{ended:?}");
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
}

#[test]
fn what_links_lose_is_nobody_elses_fault() {
    let (sandbox, ended) = small("[[faults]]\naction = \"drop\"\nto = \"host-0\"\ncount = 1\n");
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    let summary = sandbox.json("out/summary.json");
    assert_eq!((&summary["drops"]["fault"], summary.get("lossless_drops")), (&1.into(), None));
}

#[test]
fn rdma_that_is_not_lossless_is_told_before() {
    let (_, ended) = small("[roce]\npriority = 1\n");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let told = "RDMA of priority 1 (3 flows) is lossy at every switch: where memory is full its frames are \
                dropped; name the priority in `switch.lossless`, or send it with one that is named there";
    assert_eq!(ended.stderr, format!("warning: small.toml: {told}\n"));

    let sandbox = Sandbox::with_small();
    let lossy = ["check", "small.toml", "--set", "roce.priority=1"];
    let answer = sandbox.succeeds(&lossy);
    assert!(
        answer.starts_with("small.toml: 4 hosts, 4 links, 3 flows: ok, 1 warning\n"),
        "{answer}"
    );
    assert!(answer.contains(&format!("\n  warn  lossy priority       {told}\n")), "{answer}");
    let json = sandbox.succeeds(&[&lossy[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["faults"], &json["warnings"]), (&0.into(), &1.into()));
    assert_eq!(json["proof"]["lossy_priorities"][0]["flows"], 3);
}

#[test]
fn warnings_of_a_folder_name_their_scenario() {
    let sandbox = Sandbox::new();
    let faults =
        "[roce]\nack_timeout = 0\n[[faults]]\naction = \"drop\"\nopcode = \"data\"\nnth = 1\n";
    for name in ["a", "b"] {
        let small = crate::program::SMALL.replace("100KB", "1KB");
        sandbox.write(&format!("all/{name}.toml"), format!("{small}{faults}"));
    }
    let ended = sandbox.rocelab(&["run", "all", "--quiet"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    for name in ["a", "b"] {
        for told in ["nothing moves any more", "stuck since"] {
            let path = format!("all/{name}.toml: ");
            let is_it = |line: &str| line.contains(&path) && line.contains(told);
            assert!(ended.stderr.lines().any(is_it), "{path}{told}: {ended:?}");
        }
    }
}
