//! Any texts are a configuration of ns3-rdma with its files or an error that says where, never a panic; what
//! is accepted runs for a while, or ends with an error.

#![no_main]

use std::ops::ControlFlow;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use rocelab_ns3_rdma::{Branch, Input, MixTrace, Nobody, Options, Outputs, Simulator};

/// What separates the files of a text.
const BETWEEN: char = '@';
/// Networks that are run.
const MOST_LINKS: usize = 32;

fuzz_target!(|text: (&str, bool)| {
    let (text, is_timely) = text;
    let mut files = text.split(BETWEEN);
    let config = files.next().unwrap_or_default();
    let branch = if is_timely { Branch::Timely } else { Branch::Master };
    let options = Options { branch, ..Options::default() };
    let read = |_: &Path| Ok(files.next().unwrap_or_default().to_owned());
    let input = match Input::parse(Path::new("fuzz/config.txt"), config, options, read) {
        Ok(input) => input,
        Err(error) => {
            assert!(!error.message().is_empty() && !error.help().is_empty());
            return;
        }
    };
    if input.topology.links.len() > MOST_LINKS || input.flows.len() > MOST_LINKS {
        return;
    }
    let trace = MixTrace::new(std::io::sink(), options.arithmetic);
    let outputs = Outputs { trace, log: Nobody, printed: Nobody };
    let _ = Simulator::new(&input, outputs).run(|_| ControlFlow::Break(()));
});
