//! Any bytes are schedules or an error, never a panic; what is read is written and read again as the same, as text and
//! as binary, and runs by the rules of LogGOPS or is told to be stuck.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use rocelab_trace::{Options, check, goal, loggops, to_json};

fuzz_target!(|bytes: &[u8]| {
    let path = Path::new("t.goal");
    let first = match goal::parse(bytes, path) {
        Ok(first) => first,
        Err(error) => {
            assert!(!error.message().is_empty() && !error.help().is_empty());
            return;
        }
    };
    let binary = first.to_binary().expect("it is small");
    let of_binary = goal::parse(&binary, path).expect("what is written is read");
    assert_eq!(of_binary.to_binary().expect("it is small"), binary);
    let of_text = goal::parse(first.to_text().as_bytes(), path).expect("what is written is read");
    assert_eq!(of_text, first);
    let Ok(trace) = goal::to_trace(&first, &Options::default()) else { return };
    let _ = to_json(&trace);
    let _ = check::check(&trace);
    let _ = loggops::run(&trace, &loggops::Parameters::default());
});
