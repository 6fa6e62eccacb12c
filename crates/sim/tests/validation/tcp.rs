//! TCP beside RDMA: what each gets, what is lost, and that nothing is lost sight of.

use std::ops::ControlFlow;
use std::sync::Arc;

use rocelab_sim::explain::{Category, Selection, explain};
use rocelab_sim::ideal_fct;
use rocelab_sim::network::RecordKind;
use rocelab_units::SimTime;

use crate::support::{Dice, Run, plan, run, write_file};

/// Hosts at one switch, with links of `rate` and the keys of `[tcp]`.
fn star(hosts: u64, rate: &str, rest: &str) -> String {
    format!(
        "[topology.single-switch]\nhosts = {hosts}\n\
         link = {{ rate = \"{rate}\", cable = \"3m\" }}\n{rest}"
    )
}

/// One flow of TCP from host-1 to host-0.
fn one_flow(rate: &str, bytes: &str, tcp: &str) -> String {
    let workload = format!(
        "[tcp]\n{tcp}\n[workload.flows]\ntransport = \"tcp\"\n\
         list = [{{ from = \"host-1\", to = \"host-0\", bytes = \"{bytes}\" }}]\n"
    );
    star(2, rate, &workload)
}

/// Every flow completed, and applications got each byte once.
fn assert_delivered(run: &Run, context: &str) {
    let times = run.completion_times();
    assert!(times.iter().all(|&time| time > 0), "{context}: {times:?}");
    let flows = run.plan.flows.iter().filter(|flow| flow.is_tcp());
    let asked: u64 = flows.map(|flow| flow.bytes).sum();
    let counters = run.simulation.network().tcp_counters();
    assert_eq!(counters.payload_delivered, asked, "{context}");
    let totals = run.totals();
    let live = u64::from(run.simulation.network().frames_in_network());
    assert_eq!(
        totals.frames_created,
        totals.frames_delivered + totals.frames_dropped + live,
        "{context}"
    );
}

/// Ethernet, IPv4 and TCP are 54 bytes and the FCS 4; preamble 8 and gap 12. At 10 Gb/s a byte takes
/// 800 ps, and 3 m of cable 15 ns.
#[test]
fn one_segment_takes_its_time_on_two_links_and_in_two_stacks() {
    for (payload, delays) in [(1, 0), (100, 0), (1_460, 0), (1_460, 7_000_000)] {
        let tcp = format!("send_delay = \"{delays}ps\"\nreceive_delay = \"{}ps\"", 2 * delays);
        let run = run(&one_flow("10Gbps", &format!("{payload}B"), &tcp));
        let frame = u64::max(64, 14 + 20 + 20 + payload + 4);
        let expected = 2 * ((8 + frame) * 800 + 15_000) + 3 * delays;
        assert_eq!(run.completion_times(), [expected], "{payload} bytes");
        assert_eq!(ideal_fct(&run.plan, &run.plan.flows[0]).ps(), expected);
    }
}

/// Ten segments are the first window: they leave one behind the other.
#[test]
fn the_first_window_is_sent_at_line_rate() {
    let run = run(&one_flow("10Gbps", "14600B", ""));
    let expected = 2 * ((8 + 1_518) * 800 + 15_000) + 9 * (8 + 1_518 + 12) * 800;
    assert_eq!(run.completion_times(), [expected]);
    assert_eq!(ideal_fct(&run.plan, &run.plan.flows[0]).ps(), expected);
}

#[test]
fn one_flow_fills_its_link() {
    for algorithm in ["reno", "cubic", "dctcp"] {
        for ip in ["ipv4", "ipv6"] {
            let tcp = format!("[tcp.congestion_control.{algorithm}]\n[roce]\nip = \"{ip}\"");
            let run = run(&one_flow("10Gbps", "50MB", &tcp));
            let goodput = 50e6 * 8.0 / run.completion_times()[0] as f64 * 1e12;
            println!("{algorithm} over {ip}: {:.3} Gb/s", goodput / 1e9);
            // 1,460 or 1,440 of 1,538 bytes on the wire are payload: 94.9 or 93.6 %.
            assert!(goodput > 0.9 * 10e9 && goodput < 0.95 * 10e9, "{algorithm}: {goodput}");
            assert_delivered(&run, algorithm);
        }
    }
}

/// Random incasts of both kinds over lossy links into small memories.
#[test]
fn nothing_is_lost_sight_of_in_random_lossy_incasts() {
    let (mut dropped, mut timeouts, mut marked) = (0, 0, 0);
    for number in 0..40 {
        let text = random_incast(number);
        let mut run = Run::new(plan(&text));
        while run.step(1 << 12) {}
        assert_delivered(&run, &text);
        dropped += run.totals().frames_dropped;
        marked += run.totals().ecn_marks;
        timeouts += run.simulation.network().tcp_counters().timeouts;
    }
    println!("{dropped} frames dropped, {marked} marked, {timeouts} timeouts");
    assert!(dropped > 1_000 && timeouts > 10 && marked > 100);
}

