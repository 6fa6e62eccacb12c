//! The mesh of pings: what it sees that counters do not, and what it leaves alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rocelab_capture::{CaptureReader, Direction};
use rocelab_fabric::NodeId;
use rocelab_sim::Ending;
use rocelab_sim::proof::Proof;
use rocelab_units::{Duration, SimTime};
use rocelab_wire::{Frame, Network, Opcode};

use crate::support::{Run, notes, plan, run, try_plan};

/// Four racks of two hosts under two spines, and one flow.
fn clos(rest: &str) -> String {
    format!(
        "{rest}[congestion_control.none]\n[topology.leaf-spine]\nleaves = 4\nspines = 2\nhosts_per_leaf = 2\n\
         host_link = {{ rate = \"100Gbps\", delay = \"100ns\" }}\n\
         fabric_link = {{ rate = \"100Gbps\", delay = \"500ns\" }}\n\
         [workload.flows]\nlist = [{{ from = \"host-0\", to = \"host-7\", bytes = \"1MB\" }}]\n"
    )
}

/// No answer takes longer.
const LONG: Duration = Duration::from_us(150);

/// Times of answered pings (us) and the number of the others, by pair.
fn seen(run: &Run) -> BTreeMap<(NodeId, NodeId), (Vec<f64>, usize)> {
    let mut pairs: BTreeMap<_, (Vec<f64>, usize)> = BTreeMap::new();
    for (from, pings) in run.simulation.network().pings() {
        for ping in pings {
            let (took, lost) = pairs.entry((from, ping.to)).or_default();
            match ping.took {
                Some(time) => took.push(time.ps() as f64 / 1e6),
                // Younger ones may be under way.
                None => *lost += usize::from(run.simulation.now().since(ping.sent) > LONG),
            }
        }
    }
    pairs
}

#[test]
fn a_ping_takes_the_time_of_two_frames_over_its_path() {
    let mesh = "[monitoring]\ninterval = \"20us\"\nuntil = \"400us\"\nbytes = \"64B\"\nstart = \"150us\"\n";
    let run = run(&clos(mesh));
    assert_eq!(run.ending, Some(Ending::Finished));
    let pairs = seen(&run);
    assert_eq!(pairs.len(), 8 * 7);
    // Ethernet, IPv4, UDP, BTH, DETH, ImmDt, payload, ICRC and FCS; preamble. Cables of 100 ns at hosts and 500 ns between
    // switches, which store and forward.
    let frame = f64::from(14 + 20 + 8 + 12 + 8 + 4 + 64 + 4 + 4 + 8) * 8.0 / 100e3;
    for ((from, to), (took, lost)) in pairs {
        let is_near = from / 2 == to / 2;
        let one_way = if is_near { 2.0 * (frame + 0.1) } else { 4.0 * frame + 1.2 };
        assert_eq!(lost, 0, "{from} to {to}");
        assert!(
            (12..=13).contains(&took.len()),
            "{from} to {to}: {} of 250 us / 20 us",
            took.len()
        );
        for time in took {
            // Another ping may be on the link.
            assert!(
                (2.0 * one_way - 0.01..2.0 * one_way + 0.1).contains(&time),
                "{time} {one_way}"
            );
        }
    }
}

#[test]
fn pings_are_no_flows_and_the_run_ends_with_these() {
    let without = run(&clos(""));
    let with = run(&clos("[monitoring]\ninterval = \"10us\"\n"));
    assert_eq!(with.flow_ends().len(), 1);
    let [without, with_pings] = [&without, &with].map(|run| run.completion_times()[0] as f64);
    assert!((1.0..1.02).contains(&(with_pings / without)), "{with_pings} {without}");
    assert_eq!(with.ending, Some(Ending::Finished));
    let end = with.simulation.now().ps() as f64;
    assert!(end < with_pings + 20e6, "it ends {end} with the flow, {with_pings}");
    assert_eq!(with.simulation.network().nic_counters().payload_delivered, 1_000_000);
    assert_eq!(with.simulation.network().nic_counters().payload_accepted, 1_000_000);
}

