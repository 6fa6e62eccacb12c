//! `rocelab pcap stats`.

use rocelab_capture::CaptureFile;

use super::CaptureArguments;
use super::output::{Closed, Output};
use super::table;
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
    let ended = CaptureFile::named(&arguments.path).read(|_| Ok::<_, Closed>(()))?;
    let verifier = &ended.verifier;
    if arguments.json {
        for connection in verifier.flows().connections() {
            output.json(&connection)?;
        }
        output.json(&verifier.summary())?;
    } else {
        table::connections(verifier, output)?;
        table::times(verifier.flows(), output)?;
        table::opcodes(verifier, output)?;
        output.line(format_args!("\n{} frames", verifier.totals().frames))?;
    }
    output.flush()?;
    Ok(ended.error.map(Failure::from))
}
