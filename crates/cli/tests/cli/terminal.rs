//! What is shown on a terminal only, not in a pipe.

use std::fs::File;
use std::io::Read;
use std::process::Stdio;

use nix::pty::{Winsize, openpty};

use crate::program::Sandbox;

/// A terminal needs a width, otherwise there is no room for a bar.
const SIZE: Winsize = Winsize { ws_row: 30, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };

/// Runs the program with a terminal as its standard error. Returns what was shown, and the exit
/// code.
fn on_a_terminal(sandbox: &Sandbox, arguments: &[&str], no_color: bool) -> (String, Option<i32>) {
    let terminal = openpty(&SIZE, None).expect("a pseudo-terminal");
    let mut command = sandbox.program(arguments);
    command.env("TERM", "xterm-256color").env_remove("CI").env_remove("NO_COLOR");
    if no_color {
        command.env("NO_COLOR", "1");
    }
    command.stdout(Stdio::null()).stdin(Stdio::null()).stderr(Stdio::from(terminal.slave));
    let mut child = command.spawn().expect("the program starts");
    // The command holds a copy of the terminal's other end; without this drop, reading would never
    // end.
    drop(command);
    let reading = std::thread::spawn(move || {
        let mut shown = Vec::new();
        // On Linux, reading ends with an error when the other end is closed.
        let _ = File::from(terminal.master).read_to_end(&mut shown);
        String::from_utf8_lossy(&shown).into_owned()
    });
    let code = child.wait().unwrap().code();
    (reading.join().unwrap(), code)
}

/// Whether there is a sequence that sets a colour.
fn coloured(shown: &str) -> bool {
    shown.split("\x1b[").skip(1).any(|rest| {
        rest.find(|c: char| c.is_ascii_alphabetic()).is_some_and(|end| {
            rest[end..].starts_with('m') && rest[..end].split(';').any(|code| code.starts_with('3'))
        })
    })
}

/// Long enough for the bar to be drawn.
const LONG: &[&str] = &["--set", "workload.incast.bytes=1TB", "--set", "stop=30ms"];

#[test]
fn a_bar_is_shown_on_a_terminal_only() {
    let sandbox = Sandbox::with_small();
    let run = |out| [&["run", "small.toml", "--out", out][..], LONG].concat();
    let (shown, code) = on_a_terminal(&sandbox, &run("terminal"), false);
    assert_eq!(code, Some(0), "{shown}");
    for part in ["0/3 flows", "packets/s", "left"] {
        assert!(shown.contains(part), "no {part} in {shown:?}");
    }
    // Simulated time, in units that people read.
    assert!(shown.contains(" us of 30 ms  ") || shown.contains(" ms of 30 ms  "), "{shown:?}");
    assert!(!coloured(&shown), "{shown:?}");
    // The same run with a pipe: `succeeds` asserts that standard error stays empty.
    sandbox.succeeds(&run("pipe"));
    let quiet = [&run("quiet")[..], &["--quiet"]].concat();
    assert_eq!(on_a_terminal(&sandbox, &quiet, false), (String::new(), Some(0)));
}

#[test]
fn errors_are_coloured_on_a_terminal_unless_no_color_is_set() {
    let sandbox = Sandbox::with_small();
    let arguments = ["check", "small.toml", "--set", "roce.version=3"];
    let (shown, code) = on_a_terminal(&sandbox, &arguments, false);
    assert_eq!(code, Some(2));
    assert!(coloured(&shown), "{shown:?}");
    let (plain, code) = on_a_terminal(&sandbox, &arguments, true);
    assert_eq!(code, Some(2));
    assert!(!coloured(&plain), "{plain:?}");
    assert!(plain.contains("RoCE version 3 does not exist"), "{plain:?}");
    let piped = sandbox.rocelab(&arguments);
    assert!(!piped.stderr.contains('\x1b'), "{piped:?}");
}
