//! `rocelab pcap verify`.

use rocelab_capture::{CaptureFile, Verified, Verifier};

use super::CaptureArguments;
use super::output::{Closed, Output};
use super::table;
use crate::exit::Exit;
use crate::failure::Failure;

/// Number of faulty frames that are listed; of the others, the number is printed.
const LISTED: usize = 1_000;

/// Checks every frame.
pub(super) fn execute(arguments: &CaptureArguments) -> Result<Exit, Failure> {
    let mut output = Output::new();
    match verify(arguments, &mut output) {
        Ok((_, Some(failure))) => Err(failure),
        Ok((exit, None)) => Ok(exit),
        Err(closed) => closed.end(),
    }
}

fn verify(
    arguments: &CaptureArguments,
    output: &mut Output,
) -> Result<(Exit, Option<Failure>), Closed> {
    let mut listed = Vec::new();
    let ended = CaptureFile::named(&arguments.path).verify(|verified| {
        if arguments.json {
            output.json(verified)?;
        } else {
            list(verified, &mut listed);
        }
        Ok(())
    })?;
    let verifier = &ended.verifier;
    if arguments.json {
        output.json(&verifier.summary())?;
    } else {
        report(verifier, &listed, output)?;
    }
    output.flush()?;
    let found = verifier.totals().faults > 0;
    Ok((if found { Exit::Found } else { Exit::Done }, ended.error.map(Failure::from)))
}

fn list(verified: &Verified<'_>, listed: &mut Vec<String>) {
    let room = LISTED.saturating_sub(listed.len());
    let faults = verified.faults.iter().take(room);
    listed.extend(faults.map(|fault| format!("frame {}: {fault}", verified.number)));
}

fn report(verifier: &Verifier, listed: &[String], output: &mut Output) -> Result<(), Closed> {
    table::connections(verifier, output)?;
    table::opcodes(verifier, output)?;
    let totals = verifier.totals();
    if totals.faults > 0 {
        output.line("\nfaults")?;
    }
    for fault in listed {
        output.line(format_args!("  {fault}"))?;
    }
    let more = totals.faults.saturating_sub(listed.len() as u64);
    if more > 0 {
        output.line(format_args!("  and {more} more: --json has all of them"))?;
    }
    let verdict = match totals.faults {
        0 => "no faults".to_owned(),
        1 => "1 fault".to_owned(),
        faults => format!("{faults} faults in {}", table::counted(totals.faulty, "frame")),
    };
    let cut = match totals.cut {
        0 => String::new(),
        cut => {
            format!("; {} cut by the snap length, not checked whole", table::counted(cut, "frame"))
        }
    };
    let unseen = not_looked_into(verifier);
    output
        .line(format_args!("\n{}, {verdict}{cut}{unseen}", table::counted(totals.frames, "frame")))
}

/// How many frames were not looked into, and why; empty if there are none.
fn not_looked_into(verifier: &Verifier) -> String {
    let frames: u64 = verifier.not_looked_into().map(|(_, frames)| frames).sum();
    if frames == 0 {
        return String::new();
    }
    let reasons: Vec<_> = verifier
        .not_looked_into()
        .map(|(reason, frames)| format!("{frames} {}", reason.phrase()))
        .collect();
    format!("; {} not looked into: {}", table::counted(frames, "frame"), reasons.join(", "))
}
