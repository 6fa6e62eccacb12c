//! The crate and its dependencies work without the standard library and without an allocator.

use std::fs;
use std::path::Path;
use std::process::Command;

/// A library for a machine without an operating system. It has its own panic handler, of which
/// there can be only one, and no allocator. A dependency on the standard library would fail to
/// link.
const BARE: &str = r#"
#![no_std]

use core::fmt::Write as _;
use core::panic::PanicInfo;

use rocelab_wire::{FlowControlPacket, Frame, InfiniBandPacket};

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}

struct Length(usize);

impl core::fmt::Write for Length {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

pub fn parse(bytes: &[u8], out: &mut [u8]) -> Option<usize> {
    let frame = Frame::parse(bytes).ok()?;
    let mut length = Length(0);
    write!(length, "{frame}").ok()?;
    let emitted = frame.emit(out).ok()? + usize::from(frame.icrc_ok());
    let native = InfiniBandPacket::parse(bytes).map_or(0, |packet| packet.wire_len() + packet.broken_rules().count());
    let credits = FlowControlPacket::parse(bytes).map_or(0, |packet| usize::from(packet.fccl));
    Some(length.0 + emitted + native + credits + usize::from(json(&frame)))
}
"#;

#[test]
fn it_builds_for_a_bare_machine() {
    check("plain", "", "fn json(_: &Frame<'_>) -> bool { false }");
    let serialize = "fn json(frame: &Frame<'_>) -> bool { serialize(frame) }
fn serialize(_: &impl serde::Serialize) -> bool { true }";
    check("serde", "\"serde\"", serialize);
}

fn check(name: &str, features: &str, json: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let both = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no_std");
    let folder = both.join(name);
    fs::create_dir_all(folder.join("src")).expect("a folder");
    let manifest = format!(
        r#"
[package]
name = "bare-{name}"
edition = "2024"

[lib]
crate-type = ["staticlib"]

[workspace]

[dependencies]
rocelab-wire = {{ path = '{}', default-features = false, features = [{features}] }}
serde = {{ version = "1", default-features = false }}

[profile.dev]
panic = "abort"
debug = false
"#,
        root.display()
    );
    fs::write(folder.join("Cargo.toml"), manifest).expect("a file");
    fs::write(folder.join("src/lib.rs"), format!("{BARE}\n{json}\n")).expect("a file");
    // The versions of the workspace, which are already downloaded.
    fs::copy(root.join("../../Cargo.lock"), folder.join("Cargo.lock")).expect("the lock file");

    let output = Command::new(env!("CARGO"))
        .args(["build", "--offline", "--quiet"])
        .current_dir(&folder)
        .env("CARGO_TARGET_DIR", both.join("target"))
        .env_remove("RUSTFLAGS")
        .output()
        .expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}