#[test]
fn the_run_lasts_until_the_last_ping() {
    let run = run(&clos("[monitoring]\nuntil = \"2ms\"\n"));
    assert!(run.simulation.now() >= SimTime::from_ps(1_990_000_000));
    assert!(run.simulation.now() < SimTime::from_ps(2_100_000_000));
}

#[test]
fn a_slow_host_has_no_counter_and_is_seen() {
    let slow = "[monitoring]\npairs = \"racks\"\ninterval = \"50us\"\nuntil = \"2ms\"\n\
        [[host_model]]\nhosts = [\"host-3\"]\nprofile = \"none\"\n\
        cpu = { completion = { interrupt = \"50us\" } }\n";
    let run = run(&clos(slow));
    let totals = run.totals();
    assert_eq!((totals.frames_dropped, totals.pauses, totals.ecn_marks), (0, 0, 0));
    let host = run.plan.topology.node_by_name("host-3").unwrap();
    let mut slow = 0;
    for ((from, to), (took, _)) in seen(&run) {
        let longest = took.iter().copied().fold(0.0, f64::max);
        let shortest = took.iter().copied().fold(f64::MAX, f64::min);
        if from == host || to == host {
            assert!(shortest > 50.0, "{from} to {to}: {shortest} us");
            slow += 1;
        } else {
            assert!(longest < 10.0, "{from} to {to}: {longest} us");
        }
    }
    // One beside it, and three elsewhere, each way.
    assert_eq!(slow, 8);
}

#[test]
fn a_link_at_a_lower_rate_is_seen_without_load() {
    let link = |host: &str, gbps: u32| {
        format!(
            "{{ from = [\"{host}\"], to = [\"s\"], link = {{ rate = \"{gbps}Gbps\", delay = \"100ns\" }} }}"
        )
    };
    let links = [link("a", 100), link("b", 100), link("c", 10), link("d", 100)].join(", ");
    let run = run(&format!(
        "[monitoring]\ninterval = \"50us\"\nuntil = \"2ms\"\nbytes = \"1000B\"\n[congestion_control.none]\n\
         [topology.graph]\nhosts = [\"a\", \"b\", \"c\", \"d\"]\nswitches = [\"s\"]\nlinks = [{links}]\n\
         [workload.flows]\nlist = [{{ from = \"a\", to = \"b\", bytes = \"1KB\" }}]\n"
    ));
    assert_eq!(run.totals().frames_dropped, 0);
    let host = run.plan.topology.node_by_name("c").unwrap();
    for ((from, to), (took, _)) in seen(&run) {
        let shortest = took.iter().copied().fold(f64::MAX, f64::min);
        // 1082 byte times, four of 100 Gbit/s and 0.4 us of cables; two of them of 10 Gbit/s.
        let expected = if from == host || to == host { 2.2..2.5 } else { 0.7..0.8 };
        assert!(expected.contains(&shortest), "{from} to {to}: {shortest} us");
    }
}

#[test]
fn a_path_that_swallows_frames_is_seen_while_switches_drop_nothing() {
    // Half of what leaf-0 sends over spine-0 is gone for good: of the pings of other racks a share is lost, of those within a rack none.
    let hole = "[monitoring]\npairs = \"all\"\ninterval = \"20us\"\nuntil = \"1ms\"\ntimeout = \"100us\"\n\
        [[faults]]\naction = \"drop\"\nfrom = \"leaf-0\"\nto = \"spine-0\"\nopcode = \"UD_SEND_ONLY_WITH_IMMEDIATE\"\n";
    let run = run(&clos(hole));
    let totals = run.totals();
    assert!(totals.drops.keys().all(|&cause| cause == "fault"), "{:?}", totals.drops);
    let rack = |host: NodeId| host / 2;
    for ((from, to), (took, lost)) in seen(&run) {
        let share = lost as f64 / (lost + took.len()) as f64;
        if rack(from) != rack(to) && (rack(from) == 0 || rack(to) == 0) {
            assert!((0.15..0.85).contains(&share), "{from} to {to}: {share} over two spines");
        } else {
            assert_eq!(lost, 0, "{from} to {to}");
        }
    }
}

