//! `rocelab cc check`.

use std::fmt::Write as _;

use rocelab_wasm::event::GuestEvent;
use rocelab_wasm::metadata::Metadata;
use rocelab_wasm::{Findings, GuestModule};

use super::GuestArguments;
use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;

/// Prints what a module is, and all that a script of events shows to be wrong with it.
pub(super) fn execute(arguments: &GuestArguments) -> Result<Exit, Failure> {
    let (module, values) = arguments.load()?;
    let shown = arguments.path.display();
    let findings = rocelab_wasm::check(&module, &values, arguments.fuel)
        .map_err(|error| Failure::Input(format!("{shown}: {error}; {}", error.help())))?;
    let mut told = format!("{shown}: {}\n", described(&module, &values));
    _ = writeln!(
        told,
        "  check       {} calls for 16 queue pairs, at most {} instructions of {} in a call",
        findings.calls, findings.most_fuel, arguments.fuel
    );
    let wrong = wrong(&findings);
    for line in &wrong {
        _ = writeln!(told, "  wrong       {line}");
    }
    told += &warnings(module.metadata());
    answer::print(&told)?;
    Ok(if wrong.is_empty() { Exit::Done } else { Exit::Found })
}

fn described(module: &GuestModule, values: &[i64]) -> String {
    let Metadata { name, summary, reference, feedback, state, parameters, .. } = module.metadata();
    let mut told = name.clone();
    for text in [summary, reference].into_iter().filter(|text| !text.is_empty()) {
        _ = write!(told, ", {text}");
    }
    _ = write!(told, "\n  SHA-256     {}", module.identity());
    let names: Vec<_> = module.metadata().told().into_iter().map(GuestEvent::name).collect();
    _ = write!(told, "\n  feedback    {}; told of {}", kebab(*feedback), names.join(", "));
    _ = write!(told, "\n  state       {state} bytes for each queue pair");
    for (parameter, value) in parameters.iter().zip(values) {
        let unit = if parameter.unit.is_empty() { "" } else { " " };
        _ = write!(
            told,
            "\n  parameter   {} = {value}{unit}{}, {} to {}",
            parameter.key, parameter.unit, parameter.min, parameter.max
        );
    }
    told
}

/// The name that metadata have.
fn kebab(feedback: rocelab_wasm::metadata::GuestFeedback) -> String {
    let text = serde_json::to_string(&feedback).unwrap_or_default();
    text.trim_matches('"').to_owned()
}

fn wrong(findings: &Findings) -> Vec<String> {
    let kept = findings.keeps_nothing().err().map(|error| format!("{error}; {}", error.help()));
    kept.into_iter().chain(findings.faults.iter().map(ToString::to_string)).collect()
}

/// What is no fault, and may surprise.
fn warnings(metadata: &Metadata) -> String {
    use rocelab_wasm::metadata::GuestFeedback::{EcnEcho, Endpoint, Rtt};

    if matches!(metadata.feedback, Rtt | Endpoint | EcnEcho) {
        "  note        the data of a READ is not acknowledged: there it is told of nothing, and keeps its first rate\n"
            .into()
    } else {
        String::new()
    }
}
