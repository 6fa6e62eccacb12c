//! Congestion controls that users wrote: the program loads modules, runs them as native ones, and tells what is wrong with them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::program::{Ended, Sandbox, repository};

/// Networks and workloads in which rates, windows, losses, timers and READs matter.
const SCENARIOS: [(&str, &str); 5] = [
    (
        "incast",
        "[topology.single-switch]\nhosts = 9\nlink = { rate = \"100Gbps\", cable = \"10m\" }\n\
         [switch]\necn = { kmin = \"40KB\", kmax = \"160KB\", pmax = 0.2 }\n\
         [workload.incast]\nsenders = 8\nbytes = \"1MB\"\n\
         [sample]\nqueues = { interval = \"20us\", ports = [\"switch-0\"] }\nrates = { interval = \"20us\" }\n",
    ),
    (
        "leaf-spine",
        "[topology.leaf-spine]\nleaves = 4\nspines = 2\nhosts_per_leaf = 4\n\
         host_link = { rate = \"100Gbps\", cable = \"20m\" }\nfabric_link = { rate = \"100Gbps\", cable = \"100m\" }\n\
         [workload.poisson]\nload = 0.6\ndistribution_file = \"sizes.csv\"\nduration = \"2ms\"\n\
         [capture]\nports = [\"host-0\"]\n",
    ),
    (
        "losses",
        "[roce]\nrecovery = \"selective-repeat\"\ntimeouts = { low = \"100us\", high = \"320us\", low_packets = 3 }\n\
         [topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\n\
         host_link = { rate = \"100Gbps\", cable = \"3m\" }\nfabric_link = { rate = \"100Gbps\", cable = \"30m\" }\n\
         [[workload.permutation]]\nbytes = \"1MB\"\nverb = \"write\"\n\
         [[workload.permutation]]\nbytes = \"1MB\"\nverb = \"send\"\n\
         [[faults]]\naction = \"drop\"\nprobability = 0.002\n\
         [[faults]]\naction = \"reorder\"\nbehind = 4\nprobability = 0.002\n",
    ),
    (
        "reads",
        "[topology.single-switch]\nhosts = 6\nlink = { rate = \"25Gbps\", cable = \"100m\" }\n\
         [[workload.incast]]\nsenders = 5\nbytes = \"500KB\"\nverb = \"read\"\n\
         [[workload.permutation]]\nbytes = \"700KB\"\n",
    ),
    (
        "classes",
        "[roce]\npath_mtu = 4096\n[switch]\nlossless = [3, 4]\n\
         [topology.single-switch]\nhosts = 6\nlink = { rate = \"400Gbps\", cable = \"50m\" }\n\
         [[workload.incast]]\nsenders = 4\nbytes = \"3MB\"\npriority = 3\n\
         [[workload.incast]]\nsenders = 5\nbytes = \"2MB\"\npriority = 4\n\
         [[failure]]\nkind = \"link-down\"\nport = \"host-1:0\"\nat = \"60us\"\nlasts = \"30us\"\n",
    ),
];

/// Bytes of flows.
const SIZES: &str = "bytes,cumulative_percent\n1000,0\n20000,50\n400000,90\n2000000,100\n";

/// A folder with the scenarios and all modules of `guests/`.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    for (name, text) in SCENARIOS {
        sandbox.write(&format!("{name}.toml"), text);
    }
    sandbox.write("sizes.csv", SIZES);
    for name in ["dcqcn", "dctcp", "swift", "swift-endpoint"] {
        let module = fs::read(repository(&format!("guests/compiled/{name}.wasm"))).unwrap();
        sandbox.write(&format!("{name}.wasm"), module);
    }
    let aimd = fs::read(repository("guests/wat/aimd.wat")).unwrap();
    sandbox.write("aimd.wat", aimd);
    sandbox
}

fn module(file: &str) -> String {
    format!("congestion_control.wasm={{ path = \"{file}\" }}")
}