#[test]
fn pings_into_a_hole_are_lost_after_the_last_flow_too() {
    // The flow takes some microseconds of 2 ms.
    let hole = "[monitoring]\npairs = { list = [[\"host-2\", \"host-3\"]] }\ninterval = \"100us\"\nuntil = \"2ms\"\n\
        [[faults]]\naction = \"drop\"\nfrom = \"leaf-1\"\nto = \"host-3\"\nopcode = \"UD_SEND_ONLY_WITH_IMMEDIATE\"\n";
    let run = run(&clos(hole).replace("1MB", "1KB"));
    let (took, lost) = &seen(&run)[&(2, 3)];
    assert!(took.is_empty() && (17..=20).contains(lost), "{lost} of 20, less those of 150 us");
    assert!(run.simulation.now() > SimTime::from_ps(1_800_000_000), "{}", run.simulation.now());
}

#[test]
fn a_run_with_pings_drains_after_their_end() {
    // Frames are on links for 1 ms each. Nothing else moves for longer than a run waits for frames that are stuck.
    let run = run(
        "[monitoring]\ninterval = \"1ms\"\nuntil = \"30ms\"\ntimeout = \"100ms\"\n[congestion_control.none]\n\
         [topology.single-switch]\nhosts = 2\nlink = { rate = \"10Gbps\", delay = \"1ms\" }\n\
         [workload.flows]\nlist = [{ from = \"host-0\", to = \"host-1\", bytes = \"1KB\" }]\n",
    );
    assert_eq!(run.ending, Some(Ending::Finished));
    for pings in run.simulation.network().pings() {
        assert!(pings.1.len() >= 29 && pings.1.iter().all(|ping| ping.took.is_some()));
    }
    let now = run.simulation.now().ps();
    assert!((33_000_000_000..34_500_000_000).contains(&now), "{now}");
}

#[test]
fn a_slow_program_has_room_for_all_pings_that_are_not_lost_yet() {
    // The program of host-3 wakes 100 us after a ping: up to ten of each other host wait for it, and as many answers.
    let run = run(
        "[monitoring]\ninterval = \"10us\"\nuntil = \"2ms\"\ntimeout = \"500us\"\n[congestion_control.none]\n\
         [topology.single-switch]\nhosts = 4\nlink = { rate = \"100Gbps\", delay = \"1us\" }\n\
         [[host_model]]\nhosts = [\"host-3\"]\nprofile = \"none\"\ncpu = { completion = { interrupt = \"100us\" } }\n\
         [workload.flows]\nlist = [{ from = \"host-0\", to = \"host-1\", bytes = \"1MB\" }]\n",
    );
    for (pair, (took, lost)) in seen(&run) {
        assert!(lost == 0 && took.len() >= 190, "{pair:?}: {} and {lost}", took.len());
    }
}

#[test]
fn every_network_carries_pings() {
    let mesh = "[monitoring]\ninterval = \"20us\"\nuntil = \"300us\"\n";
    let hosts = "[[host_model]]\nprofile = \"cx5\"\n";
    for (rest, is_infiniband) in [
        (format!("[roce]\nversion = 1\n{mesh}"), false),
        (format!("[roce]\nip = \"ipv6\"\n{mesh}{hosts}"), false),
        (format!("[roce]\nservice = \"ud\"\n{mesh}"), false),
        (format!("[roce]\nconnect = \"cm\"\n{mesh}"), false),
        (format!("integrity = true\n{mesh}"), false),
        (format!("[roce]\nrecovery = \"selective-repeat\"\n{mesh}"), false),
        (format!("[infiniband]\n{mesh}"), true),
        (format!("[infiniband]\nsm = {{ engine = \"lash\" }}\n{mesh}{hosts}"), true),
    ] {
        let mut text = clos(&rest);
        if is_infiniband {
            text = text.replace("100Gbps", "EDR");
        }
        if rest.contains("\"ud\"") {
            text = text.replace("bytes = \"1MB\"", "bytes = \"1MB\", verb = \"send\"");
            text = text.replace("[workload.flows]\n", "[workload.flows]\nmessage = \"1024B\"\n");
        }
        let run = run(&text);
        assert_eq!(run.ending, Some(Ending::Finished), "{rest}");
        let pairs = seen(&run);
        assert_eq!(pairs.len(), 56, "{rest}");
        let (answered, lost) = pairs
            .values()
            .fold((0, 0), |(answered, lost), pair| (answered + pair.0.len(), lost + pair.1));
        assert!(lost == 0 && answered >= 56 * 14, "{rest}: {answered} {lost}");
    }
}

