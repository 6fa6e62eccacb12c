//! Runs a configuration in memory.

use std::ops::ControlFlow;
use std::path::Path;

use rocelab_ns3_rdma::{
    Branch, Input, InputError, LineWriter, MixTrace, Nobody, Options, Outputs, Simulator,
    Statistics,
};

/// What a run writes.
#[derive(Debug)]
pub struct Made {
    pub trace: Vec<u8>,
    pub log: Vec<u8>,
    pub printed: Vec<u8>,
    pub statistics: Statistics,
}

/// Runs the configuration at `path` with everything that can be written.
pub fn run(path: &Path, options: Options) -> Result<Made, InputError> {
    let text = std::fs::read_to_string(path).unwrap();
    run_text(path, &text, options)
}

/// Runs the `text` of a configuration at `path`.
pub fn run_text(path: &Path, text: &str, options: Options) -> Result<Made, InputError> {
    let input = Input::parse(path, text, options, |path| std::fs::read_to_string(path))?;
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
