//! `rocelab headroom`.

use serde_json::{Value, json};

use crate::program::Sandbox;

/// The answer to `rocelab headroom --json` with these arguments.
fn answer(arguments: &[&str]) -> Value {
    let text = Sandbox::new().succeeds(&[&["headroom", "--json"], arguments].concat());
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn the_terms_are_printed_with_their_formula() {
    let arguments = ["headroom", "--rate", "100Gbps", "--cable", "300m", "--response", "0ns"];
    let text = Sandbox::new().succeeds(&arguments);
    let expected = "\
headroom of one lossless class at one port: 100Gbps, 1.5us one way, store and forward

          1106 B  the frame that crosses XOFF                  L = 1106
  +       1118 B  a frame ahead of the pause, and its gap      A + 12, A = 1106
  +         72 B  the pause and its preamble                   64 + 8
  +      37500 B  two propagation delays                       2 D R / 8, D = 1.5us
  +          1 B  the response time                            T R / 8 + 1, T = 0ps
  +       1114 B  the frame that the sender had begun          L + 8
  +      57265 B  cells                                        of 208 B, filled worst
  =      98176 B  headroom

32 ports: a class keeps 3141.632KB. Of a buffer of 12MB, with 6MB of it shared, 1 lossless class fits.
Counted in bytes, as if memory had no cells, a class keeps 1309.152KB, and 4 fit.
";
    let trimmed: Vec<_> = text.lines().map(str::trim_end).collect();
    assert_eq!(trimmed.join("\n") + "\n", expected);
}

#[test]
fn the_response_time_is_that_of_the_standard_unless_given() {
    let rate = ["--rate", "100Gbps", "--delay", "0ns"];
    let standard = answer(&rate);
    assert_eq!(standard["response_ps"], json!(394 * 5_120));
    assert_eq!(standard["headroom"]["response_bytes"], json!(394 * 64 + 1));
    let given = answer(&[&rate[..], &["--response", "80ns"]].concat());
    assert_eq!(given["headroom"]["response_bytes"], json!(1_001));
}

#[test]
fn switches_of_9_and_12_mb_are_counted_in_cells_with_the_count_in_bytes_beside_it() {
    // Published of such switches: two classes.
    for (buffer, in_cells, in_bytes) in [("9MB", 2, 5), ("12MB", 3, 7)] {
        let question = ["--rate", "40Gbps", "--cable", "300m", "--buffer", buffer];
        let cells = answer(&question);
        assert_eq!(cells["cell_bytes"], json!(208));
        let other = &cells["other_count"];
        assert_eq!(
            (&cells["classes_that_fit"], &other["cell_bytes"]),
            (&json!(in_cells), &json!(1))
        );
        assert_eq!(other["classes_that_fit"], json!(in_bytes));
        let bytes = answer(&[&question[..], &["--cell", "1B"]].concat());
        assert_eq!(bytes["classes_that_fit"], json!(in_bytes));
        assert_eq!(bytes["other_count"]["classes_that_fit"], json!(in_cells));
    }
}

#[test]
fn classes_that_do_not_fit_are_exit_code_1() {
    let sandbox = Sandbox::new();
    let two = ["headroom", "--rate", "40Gbps", "--cable", "300m", "--classes", "2"];
    sandbox.succeeds(&two);
    let ended = sandbox.rocelab(&[&two[..], &["--buffer", "4MB"]].concat());
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(ended.stderr, "2 lossless classes do not fit: 1 do\n");
}

#[test]
fn bad_values_are_exit_code_2_and_say_what_to_give() {
    let sandbox = Sandbox::new();
    for (arguments, expected) in [
        (&["--rate", "100Gbps", "--cable", "3m", "--mtu", "9"][..], "--mtu = 9: give "),
        (&["--rate", "100Gbps", "--cable", "3m", "--ports", "0"], "--ports = 0: give "),
        (&["--rate", "100Gbps", "--delay", "2s"], "--delay = 2s: give "),
        (&["--rate", "100Gbps"], "<--cable <LENGTH>|--delay <TIME>>"),
        (&["--rate", "100Gbps", "--cable", "400000km"], "--cable = 400000km: its delay is 2s"),
        (&["--rate", "100Gbps", "--cable", "3m", "--mtu", "9000"], "--mtu = 9000: give 256, 512, "),
        (
            &["--rate", "100Gbps", "--cable", "3m", "--shared", "1.5"],
            "--shared = 1.5: give the part",
        ),
        (
            &["--rate", "100Gbps", "--cable", "3m", "--largest-frame", "1105B"],
            "--largest-frame = 1.105KB: give 1.106KB, ",
        ),
        (&["--rate", "100", "--cable", "3m"], "--rate"),
        (&["--cable", "3m"], "--rate"),
        // Of a run nothing is calculated.
        (&["results", "--mtu", "4096"], "--mtu"),
        (&["results", "--cell", "1B"], "--cell"),
        (&["results", "--ports", "4"], "--ports"),
        (&["results", "--buffer", "1MB"], "--buffer"),
        (&["results", "--shared", "0.1"], "--shared"),
        (&["results", "--reserve", "1KB"], "--reserve"),
        (&["results", "--cable", "3m"], "--cable"),
        (&["results", "--delay", "3us"], "--delay"),
    ] {
        let ended = sandbox.rocelab(&[&["headroom"], arguments].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
        assert!(ended.stderr.contains(expected), "{ended:?}");
    }
}

#[test]
fn a_rate_that_is_not_listed_says_whose_response_time_it_has() {
    let text = |rate: &str| Sandbox::new().succeeds(&["headroom", "--rate", rate, "--cable", "3m"]);
    let listed = text("50Gbps");
    assert!(
        listed.contains("T = 1505.28ns\n") && listed.contains("`rocelab check` takes"),
        "{listed}"
    );
    let odd = text("56Gbps");
    assert!(odd.contains("T = 1505.28ns, that of 50Gbps\n"), "{odd}");
    let slow = text("100Mbps");
    assert!(slow.contains("T = 10.24us, the quanta of 1Gbps\n"), "{slow}");
}

/// Not "unexpected argument '-3'".
#[test]
fn negative_quantities_are_told_as_what_they_are() {
    let sandbox = Sandbox::new();
    for (option, value) in [("--delay", "-3us"), ("--response", "-1us"), ("--buffer", "-1MB")] {
        let arguments = ["headroom", "--rate", "100Gbps", "--cable", "3m", option, value];
        let ended = sandbox.rocelab(&arguments);
        assert_eq!(ended.code, Some(2));
        let told = format!("invalid value '{value}' for '{option}");
        assert!(ended.stderr.contains(&told), "{}", ended.stderr);
    }
}