fn random_incast(number: u64) -> String {
    let mut dice = Dice::new("tcp incast", number);
    let hosts = dice.between(3, 12);
    let algorithm = dice.one(&["reno", "cubic", "dctcp"]);
    let (loss, ip) = (dice.one(&[0.0, 0.0, 0.001, 0.01]), dice.one(&["ipv4", "ipv6"]));
    let (version, mtu) = (dice.one(&[1, 2]), dice.one(&[1_500, 9_000]));
    let buffer = dice.between(150, 600);
    let ecn = dice.one(&["true", "false"]);
    let delay = dice.one(&[0, 5, 20]);
    let rdma = if dice.between(0, 1) == 0 {
        String::new()
    } else {
        "[[workload.incast]]\nsenders = 2\nbytes = \"300KB\"\n".to_owned()
    };
    let file = format!("tcp-incast-{number}.txt");
    let links = (0..hosts).map(|host| format!("{host} {hosts} 10Gbps 100ns {loss}\n"));
    let links = links.collect::<String>();
    write_file(&file, &format!("{} 1 {hosts}\n{hosts}\n{links}", hosts + 1));
    format!(
        "seed = {number}\n[topology.file]\npath = \"{file}\"\n\
         [roce]\nversion = {version}\nip = \"{ip}\"\n\
         [switch]\nbuffer = \"{buffer}KB\"\nalpha = \"1\"\nheadroom = \"10KB\"\n\
         [tcp]\necn = {ecn}\nmtu = {mtu}\nmin_rto = \"2ms\"\ninitial_rto = \"5ms\"\n\
         delayed_ack = \"500us\"\nsend_delay = \"{delay}us\"\nreceive_delay = \"{delay}us\"\n\
         jitter = \"{delay}us\"\n[tcp.congestion_control.{algorithm}]\n\
         [[workload.incast]]\ntransport = \"tcp\"\nsenders = {}\nbytes = \"{}KB\"\n\
         repeat = 2\ninterval = \"1ms\"\n{rdma}",
        hosts - 1,
        dice.between(10, 400),
    )
}

/// Losses, timers, windows, stacks with jitter, RDMA beside it: no picosecond is left over.
#[test]
fn explanations_of_random_lossy_incasts_add_up() {
    let mut retransmitting = 0;
    for number in 0..40 {
        let plan = Arc::new(plan(&random_incast(number)));
        let all = Selection::Everything;
        let found = explain(Arc::clone(&plan), &all, &mut |_| ControlFlow::Continue(()));
        let found = found.unwrap_or_else(|error| panic!("{number}: {error}"));
        assert_eq!(found.flows.len(), plan.flows.len(), "{number}");
        for one in &found.flows {
            assert_eq!(one.sum_ps(), one.elapsed_ps, "{number}: {one}");
            let has = |category| one.parts.iter().any(|part| part.category == category);
            assert!(!has(Category::Idle), "{number}: {one}");
            retransmitting += usize::from(has(Category::Retransmission));
        }
    }
    println!("{retransmitting} flows waited for retransmissions");
    assert!(retransmitting > 50);
}

/// Ends of connections that are kept before the first thing happens that is not before `time`.
fn kept_before(run: &mut Run, time: SimTime) -> usize {
    let mut kept = 0;
    while run.simulation.progress().now < time {
        kept = run.simulation.network().tcp_connections();
        assert!(run.step(1), "the run ended before {time}");
    }
    kept
}

/// A hundred short flows one after the other, their data and acknowledgements lost now and then. Before
/// another begins, none of their two hundred ends is kept.
#[test]
fn connections_that_are_over_are_forgotten() {
    for delay in ["0us", "3us"] {
        write_file("tcp-over.txt", "3 1 2\n2\n0 2 10Gbps 100ns 0.02\n1 2 10Gbps 100ns 0.02\n");
        let flow = |number: u32| {
            format!(
                "{{ from = \"host-1\", to = \"host-0\", bytes = \"30KB\", start = \"{number}ms\" }},\n"
            )
        };
        let flows: String = (0..100).map(flow).collect();
        let text = format!(
            "[topology.file]\npath = \"tcp-over.txt\"\n[tcp]\nmin_rto = \"100us\"\n\
             initial_rto = \"200us\"\ndelayed_ack = \"50us\"\nsend_delay = \"{delay}\"\n\
             receive_delay = \"{delay}\"\n[workload.flows]\ntransport = \"tcp\"\nlist = [\n{flows}]\n"
        );
        let mut run = Run::new(plan(&text));
        let next = (1..100).map(|millisecond| SimTime::from_ps(millisecond * 1_000_000_000));
        let kept: Vec<_> = next.map(|next| kept_before(&mut run, next)).collect();
        assert!(kept.iter().all(|&ends| ends == 0), "{delay}: {kept:?}");
        run.finish();
        assert_delivered(&run, delay);
        let counters = run.simulation.network().tcp_counters();
        assert!(counters.duplicates > 10 && counters.retransmitted.packets > 10, "{counters:?}");
    }
}

