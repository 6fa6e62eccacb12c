//! Random networks, flows and keys: each runs to its end, or ends with an accident that has a name; never a
//! panic, and twice the same bytes.

use std::fmt::Write as _;
use std::path::Path;

use rocelab_ns3_rdma::{Arithmetic, Branch, InputError, Options};

use crate::run;

/// Cases that are tried.
const CASES: u64 = 60;

/// A generator of our own (xorshift64*), so that cases do not depend on the code under test.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % most
    }

    fn of<'a>(&mut self, values: &[&'a str]) -> &'a str {
        values[usize::try_from(self.below(values.len() as u64)).unwrap()]
    }
}

/// A tree of switches with some rings, and hosts at them: the text of the topology, and the hosts.
fn topology(dice: &mut Dice) -> (String, Vec<u64>) {
    let switches = 1 + dice.below(5);
    let hosts = 2 + dice.below(5);
    let mut links = String::new();
    let mut count = 0;
    let mut link = |dice: &mut Dice, a, b| {
        let rate = dice.of(&["10Gbps", "40Gbps", "100Gbps", "25Gb/s"]);
        let delay = dice.of(&["0.001ms", "500ns", "2us", "0ns"]);
        let loss = dice.of(&["0", "0", "0", "0.01"]);
        writeln!(links, "{a} {b} {rate} {delay} {loss}").unwrap();
        count += 1;
    };
    for switch in 1..switches {
        let other = dice.below(switch);
        link(dice, switch, other);
    }
    for _ in 0..dice.below(3) {
        let (a, b) = (dice.below(switches), dice.below(switches));
        if a != b {
            link(dice, a, b);
        }
    }
    for host in switches..switches + hosts {
        let switch = dice.below(switches);
        link(dice, switch, host);
    }
    let names: Vec<_> = (0..switches).map(|switch| switch.to_string()).collect();
    let text = format!("{} {switches} {count}\n{}\n{links}", switches + hosts, names.join(" "));
    (text, (switches..switches + hosts).collect())
}

fn flows(dice: &mut Dice, hosts: &[u64], branch: Branch) -> String {
    let count = 1 + dice.below(8);
    let mut text = format!("{count}\n");
    for _ in 0..count {
        let source = dice.below(hosts.len() as u64);
        let other = (source + 1 + dice.below(hosts.len() as u64 - 1)) % hosts.len() as u64;
        let host = |place| hosts[usize::try_from(place).unwrap()];
        let class = dice.of(&["0", "1", "2", "3", "3", "4", "5", "6", "7"]);
        let packets = dice.of(&["1", "7", "300", "10000000"]);
        let start = dice.of(&["2.0", "2.00001", "2.0000333"]);
        let stop = dice.of(&["9.5", "9.5", "2.0001"]);
        write!(text, "{} {} {class} {packets} {start} {stop}", host(source), host(other)).unwrap();
        text += if branch == Branch::Timely { " 5\n" } else { "\n" };
    }
    text
}

fn config(dice: &mut Dice) -> String {
    let mut text = String::from(
        "TOPOLOGY_FILE t FLOW_FILE f TCP_FLOW_FILE c TRACE_FILE n TRACE_OUTPUT_FILE mix.tr\n\
         RATE_AI 40Mb/s RATE_HAI 200Mb/s\n",
    );
    for (key, values) in [
        ("SIMULATOR_STOP_TIME", &["2.0003", "2.0008"][..]),
        ("ENABLE_QCN", &["0", "1", "1"]),
        ("USE_DYNAMIC_PFC_THRESHOLD", &["0", "1"]),
        ("PACKET_LEVEL_ECMP", &["0", "1"]),
        ("PAUSE_TIME", &["5", "2.5", "20"]),
        ("PACKET_PAYLOAD_SIZE", &["1000", "24", "1400", "512"]),
        ("SEND_IN_CHUNKS", &["0", "0", "1"]),
        ("CNP_INTERVAL", &["50", "10.9"]),
        ("ALPHA_RESUME_INTERVAL", &["55", "5.5"]),
        ("RP_TIMER", &["60", "3.5"]),
        ("BYTE_COUNTER", &["300000000", "20000", "0"]),
        ("DCTCP_GAIN", &["0.00390625", "0.0625", "1"]),
        ("FAST_RECOVERY_TIMES", &["5", "1", "0"]),
        ("CLAMP_TARGET_RATE", &["0", "1"]),
        ("CLAMP_TARGET_RATE_AFTER_TIMER", &["0", "1"]),
        ("KMIN", &["40", "2", "0"]),
        ("KMAX", &["1000", "60", "2", "0"]),
        ("PMAX", &["1.0", "0.01"]),
        ("ERROR_RATE_PER_LINK", &["0", "0", "0.001"]),
        ("L2_CHUNK_SIZE", &["4000", "16", "1"]),
        ("L2_ACK_INTERVAL", &["256", "1", "0", "7"]),
        ("L2_WAIT_FOR_ACK", &["0", "0", "0", "1"]),
        ("L2_BACK_TO_ZERO", &["0", "1"]),
        ("L2_TEST_READ", &["0", "0", "1"]),
    ] {
        writeln!(text, "{key} {}", dice.of(values)).unwrap();
    }
    if text.contains("PACKET_LEVEL_ECMP 0") {
        writeln!(text, "FLOW_LEVEL_ECMP {}", dice.below(2)).unwrap();
    }
    text
}

fn try_case(seed: u64) -> Result<run::Made, InputError> {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
    let options = Options {
        seed: u32::try_from(1 + dice.below(1_000_000)).unwrap(),
        arithmetic: if dice.below(3) == 0 { Arithmetic::Double } else { Arithmetic::Linux },
        branch: if dice.below(4) == 0 { Branch::Timely } else { Branch::Master },
    };
    let (topology, hosts) = topology(&mut dice);
    let flows = flows(&mut dice, &hosts, options.branch);
    let config = config(&mut dice);
    let traced = format!("2 0 {}", hosts[0]);
    let read = |path: &Path| {
        Ok(match path.to_str().unwrap() {
            "t" => topology.clone(),
            "f" => flows.clone(),
            "c" => "0".to_owned(),
            _ => traced.clone(),
        })
    };
    run::run_with(Path::new("config.txt"), &config, options, read)
}

#[test]
fn random_cases_end() {
    let (mut runs, mut received) = (0, 0);
    let mut accidents = Vec::new();
    for seed in 0..CASES {
        match (try_case(seed), try_case(seed)) {
            (Ok(made), Ok(again)) => {
                assert!(made.trace == again.trace && made.log == again.log, "case {seed}");
                assert!(made.printed == again.printed, "case {seed}");
                assert_eq!(made.statistics, again.statistics, "case {seed}");
                assert!(made.statistics.arrivals.total() <= made.statistics.hops.data);
                runs += 1;
                received += made.statistics.arrivals.total();
            }
            (Err(error), Err(again)) => {
                assert_eq!(error.to_string(), again.to_string(), "case {seed}");
                assert!(!error.help().is_empty(), "case {seed}");
                accidents.push(format!("case {seed}: {error}"));
            }
            _ => panic!("case {seed} ends differently"),
        }
    }
    println!("{}\n{runs} runs, {received} packets received", accidents.join("\n"));
    assert!(runs > CASES / 2 && received > 10_000, "{runs} runs, {received} packets");
}
