//! The four promises under random faults, for all recoveries, operations and versions.

use rocelab_engine::RngStream;
use rocelab_sim::Ending;
use rocelab_units::Duration;

use crate::support::run;

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
        ]);
        let link = self.one(&["", "from = \"host-0\"\n", "to = \"host-3\"\n"]);
        let choice = self.one(&[
            "probability = 0.02",
            "every = 53",
            "nth = 5",
            "pattern = \"ip-identification\"",
        ]);
        format!("[[faults]]\naction = {action}\n{link}{choice}\n")
    }
}

fn scenario(number: u64, recovery: &str) -> String {
    let mut dice = Dice(RngStream::new(number, &format!("integrity/{recovery}")));
    let version = dice.one(&["version = 1", "version = 2", "version = 2\nip = \"ipv6\""]);
    // Go-back-0 never ends a message of which every try loses a packet.
    let is_livelocked_by_long_messages = recovery == "go-back-0";
    let (mtus, messages): (&[&str], &[&str]) = if is_livelocked_by_long_messages {
        (&["1024", "4096"], &["3KB", "10001B"])
    } else {
        (&["256", "1024", "4096"], &["3KB", "10001B", "64KiB"])
    };
    let mtu = dice.one(mtus);
    let interval = dice.one(&["1", "4", "16"]);
    let verbs = ["write", "send", "read", "write-with-immediate"].map(|verb| {
        let message = dice.one(messages);
        format!(
            "[[workload.flows]]\nverb = \"{verb}\"\nmessage = \"{message}\"\nlist = [\
             {{ from = \"host-0\", to = \"host-3\", bytes = \"50001B\" }},\
             {{ from = \"host-1\", to = \"host-0\", bytes = \"20KB\", start = \"2us\" }}]\n"
        )
    });
    let rules: String = (0..4).map(|_| dice.rule()).collect();
    format!(
        "seed = {number}\nintegrity = true\n[roce]\n{version}\npath_mtu = {mtu}\n\
         recovery = \"{recovery}\"\nack_interval = {interval}\nack_timeout = 5\n\
         [topology.single-switch]\nhosts = 4\nlink = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         [congestion_control.none]\n{}{rules}",
        verbs.concat()
    )
}

/// How many packets were sent again over all runs, which must all keep their promises.
fn all_verify(recovery: &str) -> u64 {
    let mut repeated = 0;
    let mut completed = 0;
    for number in 0..40 {
        let text = scenario(number, recovery);
        let run = run(&text);
        assert_eq!(run.ending, Ending::Finished, "{text}");
        assert_eq!(run.ends.len(), 8, "{text}");
        let report = run.report();
        assert!(report.violations.is_empty(), "{text}\n{:?}", report.violations);
        assert_eq!(report.flows + report.failed.len() as u64, 8, "{text}");
        assert_eq!(run.simulation.network().contents_in_network(), 0, "{text}");
        completed += report.flows;
        repeated += run.counters().retransmitted.packets;
    }
    assert!(completed > 300, "few flows give up: {completed}");
    repeated
}

#[test]
fn go_back_n_keeps_its_promises() {
    assert!(all_verify("go-back-n") > 1_000);
}

#[test]
fn go_back_0_keeps_its_promises() {
    assert!(all_verify("go-back-0") > 1_000);
}

#[test]
fn selective_repeat_keeps_its_promises() {
    assert!(all_verify("selective-repeat") > 100);
}

#[test]
fn many_flows_share_the_memory_of_their_hosts() {
    for verb in ["send", "write", "read"] {
        let text = format!(
            "integrity = true\n[topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\n\
             host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
             fabric_link = {{ rate = \"100Gbps\", cable = \"30m\" }}\n[workload.permutation]\n\
             bytes = \"200KB\"\nverb = \"{verb}\"\n[workload.incast]\nsenders = 7\n\
             bytes = \"100KB\"\n"
        );
        let run = run(&text);
        let report = run.report();
        assert_eq!((report.flows, report.bytes), (15, 8 * 200_000 + 7 * 100_000));
        assert!(report.violations.is_empty(), "{verb}: {:?}", report.violations);
    }
}

#[test]
fn flows_that_give_up_are_no_violations() {
    let text = "integrity = true\n[roce]\nack_timeout = 3\nretry_count = 1\n\
                [topology.single-switch]\nhosts = 3\n\
                link = { rate = \"100Gbps\", cable = \"3m\" }\n[workload.flows]\nlist = [\
                { from = \"host-0\", to = \"host-1\", bytes = \"10KB\" },\
                { from = \"host-0\", to = \"host-2\", bytes = \"10KB\" }]\n\
                [[faults]]\naction = \"drop\"\nto = \"host-1\"\n";
    let report = run(text).report();
    assert_eq!((report.flows, &report.failed[..]), (1, &[0][..]));
    assert!(report.violations.is_empty());
}

/// Memory that is slower than the link by far: the program finds a message long after it was acknowledged, be it that
/// the run goes on until then or that it stops before.
#[test]
fn what_programs_find_late_is_not_lost() {
    for stop in ["", "stop = \"200us\"\n"] {
        let text = format!(
            "integrity = true\n{stop}[topology.single-switch]\nhosts = 2\nlink = {{ rate = \"100Gbps\", cable = \
             \"3m\" }}\n[congestion_control.none]\n[switch]\nlossless = [3]\n[[host_model]]\nhosts = \
             [\"host-1\"]\nbuffer = \"8MB\"\nmemory = {{ posted_credits = 1 }}\n[[workload.flows]]\nverb = \
             \"send\"\nlist = [{{ from = \"host-0\", to = \"host-1\", bytes = \"1MB\" }}]\n"
        );
        let run = run(&text);
        let report = run.report();
        assert!(report.violations.is_empty(), "{text}\n{:?}", report.violations);
        assert_eq!(run.ends.len(), 1, "{text}");
        let (_, counts, _) = run.simulation.network().host_counts()[0];
        assert!(counts.waited_for_memory > Duration::from_us(1000), "{text}\n{counts:?}");
    }
}
