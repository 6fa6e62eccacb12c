//! `rocelab sm`.

use crate::program::{Sandbox, repository};

/// A run of OpenSM that is kept beside the crate's own tests.
fn run(file: &str) -> String {
    let path = repository("crates/subnet/tests/subnet/runs").join(file);
    std::fs::read_to_string(path).expect("a run of OpenSM")
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("net", run("ring4/net"));
    sandbox
}

#[test]
fn the_files_are_those_of_opensm() {
    let sandbox = Sandbox::new();
    for (topology, folder, options) in [
        ("ring4", "minhop", "--engine minhop"),
        ("ring4", "updn", "--engine updn"),
        ("ring4", "updn_root0", "--engine updn --roots roots"),
        ("ring4", "dfsssp", "--engine dfsssp"),
        ("ring4", "lash", "--engine lash"),
        ("two_switch", "minhop_lmc2", "--engine minhop --lmc 2"),
        ("ftree2_4x2x4_2cables", "ftree", "--engine ftree"),
    ] {
        sandbox.write("net", run(&format!("{topology}/net")));
        sandbox.write("roots", "0x200000\n");
        let mut arguments = vec!["sm", "net", "--out", "tables", "--force"];
        arguments.extend(options.split(' '));
        sandbox.succeeds(&arguments);
        for file in ["opensm-lfts.dump", "guid2lid"] {
            let expected = run(&format!("{topology}/{folder}/{file}"));
            assert!(
                sandbox.text(&format!("tables/{file}")) == expected,
                "{topology} {folder} {file}"
            );
        }
        assert_eq!(sandbox.files("tables").len(), 3);
    }
}

#[test]
fn the_answer_names_the_engine_that_was_used_and_credit_loops() {
    let sandbox = sandbox();
    let answer = sandbox.succeeds(&["sm", "net", "--engine", "ftree", "--out", "tables"]);
    let expected = "\
ftree refused the subnet: there are 1 levels of switches, and a fat tree has 2 to 8
minhop tables configured
subnet: 4 switches, 4 ports of channel adapters, 0 of routers; LIDs up to 8
data lanes used: 1
credit loop on lane 0: R0[1] -> R3[1] -> R2[1] -> R1[1] -> R0[1]
tables: tables
";
    assert_eq!(answer, expected);
    let answer = sandbox.succeeds(&["sm", "net", "--engine", "lash", "--out", "lash"]);
    assert!(answer.contains("lash tables configured\n"), "{answer}");
    assert!(answer.contains("data lanes used: 2\ncredit loops: none\n"), "{answer}");
    let levels = sandbox.text("lash/sl.txt");
    assert_eq!(levels.lines().count(), 12);
    assert!(levels.starts_with("2 5 ") && levels.contains(" 1\n"), "{levels}");
}

#[test]
fn tables_go_through_the_engine_file() {
    let sandbox = sandbox();
    sandbox.succeeds(&["sm", "net", "--engine", "updn", "--out", "one"]);
    let lfts = "one/opensm-lfts.dump";
    sandbox.succeeds(&["sm", "net", "--engine", "file", "--lfts", lfts, "--out", "two"]);
    assert_eq!(sandbox.files("one"), sandbox.files("two"));
}

