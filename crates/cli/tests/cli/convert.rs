//! `rocelab convert`, and configurations of HPCC's ns-3 simulator in place of scenarios.

use std::fs;

use crate::program::{Sandbox, repository};

/// A folder with golden runs: `cases/NAME/config.txt` and its inputs, and the expected files.
fn sandbox_with(names: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    for name in names {
        for file in ["config.txt", "topology.txt", "flow.txt"] {
            let golden = format!("crates/sim/tests/golden/hpcc-ns3/{name}/{file}");
            sandbox.write(&format!("cases/{name}/{file}"), fs::read(repository(&golden)).unwrap());
        }
    }
    sandbox
}

fn golden(name: &str, file: &str) -> String {
    fs::read_to_string(repository(&format!("crates/sim/tests/golden/hpcc-ns3/{name}/{file}")))
        .unwrap()
}

#[test]
fn a_configuration_runs_under_its_folder_s_name_and_leaves_the_simulator_s_files() {
    let sandbox = sandbox_with(&["incast16-nocc"]);
    let ended = sandbox.rocelab(&["run", "cases/incast16-nocc/config.txt"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.starts_with("incast16-nocc: "), "{ended:?}");
    assert!(ended.stdout.contains("16 of 16 completed"), "{ended:?}");
    let note = "note: cases/incast16-nocc/config.txt: FCT_OUTPUT_FILE fct.txt: ";
    assert!(ended.stderr.contains(note), "{ended:?}");
    for file in ["fct.txt", "pfc.txt"] {
        let ours = sandbox.text(&format!("results/incast16-nocc-1/{file}"));
        assert_eq!(ours, golden("incast16-nocc", file));
    }
    let summary = sandbox.json("results/incast16-nocc-1/summary.json");
    let pauses = golden("incast16-nocc", "pfc.txt").lines().filter(|l| l.ends_with(" 1")).count();
    assert_eq!(summary["pfc"]["pauses"], pauses);

    // The results contain everything that is needed to run them again.
    let again = "results/incast16-nocc-1/scenario.resolved.toml";
    sandbox.succeeds(&["run", again, "--out", "again"]);
    assert_eq!(sandbox.text("again/fct.txt"), golden("incast16-nocc", "fct.txt"));
    assert_eq!(sandbox.json("again/summary.json")["digest"], summary["digest"]);
}

#[test]
fn the_scenario_runs_from_where_it_was_written() {
    let sandbox = sandbox_with(&["incast16-hpcc"]);
    let config = "cases/incast16-hpcc/config.txt";
    let ended = sandbox.rocelab(&["convert", config]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("[congestion_control.hpcc]\n"), "{ended:?}");
    assert!(ended.stdout.contains("path = \"cases/incast16-hpcc/topology.txt\"\n"), "{ended:?}");
    assert!(ended.stderr.contains(": without effect with CC_MODE 3: "), "{ended:?}");
    sandbox.write("here.toml", &ended.stdout);
    sandbox.write("deep/down/.keep", "");
    sandbox.rocelab(&["convert", config, "-o", "deep/down/there.toml"]);
    let there = sandbox.text("deep/down/there.toml");
    assert!(there.contains("path = \"../../cases/incast16-hpcc/topology.txt\"\n"), "{there}");
    for scenario in ["here.toml", "deep/down/there.toml"] {
        sandbox.succeeds(&["run", scenario, "--out", "results", "--force"]);
        assert_eq!(sandbox.text("results/fct.txt"), golden("incast16-hpcc", "fct.txt"));
    }

    sandbox.write("mine.toml", "mine");
    let ended = sandbox.rocelab(&["convert", config, "-o", "mine.toml"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert_eq!(ended.stderr, "error: --out = mine.toml: exists; replace it with --force\n");
    assert_eq!(sandbox.text("mine.toml"), "mine");
    sandbox.rocelab(&["convert", config, "-o", "mine.toml", "--force"]);
    let written = sandbox.text("mine.toml");
    assert!(written.lines().any(|line| line == "seed = 1"), "{written}");
}

#[test]
fn a_folder_of_cases_is_checked_and_run() {
    let sandbox = sandbox_with(&["incast2-dctcp", "incast16-pint"]);
    sandbox.write("cases/incast16-pint/config_qlen.txt", "no configuration");
    let ended = sandbox.rocelab(&["check", "cases"]);
    let expected = "cases/incast16-pint/config.txt: 17 hosts, 17 links, 16 flows: ok\n\
                    cases/incast2-dctcp/config.txt: 3 hosts, 3 links, 2 flows: ok\n";
    assert_eq!(ended.stdout, expected, "{ended:?}");
    let ended = sandbox.rocelab(&["run", "cases", "--out", "all", "--quiet"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    for name in ["incast2-dctcp", "incast16-pint"] {
        assert_eq!(sandbox.text(&format!("all/{name}/fct.txt")), golden(name, "fct.txt"));
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let sandbox = sandbox_with(&["incast2-dctcp"]);
    let config = sandbox.text("cases/incast2-dctcp/config.txt");
    sandbox.write("cases/incast2-dctcp/config.txt", config.replace("CC_MODE 8", "CC_MODEE 8"));
    for command in ["run", "check", "convert"] {
        let ended = sandbox.rocelab(&[command, "cases/incast2-dctcp/config.txt"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
        let expected = "error: cases/incast2-dctcp/config.txt:11:1: CC_MODEE: there is no key \
                        `CC_MODEE`; did you mean `CC_MODE`?\n";
        assert_eq!(ended.stderr, expected);
    }
    let ended = sandbox.rocelab(&["convert", "small.toml"]);
    assert_eq!(ended.code, Some(2));
    assert_eq!(ended.stderr, "error: small.toml: is no .txt file: name a configuration\n");
}

#[test]
fn no_input_is_written_over() {
    let sandbox = sandbox_with(&["incast2-dctcp"]);
    let config = "cases/incast2-dctcp/config.txt";
    let before = sandbox.tree();
    let itself = "is the configuration itself";
    let named = "is a file that cases/incast2-dctcp/config.txt names";
    for (out, what) in [
        (config, itself),
        ("cases/../cases/incast2-dctcp/config.txt", itself),
        ("cases/incast2-dctcp/flow.txt", named),
        ("cases/incast2-dctcp/topology.txt", named),
    ] {
        for force in [&["--force"][..], &[]] {
            let ended = sandbox.rocelab(&[&["convert", config, "-o", out], force].concat());
            let expected = format!("error: --out = {out}: {what}; name another file\n");
            assert_eq!((ended.code, ended.stderr.as_str()), (Some(2), expected.as_str()));
        }
    }
    assert_eq!(sandbox.tree(), before);
    assert_eq!(sandbox.text(config), golden("incast2-dctcp", "config.txt"));
}

#[test]
fn an_output_that_cannot_be_is_told_by_its_name() {
    let sandbox = sandbox_with(&["incast2-dctcp"]);
    let told = |out: &str| {
        let ended = sandbox.rocelab(&["convert", "cases/incast2-dctcp/config.txt", "-o", out]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
        ended.stderr
    };
    let expected = "error: --out = new/a.toml: there is no folder new; make it first, or name a \
                    file in a folder that exists\n";
    assert_eq!(told("new/a.toml"), expected);
    let expected = "error: --out = cases: is a folder; name a file, such as cases/scenario.toml\n";
    assert_eq!(told("cases"), expected);
}

#[test]
fn two_scenarios_with_one_results_directory_are_told_before_anything_runs() {
    let sandbox = sandbox_with(&["incast2-dctcp"]);
    let config = "cases/incast2-dctcp/config.txt";
    let ended = sandbox.rocelab(&["convert", config, "-o", "cases/incast2-dctcp.toml"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let before = sandbox.tree();
    for (options, directory) in
        [(&[][..], "results/incast2-dctcp-1"), (&["--out", "all"], "all/incast2-dctcp")]
    {
        let ended = sandbox.rocelab(&[&["run", "cases", "--force"], options].concat());
        let expected = format!(
            "error: cases/incast2-dctcp.toml: its results would go to {directory}, as those of \
             cases/incast2-dctcp/config.txt do; run them one at a time, each with an --out of \
             its own\n"
        );
        assert_eq!((ended.code, ended.stderr), (Some(2), expected));
        assert_eq!(sandbox.tree(), before);
    }
}

/// A golden run of ns3-rdma, as `rdma/config.txt`.
fn ns3_rdma(sandbox: &Sandbox, case: &str) {
    for file in ["config.txt", "topology.txt", "flow.txt", "flow_tcp_0.txt", "trace.txt"] {
        let text = fs::read(repository(&format!("crates/ns3-rdma/tests/cases/{case}/{file}")));
        sandbox.write(&format!("rdma/{file}"), text.unwrap());
    }
}

/// Two flows of 80 packets to one host: PFC by the VLAN tag's priority, and neither IP nor marks.
#[test]
fn ns3_rdma_becomes_version_1() {
    let sandbox = Sandbox::new();
    ns3_rdma(&sandbox, "double");
    sandbox.write("made/.keep", "");
    let convert = ["convert", "rdma/config.txt", "--roce", "1", "-o", "made/v1.toml"];
    let ended = sandbox.rocelab(&convert);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for note in [
        "without IP and UDP",
        "in an 802.1Q tag",
        "PACKET_PAYLOAD_SIZE 1000: the nearest path MTU is 1024",
        "nothing is marked, and there are no CNPs",
        "`dcqcn` needs marks",
        "a pause ends when memory is free again",
    ] {
        assert!(ended.stderr.contains(note), "{note}: {ended:?}");
        assert!(sandbox.text("made/v1.toml").contains(note), "the scenario says it too: {note}");
    }
    let ports = "capture.ports=[\"host-2\"]";
    sandbox.succeeds(&["run", "made/v1.toml", "--out", "v1", "--set", ports]);
    let summary = sandbox.json("v1/summary.json");
    assert_eq!((&summary["roce_version"], &summary["flows"]["completed"]), (&1.into(), &2.into()));
    assert_eq!((&summary["ecn"]["marks"], &summary["cnps"]), (&0.into(), &0.into()));
    let packets = 2 * 80 * 2; // over two links each
    assert_eq!(summary["link_traversals"]["data"], packets);
    let flows = sandbox.text("v1/flows.csv");
    assert!(
        flows.contains("host-2,host-1") && flows.contains(",rdma,write,5,none,81920,80,"),
        "{flows}"
    );
    // A VLAN tag with PCP 3, the flow's class, and RoCE's EtherType.
    let capture = fs::read(sandbox.path("v1/capture.pcapng")).unwrap();
    let header = [0x81, 0x00, 0x60, 0x00, 0x89, 0x15];
    let count = capture.windows(header.len()).filter(|bytes| *bytes == header).count();
    assert!(count >= 80, "{count}");
}

#[test]
fn ns3_rdma_becomes_version_2_with_its_marks_and_reaction() {
    let sandbox = Sandbox::new();
    ns3_rdma(&sandbox, "double");
    let ended = sandbox.rocelab(&["convert", "rdma/config.txt", "--roce", "2"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for line in [
        "[congestion_control.dcqcn]",
        "g = \"1/256\"",
        "increase_timer = \"60us\"",
        "byte_counter = \"300MB\"",
        "initial_alpha = \"1/2\"",
        "kmin = \"4.12KB\"", // 4 of 1030 bytes
        "kmax = \"61.8KB\"",
        "ack_interval = 4",
        "pause_quanta = 390", // 5 us at 40 Gb/s
        "lossless = [",
    ] {
        assert!(ended.stdout.contains(line), "{line}: {}", ended.stdout);
    }
    sandbox.write("v2.toml", &ended.stdout);
    sandbox.succeeds(&["run", "v2.toml", "--out", "v2"]);
    let summary = sandbox.json("v2/summary.json");
    assert_eq!((&summary["roce_version"], &summary["flows"]["completed"]), (&2.into(), &2.into()));
    assert!(summary["ecn"]["marks"].as_u64() > Some(0), "{summary}");
}

#[test]
fn hpcc_s_files_become_both_versions() {
    let sandbox = sandbox_with(&["incast16-nocc"]);
    let config = "cases/incast16-nocc/config.txt";
    for version in ["1", "2"] {
        let file = format!("v{version}.toml");
        assert_eq!(
            sandbox.rocelab(&["convert", config, "--roce", version, "-o", &file]).code,
            Some(0)
        );
        assert!(!sandbox.text(&file).contains("profile"), "the rules are RoCE's");
        sandbox.succeeds(&["run", &file, "--out", version]);
        let summary = sandbox.json(&format!("{version}/summary.json"));
        assert_eq!(summary["roce_version"].to_string(), version);
        assert_eq!(summary["flows"]["completed"], 16);
    }
}

#[test]
fn versions_and_files_that_cannot_be_are_refused() {
    let sandbox = Sandbox::new();
    ns3_rdma(&sandbox, "double");
    let before = sandbox.tree();
    for (version, words) in [("3", "use 1 or 2"), ("0", "use 1 or 2"), ("two", "write 1 or 2")] {
        let ended = sandbox.rocelab(&["convert", "rdma/config.txt", "--roce", version]);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains(words) && ended.stderr.contains(version), "{ended:?}");
    }
    for (out, words) in [
        ("rdma/config.txt", "is the configuration itself"),
        ("rdma/topology.txt", "names; name another file"),
        ("no/folder.toml", "there is no folder no"),
        ("rdma", "is a folder"),
    ] {
        let arguments = ["convert", "rdma/config.txt", "--roce", "1", "--force", "-o", out];
        let ended = sandbox.rocelab(&arguments);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains(words), "{ended:?}");
    }
    assert_eq!(sandbox.tree(), before);
}

/// What the simulator takes and RoCE does not is told with the configuration's name, and nothing is written.
#[test]
fn a_configuration_of_which_no_scenario_can_be_made_is_refused() {
    let sandbox = Sandbox::new();
    ns3_rdma(&sandbox, "double");
    let config = sandbox.text("rdma/config.txt");
    sandbox.write("rdma/config.txt", config.replace("KMIN 4\n", "KMIN 100\n"));
    let before = sandbox.tree();
    let ended = sandbox.rocelab(&["convert", "rdma/config.txt", "--roce", "2", "-o", "v2.toml"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    for words in ["rdma/config.txt: no scenario of RoCE", "kmin 103KB is above kmax 61.8KB"] {
        assert!(ended.stderr.contains(words), "{words}: {ended:?}");
    }
    assert_eq!(sandbox.tree(), before);
    // Without `--roce` the fix is named.
    let ended = sandbox.rocelab(&["convert", "rdma/config.txt"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("`rocelab convert --roce 1`"), "{ended:?}");
}

#[test]
fn the_timely_branch_becomes_timely() {
    let sandbox = Sandbox::new();
    ns3_rdma(&sandbox, "timely");
    let ended = sandbox.rocelab(&["convert", "rdma/config.txt", "--roce", "1"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("[congestion_control.timely]"), "{}", ended.stdout);
    assert!(ended.stderr.contains("flows begin at the line rate"), "{ended:?}");
}
