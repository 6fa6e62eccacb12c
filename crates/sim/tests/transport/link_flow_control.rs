//! `switch.flow_control`: PFC, which pauses each priority by itself, and PAUSE, which pauses the whole link.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use rocelab_capture::CaptureReader;
use rocelab_sim::explain::{Category, Part, Selection, explain, survey};
use rocelab_sim::network::{PauseEvent, RecordKind};
use rocelab_sim::proof::{PauseFinding, Proof};
use rocelab_sim::{Ending, Simulation, UnloadedNetwork};
use rocelab_wire::{Body, Frame};

use crate::support::{run, try_plan};

const VERSIONS: [&str; 3] =
    ["version = 1\ntagging = \"tagged\"", "version = 2", "version = 2\nip = \"ipv6\""];

/// Three hosts fill the port of another in priority 3. One of them also sends elsewhere, in priority 1: flow 3, as
/// it starts last.
fn text(version: &str, switch: &str, more: &str) -> String {
    format!(
        "[roce]\n{version}\n[topology.single-switch]\nhosts = 5\n\
         link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n\
         [switch]\nxoff = \"50KB\"\n{switch}\n[workload.flows]\nlist = [\n\
         {{ from = \"host-0\", to = \"host-3\", bytes = \"200KB\", priority = 1, start = \"20us\" }},\n\
         {{ from = \"host-0\", to = \"host-2\", bytes = \"2MB\" }},\n\
         {{ from = \"host-1\", to = \"host-2\", bytes = \"2MB\" }},\n\
         {{ from = \"host-4\", to = \"host-2\", bytes = \"2MB\" }},\n]\n{more}"
    )
}

/// How much longer the flow of priority 1 takes than alone (percent).
fn excess(text: &str) -> u64 {
    let plan = try_plan(text).expect("it runs");
    let run = run(text);
    assert_eq!(run.ending, Ending::Finished);
    let end = run.ends.iter().find(|end| end.flow == 3).expect("it ends");
    let ideal = UnloadedNetwork::new(&plan).completion_time(&plan.flows[3]);
    let took = end.finished.since(plan.flows[3].start);
    took.ps() * 100 / ideal.ps() - 100
}

/// What PAUSE is known for: a priority that is not congested waits for one that is.
#[test]
fn pause_holds_back_a_priority_that_has_done_nothing_and_pfc_does_not() {
    for version in VERSIONS {
        let pfc = excess(&text(version, "scheduler = \"round-robin\"", ""));
        let same =
            excess(&text(version, "scheduler = \"round-robin\"\nflow_control = \"pfc\"", ""));
        let pause =
            excess(&text(version, "scheduler = \"round-robin\"\nflow_control = \"pause\"", ""));
        assert_eq!(pfc, same);
        assert!(pause > pfc + 40, "{version}: {pfc} % and {pause} %");
    }
}

#[test]
fn every_priority_is_paused_and_resumed_at_once_and_nothing_is_lost() {
    for version in VERSIONS {
        let plan = try_plan(&text(version, "flow_control = \"pause\"", "")).expect("it runs");
        let mut simulation: Simulation = Simulation::new(Arc::new(plan)).expect("it is a network");
        assert!(simulation.run_to_end() == Ending::Finished);
        let mut counts = [[0u32; 8]; 2];
        for record in simulation.take_records() {
            if let RecordKind::Pause(change) = record.kind {
                let kind = match change.event {
                    PauseEvent::Pause => 0,
                    PauseEvent::Resume(_) => 1,
                    _ => continue,
                };
                counts[kind][usize::from(change.priority)] += 1;
            }
        }
        assert!(counts[0][0] > 10, "{counts:?}");
        assert!(counts.iter().all(|all| all.iter().all(|&one| one == counts[0][0])), "{counts:?}");
        assert_eq!(simulation.network().totals(simulation.now()).frames_dropped, 0);
    }
}

/// A host asks for pauses with the frames of its switch's port.
#[test]
fn a_slow_receiver_pauses_the_whole_link() {
    let slow = "[[slow_receiver]]\nhosts = [\"host-3\"]\nrate = \"10Gbps\"\nbuffer = \"40KB\"\n";
    let pauses = |switch: &str| {
        let text = text("version = 2", switch, slow).replace("priority = 1, ", "");
        let plan = try_plan(&text).expect("it runs");
        let mut simulation: Simulation = Simulation::new(Arc::new(plan)).expect("it is a network");
        assert!(simulation.run_to_end() == Ending::Finished);
        let node = simulation.network().plan().topology.node_by_name("switch-0");
        let mut paused = 0u8;
        for record in simulation.take_records() {
            if let RecordKind::Pause(change) = record.kind
                && (Some(change.node), change.port) == (node, 3)
            {
                paused |= 1 << change.priority;
            }
        }
        paused
    };
    assert_eq!(pauses(""), 1 << 3);
    assert_eq!(pauses("flow_control = \"pause\""), u8::MAX);
    let one = "[[switch.override]]\nports = [\"switch-0:3\"]\nflow_control = \"pause\"\n";
    assert_eq!(pauses(one), u8::MAX);
    let other = "[[switch.override]]\nports = [\"switch-0:2\"]\nflow_control = \"pause\"\n";
    assert_eq!(pauses(other), 1 << 3);
}

