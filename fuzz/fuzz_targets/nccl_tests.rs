//! Any text is a table of nccl-tests or an error, never a panic; what is printed is read, and printed again as it was.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use rocelab_trace::nccl_tests::{parse, to_json};

fuzz_target!(|text: &str| {
    let path = Path::new("t");
    match parse(text, path) {
        Ok(table) => {
            let _ = to_json(&table);
            let printed = table.to_string();
            if let Ok(again) = parse(&printed, path) {
                assert_eq!(again.rows.len(), table.rows.len());
            }
        }
        Err(error) => assert!(!error.message().is_empty() && !error.help().is_empty()),
    }
});
