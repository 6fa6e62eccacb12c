//! Modules by chance neither crash nor hang what loads, checks and calls them.

use std::collections::BTreeMap;
use std::sync::Arc;

use arbitrary::Unstructured;
use rocelab_transport::congestion_control::{ExternalAlgorithm, Path};
use rocelab_units::{Bandwidth, Duration, SimTime};
use rocelab_wasm::{GuestAlgorithm, GuestModule, LoadError, check};
use wasm_smith::{Config, Module};

/// What modules export whose calls are made by chance.
const EXPORTS: &str =
    r#"(module (memory (export "memory") 1 32) (func (export "rl_event") (param i32)))"#;

const METADATA: &str = r#"{"abi": 1, "name": "by-chance", "feedback": "rtt", "state": 256, "events": ["ack", "sent", "loss"]}"#;

/// Instructions of a call.
const FUEL: u64 = 20_000;

/// Bytes that follow from a number.
fn bytes(number: u64) -> Vec<u8> {
    let mut state = number;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 29)
    };
    (0..256).flat_map(|_| next().to_le_bytes()).collect()
}

#[test]
fn five_hundred_modules_of_any_kind() {
    let mut compiled = 0;
    for number in 0..500 {
        let source = bytes(number);
        // Half of them use what is switched off here.
        let config = if number % 2 == 0 { Config::default() } else { limited() };
        let module = Module::new(config, &mut Unstructured::new(&source)).unwrap();
        // It has not what is asked for: only how it is refused is seen.
        let error = GuestModule::new(&module.to_bytes()).unwrap_err();
        compiled += u32::from(!matches!(error, LoadError::Invalid(_)));
    }
    assert!(compiled > 100, "{compiled} of them were compiled");
}

/// Modules that use nothing that is switched off, and import nothing.
fn limited() -> Config {
    Config {
        max_imports: 0,
        max_memories: 0,
        reference_types_enabled: false,
        allow_start_export: false,
        exceptions_enabled: false,
        gc_enabled: false,
        memory64_enabled: false,
        relaxed_simd_enabled: false,
        threads_enabled: false,
        wide_arithmetic_enabled: false,
        custom_page_sizes_enabled: false,
        max_memory32_bytes: 32 << 16,
        ..Config::default()
    }
}

/// A module whose `rl_event` does something by chance, with a memory to do it in, and right metadata.
fn guest(number: u64) -> String {
    let source = bytes(number);
    let exports = Some(wat::parse_str(EXPORTS).unwrap());
    let config = Config { exports, min_funcs: 3, ..limited() };
    let module = Module::new(config, &mut Unstructured::new(&source)).unwrap();
    let text = wasmprinter::print_bytes(module.to_bytes()).unwrap();
    let end = text.trim_end().strip_suffix(')').unwrap();
    format!(
        "{end} (data (i32.const 4096) \"{}\")
         (func (export \"rl_abi\") (result i32) i32.const 1)
         (func (export \"rl_meta\") (result i64) (i64.const {}))
         (func (export \"rl_block\") (result i32) i32.const 1024))",
        METADATA.replace('"', "\\\""),
        4096_u64 << 32 | METADATA.len() as u64,
    )
}

#[test]
fn five_hundred_modules_are_checked_and_called() {
    let (mut loaded, mut passed, mut failed, mut hidden) = (0, 0, 0, 0);
    for number in 500..1_000 {
        let module = match GuestModule::new(guest(number).as_bytes()) {
            Ok(module) => Arc::new(module),
            // Its memory may be too large, its table too long, or its data lie beyond its memory.
            Err(LoadError::Memory(_) | LoadError::Start(_) | LoadError::Invalid(_)) => continue,
            Err(error) => panic!("{number}: {error}"),
        };
        loaded += 1;
        let findings = check(&module, &[], FUEL).unwrap();
        hidden += u32::from(findings.hidden.is_some());
        if findings.faults.is_empty() {
            passed += 1;
        } else {
            failed += 1;
        }
        let algorithm = GuestAlgorithm::new(module, &BTreeMap::new(), FUEL).unwrap();
        let (line_rate, base_rtt) = (Bandwidth::from_gbps(100), Duration::from_us(8));
        let mut control = algorithm.build(&Path {
            line_rate,
            base_rtt,
            bdp: 100_000,
            path_mtu: 1024,
            others: 0,
            seed: number,
            start: SimTime::ZERO,
        });
        for event in 0..10 {
            let now = SimTime::from_ps(event * 1_000_000);
            let mut served = 0;
            while let Some(timer) = control.timers().and_then(|timers| timers.due(now)) {
                let time = control.timers().unwrap().deadline(timer);
                control.expire(timer, time);
                served += 1;
                // Each moves ahead, or the controller stands still.
                assert!(served < 10_000_000, "{number} never ends");
            }
        }
        assert!(control.rate() > Bandwidth::default() || algorithm.fault().is_some());
    }
    println!("{loaded} were loaded: {passed} passed, {failed} failed, {hidden} keep something");
    assert!(loaded > 250, "{loaded}");
    assert!(failed > 50, "{failed} failed in a call");
}
