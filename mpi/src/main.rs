//! `rocelab-mpi`: a run of RoCE Lab on several machines, as ranks of MPI.
//!
//! `mpirun -n 4 rocelab-mpi run scenarios/incast-v2.toml` does what `rocelab run` does, and writes
//! the same bytes. Only the messages between ranks are implemented here; everything else is in the
//! libraries. See `docs/several-machines.md`.

mod communicator;

use std::io::Write as _;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;

use mpi::Threading;
use mpi::topology::Communicator as _;

use crate::communicator::MpiCommunicator;

/// The exit code for a defect of the program.
const DEFECT: u8 = 3;
/// The exit code for a failure of the machine.
const MACHINE_FAILED: u8 = 4;

fn main() -> ExitCode {
    // A separate thread handles Ctrl-C; it does not exchange messages.
    let Some((universe, _)) = mpi::initialize_with_threading(Threading::Funneled) else {
        print_error("error: MPI is initialised already");
        return MACHINE_FAILED.into();
    };
    let world = universe.world();
    let mut communicator = MpiCommunicator::new(universe.world());
    let run = || rocelab_cli::ranks::main(&mut communicator);
    std::panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        print_error("error: this is a defect of rocelab; please report it with the scenario");
        // Other ranks wait for this one, and would wait for ever.
        world.abort(DEFECT.into())
    })
}

/// Writes a line to standard error, and ignores errors of writing.
fn print_error(what: &str) {
    drop(writeln!(std::io::stderr(), "{what}"));
}
