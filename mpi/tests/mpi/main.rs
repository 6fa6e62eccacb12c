//! The program as ranks under `mpirun`, beside the program in one process.
//!
//! Without `mpirun` these tests are skipped, and say so.

mod failures;
mod programs;
mod scenarios;