/// What the receiver accepted of a flow in each interval is all of it together; and its window is
/// told.
#[test]
fn samples_of_a_flow_add_up() {
    let text = one_flow("10Gbps", "1MB", "");
    let mut run = run(&format!("{text}[sample.rates]\ninterval = \"20us\"\n"));
    run.simulation.finish_samples();
    run.records.extend(run.simulation.take_records());
    let (mut accepted, mut windows) = (0, Vec::new());
    for record in &run.records {
        match record.kind {
            RecordKind::Rate(rate) => windows.extend(rate.allowed.window),
            RecordKind::Goodput(goodput) => accepted += goodput.bytes,
            _ => {}
        }
    }
    assert_eq!(accepted, 1_000_000);
    assert!(windows.len() > 3 && windows[0] >= 14_600 && windows.is_sorted(), "{windows:?}");
}

#[test]
fn the_same_run_twice_and_another_with_another_seed() {
    let digest = |number: u64, budget: u64| {
        let mut run = Run::new(plan(&random_incast(number)));
        while run.step(budget) {}
        let counters = format!("{:?}", run.simulation.network().tcp_counters());
        (run.simulation.network().digest(), counters, run.completion_times())
    };
    for number in [2, 3, 5] {
        assert_eq!(digest(number, 1 << 20), digest(number, 77));
    }
    assert_ne!(digest(2, 1 << 20), digest(3, 1 << 20));
}

/// Shares of one port of RDMA in priority 3 and TCP in priority 0 from 20 to 60 ms.
fn share_of_rdma(weights: &str) -> f64 {
    let text = star(
        9,
        "10Gbps",
        &format!(
            "[congestion_control.none]\n[switch]\nscheduler = {{ dwrr = {{ weights = {weights} }} }}\n\
             buffer = \"4MB\"\nalpha = \"1\"\n[tcp]\nmin_rto = \"5ms\"\ninitial_rto = \"5ms\"\n\
             delayed_ack = \"1ms\"\n[[workload.flows]]\ntransport = \"tcp\"\nlist = [\n\
             {{ from = \"host-1\", to = \"host-0\", bytes = \"1GB\" }},\n\
             {{ from = \"host-2\", to = \"host-0\", bytes = \"1GB\" }},\n\
             {{ from = \"host-3\", to = \"host-0\", bytes = \"1GB\" }},\n\
             {{ from = \"host-4\", to = \"host-0\", bytes = \"1GB\" }},\n]\n\
             [[workload.flows]]\nlist = [\n\
             {{ from = \"host-5\", to = \"host-0\", bytes = \"1GB\" }},\n\
             {{ from = \"host-6\", to = \"host-0\", bytes = \"1GB\" }},\n]\nstop = \"70ms\"\n"
        ),
    );
    let text = format!("stop = \"70ms\"\n{}", text.replace("stop = \"70ms\"\n", ""));
    let mut run = Run::new(plan(&text));
    // Full packets of a path MTU of 1024 bytes, and full segments; host-0 gets nothing else.
    let arrived = |run: &Run| {
        let network = run.simulation.network();
        let packets = network.nic_counters().data_received;
        (packets * 1_086, network.tcp_counters().data_received * 1_518)
    };
    run.run_until(SimTime::from_ps(20_000_000_000));
    let before = arrived(&run);
    run.run_until(SimTime::from_ps(60_000_000_000));
    let after = arrived(&run);
    let (rdma, tcp) = (after.0 - before.0, after.1 - before.1);
    println!("{rdma} bytes of RDMA, {tcp} of TCP, {} dropped", run.totals().frames_dropped);
    rdma as f64 / (rdma + tcp) as f64
}

#[test]
fn rdma_keeps_its_share_beside_tcp() {
    for (weights, expected) in
        [("[1, 1, 1, 1]", 0.5), ("[1, 1, 1, 3]", 0.75), ("[4, 1, 1, 1]", 0.2)]
    {
        let share = share_of_rdma(weights);
        println!("weights {weights}: RDMA has {share:.4} of the link");
        assert!((share - expected).abs() < 0.005, "{weights}: {share}");
    }
}

