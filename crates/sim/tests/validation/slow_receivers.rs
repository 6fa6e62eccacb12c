//! NICs that handle what arrives no faster than they can: nothing lossless is lost, whatever they do.

use rocelab_sim::Ending;

use crate::support::{Dice, Run, run};

/// Three senders to `host-0`, whose NIC is slow; what is lossless, and more keys of the receiver.
fn incast(lossless: &str, receiver: &str, flows: &str) -> String {
    format!(
        "[roce]\nack_timeout = 10\nretry_count = 7\n[topology.leaf-spine]\nleaves = 2\nspines = 2\n\
         hosts_per_leaf = 2\nhost_link = {{ rate = \"100Gbps\", cable = \"20m\" }}\n\
         fabric_link = {{ rate = \"100Gbps\", cable = \"100m\" }}\n[congestion_control.none]\n\
         [switch]\nbuffer = \"4MB\"\nlossless = {lossless}\n\
         [[slow_receiver]]\nhosts = [\"host-0\"]\n{receiver}\n[workload.flows]\nlist = [{flows}]\n"
    )
}

fn flows(priorities: [u64; 3]) -> String {
    let flow = |(sender, priority): (usize, u64)| {
        let sender = sender + 1;
        format!(
            "{{ from = \"host-{sender}\", to = \"host-0\", bytes = \"300KB\", priority = {priority} }}, "
        )
    };
    priorities.into_iter().enumerate().map(flow).collect()
}

fn assert_complete(run: &Run, context: &str) {
    let (completed, failed, all) = run.simulation.network().flow_counts();
    assert_eq!((completed as usize, failed), (all, 0), "{context}");
    assert_eq!(run.ending, Some(Ending::Finished), "{context}");
}

#[test]
fn nothing_lossless_is_lost_by_default() {
    let mut pauses = 0;
    for number in 0..60 {
        let mut dice = Dice::new("slow receivers", number);
        let lossless = dice.one(&["[3]", "[3, 4]", "[2, 3, 4]"]);
        let classes: &[u64] = match lossless {
            "[3]" => &[3],
            "[3, 4]" => &[3, 4],
            _ => &[2, 3, 4],
        };
        let receiver = format!(
            "buffer = \"{}KB\"\nrate = \"{}Gbps\"\ntranslation = {{ entries = {}, page_size = \
             \"{}KiB\", miss = \"{}ns\", chunk = \"{}KiB\" }}",
            dice.between(120, 300),
            dice.between(5, 150),
            dice.between(1, 4096),
            dice.one(&[1, 4, 64, 2048]),
            dice.between(0, 3000),
            dice.between(4, 64),
        );
        let text = incast(lossless, &receiver, &flows([0; 3].map(|_| dice.one(classes))));
        let run = run(&text);
        assert_eq!(run.totals().frames_dropped, 0, "{text}");
        assert_complete(&run, &text);
        pauses += run.totals().pauses;
    }
    assert!(pauses > 1000, "{pauses}");
}

#[test]
fn a_full_memory_drops_what_is_lossy() {
    let text = incast("[3]", "buffer = \"20KB\"\nrate = \"50Gbps\"", &flows([0, 0, 0]));
    let run = run(&text);
    let totals = run.totals();
    assert!(totals.drops["receiver_full"] > 0);
    assert_complete(&run, &text);
}

#[test]
fn a_slow_receiver_takes_what_its_rate_says() {
    let text = incast("[3]", "rate = \"10Gbps\"", &flows([3, 3, 3]));
    let run = run(&text);
    let (_, counts) = run.simulation.network().slow_receivers().next().unwrap();
    // 3 x 293 packets of 1,024 bytes and less: 900,000 bytes of payload in frames 62 bytes longer.
    let packets = 3 * 300_000_u64.div_ceil(1024);
    assert_eq!(counts.frames, packets);
    let bits = (900_000 + packets * 62 + 3 * 16) * 8;
    let last = *run.completion_times().iter().max().unwrap() as f64 / 1e3;
    let expected = bits as f64 / 10.0;
    // And the way of the first frame there and of the last acknowledgement back.
    assert!((expected..expected + 10_000.0).contains(&last), "{last} ns, {expected}");
}
