//! Modules that cannot be used, and calls that go wrong: each with an error that says what it is.

use std::collections::BTreeMap;
use std::sync::Arc;

use rocelab_transport::congestion_control::{ExternalAlgorithm, LossEvent, Path};
use rocelab_units::{Bandwidth, Duration, SimTime};
use rocelab_wasm::{GuestAlgorithm, GuestModule, LoadError, MOST_MODULE, check};

const AIMD: &[u8] = include_bytes!("../../../guests/wat/aimd.wat");
const FUEL: u64 = 100_000;

/// The text of a module that answers to events with `body`; `fields` come first in it, and `metadata` in its metadata.
fn guest(fields: &str, metadata: &str, body: &str) -> String {
    let json = format!(r#"{{"abi": 1, "name": "test", "feedback": "cnp", "state": 8{metadata}}}"#);
    let quoted = json.replace('"', "\\\"");
    format!(
        "(module {fields} (memory (export \"memory\") 1) (data (i32.const 4096) \"{quoted}\")
         (func (export \"rl_abi\") (result i32) i32.const 1)
         (func (export \"rl_meta\") (result i64) (i64.or (i64.shl (i64.const 4096) (i64.const 32)) (i64.const {})))
         (func (export \"rl_block\") (result i32) i32.const 1024)
         (func (export \"rl_event\") (param $kind i32) (local $x i64)
           (if (i32.eqz (local.get $kind)) (then (i64.store (i32.const 1120) (i64.const 1000000000))))
           {body}))",
        json.len()
    )
}

fn load(text: &str) -> Result<GuestModule, LoadError> {
    GuestModule::new(text.as_bytes())
}

fn refused(text: &str) -> String {
    load(text).map(|_| ()).unwrap_err().to_string()
}

fn path(seed: u64) -> Path {
    let (line_rate, base_rtt) = (Bandwidth::from_gbps(100), Duration::from_us(8));
    let bdp = line_rate.bytes_in(base_rtt).get();
    Path { line_rate, base_rtt, bdp, path_mtu: 1024, others: 0, seed, start: SimTime::from_ps(1) }
}

/// The fault after a controller was opened, told of a CNP, and its timers were served.
#[track_caller]
fn fault(body: &str) -> (String, String) {
    let module = Arc::new(load(&guest("", "", body)).unwrap());
    let algorithm = GuestAlgorithm::new(module, &BTreeMap::new(), FUEL).unwrap();
    let mut control = algorithm.build(&path(3));
    control.on_cnp(SimTime::from_ps(500));
    if let Some(timer) = control.timers().and_then(|timers| timers.due(SimTime::from_ps(900))) {
        control.expire(timer, SimTime::from_ps(900));
    }
    let fault = algorithm.fault().expect("it fails");
    assert_eq!(fault.seed, 3);
    // It stands still: nothing expires any more, and nothing is asked.
    assert_eq!(control.timers().map(|timers| timers.next()), Some(SimTime::NEVER));
    control.on_loss(&LossEvent { now: SimTime::ZERO, timeout: false });
    assert_eq!(algorithm.fault().as_ref(), Some(&fault));
    assert_eq!(algorithm.for_run().0.fault(), None, "another run begins without");
    (format!("{} at {}", fault.event, fault.time.ps()), fault.cause)
}

#[test]
fn a_module_in_text_loads_and_passes_the_check() {
    let module = GuestModule::new(AIMD).unwrap();
    let values: Vec<_> = module.metadata().parameters.iter().map(|one| one.default).collect();
    let findings = check(&module, &values, FUEL).unwrap();
    assert_eq!(findings.faults, []);
    assert!(findings.calls > 1_900 && findings.most_fuel < 100, "{findings:?}");
    assert_eq!(module.identity().len(), 64);
}

#[test]
fn what_is_no_module_is_refused() {
    assert!(refused("(module").starts_with("it is no WebAssembly module that can run here: "));
    assert!(refused("").contains("no WebAssembly"));
    let long = vec![b' '; MOST_MODULE + 1];
    assert_eq!(GuestModule::new(&long).unwrap_err(), LoadError::Size(MOST_MODULE + 1));
    let import = "(import \"env\" \"clock\" (func)) (import \"wasi\" \"random\" (func))";
    assert_eq!(
        refused(&guest(import, "", "")),
        "the module imports env.clock, wasi.random: none are allowed"
    );
    assert!(refused("(module)").contains("does not export `memory`"));
    assert!(
        refused("(module (memory (export \"memory\") 1))").contains("does not export `rl_block`")
    );
    let large = guest("", "", "").replace("\"memory\") 1)", "\"memory\") 33)");
    assert!(refused(&large).contains("declares 33 pages of memory, of which at most 32"));
    for (from, to) in [
        ("i32.const 1024)", "i32.const 1028)"),
        ("i32.const 1024)", "i32.const 65528)"),
        ("i32.const 1024)", "i32.const -8)"),
    ] {
        let text = guest("", "", "").replacen(from, to, 1);
        assert!(refused(&text).contains("rl_block() answers"), "{to}");
    }
    let far = guest("", "", "").replace("(i64.shl (i64.const 4096)", "(i64.shl (i64.const 65530)");
    assert!(
        refused(&far).contains("bytes at 65530: it needs at most 64 KiB within"),
        "{}",
        refused(&far)
    );
    let old = guest("", "", "").replace("(result i32) i32.const 1)", "(result i32) i32.const 7)");
    assert_eq!(refused(&old), "the module has ABI 7, and this program has ABI 1");
    assert!(refused(&guest("", ", \"mystery\": 1", "")).contains("unknown field `mystery`"));
    let endless = guest("(func $f (loop $l (br $l))) (start $f)", "", "");
    assert!(refused(&endless).contains("the module does not start: the call does not end within"));
}

#[test]
fn what_is_switched_off_is_refused() {
    for fields in [
        "(memory 1)",
        "(func (drop (i64.add128 (i64.const 0) (i64.const 0) (i64.const 0) (i64.const 0))) drop)",
        "(func (drop (f32x4.relaxed_madd (v128.const i64x2 0 0) (v128.const i64x2 0 0) (v128.const i64x2 0 0))))",
        "(tag $t) (func (throw $t))",
        "(type $s (struct (field i32))) (func (drop (struct.new $s (i32.const 1))))",
    ] {
        let told = refused(&guest(fields, "", ""));
        assert!(told.contains("no WebAssembly module that can run here"), "{fields}: {told}");
    }
}

#[test]
fn calls_that_go_wrong_say_how() {
    let store = |at: u32, value: &str| format!("(i64.store (i32.const {at}) (i64.const {value}))");
    for (body, at, cause) in [
        (store(1120, "0"), "open at 1", "it answers rate = 0; give 1 to 2^63 bit/s"),
        (store(1120, "-1"), "open at 1", "it answers rate = 18446744073709551615"),
        (store(1128, "0"), "open at 1", "it answers window = 0"),
        ("(loop $l (br $l))".into(), "open at 1", "the call does not end within 100000 instructions"),
        ("unreachable".into(), "open at 1", "wasm `unreachable` instruction executed"),
        ("(drop (i32.div_u (i32.const 1) (i32.const 0)))".into(), "open at 1", "integer divide by zero"),
        ("(drop (i64.load (i32.const 65532)))".into(), "open at 1", "out of bounds memory access"),
        ("(drop (memory.grow (i32.const 1)))".into(), "open at 1", "it asks for more memory (memory.grow)"),
        (
            format!("(if (i32.eq (local.get $kind) (i32.const 2)) (then {}))", store(1136, "500")),
            "cnp at 500",
            "it answers timer 0 = 500 ps, not after the time of the call, 500 ps",
        ),
        (
            format!("(if (i32.eq (local.get $kind) (i32.const 2)) (then {}))", store(1144, "900")),
            "timer at 900",
            "it answers timer 1 = 900 ps, not after the time of the call, 900 ps",
        ),
        // A rate that overflows is 0 in C: (u64)1e30.
        (
            "(if (i32.eq (local.get $kind) (i32.const 2)) (then (i64.store (i32.const 1120) (i64.trunc_sat_f64_u (f64.neg (f64.const 1e30))))))".into(),
            "cnp at 500",
            "it answers rate = 0",
        ),
    ] {
        let told = fault(&body);
        assert_eq!(told.0, at, "{body}");
        assert!(told.1.contains(cause), "{body}: {told:?}");
    }
}

#[test]
fn what_is_kept_in_another_place_than_the_state_is_found() {
    let in_memory = "(i64.store (i32.const 8) (i64.add (i64.load (i32.const 8)) (i64.const 1)))
        (i64.store (i32.const 1120) (i64.add (i64.const 1000000000) (i64.load (i32.const 8))))";
    let in_global = "(global.set $g (i64.add (global.get $g) (i64.const 1)))
        (i64.store (i32.const 1120) (i64.add (i64.const 1000000000) (global.get $g)))";
    // Behind the block, where the host writes nothing.
    let behind = "(i64.store (i32.const 1808) (i64.add (i64.load (i32.const 1808)) (i64.const 1)))
        (i64.store (i32.const 1120) (i64.add (i64.const 1000000000) (i64.load (i32.const 1808))))";
    let global = "(global $g (mut i64) (i64.const 0))";
    for (fields, body) in [("", in_memory), (global, in_global), ("", behind)] {
        let module = load(&guest(fields, "", body)).unwrap();
        let outcome = check(&module, &[], FUEL).unwrap().keeps_nothing();
        assert!(matches!(outcome, Err(LoadError::HiddenState { .. })), "{body}: {outcome:?}");
    }
    let in_state = in_memory.replace("(i32.const 8)", "(i32.const 1552)");
    let module = load(&guest("", "", &in_state)).unwrap();
    let findings = check(&module, &[], FUEL).unwrap();
    assert_eq!((findings.faults, findings.hidden), (Vec::new(), None));
}

#[test]
fn the_modules_of_this_repository_pass_the_check() {
    let modules: [(&str, &[u8]); 4] = [
        ("dcqcn", include_bytes!("../../../guests/compiled/dcqcn.wasm")),
        ("dctcp", include_bytes!("../../../guests/compiled/dctcp.wasm")),
        ("swift", include_bytes!("../../../guests/compiled/swift.wasm")),
        ("swift-endpoint", include_bytes!("../../../guests/compiled/swift-endpoint.wasm")),
    ];
    for (name, bytes) in modules {
        let module = GuestModule::new(bytes).unwrap();
        let defaults: Vec<i64> =
            module.metadata().parameters.iter().map(|parameter| parameter.default).collect();
        let findings = check(&module, &defaults, FUEL).unwrap();
        assert_eq!((findings.faults, findings.hidden), (Vec::new(), None), "{name}");
    }
}

/// A state that is longer than its metadata say is not kept beyond that.
#[test]
fn a_state_that_is_longer_than_the_metadata_say_is_found() {
    let body = "(i64.store (i32.const 1560) (i64.add (i64.load (i32.const 1560)) (i64.const 1)))
        (i64.store (i32.const 1120) (i64.add (i64.const 1000000000) (i64.load (i32.const 1560))))";
    let module = load(&guest("", "", body)).unwrap();
    let error = check(&module, &[], FUEL).unwrap().keeps_nothing().unwrap_err();
    assert!(error.help().contains("the metadata's `state` has to be all of its bytes"), "{error}");
}

#[test]
fn the_check_tells_of_endless_loops_and_bad_answers() {
    let endless =
        guest("", "", "(if (i32.eq (local.get $kind) (i32.const 2)) (then (loop $l (br $l))))");
    let findings = check(&load(&endless).unwrap(), &[], FUEL).unwrap();
    let told: Vec<_> = findings.faults.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("(`cnp`): the call does not end within 100000 instructions"),
        "{told:?}"
    );
}

/// The bits of NaN that arithmetic makes differ between processors: here as everywhere they are 0x7ff8000000000000.
#[test]
fn nan_has_the_same_bits_everywhere() {
    let zero = "(f64.convert_i64_u (i64.load (i32.const 8)))";
    let nan = format!("(f64.div {zero} {zero})");
    let single = format!("(f32.demote_f64 {nan})");
    let canonical = 0x7ff8_0000_0000_0000_u64;
    for (stored, expected) in [
        (format!("(i64.reinterpret_f64 {nan})"), canonical),
        (format!("(i64.reinterpret_f64 (f64.neg {nan}))"), canonical),
        (format!("(i64.reinterpret_f64 (f64.sqrt (f64.const -1)))"), canonical),
        (
            format!("(i64.reinterpret_f64 (f64.copysign (f64.const 1) (f64.neg {nan})))"),
            1_f64.to_bits(),
        ),
        (format!("(i64.extend_i32_u (i32.reinterpret_f32 (f32.neg {single})))"), 0x7fc0_0000),
        // A vector: the module is left to Cranelift, whose NaN is the same.
        (
            format!("(i64x2.extract_lane 1 (f64x2.div (f64x2.splat {zero}) (f64x2.splat {zero})))"),
            canonical,
        ),
        // Other numbers stay as they are.
        ("(i64.reinterpret_f64 (f64.const -0.0))".into(), (-0.0_f64).to_bits()),
        ("(i64.reinterpret_f64 (f64.const -inf))".into(), f64::NEG_INFINITY.to_bits()),
    ] {
        // The window is the number's bits, but for the sign, and one more.
        let body = format!(
            "(local.set $x {stored}) (i64.store (i32.const 1128) (i64.add (local.get $x) (i64.const 1)))"
        );
        assert_eq!(window(&body), expected + 1, "{stored}");
    }
    // Stored as a number, by a function with parameters and locals of its own.
    let function = "(func $keep (param f64 i32) (local f32 f64 i64) (local.set 3 (local.get 0))
        (f64.store (local.get 1) (local.get 3)) (f32.store offset=8 (local.get 1) (f32.demote_f64 (local.get 3))))";
    let body = format!("(call $keep (f64.neg {nan}) (i32.const 1128))");
    let body = format!(
        "{body} (local.set $x (i64.load32_u (i32.const 1136))) (i64.store (i32.const 1136) (i64.const -1))
         (i64.store (i32.const 1128) (i64.add (i64.load (i32.const 1128)) (local.get $x)))"
    );
    let module = load(&guest(function, "", &body)).unwrap();
    assert_eq!(window_of(module), canonical + 0x7fc0_0000);
}

/// The window that a module with this body answers first.
fn window(body: &str) -> u64 {
    window_of(load(&guest("", "", body)).unwrap())
}

fn window_of(module: GuestModule) -> u64 {
    let algorithm = GuestAlgorithm::new(Arc::new(module), &BTreeMap::new(), FUEL).unwrap();
    let window = algorithm.build(&path(1)).window();
    assert_eq!(algorithm.fault(), None);
    window.expect("a window")
}

/// Code without functions and loops has no place that looks at the limit.
#[test]
fn the_limit_holds_to_the_instruction() {
    let module = Arc::new(load(&guest("", "", "")).unwrap());
    let most = check(&module, &[], FUEL).unwrap().most_fuel;
    for (fuel, faults) in [(most, 0), (most - 1, 1)] {
        let findings = check(&module, &[], fuel).unwrap();
        assert_eq!(findings.faults.len(), faults, "{most}: {findings:?}");
    }
}

#[test]
fn a_saved_controller_goes_on_as_it_was() {
    let counting =
        "(i64.store (i32.const 1552) (i64.add (i64.load (i32.const 1552)) (i64.const 7)))
        (i64.store (i32.const 1120) (i64.add (i64.mul (i64.const 1000000000) (i64.load (i32.const 1104))) (i64.load (i32.const 1552))))
        (i64.store (i32.const 1144) (i64.add (i64.load (i32.const 1024)) (i64.const 50)))";
    let module = Arc::new(load(&guest("", "", counting)).unwrap());
    let algorithm = GuestAlgorithm::new(module, &BTreeMap::new(), FUEL).unwrap();
    let (mut one, mut other) = (algorithm.build(&path(1)), algorithm.build(&path(2)));
    one.on_cnp(SimTime::from_ps(400));
    let mut saved = Vec::new();
    one.save(&mut saved).unwrap();
    other.load(&mut &saved[..]).unwrap();
    for control in [&mut one, &mut other] {
        control.on_cnp(SimTime::from_ps(700));
        assert_eq!(control.rate().bits_per_second(), 1_000_000_021);
        assert_eq!(control.timers().map(|timers| timers.deadline(1).ps()), Some(750));
    }
    let longer = load(&guest("", "", "").replace("\\\"state\\\": 8", "\\\"state\\\": 9")).unwrap();
    let longer = GuestAlgorithm::new(Arc::new(longer), &BTreeMap::new(), FUEL).unwrap();
    assert!(longer.build(&path(1)).load(&mut &saved[..]).is_err(), "state of another length");
}
