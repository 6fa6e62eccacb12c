//! `rocelab serve`.

#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::program::Sandbox;
use crate::report::sandbox_with_results;

fn start(sandbox: &Sandbox, arguments: &[&str]) -> Child {
    let mut command = sandbox.program(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

/// The answer to a request, whole.
fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn interrupt(child: &Child) {
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGINT).unwrap();
}

/// It tells its address, shows complete and running runs, and Ctrl-C ends it, also while a browser holds
/// a connection.
#[test]
fn a_folder_is_served_until_ctrl_c() {
    let sandbox = sandbox_with_results();
    let before = sandbox.tree();
    let mut server = start(&sandbox, &["serve", ".", "--port", "0"]);
    let mut told = BufReader::new(server.stdout.take().unwrap());
    let mut line = String::new();
    told.read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix(".: http://").and_then(|rest| rest.strip_suffix('/'));
    let address = address.unwrap_or_else(|| panic!("{line}")).to_owned();
    assert!(get(&address, "/").contains("href=\"/run/results\""));
    assert!(get(&address, "/run/results").contains("<h1>small</h1>"));
    assert_eq!(sandbox.tree(), before, "nothing is written");

    // A run that takes a while says once a second how far it is.
    let long = ["--set", "workload.incast.bytes=1GB", "--quiet", "--out", "long"];
    let mut run = start(&sandbox, &[&["run", "small.toml"][..], &long].concat());
    let state = || get(&address, "/state.json");
    let has_progress =
        |state: &String| state.contains("\"name\":\"long\",\"state\":\"running\",\"percent\":\"");
    let waited = (0..300).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        has_progress(&state())
    });
    assert!(waited, "{}", state());
    interrupt(&run);
    run.wait().unwrap();
    // Complete results do not have it.
    assert!(!sandbox.tree().iter().any(|name| name.contains("progress")), "{:?}", sandbox.tree());
    assert!(get(&address, "/").contains("href=\"/run/long\""), "an interrupted run has results");

    let held = TcpStream::connect(&address).unwrap();
    interrupt(&server);
    let ended = server.wait().unwrap();
    drop(held);
    assert_eq!(ended.code(), Some(0));
    let mut complaints = String::new();
    server.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
    assert_eq!(complaints, "");
}

#[test]
fn what_cannot_be_served_is_told() {
    let sandbox = sandbox_with_results();
    let ended = sandbox.rocelab(&["serve", "absent"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    assert!(ended.stderr.contains("absent: ") && ended.stderr.contains("name a folder"));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ended = sandbox.rocelab(&["serve", ".", "--port", &port]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    assert!(ended.stderr.contains(&format!("--port {port}: ")), "{ended:?}");
}