#[test]
fn an_explanation_names_the_root_for_a_priority_that_did_not_ask() {
    let text = text("version = 2", "flow_control = \"pause\"\nscheduler = \"round-robin\"", "");
    let plan = Arc::new(try_plan(&text).expect("it runs"));
    let found = survey(plan, &mut |_| ControlFlow::Continue(())).expect("it can be looked at");
    let roots: Vec<_> =
        found.roots.iter().map(|root| (root.place.as_str(), root.priority)).collect();
    assert_eq!(roots, [("switch-0:2", 3)], "by the priority that asked: {found}");
    assert_eq!(found.roots[0].pauses, found.pauses, "{found}");
    let victims: Vec<_> = found.victims.iter().map(|victim| victim.flow).collect();
    assert_eq!(victims, [Some(3)], "{found}");
}

/// Two priorities of host 0 fill two ports. The second asks before the pause has arrived that the first asked for, and
/// no frame tells of it.
#[test]
fn of_two_priorities_that_ask_the_first_is_the_cause() {
    let of = |first: u8, control: &str| {
        let second = 7 - first;
        let text = format!(
            "[topology.single-switch]\nhosts = 5\nlink = {{ rate = \"100Gbps\", cable = \"600m\" }}\n\
             [congestion_control.none]\n[switch]\nxoff = \"50KB\"\nbuffer = \"32MB\"\nlossless = [3, 4]\n\
             scheduler = \"round-robin\"\nflow_control = \"{control}\"\n[workload.flows]\nlist = [\n\
             {{ from = \"host-1\", to = \"host-2\", bytes = \"400KB\", priority = {first} }},\n\
             {{ from = \"host-4\", to = \"host-3\", bytes = \"400KB\", priority = {second} }},\n\
             {{ from = \"host-0\", to = \"host-2\", bytes = \"400KB\", priority = {first} }},\n\
             {{ from = \"host-0\", to = \"host-3\", bytes = \"400KB\", priority = {second}, start = \"500ns\" }},\n]\n"
        );
        let plan = Arc::new(try_plan(&text).expect("it runs"));
        let mut simulation: Simulation =
            Simulation::new(Arc::clone(&plan)).expect("it is a network");
        assert!(simulation.run_to_end() == Ending::Finished);
        let (mut asked, mut withdrawn) = (Vec::new(), 0);
        let mut paused = false;
        for record in simulation.take_records() {
            match record.kind {
                RecordKind::PauseRequest(request) if request.port == 0 && !paused => {
                    asked.push((request.priority, request.egress));
                }
                RecordKind::Pause(change) if change.node == 0 => paused = true,
                RecordKind::PauseWithdrawal(_) => withdrawn += 1,
                _ => {}
            }
        }
        assert_eq!(asked, [(first, Some(2)), (second, Some(3))], "before host 0 is paused");
        let found = survey(plan, &mut |_| ControlFlow::Continue(())).expect("it can be looked at");
        let of_host = found.longest.iter().filter(|pause| pause.node == "host-0");
        let begin = of_host.clone().map(|pause| pause.start_ps).min().expect("it is paused");
        let mut causes: Vec<_> = of_host
            .filter(|pause| pause.start_ps == begin)
            .map(|pause| (pause.priority, pause.waits_for.clone()))
            .collect();
        causes.sort();
        (causes, withdrawn)
    };
    for first in [3, 4] {
        let (causes, withdrawn) = of(first, "pause");
        let expected: Vec<_> = (0..8).map(|priority| (priority, "switch-0:2".to_owned())).collect();
        assert_eq!(causes, expected);
        assert!(withdrawn >= 4, "{withdrawn}");
        let (causes, withdrawn) = of(first, "pfc");
        assert_eq!((causes, withdrawn), (vec![(first, "switch-0:2".to_owned())], 0));
    }
}

#[test]
fn an_explanation_names_the_flow_control_that_pauses() {
    for (control, name) in [("pfc", "PFC"), ("pause", "PAUSE")] {
        let switch = format!("flow_control = \"{control}\"");
        let plan = Arc::new(try_plan(&text("version = 2", &switch, "")).expect("it runs"));
        let found = explain(plan, &Selection::Everything, &mut |_| ControlFlow::Continue(()));
        let flows = found.expect("it can be explained").flows;
        let is_paused = |part: &Part| matches!(part.category, Category::Pause(_));
        let one = flows.iter().find(|one| one.parts.iter().any(is_paused)).expect("one is paused");
        assert!(one.to_string().contains(&format!(" paused by {name} ")), "{one}");
        let json = serde_json::to_value(one).expect("it is JSON");
        let parts = json["parts"].as_array().expect("it has parts");
        assert!(parts.iter().any(|part| part["category"] == "pause"), "{json}");
    }
}

