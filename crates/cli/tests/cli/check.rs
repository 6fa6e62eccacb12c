//! `rocelab check`.

use serde_json::{Value, json};

use crate::program::{Sandbox, repository_argument};

#[test]
fn a_good_scenario_is_said_to_be_good_and_nothing_is_written() {
    let sandbox = Sandbox::with_small();
    let before = sandbox.tree();
    let answer = sandbox.succeeds(&["check", "small.toml"]);
    assert!(answer.starts_with("small.toml: 4 hosts, 4 links, 3 flows: ok\n"), "{answer}");
    assert!(!answer.contains("WRONG"), "{answer}");
    assert_eq!(sandbox.tree(), before);
}

#[test]
fn applications_are_counted_as_well() {
    let sandbox = Sandbox::new();
    let ping_pong = repository_argument("scenarios/ping-pong.toml");
    let answer = sandbox.succeeds(&["check", &ping_pong]);
    let counts = "4 hosts, 8 links, 3 applications, 3 connections: ok";
    assert!(answer.lines().next().is_some_and(|line| line.ends_with(counts)), "{answer}");
    let (_, all) = checked(&sandbox, &[&ping_pong]);
    let counts = ["flows", "applications", "connections"].map(|key| &all[key]);
    assert_eq!(counts, [&json!(0), &json!(3), &json!(3)]);
    let answer =
        sandbox.succeeds(&["check", &repository_argument("scenarios/single-switch-write.toml")]);
    assert!(
        answer.lines().next().is_some_and(|line| line.ends_with(" links, 1 flow: ok")),
        "{answer}"
    );
}