/// All results that do not name the algorithm, and `flows.csv` as if the native one had run.
fn results(sandbox: &Sandbox, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let mut files = sandbox.files(folder);
    // These have the scenario, the name of the algorithm or what the run cost.
    for name in ["run.json", "scenario.resolved.toml", "flows.parquet"] {
        files.remove(name).expect(name);
    }
    files.retain(|name, _| !name.ends_with(".wasm") && name != "sizes.csv");
    let flows = files.get_mut("flows.csv").unwrap();
    *flows = String::from_utf8(flows.clone()).unwrap().replace(",wasm:", ",").into_bytes();
    files
}

#[test]
fn guests_give_the_bytes_of_native_algorithms() {
    let sandbox = sandbox();
    for (scenario, _) in SCENARIOS {
        let file = format!("{scenario}.toml");
        for name in ["dcqcn", "dctcp", "swift"] {
            let (native, guest) =
                (format!("{scenario}-{name}"), format!("{scenario}-{name}-guest"));
            let chosen = format!("congestion_control={name}");
            sandbox.succeeds(&["run", &file, "--out", &native, "--set", &chosen]);
            let chosen = module(&format!("{name}.wasm"));
            sandbox.succeeds(&["run", &file, "--out", &guest, "--set", &chosen]);
            let (native, guest) = (results(&sandbox, &native), results(&sandbox, &guest));
            assert!(native.contains_key("summary.json"));
            for (file, bytes) in &native {
                assert!(guest.get(file) == Some(bytes), "{scenario} with {name}: {file} differs");
            }
            assert_eq!(native.len(), guest.len());
        }
    }
}

/// Swift with both windows, at hosts that take time.
#[test]
fn a_guest_is_told_of_the_ends_as_the_native_algorithm_is() {
    let sandbox = sandbox();
    let hosts = "[[host_model]]\nprofile = \"cx5\"\npcie = { gen = 3, lanes = 4 }\n";
    let text = SCENARIOS.iter().find(|(name, _)| *name == "incast").unwrap().1;
    sandbox.write("hosts.toml", format!("{text}{hosts}"));
    let native = "congestion_control={ swift = { endpoint_target = \"20us\", hops = \"counted\", \
        retransmit_reset = 5 } }";
    sandbox.succeeds(&["run", "hosts.toml", "--out", "native", "--set", native]);
    let chosen = module("swift-endpoint.wasm");
    sandbox.succeeds(&["run", "hosts.toml", "--out", "guest", "--set", &chosen]);
    let (native, mut guest) = (results(&sandbox, "native"), results(&sandbox, "guest"));
    let flows = guest.get_mut("flows.csv").unwrap();
    *flows =
        String::from_utf8(flows.clone()).unwrap().replace(",swift-endpoint,", ",swift,").into();
    for (file, bytes) in &native {
        assert!(guest.get(file) == Some(bytes), "{file} differs");
    }
    let told = sandbox.succeeds(&["cc", "check", "swift-endpoint.wasm"]);
    assert!(told.contains("feedback    endpoint"), "{told}");
}

#[test]
fn results_do_not_depend_on_parts_and_threads() {
    let sandbox = sandbox();
    for file in ["dcqcn.wasm", "aimd.wat", "swift-endpoint.wasm"] {
        let chosen = module(file);
        let mut all = Vec::new();
        for (parts, threads) in [("1", "1"), ("4", "1"), ("4", "4")] {
            let out = format!("{file}-{parts}-{threads}");
            let arguments = ["run", "leaf-spine.toml", "--out", &out, "--set", &chosen];
            sandbox.succeeds(
                &[&arguments[..], &["--partitions", parts, "--threads", threads]].concat(),
            );
            let mut files = sandbox.files(&out);
            files.remove("run.json");
            all.push(files);
        }
        assert!(all[0] == all[1] && all[0] == all[2], "{file}");
    }
}