/// Each ping takes another source port, and its answer the same.
#[test]
fn captured_pings_have_their_ports_and_numbers() {
    let text = clos(
        "[monitoring]\npairs = { list = [[\"host-0\", \"host-5\"]] }\ninterval = \"10us\"\nuntil = \"200us\"\n\
         [capture]\nports = [\"host-0\"]\n",
    );
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pings");
    std::fs::create_dir_all(&folder).unwrap();
    let mut run = Run::new(plan(&text));
    run.simulation.start_capture(&folder).unwrap();
    run.finish();
    run.simulation.finish_capture().unwrap();
    let mut reader = CaptureReader::open(folder.join("capture.pcapng")).unwrap();
    let (mut pings, mut answers) = (Vec::new(), Vec::new());
    while let Some(frame) = reader.next_frame() {
        let frame = frame.unwrap();
        let parsed = Frame::parse(frame.bytes).unwrap();
        let packet = parsed.roce().unwrap();
        assert!(parsed.icrc_ok());
        if packet.bth.opcode() != Some(Opcode::UdSendOnlyWithImmediate) {
            continue;
        }
        let Network::V2Ipv4 { udp, .. } = packet.network else { panic!("{parsed}") };
        assert_eq!(packet.payload.len(), 64);
        let number = packet.extensions.imm_dt.expect("it has a number").0;
        match frame.direction {
            Some(Direction::Outbound) => pings.push((number, udp.source_port)),
            _ => answers.push((number & !(1 << 31), udp.source_port)),
        }
    }
    assert!(pings.len() >= 20 && answers.len() + 1 >= pings.len());
    assert_eq!(answers, pings[..answers.len()]);
    assert!((0..).zip(&pings).all(|(place, (number, _))| place == *number), "{pings:?}");
    let ports: BTreeSet<u16> = pings.iter().map(|(_, port)| *port).collect();
    assert!(ports.len() > 15 && ports.iter().all(|port| *port >= 0xc000), "{ports:?}");
}

#[test]
fn pairs_are_those_that_were_asked_for() {
    let pairs = |pairs: &str| {
        let text = clos(&format!("[monitoring]\npairs = {pairs}\n"));
        plan(&text).monitoring.expect("there is a mesh").pairs().collect::<Vec<_>>()
    };
    assert_eq!(pairs("\"all\"").len(), 56);
    let racks = pairs("\"racks\"");
    // The other one of the rack, and three that stand where it does.
    let of_first: Vec<_> = racks.iter().filter(|pair| pair.0 == 0).map(|pair| pair.1).collect();
    assert_eq!((racks.len(), of_first), (32, vec![1, 2, 4, 6]));
    let random = pairs("{ random = 3 }");
    assert_eq!(random.len(), 24);
    assert!(random.iter().all(|(from, to)| from != to));
    assert_eq!(pairs("{ list = [[\"host-5\", \"host-0\"]] }"), [(5, 0)]);
}

#[test]
fn a_run_that_is_stuck_is_noticed_among_pings() {
    let lost = "[monitoring]\npairs = \"racks\"\ninterval = \"10ms\"\n[roce]\nack_timeout = 0\n[[faults]]\n\
        action = \"drop\"\nfrom = \"leaf-0\"\nto = \"host-0\"\nopcode = \"ack\"\n";
    let run = run(&clos(lost));
    assert_eq!(run.ending, Some(Ending::Stalled));
    assert!(run.simulation.now() > SimTime::ZERO + Duration::from_ms(1_000));
}