#[test]
fn overrides_are_checked_too() {
    let sandbox = Sandbox::with_small();
    let answer = sandbox.succeeds(&["check", "small.toml", "--set", "workload.incast.senders=2"]);
    assert!(answer.contains("2 flows"), "{answer}");
    let ended = sandbox.rocelab(&["check", "small.toml", "--set", "workload.incast.senders=9"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert_eq!(ended.stdout, "");
}

#[test]
fn every_scenario_of_the_repository_is_good() {
    let sandbox = Sandbox::new();
    let ended = sandbox.rocelab(&["check", &repository_argument("scenarios")]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    // Of two some hosts do not reach each other, on purpose: RoCE v1 behind a router, and limited members of a partition.
    let notes: Vec<_> = ended.stderr.lines().filter(|line| !line.contains("help:")).collect();
    let [router, partition] = &notes[..] else { panic!("{notes:?}") };
    assert!(router.contains("from `host-0` to `host-4` do not arrive (not_routable)"), "{router}");
    assert!(partition.contains("`host-1` has the P_Key"), "{partition}");
    let answer = ended.stdout;
    // Three of them show deadlocks on purpose; nothing else is wrong.
    let wrong: Vec<_> = answer.lines().filter(|line| line.contains("WRONG")).collect();
    assert!(wrong.iter().all(|line| line.contains("buffer dependency")), "{answer}");
    let faulty: Vec<_> = answer.lines().filter(|line| line.contains(": 1 fault")).collect();
    assert_eq!((wrong.len(), faulty.len()), (3, 3), "{answer}");
    for name in ["hotnets16-ring.toml", "hotnets16-routing-loop.toml", "sigcomm16-flooding.toml"] {
        assert!(faulty.iter().any(|line| line.contains(name)), "{answer}");
    }
    assert!(!answer.contains("not examined"), "{answer}");
    let names = ["incast-v1.toml", "incast-v2.toml", "single-switch-write.toml"];
    for name in names {
        assert!(answer.lines().any(|line| line.contains(name) && line.ends_with(": ok")));
    }
    assert!(sandbox.tree().is_empty());
}

#[test]
fn hosts_of_fewer_packets_than_their_link_are_told() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "host.toml",
        "[roce]\npath_mtu = 1024\n[topology.single-switch]\nhosts = 2\nlink = { rate = \"100Gbps\", cable = \"3m\" }\n\
         [[host_model]]\n[workload.flows]\nlist = [{ from = \"host-1\", to = \"host-0\", bytes = \"4MB\" }]\n",
    );
    let slow = |set: &str| {
        let answer = sandbox.rocelab(&["check", "host.toml", "--set", set]).stdout;
        answer.lines().find(|line| line.contains("slow host")).map(str::to_owned)
    };
    // A link of 100 Gbit/s carries 11 million packets of 1,024 bytes.
    for (set, words) in [
        ("host_model[0].rates.packets=1e6", "sends 1000000 a second"),
        ("host_model[0].rates.messages=1e6", "receives 1000000, and the link carries 11"),
        ("host_model=[{buffer=\"512KiB\",rates={receive_latency=\"1ms\"}}]", "it passes 4.19Gbps"),
    ] {
        let line = slow(set).unwrap_or_default();
        assert!(
            line.contains("host-0 and 1 more like it") && line.contains(words),
            "{set}: {line}"
        );
    }
    for set in ["host_model[0].rates.packets=20e6", "host_model[0].rates.receive_latency=\"1us\""] {
        assert_eq!(slow(set), None, "{set}");
    }
}

#[test]
fn a_folder_is_checked_in_order_of_names_and_every_error_told() {
    let sandbox = Sandbox::with_small();
    sandbox.write("a.toml", "seed = 1\n");
    sandbox.write("z/config.txt", "CC_MODEE 1\n");
    let ended = sandbox.rocelab(&["check", "."]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let first = ended.stdout.lines().next();
    assert_eq!(first, Some("./small.toml: 4 hosts, 4 links, 3 flows: ok"));
    let errors: Vec<_> = ended.stderr.lines().collect();
    assert_eq!(errors.len(), 2, "{ended:?}");
    assert!(errors[0].starts_with("error: ./a.toml:1:"), "{ended:?}");
    assert!(errors[1].starts_with("error: ./z/config.txt:1:1: CC_MODEE: "), "{ended:?}");
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_looked_into_is_not_passed_over() {
    let sandbox = Sandbox::with_small();
    // A symbolic link to itself cannot be opened by anyone, not even by root, whom permissions do
    // not stop.
    std::os::unix::fs::symlink("locked", sandbox.path("locked")).unwrap();
    let ended = sandbox.rocelab(&["check", "."]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(4), ""), "{ended:?}");
    assert!(ended.stderr.starts_with("error: ./locked: "), "{ended:?}");
}

#[cfg(unix)]
#[test]
fn a_pipe_among_scenarios_is_not_waited_for() {
    for pipe in ["pipe.toml", "case/config.txt"] {
        let sandbox = Sandbox::with_small();
        sandbox.write("case/notes.txt", "");
        let made = std::process::Command::new("mkfifo").arg(sandbox.path(pipe)).status();
        assert!(made.unwrap().success());
        let ended = sandbox.rocelab(&["check", "."]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
        assert!(ended.stderr.starts_with(&format!("error: ./{pipe}: is no file: ")), "{ended:?}");
    }
}

/// The output of `check --json` for a scenario, and the exit code.
fn checked(sandbox: &Sandbox, arguments: &[&str]) -> (Option<i32>, Value) {
    let ended = sandbox.rocelab(&[&["check", "--json"], arguments].concat());
    let object = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"));
    (ended.code, object)
}

#[test]
fn findings_come_with_their_numbers() {
    let sandbox = Sandbox::with_small();
    let (code, all) = checked(&sandbox, &["small.toml"]);
    assert_eq!((code, &all["faults"], &all["hosts"]), (Some(0), &json!(0), &json!(4)));
    let ports = &all["proof"]["headroom"][0];
    // Bytes: 3 frames of 1106, 92 of gap, pause and preambles, 2 x 15 ns at 100 Gbit/s, 1.
    assert_eq!(ports["needed"]["total_bytes"], json!(3 * 1_106 + 92 + 375 + 1));
    assert_eq!((&ports["ports"], &ports["configured_bytes"]), (&json!(4), &json!(3_786)));
    let memory = &all["proof"]["memory"][0];
    assert_eq!(memory["class_bytes"], json!(4 * 3_786));
    assert_eq!(memory["shared_bytes"], json!(32_000_000 - 4 * 3_786));
    assert_eq!(all["proof"]["buffer_dependency"]["cycle"], Value::Null);
    let marking = &all["proof"]["marking"][0];
    assert_eq!(marking["unmarked_bytes"], json!(400_000), "by default");
    assert_eq!(marking["default_ecn"], json!(true));
    let text = sandbox.rocelab(&["check", "small.toml"]).stdout;
    assert!(text.contains("one queue 400KB (default) <= XOFF"), "{text}");
    let set = [
        "check",
        "small.toml",
        "--set",
        "switch.ecn={ kmin = \"5KB\", kmax = \"200KB\", pmax = 0.01 }",
    ];
    let text = sandbox.rocelab(&set).stdout;
    assert!(text.contains("one queue 5KB <= XOFF"), "{text}");
    let none = ["small.toml", "--set", "congestion_control.none={}"];
    let (_, all) = checked(&sandbox, &none);
    assert_eq!(all["proof"]["marking"], json!([]), "without `switch.ecn`");
    let left = json!(["marks before pauses: `switch.ecn` is not set"]);
    assert_eq!(all["proof"]["not_checked"], left);
}

#[test]
fn too_little_headroom_is_a_fault_with_the_sum() {
    let sandbox = Sandbox::with_small();
    let ended = sandbox.rocelab(&["check", "small.toml", "--set", "switch.headroom=3785B"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), ""), "{ended:?}");
    let lines: Vec<_> = ended.stdout.lines().collect();
    assert_eq!(lines[0], "small.toml: 4 hosts, 4 links, 3 flows: 1 fault");
    let sum = "4 ports of 100Gbps, 15ns one way: 3.785KB < 3.786KB = 1106 frame + 1118 ahead + \
               72 pause + 375 cable + 1 response + 1114 begun; missing 1B";
    assert!(lines[1].contains("WRONG headroom") && lines[1].ends_with(sum), "{}", lines[1]);
    let enough = sandbox.succeeds(&["check", "small.toml", "--set", "switch.headroom=3786B"]);
    assert!(enough.contains("3.786KB >= 3.786KB") && enough.contains("margin 0B"), "{enough}");
}

/// Two senders at 100 Gbit/s into one port, XOFF at 20 KB: the calculated headroom is enough, and 2 KB are not, as a pause
/// comes into effect only after two frames of 1,106 bytes and what the cable holds.
#[test]
fn headroom_that_was_used_is_compared_with_what_was_reserved() {
    let sandbox = Sandbox::with_small();
    let run = |name: &str, settings: &[&str]| {
        let sampled = "sample.ingress={ interval = \"10us\", ports = [\"all\"] }";
        let fixed = ["run", "small.toml", "--out", name, "--set", sampled];
        let more = ["--set", "switch.xoff=20KB", "--set", "congestion_control.none={}"];
        sandbox.rocelab(&[&fixed[..], &more[..], settings].concat());
    };
    run("enough", &[]);
    let ended = sandbox.rocelab(&["headroom", "enough"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    let first = ended.stdout.lines().next().unwrap();
    let verdict =
        "enough: headroom used, of what is reserved: enough: the most that one port used is ";
    assert!(first.starts_with(verdict) && first.contains(" of 3.786KB ("), "{first}");
    assert!(ended.stdout.contains("\n  ok    switch-0:"), "{ended:?}");
    let checked = sandbox.succeeds(&["check", "enough"]);
    assert!(checked.contains("\n  ok    headroom used        enough: the most"), "{checked}");

    run("little", &["--set", "switch.headroom=2KB"]);
    let ended = sandbox.rocelab(&["headroom", "little"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stdout.contains("not enough: "), "{ended:?}");
    assert!(ended.stdout.contains("\n  WRONG switch-0:"), "{ended:?}");
    let ended = sandbox.rocelab(&["headroom", "little", "--json"]);
    let found: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(found["ports"][0]["reserved_bytes"], json!(2_000));
    assert!(found["ports"][0]["drops"].as_u64() > Some(0), "{found}");
    let ended = sandbox.rocelab(&["check", "little"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stdout.contains("\n  WRONG headroom used        not enough: "), "{ended:?}");

    sandbox.succeeds(&["run", "small.toml", "--out", "plain"]);
    let ended = sandbox.rocelab(&["headroom", "plain"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    assert!(
        ended
            .stderr
            .contains("plain: the memory of switches was not measured: put [sample.ingress]")
    );
}

#[test]
fn marks_that_come_after_pauses_are_a_fault() {
    let sandbox = Sandbox::with_small();
    let with = |xoff: &str| {
        let ecn = "switch.ecn={kmin=\"50KB\", kmax=\"200KB\", pmax=0.1}";
        let xoff = format!("switch.xoff={xoff}");
        checked(&sandbox, &["small.toml", "--set", ecn, "--set", &xoff])
    };
    let (code, late) = with("49999B");
    let finding = &late["proof"]["marking"][0];
    assert_eq!((code, &finding["marks_first"]), (Some(1), &json!(false)));
    assert_eq!(
        (&finding["unmarked_bytes"], &finding["xoff_bytes"]),
        (&json!(50_000), &json!(49_999))
    );
    let (code, early) = with("50KB");
    let finding = &early["proof"]["marking"][0];
    assert_eq!((code, &finding["marks_first"]), (Some(0), &json!(true)));
    // Four queues of 50 KB may still be of one ingress.
    assert_eq!(finding["always_marks_first"], json!(false));
    assert_eq!(finding["always_kmin_bytes"], json!(12_500));
    let (_, always) = with("200KB");
    assert_eq!(always["proof"]["marking"][0]["always_marks_first"], json!(true));
}

/// `count` switches in a ring with a host at each, in the edge-list format.
fn ring(count: usize) -> String {
    let switches: Vec<_> = (count..2 * count).map(|id| id.to_string()).collect();
    let mut text = format!("{} {count} {}\n{}\n", 2 * count, 2 * count, switches.join(" "));
    for id in 0..count {
        let next = count + (id + 1) % count;
        text.push_str(&format!("{id} {} 100Gbps 15ns 0\n", count + id));
        text.push_str(&format!("{} {next} 100Gbps 15ns 0\n", count + id));
    }
    text
}

#[test]
fn a_ring_has_its_cycle_printed_and_a_spanning_tree_has_none() {
    let sandbox = Sandbox::new();
    sandbox.write("ring.topology.txt", ring(5));
    sandbox.write(
        "ring.toml",
        "[topology.file]\npath = \"ring.topology.txt\"\n\
         [[workload.flows.list]]\nfrom = \"host-0\"\nto = \"host-2\"\nbytes = \"1MB\"\n",
    );
    let ended = sandbox.rocelab(&["check", "ring.toml"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let circle = "pauses can wait in a circle: ";
    let cycle = ended.stdout.lines().find_map(|line| line.split_once(circle)).expect("a cycle").1;
    let queues: Vec<_> = cycle.split(" -> ").collect();
    assert_eq!((queues.len(), queues.first()), (6, queues.last()), "{cycle}");
    assert!(ended.stdout.contains("the scenario's own flows close none"), "{ended:?}");
    // Without one of its links it is a chain.
    let tree = ["ring.toml", "--set", "roce.version=1"];
    let (code, all) = checked(&sandbox, &tree);
    assert_eq!(code, Some(0), "{all}");
    let failures = &all["proof"]["buffer_dependency"]["failures"];
    assert_eq!((&failures["spanning_tree"], &failures["examined"]), (&json!(true), &json!(5)));
}

#[test]
fn every_failure_in_a_large_fat_tree_is_examined() {
    let sandbox = Sandbox::new();
    let scenario = repository_argument("scenarios/fat320-websearch.toml");
    let (code, all) = checked(&sandbox, &[&scenario]);
    assert_eq!((code, &all["hosts"]), (Some(0), &json!(320)));
    let dependency = &all["proof"]["buffer_dependency"];
    assert_eq!(dependency["failures"]["examined"], dependency["failures"]["links"]);
}

#[test]
fn what_is_said_to_no_effect_is_noted_with_its_place() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "s.toml",
        format!(
            "stop = \"1ms\"\nconvergence = \"5us\"\n{}\n[class.5]\ncongestion_control = {{ none = {{}} }}\n\
             [watchdog.switch]\n[watchdog.nic]\n[[failure]]\nkind = \"host-down\"\nhost = \"host-1\"\n\
             at = \"2ms\"\n[[faults]]\naction = \"drop\"\nafter = \"2ms\"\n[[slow_receiver]]\nhosts = []\n\
             buffer = \"1MB\"\nrate = \"50Gbps\"\n[[layer2.entry]]\nhosts = [\"host-2\"]\n[[route]]\n\
             switch = \"switch-0\"\ndestinations = []\nport = \"switch-0:1\"\n",
            crate::program::SMALL
        ),
    );
    let ended = sandbox.rocelab(&["check", "s.toml"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let notes: Vec<_> = ended.stderr.lines().collect();
    for (note, expected) in notes.iter().zip([
        "failure[0].at = \"2ms\": the run is over by then: `stop` is 1ms; give an earlier time",
        "convergence = \"5us\": no link goes down",
        "watchdog.switch.poll = 200ms by default: the run is over by then",
        "watchdog.nic: no NIC asks for pauses without end",
        "faults[0].after = \"2ms\": the run is over by then",
        "route[0].destinations = []: no host is named",
        "slow_receiver[0].hosts = []: no host is named",
        "layer2.entry[0]: switches know all of these hosts anyway",
        "class.5: no RDMA flow or connection has priority 5",
    ]) {
        assert!(
            note.starts_with("note: s.toml:") && note.contains(expected),
            "{note} for {expected}"
        );
    }
    assert_eq!(notes.len(), 9, "{ended:?}");
    let run = sandbox.rocelab(&["run", "s.toml"]);
    assert_eq!((run.code, run.stderr), (Some(0), ended.stderr), "run says the same");
}

#[test]
fn thresholds_that_another_one_replaces_are_noted() {
    let sandbox = Sandbox::with_small();
    let notes = |xoff: &str, alpha: &str, offset: &str| {
        let [xoff, alpha, offset] = [("xoff", xoff), ("alpha", alpha), ("xon_offset", offset)]
            .map(|(key, value)| format!("switch.{key}={value}"));
        let control = "congestion_control.none={}";
        let sets = ["--set", control, "--set", &xoff, "--set", &alpha, "--set", &offset];
        let ended = sandbox.rocelab(&[&["check", "small.toml"], &sets[..]].concat());
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.stderr
    };
    let both = notes("20KB", "1/4", "30KB");
    let lines: Vec<_> = both.lines().collect();
    let [alpha, offset] = lines.as_slice() else { panic!("{both}") };
    assert!(alpha.contains("the fixed threshold `xoff` of 20KB is in its place"), "{alpha}");
    assert!(offset.contains("that is above `xoff`, 20KB: senders resume when nothing"), "{offset}");
    assert_eq!(notes("20KB", "1/8", "20KB"), "", "the default, and no more than it");
}

#[test]
fn what_has_an_effect_is_not_noted() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "s.toml",
        format!(
            "stop = \"1ms\"\n{}\n[watchdog.switch]\ndetect = \"199us\"\npoll = \"100us\"\n[watchdog.nic]\n\
             detect = \"499us\"\n[[failure]]\nkind = \"pause-storm\"\nhost = \"host-1\"\nat = \"500us\"\n",
            crate::program::SMALL
        ),
    );
    assert_eq!(sandbox.rocelab(&["check", "s.toml"]).stderr, "");
    let late = [
        ("watchdog.switch.detect=1ms", "watchdog.switch.detect = "),
        ("watchdog.nic.detect=500us", "watchdog.nic.detect = "),
    ];
    for (set, expected) in late {
        let ended = sandbox.rocelab(&["check", "s.toml", "--set", set]);
        assert!(ended.stderr.contains(expected) && ended.stderr.lines().count() == 1, "{ended:?}");
    }
}

#[test]
fn a_pool_that_is_too_small_for_one_port_is_only_wrong() {
    let sandbox = Sandbox::with_small();
    let pool = |size: &str| {
        let set = format!("switch.headroom_pool={size}");
        sandbox.rocelab(&["check", "small.toml", "--set", &set]).stdout
    };
    let wrong = pool("3KB");
    assert!(wrong.contains("missing 786B, as all of `switch.headroom_pool` is less"), "{wrong}");
    assert!(!wrong.contains("statistical"), "{wrong}");
    assert!(pool("4KB").contains("statistical: of a pool of 4KB"));
}

#[test]
fn a_routing_loop_is_named() {
    let sandbox = Sandbox::new();
    let scenario = repository_argument("scenarios/hotnets16-routing-loop.toml");
    let answer = sandbox.rocelab(&["check", &scenario]).stdout;
    let told = "`host-1` cannot be reached from `host-0`: static routes lead in a circle, switch-0 -> \
                switch-1 -> switch-0; change a `[[route]]` of one of these switches";
    assert!(answer.contains(&format!("  warn  routing loop         {told}\n")), "{answer}");
    assert!(answer.contains(": 1 fault, 1 warning\n"), "{answer}");
    let run = sandbox.rocelab(&["run", &scenario, "--set", "stop=1us", "--out", "out"]);
    assert_eq!(run.stderr, format!("warning: {scenario}: {told}\n"));
    let ring = repository_argument("scenarios/hotnets16-ring.toml");
    assert!(!sandbox.rocelab(&["check", &ring]).stdout.contains("routing loop"));
}

#[test]
fn a_link_that_flaps_is_one_that_goes_down_again_and_again() {
    let sandbox = Sandbox::new();
    let failure = "[[failure]]\nkind = \"link-flap\"\nport = \"host-0\"\nat = \"1us\"\n";
    sandbox.write("s.toml", format!("{}{failure}", crate::program::SMALL));
    let ended = sandbox.rocelab(&["check", "s.toml"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let help = "there is no `link-flap`; a link that flaps is a \"link-down\" with `lasts`, `repeat` and `interval`";
    assert!(ended.stderr.contains(help), "{ended:?}");
}

/// The notes on a scenario.
fn notes(text: &str) -> String {
    let sandbox = Sandbox::new();
    sandbox.write("s.toml", text);
    let ended = sandbox.rocelab(&["check", "s.toml"]);
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    ended.stderr
}

#[test]
fn what_comes_too_late_or_means_nothing_is_noted() {
    let small = crate::program::SMALL;
    let flows = "[topology.single-switch]\nhosts = 3\nlink = { rate = \"100Gbps\", cable = \"3m\" }\n\
                 [workload.flows]\nlist = [\n{ from = \"host-0\", to = \"host-1\", bytes = \"1KB\", start = \"3us\" },\n\
                 { from = \"host-0\", to = \"host-1\", bytes = \"1KB\", start = \"2us\" },\n]\n";
    for (text, expected) in [
        (
            format!("stop = \"1us\"\n{flows}"),
            "workload: all flows start when the run is over: `stop` is 1us",
        ),
        (format!("stop = \"2us\"\n{flows}"), ""),
        (format!("stop = \"1us\"\n{flows}").replace("3us", "0us"), ""),
        (format!("{small}[watchdog]\n"), "watchdog: no watchdog is named"),
        (
            format!(
                "{small}[roce]\nversion = 1\n[layer2]\nlearning = {{ arp_timeout = \"1ms\" }}\n"
            ),
            "layer2.learning.arp_timeout = \"1ms\": RoCE v1 has no IP addresses",
        ),
    ] {
        let notes = notes(&text);
        assert!(
            notes.contains(expected) && notes.is_empty() == expected.is_empty(),
            "{text}: {notes}"
        );
        assert!(notes.lines().count() <= 1, "{notes}");
    }
}

#[test]
fn tcp_to_a_host_that_stays_dead_is_noted() {
    let text = |more: &str| {
        format!(
            "[topology.single-switch]\nhosts = 3\nlink = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
             [workload.flows]\ntransport = \"tcp\"\n\
             list = [{{ from = \"host-0\", to = \"host-1\", bytes = \"1MB\" }}]\n\
             [[failure]]\nkind = \"host-down\"\nhost = \"host-1\"\nat = \"5us\"\n{more}"
        )
    };
    let told =
        "failure[0].host = \"host-1\": a flow of TCP begins or ends there, which never gives up";
    assert!(notes(&text("")).contains(told), "{}", notes(&text("")));
    assert_eq!(notes(&text("lasts = \"5us\"\n")), "");
    assert_eq!(notes(&format!("stop = \"1ms\"\n{}", text(""))), "");
    assert_eq!(notes(&text("").replace("host = \"host-1\"", "host = \"host-2\"")), "");
}

#[test]
fn tcp_that_links_leave_no_way_is_noted() {
    let text = |failures: &str| {
        format!(
            "[topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 1\n\
             host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
             fabric_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
             [workload.flows]\ntransport = \"tcp\"\n\
             list = [{{ from = \"host-0\", to = \"host-1\", bytes = \"1MB\" }}]\n{failures}"
        )
    };
    let down = |port: &str, at: &str, more: &str| {
        format!("[[failure]]\nkind = \"link-down\"\nport = \"{port}\"\nat = \"{at}\"\n{more}")
    };
    let told = "no way is left from host-0 to host-1 for a flow of TCP, which never gives up";
    let of_host = down("host-1:0", "5us", "");
    assert!(notes(&text(&of_host)).contains(told), "{}", notes(&text(&of_host)));
    assert_eq!(notes(&text(&down("host-1:0", "5us", "lasts = \"5us\"\n"))), "");
    // First one of two ways is down, then the other.
    let one = down("leaf-0:1", "5us", "");
    assert_eq!(notes(&text(&one)), "");
    let both = format!("{}{one}", down("leaf-1:2", "7us", ""));
    let said = notes(&text(&both));
    assert!(said.contains(told) && said.contains("failure[0].port"), "{said}");
    let reboot = "[[failure]]\nkind = \"switch-reboot\"\nswitch = \"leaf-0\"\nat = \"5us\"\n";
    let said = notes(&text(reboot));
    assert!(said.contains(told) && said.contains("failure[0].switch = \"leaf-0\""), "{said}");
}

#[test]
fn findings_that_read_alike_name_their_switches() {
    let sandbox = Sandbox::new();
    let fabric = "[topology.leaf-spine]\nleaves = 4\nspines = 2\nhosts_per_leaf = 3\n\
                  host_link = { rate = \"100Gbps\", cable = \"3m\" }\n\
                  fabric_link = { rate = \"100Gbps\", cable = \"3m\" }\n[workload.incast]\n\
                  senders = 3\nbytes = \"1KB\"\n[switch]\nheadroom_pool = \"3KB\"\n";
    sandbox.write("s.toml", fabric);
    let answer = sandbox.rocelab(&["check", "s.toml"]).stdout;
    for expected in
        [" leaf-0, leaf-1, leaf-2 and 1 more: 20 ports of ", " spine-0, spine-1: 8 ports of "]
    {
        assert!(answer.contains(expected), "{expected}: {answer}");
    }
    let alike = sandbox.succeeds(&["check", "s.toml", "--set", "switch.headroom_pool=1MB"]);
    assert!(alike.contains("headroom             28 ports of "), "{alike}");
    assert!(!alike.contains("leaf-1"), "{alike}");
}
