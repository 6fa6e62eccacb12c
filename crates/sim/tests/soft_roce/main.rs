//! Captures of Linux's Soft-RoCE, replayed: the requests of one side to our responder, the answers
//! of the other to our requester. What is compared and what differs is in `docs/conformance.md`.
//!
//! `captures/` has the frames, `scripts/` what they do not hold.

mod capture;
mod deviation;
mod payload;
mod report;
mod requester;
mod responder;
mod script;
mod sensitivity;
mod station;

use std::fs;
use std::path::{Path, PathBuf};

use crate::capture::{Capture, Captured, Kind, Side, names};
use crate::deviation::Deviation;
use crate::report::Report;
use crate::script::Script;

/// Kinds of deviation that may be, at most.
const MAX_KINDS: usize = 12;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/soft_roce").join(name)
}

fn load(name: &str) -> (Script, Capture) {
    (Script::read(&folder("scripts"), name), Capture::read(&folder("captures"), name))
}

#[test]
fn both_sides_do_what_soft_roce_does() {
    let mut total = Report::default();
    let mut failures = Vec::new();
    let names = names(&folder("captures"));
    for name in &names {
        let (script, capture) = load(name);
        let report = replay(&script, &capture);
        println!("{name}: {report}");
        failures.extend(report.mismatches.iter().map(|what| format!("{name}: {what}")));
        total.add(&report);
    }
    println!("{} captures: {total}", names.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(total.compared_answers() * 100 >= total.answers * 95, "too few answers compared");
    assert!(total.deviations.len() <= MAX_KINDS, "too many kinds of deviation");
    check_documentation(names.len(), &total);
}

#[test]
fn each_script_has_its_capture() {
    let captures = names(&folder("captures"));
    let scripts = fs::read_dir(folder("scripts")).expect("a folder of scripts");
    let mut scripts: Vec<_> = scripts
        .map(|entry| entry.expect("an entry").path())
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    scripts.sort();
    assert_eq!(scripts, captures);
}

/// Replays both sides of every connection, each as requester and as responder, and sees to it that
/// nothing was left out.
fn replay(script: &Script, capture: &Capture) -> Report {
    let mut report = Report::default();
    for captured in &capture.sent {
        let is_python = script.python == Some(captured.from);
        match Kind::of(&captured.packet) {
            Kind::Request => report.requests += 1,
            Kind::Answer => {
                report.answers += 1;
                report.python_answers += usize::from(is_python);
            }
            Kind::Management => report.management += 1,
            Kind::Notification => report.mismatch(format!("{captured}: Soft-RoCE sends none")),
        }
    }
    for connection in &script.connection {
        let setup = script.setup(connection);
        for side in Side::BOTH {
            responder::replay(&setup, connection, side, capture, &mut report);
            requester::replay(&setup, connection, side, capture, &mut report);
        }
    }
    check_completeness(script, capture, &mut report);
    report
}

/// Every packet was compared, fed, or is one of those that the script counts.
fn check_completeness(script: &Script, capture: &Capture, report: &mut Report) {
    let of_kind = |kind| move |captured: &&Captured| Kind::of(&captured.packet) == kind;
    let arrived = capture.delivered.iter().filter(of_kind(Kind::Request)).count();
    let has_queue_pair = |captured: &&Captured| {
        let mut connections = script.connection.iter();
        let to = captured.from.other();
        connections.any(|connection| connection.end(to).qpn == captured.packet.dest_qp())
    };
    let answers = || capture.delivered.iter().filter(of_kind(Kind::Answer));
    for (what, found, expected) in [
        ("answers", report.compared_answers() + report.answers_after_the_end, report.answers),
        ("requests", report.compared_requests(), report.requests),
        ("fed", report.requests_fed + report.requests_unseen + script.strays, arrived),
        ("answers with a queue pair", answers().filter(has_queue_pair).count(), answers().count()),
    ] {
        if found != expected {
            report.mismatch(format!("{what}: {found} of {expected} accounted for"));
        }
    }
    if report.deviations != script.deviations {
        let (found, expected) = (&report.deviations, &script.deviations);
        report.mismatch(format!("deviations: {found:?}, the script says {expected:?}"));
    }
}

/// The page says what was found.
fn check_documentation(captures: usize, total: &Report) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/conformance.md");
    let page = fs::read_to_string(page).expect("a readable page");
    let equal = format!("| answers equal to ours | {} |", total.equal_answers);
    let rows = [
        format!("| captures | {captures} |"),
        format!("| answers of reliable connections | {} |", total.answers),
        equal,
        format!("| answers not compared | {} |", total.answers_after_the_end),
        format!("| requests | {} |", total.requests),
        format!("| requests equal to ours | {} |", total.equal_requests),
        format!("| retransmissions by timeout | {} |", total.timeouts.len()),
        format!("READ data (bytes) | {} |", total.equal_bytes),
    ];
    let kinds = Deviation::ALL.map(|kind| {
        let count = total.deviations.get(&kind).copied().unwrap_or_default();
        format!("| `{}` | {count} |", kind.name())
    });
    for row in rows.iter().chain(&kinds) {
        assert!(page.contains(row.as_str()), "docs/conformance.md does not say: {row}");
    }
}