#[test]
fn wrong_keys_say_what_is_wrong() {
    for (mesh, key, help) in [
        ("interval = \"0s\"", "monitoring.interval", "such as"),
        ("interval = \"6ns\"", "monitoring.interval", "give at least 7ns"),
        ("timeout = \"0s\"", "monitoring.timeout", "such as"),
        ("window = \"0s\"", "monitoring.window", "such as"),
        ("bytes = \"0B\"", "monitoring.bytes", "path MTU"),
        ("bytes = \"1025B\"", "monitoring.bytes", "path MTU"),
        ("priority = 8", "monitoring.priority", "0 to 7"),
        ("start = \"2ms\"\nuntil = \"1ms\"", "monitoring.until", "after 2ms"),
        ("hosts = [\"host-1\"]", "monitoring.hosts", "more hosts"),
        ("hosts = [\"host-8\"]", "monitoring.hosts[0]", "host-0"),
        ("interval = \"8ns\"\nuntil = \"1s\"", "monitoring.interval", "fewer `pairs`"),
        ("pairs = { random = 8 }", "monitoring.pairs.random", "1 to 7"),
        ("pairs = { list = [] }", "monitoring.pairs.list", "host-1"),
        ("pairs = { list = [[\"host-1\", \"host-1\"]] }", "monitoring.pairs.list[0]", "another"),
        ("pairs = { list = [[\"host-1\", \"nobody\"]] }", "monitoring.pairs.list[0]", "hosts are"),
        (
            "pairs = { list = [[\"host-1\", \"host-2\"], [\"host-1\", \"host-2\"]] }",
            "monitoring.pairs.list[1]",
            "once",
        ),
        (
            "hosts = [\"host-1\", \"host-2\"]\npairs = { list = [[\"host-1\", \"host-3\"]] }",
            "monitoring.pairs.list[0]",
            "leave `hosts` out",
        ),
    ] {
        let error = try_plan(&clos(&format!("[monitoring]\n{mesh}\n"))).map(|_| mesh).unwrap_err();
        assert_eq!(error.key(), key, "{mesh}: {error:?}");
        assert!(format!("{error:?}").contains(help), "{mesh}: {error:?}");
    }
    let text = clos("[monitoring]\n[roce]\nservice = \"uc\"\n");
    assert_eq!(try_plan(&text).map(|_| ()).unwrap_err().key(), "monitoring.until");
    assert!(try_plan(&clos("[monitoring]\npairs = \"some\"\n")).is_err());
    assert!(try_plan(&clos("[monitoring]\nevery = \"1us\"\n")).is_err());
}

#[test]
fn pings_that_cannot_be_answered_are_told_before() {
    for (rest, key, says) in [
        ("stop = \"1ms\"\n[monitoring]\nstart = \"2ms\"\n", "monitoring.start", "stops at 1ms"),
        // Four cables of 100 ns, and four times a frame of 138 bytes with its preamble of 8 at 100 Gbit/s.
        (
            "[monitoring]\ntimeout = \"300ns\"\n",
            "monitoring.timeout",
            "take 446.72ns without any load",
        ),
        (
            "[monitoring]\n[[roce.partition]]\np_key = 0x7fff\nfull = [\"host-0\"]\nlimited = [\"host-1..host-7\"]\n",
            "monitoring.pairs",
            "`host-1` to `host-2` are lost",
        ),
        (
            "[monitoring]\npairs = { list = [[\"host-0\", \"host-1\"]] }\n[roce]\nv1_hosts = [\"host-1\"]\n\
             [layer3]\nrouters = [\"spine-0\", \"spine-1\"]\n",
            "layer3",
            "`host-0` to `host-1` do not arrive",
        ),
    ] {
        let found = notes(&clos(rest));
        let has = found.iter().any(|(at, text)| at == key && text.contains(says));
        assert!(has, "{rest}: {found:?}");
    }
}