/// Mean and largest length of the queue towards host-0 that two long flows make (bytes), and drops.
fn queue_of(algorithm: &str, ecn: bool) -> (f64, u32, u64) {
    let text = format!(
        "stop = \"60ms\"\n{}[sample.queues]\ninterval = \"20us\"\nports = [\"switch-0\"]\n",
        star(
            3,
            "10Gbps",
            &format!(
                "[switch]\nbuffer = \"2MB\"\nalpha = \"1\"\n\
                 ecn = {{ kmin = \"30KB\", kmax = \"30KB\", pmax = 1.0 }}\n\
                 [tcp]\necn = {ecn}\nmin_rto = \"5ms\"\ninitial_rto = \"5ms\"\n\
                 delayed_ack = \"1ms\"\nsend_delay = \"5us\"\nreceive_delay = \"5us\"\n\
                 [tcp.congestion_control.{algorithm}]\n\
                 [workload.incast]\ntransport = \"tcp\"\nsenders = 2\nbytes = \"1GB\"\n"
            )
        )
    );
    let run = run(&text);
    let mut lengths = Vec::new();
    for record in &run.records {
        if let RecordKind::Queue(queue) = record.kind
            && record.key.time >= SimTime::from_ps(20_000_000_000)
            && queue.port == 0
        {
            lengths.push(queue.bytes);
        }
    }
    // Samples of nothing are left out: there are 50 in a millisecond.
    let mean = lengths.iter().map(|&bytes| f64::from(bytes)).sum::<f64>() / (40.0 * 50.0);
    (mean, lengths.iter().copied().max().unwrap_or(0), run.totals().frames_dropped)
}

/// Which queue is longer (RFC 8257: DCTCP keeps it about the threshold), and that those without
/// marks fill the memory until it drops.
#[test]
fn dctcp_keeps_the_queue_short_and_the_others_fill_the_memory() {
    let (dctcp, _, drops_of_dctcp) = queue_of("dctcp", true);
    println!("dctcp: {dctcp:.0} bytes on average, {drops_of_dctcp} drops");
    for algorithm in ["reno", "cubic"] {
        let (marked, _, _) = queue_of(algorithm, true);
        let (mean, longest, drops) = queue_of(algorithm, false);
        println!(
            "{algorithm}: {mean:.0} on average, {longest} at most, {drops} drops; {marked:.0} with ECN"
        );
        assert!(mean > 5.0 * dctcp, "{algorithm}: {mean} and {dctcp}");
        assert!(drops > 0 && longest > 500_000, "{algorithm}: {drops} drops, {longest}");
        assert!(marked < mean, "{algorithm} with marks: {marked} and {mean}");
    }
    assert_eq!(drops_of_dctcp, 0);
    assert!((5_000.0..80_000.0).contains(&dctcp), "{dctcp}");
}

/// A host that has a backlog of both shares its port between them, whichever was there first.
#[test]
fn a_host_with_both_starves_neither() {
    let tcp = |start: &str| {
        let flow = "{ from = \"host-0\", to = \"host-1\", bytes = \"100KB\", start = \"START\" },";
        flow.replace("START", start).repeat(40)
    };
    let text = |tcp: &str, rdma_start: &str, bytes: &str| {
        star(
            2,
            "100Gbps",
            &format!(
                "[congestion_control.none]\n[[workload.flows]]\ntransport = \"tcp\"\nlist = [{tcp}]\n\
                 [[workload.flows]]\nlist = [{{ from = \"host-0\", to = \"host-1\", \
                 bytes = \"{bytes}\", start = \"{rdma_start}\" }}]\n"
            ),
        )
    };
    // RDMA behind a backlog of TCP: half of the port, so twice the time that it takes alone.
    let first = run(&text(&tcp("0us"), "1us", "1MB"));
    let rdma = |run: &Run| {
        let mut flows = run.plan.flows.iter();
        let number = flows.position(|flow| !flow.is_tcp()).expect("it is there");
        let ideal = ideal_fct(&run.plan, &run.plan.flows[number]).ps();
        (run.completion_times()[number] as f64, ideal as f64)
    };
    let (time, ideal) = rdma(&first);
    println!("RDMA behind TCP: {:.2} times its ideal", time / ideal);
    assert!(time / ideal < 2.2);
    // TCP behind a backlog of RDMA: 4 MB of it take twice their time, and RDMA as much longer.
    let second = run(&text(&tcp("1us"), "0us", "6MB"));
    let (time, ideal) = rdma(&second);
    println!("RDMA before TCP: {:.2} times its ideal", time / ideal);
    let times = second.completion_times().into_iter().zip(&second.plan.flows);
    let of_tcp = times.filter(|(_, flow)| flow.is_tcp()).map(|(ps, _)| ps);
    let last = of_tcp.max().unwrap() as f64;
    println!("TCP: {:.1} us", last / 1e6);
    assert!(last < 4.0e6 * 1.06 * 8.0 / 100.0 * 1e3 * 2.3, "{last}");
}
