//! Runs a configuration in memory.

use std::ops::ControlFlow;
use std::path::Path;

use rocelab_ns3_rdma::{
    Branch, Input, InputError, LineWriter, MixTrace, Nobody, Options, Outputs, Simulator,
    Statistics,
};

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
    let trace = MixTrace::new(Vec::new(), options.arithmetic);
    let log = LineWriter::new(Vec::new());
    let go_on = |_: u64| ControlFlow::Continue(());
    if options.branch == Branch::Timely {
        let printed = LineWriter::new(Vec::new());
        let outputs = Outputs { trace, log, printed };
        let (finished, outputs) = Simulator::new(&input, outputs).run(go_on)?;
        return Ok(Made {
            trace: outputs.trace.finish().unwrap(),
            log: outputs.log.finish().unwrap(),
            printed: outputs.printed.finish().unwrap(),
            statistics: finished.statistics,
        });
    }
    let outputs = Outputs { trace, log, printed: Nobody };
    let (finished, outputs) = Simulator::new(&input, outputs).run(go_on)?;
    Ok(Made {
        trace: outputs.trace.finish().unwrap(),
        log: outputs.log.finish().unwrap(),
        printed: Vec::new(),
        statistics: finished.statistics,
    })
}