#[test]
fn results_run_again_from_their_folder() {
    let sandbox = sandbox();
    let chosen =
        "congestion_control.wasm={ path = \"aimd.wat\", parameters = { increase = \"20Mbps\" } }";
    sandbox.succeeds(&["run", "incast.toml", "--out", "first", "--set", chosen]);
    let resolved = sandbox.text("first/scenario.resolved.toml");
    for part in [
        "path = \"aimd.wat\"",
        "increase = 20000000",
        "least = 100000000",
        "sha256 = \"",
        "fuel = 100000",
    ] {
        assert!(resolved.contains(part), "{resolved}");
    }
    fs::remove_file(sandbox.path("aimd.wat")).unwrap();
    sandbox.succeeds(&["run", "first/scenario.resolved.toml", "--out", "again"]);
    assert_eq!(
        sandbox.json("first/summary.json")["digest"],
        sandbox.json("again/summary.json")["digest"]
    );
    assert!(sandbox.text("again/flows.csv").contains(",wasm:aimd,"));
    let control = &sandbox.json("again/run.json")["congestion_controls"][0];
    assert_eq!(control["name"], "wasm:aimd");
    assert!(resolved.contains(&format!("sha256 = {}", control["sha256"])), "{control}");
    // Rates of modules are sampled as those of native algorithms.
    let rates = sandbox.text("first/samples/rates.csv");
    let rates: BTreeSet<_> =
        rates.lines().skip(1).filter_map(|row| row.split(',').nth(5)).collect();
    assert!(rates.len() > 20, "{rates:?}");
}

#[test]
fn a_checkpoint_goes_on_with_the_same_module_and_with_no_other() {
    let sandbox = sandbox();
    let chosen = module("dcqcn.wasm");
    sandbox.succeeds(&["run", "leaf-spine.toml", "--out", "whole", "--set", &chosen]);
    let every = ["--checkpoint-every", "300us", "--keep-checkpoints", "--partitions", "4"];
    let run = ["run", "leaf-spine.toml", "--out", "saved", "--set", &chosen];
    sandbox.succeeds(&[&run[..], &every[..]].concat());
    // From the middle to the end, in one part: the threshold is what it was.
    let same = ["--set", "switch.alpha=1/8", "--partitions", "1", "--threads", "1"];
    let branch = ["branch", "saved", "--at", "900us", "--out", "on"];
    let branched = sandbox.rocelab(&[&branch[..], &same[..]].concat());
    assert_eq!(branched.code, Some(0), "{}", branched.stderr);
    let (whole, on) = (sandbox.files("whole"), sandbox.files("on"));
    for file in ["flows.csv", "links.csv", "pfc.csv", "capture.pcapng"] {
        assert!(whole[file] == on[file], "{file}");
    }
    assert!(on["flows.csv"].len() > 1_000);
    let other = module("aimd.wat");
    let other =
        sandbox.rocelab(&["branch", "saved", "--at", "900us", "--out", "no", "--set", &other]);
    assert_eq!(other.code, Some(2), "{}", other.stderr);
}