/// What the note takes for the time of a ping is what one takes that nothing else is in the way of, in every network.
#[test]
fn the_time_of_a_lonely_ping_is_known_before() {
    let one_pair =
        "[monitoring]\npairs = { list = [[\"host-2\", \"host-5\"]] }\ninterval = \"50us\"\n";
    for (rest, is_infiniband) in [
        ("", false),
        ("[roce]\nversion = 1\n", false),
        ("[roce]\nip = \"ipv6\"\n[switch]\nlatency = \"300ns\"\n", false),
        ("[[host_model]]\nprofile = \"cx6\"\n", false),
        ("[[host_model]]\nhosts = [\"host-5\"]\nprofile = \"cx3\"\n", false),
        ("[infiniband]\n", true),
        ("[infiniband]\n[[host_model]]\nprofile = \"cx7\"\n", true),
    ] {
        let text = |timeout: &str| {
            let mesh = format!("{one_pair}timeout = \"{timeout}\"\nuntil = \"1ms\"\n");
            let text = clos(&format!("{mesh}{rest}")).replace("1MB", "1KB");
            if is_infiniband { text.replace("100Gbps", "EDR") } else { text }
        };
        let run = run(&text("1us"));
        let (took, _) = &seen(&run)[&(2, 5)];
        let shortest = took.iter().copied().fold(f64::MAX, f64::min);
        let short = notes(&text("1ns"));
        let (_, said) = short.iter().find(|(at, _)| at == "monitoring.timeout").expect("a note");
        let (_, time) = said.split_once("answer take ").expect("a time");
        let (time, _) = time.split_once(" without").expect("its end");
        let known: Duration = time.parse().expect("a duration");
        let known_us = known.ps() as f64 / 1e6;
        // A host's program may be busy with another completion, and no more than that.
        assert!(
            (known_us - 1e-6..known_us * 1.05).contains(&shortest),
            "{rest}: {known_us} us are known before, and {shortest} us passed"
        );
        assert!(notes(&text(&known.to_string())).is_empty(), "{rest}: {known}");
    }
}

/// Pings of a priority whose data are ECN-capable are too: marked where those are.
#[test]
fn pings_are_marked_as_data_of_their_priority() {
    let scenario = |rest: &str| {
        clos(&format!(
            "[monitoring]\ninterval = \"5us\"\nuntil = \"300us\"\n\
             [switch.ecn]\nkmin = \"2KB\"\nkmax = \"4KB\"\npmax = 1.0\n{rest}"
        ))
        .replace(
            "list = [{ from = \"host-0\", to = \"host-7\", bytes = \"1MB\" }]",
            "list = [{ from = \"host-0\", to = \"host-7\", bytes = \"500KB\" }, { from = \"host-2\", to = \"host-7\", bytes = \"500KB\" }]",
        )
    };
    let marked = |text: &str| {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("marked-pings");
        std::fs::create_dir_all(&folder).unwrap();
        let mut run = Run::new(plan(&format!("{text}[capture]\nports = [\"host-7\"]\n")));
        run.simulation.start_capture(&folder).unwrap();
        run.finish();
        run.simulation.finish_capture().unwrap();
        let mut reader = CaptureReader::open(folder.join("capture.pcapng")).unwrap();
        let mut codepoints: BTreeMap<String, usize> = BTreeMap::new();
        while let Some(frame) = reader.next_frame() {
            let frame = frame.unwrap();
            let parsed = Frame::parse(frame.bytes).unwrap();
            let Some(packet) = parsed.roce() else { continue };
            if packet.bth.opcode() != Some(Opcode::UdSendOnlyWithImmediate) {
                continue;
            }
            if let Network::V2Ipv4 { ip, .. } = packet.network {
                *codepoints.entry(format!("{:?}", ip.ecn)).or_default() += 1;
            }
        }
        (codepoints, run)
    };
    let dcqcn =
        |text: String| text.replace("[congestion_control.none]", "[congestion_control.dcqcn]");
    let names = |found: &BTreeMap<String, usize>| found.keys().cloned().collect::<Vec<_>>();
    let (codepoints, run) = marked(&dcqcn(scenario("")));
    assert_eq!(names(&codepoints), ["Ce", "Ect0"], "{codepoints:?}");
    assert!(run.totals().ecn_marks > codepoints["Ce"] as u64, "flows have marks too");
    let (codepoints, _) = marked(&scenario(""));
    assert_eq!(names(&codepoints), ["NotEct"], "{codepoints:?}");
    // The class of the flows follows marks, and that of the pings does not; and the other way round.
    let (codepoints, _) = marked(
        &scenario("[class.3.congestion_control.dcqcn]\n")
            .replace("[monitoring]\n", "[monitoring]\npriority = 1\n"),
    );
    assert_eq!(names(&codepoints), ["NotEct"], "{codepoints:?}");
    let (codepoints, _) = marked(
        &scenario("[class.1.congestion_control.dcqcn]\n")
            .replace("[monitoring]\n", "[monitoring]\npriority = 1\n"),
    );
    assert!(
        codepoints.contains_key("Ect0") && !codepoints.contains_key("NotEct"),
        "{codepoints:?}"
    );
}