#[test]
fn bad_input_is_named_and_nothing_is_written() {
    let sandbox = sandbox();
    sandbox.write("other", "Switch 8 \"S\"\n[1] \"B\"[1]\n");
    sandbox.write("scenario.toml", "[topology]\n");
    sandbox.write("roots", "0x7\n");
    sandbox.write("alone", "Hca 1 \"H\"\nSwitch 8 \"S\"\n");
    sandbox.write("mine/letter.txt", "mine");
    let before = sandbox.tree();
    for (arguments, expected) in [
        ("absent --engine minhop --out t", "NET = absent: "),
        ("other --engine minhop --out t", "other:2: B: is no node of this file; add its section"),
        ("scenario.toml --engine minhop --out t", "scenario.toml:1:1: topology: exactly one name"),
        ("net --engine minhop --lanes 2 --out t", "--lanes = 2: minhop does not read it"),
        ("alone --engine minhop --out t", "alone: H, which runs the subnet manager, has no cable"),
        ("net --engine updn --roots roots --out t", "roots:1: 0x7: is the GUID of no switch"),
        ("net --engine minhop --roots roots --out t", "--roots = roots: minhop does not read it"),
        ("net --engine minhop --lfts net --out t", "--lfts = net: minhop does not read it"),
        ("net --engine minhop --manager X --out t", "--manager = X: net has no such node"),
        ("net --engine minhop --out mine", "--out = mine: exists; replace it with --force"),
        ("net --engine minhop --out mine --force", "--out = mine: has other files than tables"),
        ("net --engine minhop --out net --force", "--out = net: is no folder; name another one"),
        ("net --out t", "--engine is missing, and net says none"),
        ("net --engine nue --out t", "invalid value 'nue'"),
        ("net --engine minhop --lmc 8 --out t", "invalid value '8'"),
    ] {
        let words: Vec<&str> = std::iter::once("sm").chain(arguments.split(' ')).collect();
        let ended = sandbox.rocelab(&words);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{arguments}: {ended:?}");
        assert!(ended.stderr.contains(expected), "{arguments}: {}", ended.stderr);
        assert_eq!(sandbox.tree(), before, "{arguments}");
    }
}

/// Tables are written beside their folder first: what is there already is somebody's.
#[test]
fn nothing_is_removed_that_is_not_of_tables() {
    let sandbox = sandbox();
    sandbox.write(".t.partial/net", run("ring4/net"));
    let before = sandbox.tree();
    let ended = sandbox.rocelab(&["sm", ".t.partial/net", "--engine", "minhop", "--out", "t"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains(".t.partial is in the way"), "{}", ended.stderr);
    assert_eq!(sandbox.tree(), before);
    // What an interrupted command left is only tables.
    sandbox.write(".u.partial/guid2lid", "half");
    sandbox.succeeds(&["sm", "net", "--engine", "minhop", "--out", "u"]);
    sandbox.succeeds(&["sm", "net", "--engine", "updn", "--out", "u", "--force"]);
    assert_eq!(sandbox.files("u").len(), 3);
    assert!(!sandbox.tree().iter().any(|name| name.contains(".u.")), "{:?}", sandbox.tree());
}

/// Up/down does not join two roots.
#[test]
fn pairs_without_a_path_are_told() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "net",
        "Switch 8 \"A\"\n[1] \"HA\"[1]\n[2] \"L\"[1]\nSwitch 8 \"B\"\n[1] \"HB\"[1]\n[2] \"L\"[2]\nSwitch 8 \
         \"L\"\n[3] \"HL\"[1]\nHca 1 \"HA\"\nHca 1 \"HB\"\nHca 1 \"HL\"\n",
    );
    sandbox.write("roots", "0x200000\n0x200001\n");
    let arguments = ["sm", "net", "--engine", "updn", "--roots", "roots", "--out", "t"];
    let answer = sandbox.succeeds(&arguments);
    assert!(
        answer.contains("paths: 2 of 6 pairs of channel adapters have none, such as HA -> HB"),
        "{answer}"
    );
}

#[test]
fn the_manager_is_where_the_user_wants_it() {
    let sandbox = sandbox();
    let arguments = ["sm", "net", "--engine", "minhop", "--manager", "H2_0", "--out", "tables"];
    sandbox.succeeds(&arguments);
    assert!(sandbox.text("tables/guid2lid").contains("0x0000000000100005 0x0001 0x0001"));
    let ended = sandbox.rocelab(&[
        "sm",
        "net",
        "--engine",
        "minhop",
        "--manager",
        "0x200001",
        "--out",
        "t",
    ]);
    assert_eq!(ended.code, Some(0));
    assert!(sandbox.text("t/guid2lid").contains("0x0000000000200001 0x0001 0x0001"));
}