/// A module that fails after so many CNPs, or acknowledgements.
fn failing(body: &str) -> String {
    let json = r#"{"abi": 1, "name": "failing", "feedback": "ecn-echo", "state": 8}"#;
    format!(
        "(module (memory (export \"memory\") 1) (data (i32.const 4096) \"{}\")
         (func (export \"rl_abi\") (result i32) i32.const 1)
         (func (export \"rl_meta\") (result i64) (i64.or (i64.shl (i64.const 4096) (i64.const 32)) (i64.const {})))
         (func (export \"rl_block\") (result i32) i32.const 1024)
         (func (export \"rl_event\") (param $kind i32)
           (if (i32.eqz (local.get $kind)) (then (i64.store (i32.const 1120) (i64.const 40000000000))))
           (i64.store (i32.const 1552) (i64.add (i64.load (i32.const 1552)) (i64.const 1)))
           (if (i64.gt_u (i64.load (i32.const 1552)) (i64.const 500)) (then {body}))))",
        json.replace('"', "\\\""),
        json.len()
    )
}

#[test]
fn what_goes_wrong_in_a_run_ends_it_with_the_same_words_everywhere() {
    let sandbox = sandbox();
    for (body, cause) in [
        ("unreachable", "wasm `unreachable` instruction executed"),
        ("(loop $l (br $l))", "the call does not end within 100000 instructions"),
        ("(i64.store (i32.const 1120) (i64.const 0))", "it answers rate = 0; give 1 to 2^63 bit/s"),
        (
            "(i64.store (i32.const 1136) (i64.const 1))",
            "it answers timer 0 = 1 ps, not after the time of the call",
        ),
    ] {
        sandbox.write("failing.wat", failing(body));
        let chosen = module("failing.wat");
        let mut told: Vec<String> = Vec::new();
        for (parts, threads) in [("1", "1"), ("4", "1"), ("4", "4")] {
            let arguments = ["run", "leaf-spine.toml", "--out", "failed", "--set", &chosen];
            let arguments =
                [&arguments[..], &["--partitions", parts, "--threads", threads]].concat();
            let Ended { code, stderr, .. } = sandbox.rocelab(&arguments);
            assert_eq!(code, Some(2), "{stderr}");
            told.push(stderr);
            assert!(!sandbox.path("failed/summary.json").exists(), "no results look whole");
        }
        assert!(
            told[0].contains("the congestion control `wasm:failing` failed at "),
            "{}",
            told[0]
        );
        assert!(told[0].contains(", flow ") && told[0].contains(" -> host-"), "{}", told[0]);
        assert!(told[0].contains("told of `ack`: ") && told[0].contains(cause), "{}", told[0]);
        assert!(told[0] == told[1] && told[0] == told[2], "{told:?}");
    }
}

#[test]
fn what_cannot_be_loaded_names_its_key_and_a_fix() {
    let sandbox = sandbox();
    sandbox.write("import.wat", "(module (import \"env\" \"clock\" (func)))");
    let hidden = failing("(i64.store (i32.const 8) (i64.const 1))")
        .replace("(i32.const 1552)", "(i32.const 16)");
    sandbox.write("hidden.wat", hidden);
    for (value, expected) in [
        ("{ path = \"no.wasm\" }", "congestion_control.wasm.path"),
        ("{ path = \"no.wasm\" }", "cannot be read"),
        ("{ path = \".\" }", "it is no file"),
        ("{ path = \"import.wat\" }", "the module imports env.clock: none are allowed"),
        ("{ path = \"hidden.wat\" }", "the module keeps something outside of its `state`"),
        ("{ path = \"aimd.wat\", fuel = 0 }", "congestion_control.wasm.fuel"),
        (
            "{ path = \"aimd.wat\", parameters = { gain = 3 } }",
            "the module `aimd` has no such parameter; the module has increase, least",
        ),
        (
            "{ path = \"aimd.wat\", parameters = { increase = \"20us\" } }",
            "congestion_control.wasm.parameters.increase",
        ),
        ("{ path = \"aimd.wat\", parameters = { increase = 0 } }", "give 1 to 1000000000000 bit/s"),
        ("{ path = \"aimd.wat\", sha256 = \"0\" }", "name the module that was meant"),
        ("{}", "the key `path` is missing"),
    ] {
        let chosen = format!("congestion_control.wasm={value}");
        let ended = sandbox.rocelab(&["run", "incast.toml", "--set", &chosen]);
        assert_eq!(ended.code, Some(2), "{value}: {}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{value}: {}", ended.stderr);
    }
}

#[test]
fn cc_check_tells_what_a_module_is_and_does() {
    let sandbox = sandbox();
    let told = sandbox.succeeds(&["cc", "check", "swift.wasm"]);
    for part in [
        "swift.wasm: swift, a window",
        "SHA-256",
        "feedback    rtt",
        "112 bytes",
        "parameter   beta = 800 1/1000",
    ] {
        assert!(told.contains(part), "{told}");
    }
    sandbox.write(
        "endless.wat",
        failing("(loop $l (br $l))").replace("(i64.const 500)", "(i64.const 5)"),
    );
    let ended = sandbox.rocelab(&["cc", "check", "endless.wat"]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(
        ended.stdout.contains("wrong       call ") && ended.stdout.contains("does not end within"),
        "{}",
        ended.stdout
    );
    sandbox.write(
        "growing.wat",
        failing("(drop (memory.grow (i32.const 1)))").replace("(i64.const 500)", "(i64.const 5)"),
    );
    let ended = sandbox.rocelab(&["cc", "check", "growing.wat"]);
    assert!(
        ended.code == Some(1) && ended.stdout.contains("it asks for more memory"),
        "{}",
        ended.stdout
    );
    // What it keeps is told, and where it fails.
    let both = failing("unreachable")
        .replace("(i32.const 1552)", "(i32.const 16)")
        .replace("(i64.const 500)", "(i64.const 5)");
    sandbox.write("both.wat", both);
    let ended = sandbox.rocelab(&["cc", "check", "both.wat"]);
    assert!(
        ended.code == Some(1) && ended.stdout.matches("wrong  ").count() > 1,
        "{}",
        ended.stdout
    );
}

#[test]
fn cc_new_and_replay_work_together() {
    let sandbox = sandbox();
    sandbox.succeeds(&["cc", "new", "mine", "--lang", "wat"]);
    let told = sandbox.succeeds(&["cc", "check", "mine/mine.wat"]);
    assert!(told.starts_with("mine/mine.wat: mine, "), "it has its own name: {told}");
    for (lang, file) in [("c", "ours/rocelab_cc.h"), ("rust", "yours/rocelab-cc/src/lib.rs")] {
        let name = file.split('/').next().unwrap();
        let told = sandbox.succeeds(&["cc", "new", name, "--lang", lang]);
        assert!(told.contains("build it:") && sandbox.path(file).exists(), "{told}");
        let source = if lang == "c" { "ours/ours.c" } else { "yours/src/lib.rs" };
        let source = sandbox.text(source).replace('\\', "");
        assert!(source.contains(&format!("\"name\": \"{name}\"")), "{source}");
        assert_eq!(
            sandbox.rocelab(&["cc", "new", name, "--lang", lang]).code,
            Some(2),
            "it exists"
        );
    }
    assert_eq!(sandbox.rocelab(&["cc", "new", "../mine"]).code, Some(2));
    sandbox.write(
        "events.jsonl",
        "{\"event\": \"open\", \"now\": 5, \"line_rate\": 100000000000, \"base_rtt\": 8000000, \"bdp\": 100000, \"mtu\": 1024}\n\
         {\"event\": \"ack\", \"now\": 9000000, \"acked\": 1024, \"acknowledged\": 1024, \"sent\": 9216, \"rtt\": 9000000, \"ecn\": true}\n",
    );
    let told = sandbox.succeeds(&["cc", "replay", "mine/mine.wat", "events.jsonl"]);
    let lines: Vec<_> = told.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].starts_with("{\"rate\":100000000000,\"window\":null,"), "{told}");
    assert!(lines[1].starts_with("{\"rate\":50000000000,"), "{told}");
    let open = "{\"event\": \"open\", \"now\": 5, \"line_rate\": 100000000000, \"base_rtt\": 8000000, \"bdp\": 1, \"mtu\": 1024}\n";
    let event = |text: &str| format!("{open}{{\"event\": {text}}}\n");
    for (events, expected) in [
        (
            "{\"event\": \"cnp\", \"now\": 5}\n".to_owned(),
            "events.jsonl:1: `open` is the first event",
        ),
        (open.replace("100000000000", "0"), "events.jsonl:1: line_rate = 0: give bit/s"),
        (
            event("\"cnm\", \"now\": 6, \"feedback\": 64"),
            "events.jsonl:2: feedback = 64: give 0 to 63",
        ),
        (event("\"loss\", \"now\": 4"), "events.jsonl:2: now = 4, and the line before has 5"),
        (event("\"timer\", \"now\": 6, \"timer\": 3"), "events.jsonl:2: timer = 3"),
        (event("\"ack\""), "events.jsonl:2: it is no event"),
    ] {
        sandbox.write("events.jsonl", &events);
        let ended = sandbox.rocelab(&["cc", "replay", "mine/mine.wat", "events.jsonl"]);
        assert_eq!(ended.code, Some(2), "{events}");
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    }
    // It asks for marks, and is not told of CNPs.
    sandbox.write("events.jsonl", event("\"cnp\", \"now\": 6"));
    let told = sandbox.succeeds(&["cc", "replay", "mine/mine.wat", "events.jsonl"]);
    assert!(told.ends_with("\"fuel\":0}\n"), "{told}");
    let twice =
        ["cc", "check", "mine/mine.wat", "--parameter", "least=1", "--parameter", "least=2"];
    let ended = sandbox.rocelab(&twice);
    assert!(
        ended.code == Some(2) && ended.stderr.contains("it is given twice"),
        "{}",
        ended.stderr
    );
}