/// What `check` says of pings that nothing but the end of the run ends.
#[test]
fn a_proof_tells_how_long_pings_go_on() {
    let text = |rest: &str| Proof::of(&plan(&clos(rest))).to_string();
    let none = text("[monitoring]\nuntil = \"1ms\"\n");
    assert!(!none.contains("pings"), "{none}");
    let open = text("[monitoring]\n");
    let says = "56 pairs, 560000 a second of simulated time, until the last flow or operation has ended; \
                if flows are stuck, for 1s: 560000 pings, 17.92MB of memory";
    assert!(open.contains(says), "{open}");
    let stops = text("stop = \"5ms\"\n[monitoring]\n");
    assert!(stops.contains("has ended, or until 5ms: 2800 pings, 89.6KB of memory"), "{stops}");
    let far = text("stop = \"5s\"\n[monitoring]\nstart = \"1ms\"\n");
    assert!(far.contains("or until 5s; if flows are stuck, for 1s: 560000 pings"), "{far}");
    let many = plan(&clos("[monitoring]\ninterval = \"200ns\"\n"));
    let proof = Proof::of(&many);
    assert_eq!((proof.faults(), proof.warnings()), (0, 1));
    assert!(proof.to_string().contains("  warn  pings "), "{proof}");
}

#[test]
fn limited_members_of_a_partition_do_not_answer_each_other() {
    let run = run(&clos(
        "[monitoring]\ninterval = \"20us\"\nuntil = \"400us\"\n[[roce.partition]]\np_key = 0x7fff\n\
         full = [\"host-0\"]\nlimited = [\"host-1..host-7\"]\n",
    ));
    for (pair, (took, lost)) in seen(&run) {
        let with_full_member = pair.0 == 0 || pair.1 == 0;
        assert_eq!((took.is_empty(), lost == 0), (!with_full_member, with_full_member), "{pair:?}");
    }
    assert!(run.totals().drops["p_key"] > 0);
}

#[test]
fn a_dead_host_sends_no_pings() {
    let run = run(&clos(
        "[monitoring]\npairs = \"all\"\ninterval = \"20us\"\nuntil = \"1ms\"\ntimeout = \"100us\"\n\
         [[failure]]\nkind = \"host-down\"\nhost = \"host-1\"\nat = \"300us\"\nlasts = \"400us\"\n",
    ));
    let dead = |at: SimTime| (300_000_000..700_000_000).contains(&at.ps());
    let network = run.simulation.network();
    for (from, pings) in network.pings() {
        let sent = pings.iter().filter(|ping| ping.sent < SimTime::NEVER);
        let (while_dead, others): (Vec<&_>, Vec<&_>) = sent.partition(|ping| dead(ping.sent));
        assert_eq!(while_dead.is_empty(), from == 1, "host {from}");
        assert!(others.len() > 80, "host {from}: {}", others.len());
    }
}
