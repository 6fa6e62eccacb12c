//! A program without WebAssembly says how to build one that has it.

use crate::program::Sandbox;

#[test]
fn without_webassembly_an_error_names_the_build() {
    let sandbox = Sandbox::with_small();
    let build = "build it with `cargo build --release --features wasm`";
    let chosen = "congestion_control={ wasm = { path = \"mine.wat\" } }";
    sandbox.succeeds(&["cc", "new", "mine", "--lang", "wat"]);
    let ended = sandbox.rocelab(&["run", "small.toml", "--out", "no", "--set", chosen]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("congestion_control.wasm"), "{}", ended.stderr);
    assert!(ended.stderr.contains(build), "{}", ended.stderr);
    for command in
        [&["cc", "check", "mine/mine.wat"][..], &["cc", "replay", "mine/mine.wat", "events"]]
    {
        let ended = sandbox.rocelab(command);
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(
            ended.stderr.contains("mine.wat: ") && ended.stderr.contains(build),
            "{}",
            ended.stderr
        );
    }
}
