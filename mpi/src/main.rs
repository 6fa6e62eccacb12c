//! `rocelab-mpi`: a run of RoCE Lab on several machines, as ranks of MPI.
//!
//! `mpirun -n 4 rocelab-mpi run scenarios/incast-v2.toml` does what `rocelab run` does, and leaves the
//! same bytes. All but the messages is in the libraries; see `docs/several-machines.md`.

mod communicator;

use std::io::Write as _;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;

use mpi::Threading;
use mpi::topology::Communicator as _;

use crate::communicator::MpiCommunicator;

/// The exit code that says that the program has a defect.
const DEFECT: u8 = 3;
/// The exit code that says that the machine failed.
const MACHINE_FAILED: u8 = 4;

fn main() -> ExitCode {
    // A thread of its own listens for Ctrl-C, and exchanges nothing.
    let Some((universe, _)) = mpi::initialize_with_threading(Threading::Funneled) else {
        tell("error: MPI is initialised already");
        return MACHINE_FAILED.into();
    };
    let world = universe.world();
    let mut communicator = MpiCommunicator::new(universe.world());
    let run = || rocelab_cli::ranks::main(&mut communicator);
    std::panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        tell("error: this is a defect of rocelab; please report it with the scenario");
        // Other ranks wait for this one and would do so for ever.
        world.abort(DEFECT.into())
    })
}

/// Tells the user on standard error, if anybody listens there.
fn tell(what: &str) {
    drop(writeln!(std::io::stderr(), "{what}"));
}
