//! What a call of a guest costs over one of the native algorithm: `cargo run --profile test -p rocelab-wasm --features runtime
//! --example cost`. It measures processor time, on Linux.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;

use rocelab_transport::Algorithm;
use rocelab_transport::congestion_control::{Ack, CongestionControl, ExternalAlgorithm, Path};
use rocelab_units::{Bandwidth, Duration, SimTime};
use rocelab_wasm::{GuestAlgorithm, GuestModule};

/// Queue pairs, in turn.
const PAIRS: usize = 64;
/// Calls of a round.
const CALLS: u64 = 2_000_000;
/// The best of so many rounds counts.
const ROUNDS: usize = 7;

fn main() {
    let guests: [(&str, &[u8]); 2] = [
        ("swift", include_bytes!("../../../guests/compiled/swift.wasm")),
        ("dctcp", include_bytes!("../../../guests/compiled/dctcp.wasm")),
    ];
    println!("a call that does nothing: {:.1} ns", best(&mut controls(EMPTY.as_bytes())));
    for (name, bytes) in guests {
        let text = format!("{{\"{name}\": {{}}}}");
        let native: Algorithm = serde_json::from_str(&text).expect("a name of the list");
        let mut of_native: Vec<_> = (0..PAIRS).map(|_| native.build(&path())).collect();
        let (native, guest) = (best(&mut of_native), best(&mut controls(bytes)));
        println!(
            "{name}: native {native:.1} ns, guest {guest:.1} ns, {:.1} ns more",
            guest - native
        );
    }
}

/// A guest that sets a rate at the start, and nothing later.
const EMPTY: &str = r#"(module (memory (export "memory") 1)
    (data (i32.const 4096) "{\22abi\22: 1, \22name\22: \22empty\22, \22feedback\22: \22rtt\22, \22state\22: 8}")
    (func (export "rl_abi") (result i32) i32.const 1)
    (func (export "rl_meta") (result i64) (i64.or (i64.shl (i64.const 4096) (i64.const 32)) (i64.const 58)))
    (func (export "rl_block") (result i32) i32.const 1024)
    (func (export "rl_event") (param $kind i32)
        (if (i32.eqz (local.get $kind)) (then (i64.store (i32.const 1120) (i64.const 1))))))"#;

/// Controllers that ask a guest.
fn controls(bytes: &[u8]) -> Vec<Box<dyn CongestionControl>> {
    let module = Arc::new(GuestModule::new(bytes).expect("a guest of our own"));
    let guest = GuestAlgorithm::new(module, &BTreeMap::new(), 100_000).expect("no parameters");
    (0..PAIRS).map(|_| guest.build(&path())).collect()
}

fn path() -> Path {
    let (line_rate, base_rtt) = (Bandwidth::from_gbps(100), Duration::from_us(8));
    let bdp = line_rate.bytes_in(base_rtt).get();
    Path { line_rate, base_rtt, bdp, path_mtu: 1024, others: 0, seed: 1, start: SimTime::ZERO }
}

/// Nanoseconds that the process had a processor for: what else runs there does not count.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("Linux tells it");
    text.split_whitespace().next().and_then(|first| first.parse().ok()).expect("a number")
}

/// Nanoseconds of a call.
fn best(controls: &mut [Box<dyn CongestionControl>]) -> f64 {
    let rounds = (0..ROUNDS).map(|_| {
        let start = processor_time();
        for number in 0..CALLS {
            let place = usize::try_from(number).unwrap_or(0) % PAIRS;
            let control = &mut controls[place];
            control.on_ack(&Ack {
                now: SimTime::from_ps(number * 100_000),
                acked_bytes: 1024,
                acknowledged: number * 1024,
                sent: number * 1024 + 100_000,
                rtt: Some(Duration::from_ps(8_000_000 + number % 7_000_000)),
                ecn_echo: number % 50 == 0,
                telemetry: None,
            });
            black_box((control.rate(), control.window()));
        }
        (processor_time() - start) / CALLS as f64
    });
    rounds.fold(f64::INFINITY, f64::min)
}
