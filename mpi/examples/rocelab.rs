//! The program `rocelab`, for tests to compare with.

use std::process::ExitCode;

fn main() -> ExitCode {
    rocelab_cli::main()
}
