//! A run that writes text. It is compiled here for each kind of output, and not again in each program.

use std::io::{self, Write};
use std::ops::ControlFlow;

use crate::error::InputError;
use crate::input::Input;
use crate::lines::LineWriter;
use crate::output::{Lines, Nobody, Outputs, Trace};
use crate::simulator::{Finished, Simulator};
use crate::trace::MixTrace;

/// Where a run writes; what is none is not written.
#[derive(Default)]
pub struct Texts<'a> {
    /// Packets at traced nodes: `mix.tr`. The branch `timely` has none.
    pub trace: Option<&'a mut dyn Write>,
    /// Every event: `exact.txt`.
    pub log: Option<&'a mut dyn Write>,
    /// What the branch `timely` prints: `stdout.txt`.
    pub printed: Option<&'a mut dyn Write>,
}

impl std::fmt::Debug for Texts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Texts").finish_non_exhaustive()
    }
}

/// Why a run ended early.
#[derive(Debug)]
pub enum RunError {
    /// The simulator would crash, never end, or read memory that nobody has set.
    Input(InputError),
    /// The trace could not be written.
    Trace(io::Error),
    /// The log could not be written.
    Log(io::Error),
    /// What is printed could not be written.
    Printed(io::Error),
}

/// Runs `input` to its end, or until `observe`, which is told the present time (ns) now and then, says
/// that it is enough.
///
/// # Errors
/// [`RunError`].
pub fn run(
    input: &Input,
    texts: Texts<'_>,
    observe: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Finished, RunError> {
    let trace = texts.trace.map(|to| MixTrace::new(to, input.options.arithmetic));
    let (log, printed) = (texts.log.map(LineWriter::new), texts.printed.map(LineWriter::new));
    match (trace, log, printed) {
        (Some(trace), None, None) => drive(input, observe, (trace, Nobody, Nobody)),
        (Some(trace), Some(log), None) => drive(input, observe, (trace, log, Nobody)),
        (None, None, None) => drive(input, observe, (Nobody, Nobody, Nobody)),
        (None, Some(log), None) => drive(input, observe, (Nobody, log, Nobody)),
        (_, None, Some(printed)) => drive(input, observe, (Nobody, Nobody, printed)),
        (_, Some(log), Some(printed)) => drive(input, observe, (Nobody, log, printed)),
    }
}

fn drive(
    input: &Input,
    observe: &mut dyn FnMut(u64) -> ControlFlow<()>,
    (trace, log, printed): (impl Trace + Finish, impl Lines + Finish, impl Lines + Finish),
) -> Result<Finished, RunError> {
    let simulator = Simulator::new(input, Outputs { trace, log, printed });
    let (finished, outputs) = simulator.run(observe).map_err(RunError::Input)?;
    outputs.trace.finish().map_err(RunError::Trace)?;
    outputs.log.finish().map_err(RunError::Log)?;
    outputs.printed.finish().map_err(RunError::Printed)?;
    Ok(finished)
}

/// What has to be written to its end.
trait Finish {
    fn finish(self) -> io::Result<()>;
}

impl Finish for Nobody {
    fn finish(self) -> io::Result<()> {
        Ok(())
    }
}

impl Finish for MixTrace<&mut dyn Write> {
    fn finish(self) -> io::Result<()> {
        Self::finish(self)?.flush()
    }
}

impl Finish for LineWriter<&mut dyn Write> {
    fn finish(self) -> io::Result<()> {
        Self::finish(self)?.flush()
    }
}
