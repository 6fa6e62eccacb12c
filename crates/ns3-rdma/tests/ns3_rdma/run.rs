//! Runs a configuration in memory.

use std::ops::ControlFlow;
use std::path::Path;

use rocelab_ns3_rdma::{Branch, Input, InputError, Options, RunError, Statistics, Texts};

/// What a run writes.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) trace: Vec<u8>,
    pub(crate) log: Vec<u8>,
    pub(crate) printed: Vec<u8>,
    pub(crate) statistics: Statistics,
}

/// Runs the configuration at `path` with everything that can be written.
pub(crate) fn run(path: &Path, options: Options) -> Result<Made, InputError> {
    let text = std::fs::read_to_string(path).unwrap();
    run_text(path, &text, options)
}

/// Runs the `text` of a configuration at `path`.
pub(crate) fn run_text(path: &Path, text: &str, options: Options) -> Result<Made, InputError> {
    run_with(path, text, options, |path| std::fs::read_to_string(path))
}

/// The same, where `read` gives the files that the configuration names.
pub(crate) fn run_with(
    path: &Path,
    text: &str,
    options: Options,
    read: impl FnMut(&Path) -> std::io::Result<String>,
) -> Result<Made, InputError> {
    let input = Input::parse(path, text, options, read)?;
    let (mut trace, mut log, mut printed) = (Vec::new(), Vec::new(), Vec::new());
    let mut texts = Texts { log: Some(&mut log), ..Texts::default() };
    match options.branch {
        Branch::Master => texts.trace = Some(&mut trace),
        Branch::Timely => texts.printed = Some(&mut printed),
    }
    let mut go_on = |_| ControlFlow::Continue(());
    match rocelab_ns3_rdma::run(&input, texts, &mut go_on) {
        Ok(finished) => Ok(Made { trace, log, printed, statistics: finished.statistics }),
        Err(RunError::Input(error)) => Err(error),
        Err(error) => panic!("memory takes all that is written: {error:?}"),
    }
}
