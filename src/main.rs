//! The program `rocelab`.

use std::process::ExitCode;

fn main() -> ExitCode {
    rocelab_cli::main()
}
