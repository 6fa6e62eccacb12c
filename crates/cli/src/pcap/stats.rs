//! `rocelab pcap stats`.

use super::CaptureArguments;
use super::output::{Closed, Output};
use super::{source, table};
use crate::exit::Exit;
use crate::failure::Failure;

/// Counts by queue pair.
pub(super) fn execute(arguments: &CaptureArguments) -> Result<Exit, Failure> {
    let mut output = Output::new();
    match count(arguments, &mut output) {
        Ok(Some(failure)) => Err(failure),
        Ok(None) => Ok(Exit::Done),
        Err(closed) => closed.end(),
    }
}

fn count(arguments: &CaptureArguments, output: &mut Output) -> Result<Option<Failure>, Closed> {
    let ended = source::read(&arguments.path, |_| Ok(()))?;
    let verifier = &ended.verifier;
    if arguments.json {
        for connection in verifier.flows().connections() {
            output.json(&connection)?;
        }
        output.json(&verifier.summary())?;
    } else {
        table::connections(verifier.flows(), output)?;
        table::times(verifier.flows(), output)?;
        table::opcodes(verifier, output)?;
        output.line(format_args!("\n{} frames", verifier.totals().frames))?;
    }
    output.flush()?;
    Ok(ended.failure)
}
