//! Any text is a configuration of HPCC's ns-3 simulator or an error, never a panic; what is
//! accepted is written as a scenario that reads the same.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use rocelab_sim::Scenario;
use rocelab_sim::reference::parse_config;

fuzz_target!(|text: &str| {
    // The inputs that it may name are out of the fuzzer's hands: nothing is planned.
    let path = Path::new("fuzz/config.txt");
    let Ok(loaded) = parse_config(text, path, &[]) else { return };
    let written = loaded.scenario.to_toml().expect("it was read from such a text");
    let again = Scenario::parse(&written, path, &[]).expect("the scenario is valid");
    assert_eq!(again.to_toml().expect("it was written before"), written);
});
