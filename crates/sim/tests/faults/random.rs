//! Random rules of all kinds over random traffic: everything is accounted for, every flow ends, and
//! the same seed gives the same run.

use std::sync::Arc;

use rocelab_engine::RngStream;
use rocelab_sim::{Ending, Simulation};

use crate::support::plan;

struct Dice(RngStream);

impl Dice {
    fn one<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        let index = self.0.below(choices.len() as u64);
        choices[usize::try_from(index).expect("an index")]
    }

    fn rule(&mut self) -> String {
        let action = self.one(&[
            "\"drop\"",
            "\"duplicate\"",
            "\"delay\"\ndelay = \"3us\"",
            "\"reorder\"\nbehind = 3",
            "\"reorder\"\ndelay = \"1us\"",
            "\"corrupt\"\npart = \"payload\"",
            "\"corrupt\"\npart = \"header\"",
            "\"corrupt\"\npart = \"icrc\"",
        ]);
        let opcode = self.one(&["", "opcode = [\"data\", \"ack\"]\n", "opcode = \"request\"\n"]);
        let link =
            self.one(&["", "from = \"leaf-0\"\n", "to = \"host-3\"\n", "from = \"host-1\"\n"]);
        let choice = self.one(&[
            "probability = 0.01",
            "every = 97",
            "nth = 5",
            "pattern = \"ip-identification\"",
            "count = 3\nafter = \"4us\"",
        ]);
        format!("[[faults]]\naction = {action}\n{opcode}{link}{choice}\n")
    }
}

fn scenario(number: u64) -> String {
    let mut dice = Dice(RngStream::new(number, "random faults"));
    let version = dice.one(&["version = 1", "version = 2", "version = 2\nip = \"ipv6\""]);
    let recovery = dice.one(&["go-back-n", "go-back-n", "go-back-0"]);
    let verb = dice.one(&["write", "send", "read", "write-with-immediate"]);
    let algorithm = dice.one(&["none", "timely", "hpcc"]);
    let rules: String = (0..4).map(|_| dice.rule()).collect();
    format!(
        "seed = {number}\n[roce]\n{version}\nrecovery = \"{recovery}\"\nack_timeout = 5\n\
         [topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n\
         host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         fabric_link = {{ rate = \"100Gbps\", cable = \"30m\" }}\n[congestion_control.{algorithm}]\n\
         [workload.permutation]\nbytes = \"40KB\"\nverb = \"{verb}\"\n\
         [workload.incast]\nsenders = 3\nbytes = \"30KB\"\n{rules}"
    )
}

/// Runs, audits on the way; the digest and what each rule did.
fn outcome(text: &str, budget: u64) -> (u64, String) {
    let mut simulation: Simulation =
        Simulation::new(Arc::new(plan(text))).expect("a plan becomes a network");
    let ending = loop {
        let ending = simulation.advance(budget);
        simulation.network().audit().unwrap_or_else(|error| panic!("{error}\n{text}"));
        if let Some(ending) = ending {
            break ending;
        }
    };
    assert_eq!(ending, Ending::Finished, "{text}");
    let network = simulation.network();
    (network.digest(), format!("{:?} {:?}", network.fault_counts(), network.nic_counters()))
}

#[test]
fn nothing_is_lost_count_of_and_equal_seeds_are_equal_runs() {
    let mut acted = 0;
    for number in 0..60 {
        let text = scenario(number);
        let first = outcome(&text, 500);
        assert!(outcome(&text, 100_000) == first, "{text}");
        acted += u32::from(!first.1.contains("acted: 0 }, FaultCounts"));
    }
    assert!(acted > 10, "rules act: {acted}");
}