/// Frames that hosts send with a priority that the switch takes for another: its PFC does not stop them.
#[test]
fn what_pfc_does_not_stop_is_stopped_by_pause() {
    let unheard = |control: &str| {
        let switch = format!("trust = \"pcp\"\ndefault_priority = 3\n{control}");
        let plan = try_plan(&text("version = 2", &switch, "")).expect("it runs");
        let proof = Proof::of(&plan);
        proof.pauses.iter().filter(|one| matches!(one, PauseFinding::Unheard(_))).count()
    };
    assert_eq!((unheard(""), unheard("flow_control = \"pause\"")), (1, 0));
}

fn error(text: &str) -> String {
    try_plan(text).expect_err("it is refused").to_string()
}

#[test]
fn wrong_values_are_refused_with_a_fix() {
    let unknown = error(&text("version = 2", "flow_control = \"xon\"", ""));
    for part in ["integrity.toml:", "flow_control", "xon", "pfc", "pause"] {
        assert!(unknown.contains(part), "{part}: {unknown}");
    }
    let fabric = "[topology.leaf-spine]\nleaves = 2\nspines = 1\nhosts_per_leaf = 2\n\
                  host_link = { rate = \"100Gbps\", cable = \"3m\" }\n\
                  fabric_link = { rate = \"100Gbps\", cable = \"3m\" }\n[workload.flows]\n\
                  list = [{ from = \"host-0\", to = \"host-3\", bytes = \"10KB\" }]\n";
    let one = "[[switch.override]]\nswitches = [\"leaf-0\"]\nflow_control = \"pause\"\n";
    let differ = error(&format!("{fabric}{one}"));
    for part in [
        "integrity.toml:",
        "switch.override[0].flow_control",
        "`leaf-0:2` has \"pause\", `spine-0:0` has \"pfc\"",
        "ports = [\"leaf-0:2\", \"spine-0:0\"]",
    ] {
        assert!(differ.contains(part), "{part}: {differ}");
    }
    let both =
        "[[switch.override]]\nports = [\"leaf-0:2\", \"spine-0:0\"]\nflow_control = \"pause\"\n";
    assert!(try_plan(&format!("{fabric}{both}")).is_ok());
    let hosts = "[[switch.override]]\nports = [\"leaf-0:0\"]\nflow_control = \"pause\"\n";
    assert!(try_plan(&format!("{fabric}{hosts}")).is_ok());
}

/// Runs with a capture at a sender; the file.
fn captured() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("link-flow-control");
    std::fs::create_dir_all(&folder).expect("a folder");
    let more = "[capture]\nports = [\"host-0\"]\n";
    let switch = "flow_control = \"pause\"\npause_quanta = 200";
    let plan = try_plan(&text("version = 2", switch, more)).expect("it runs");
    let mut simulation: Simulation = Simulation::new(Arc::new(plan)).expect("it is a network");
    simulation.start_capture(&folder).expect("the folder takes files");
    assert!(simulation.run_to_end() == Ending::Finished);
    simulation.finish_capture().expect("the folder takes files");
    folder.join("capture.pcapng")
}

#[test]
fn captures_have_pause_frames() {
    let path = captured();
    let mut reader = CaptureReader::open(&path).expect("it is there");
    let (mut stops, mut resumes) = (0, 0);
    while let Some(frame) = reader.next_frame() {
        let frame = frame.expect("it is whole");
        let parsed = Frame::parse(frame.bytes).expect("it is a frame");
        match parsed.body {
            Body::Pause(pause) if pause.quanta == 0 => resumes += 1,
            Body::Pause(pause) => {
                assert_eq!((pause.quanta, frame.bytes.len()), (200, 60));
                stops += 1;
            }
            Body::Pfc(pfc) => panic!("{pfc}"),
            _ => {}
        }
    }
    assert!(stops > 10 && resumes > 10, "{stops} and {resumes}");
    let tshark = Command::new("tshark")
        .args(["-r", path.to_str().expect("it is text"), "-Y", "macc.opcode == 0x0001"])
        .args(["-T", "fields", "-e", "macc.pause_time"])
        .output();
    let Ok(output) = tshark else { return eprintln!("skipped: there is no tshark") };
    let read = String::from_utf8(output.stdout).expect("it is text");
    assert_eq!(read.lines().count(), stops + resumes, "{read}");
    assert_eq!(read.lines().filter(|line| line.trim() == "200").count(), stops, "{read}");
}
