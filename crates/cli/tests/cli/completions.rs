//! `rocelab completions`, in the shells that are there.

use std::process::Command;

use crate::program::Sandbox;

#[test]
fn every_shell_has_a_script_with_all_commands() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = sandbox.succeeds(&["completions", shell]);
        for word in ["rocelab", "headroom", "decode"] {
            assert!(script.contains(word), "no {word} for {shell}");
        }
    }
    let ended = sandbox.rocelab(&["completions", "csh"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("bash"), "{ended:?}");
}

#[cfg(unix)]
#[test]
fn bash_completes_a_command_an_option_and_a_template() {
    if Command::new("bash").arg("--version").output().is_err() {
        eprintln!("note: no bash; its completion is not tried");
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("completions.bash", sandbox.succeeds(&["completions", "bash"]));
    let complete = |words: &str, expected: &str| {
        let count = words.split(' ').count() - 1;
        let script = format!(
            "source completions.bash; COMP_WORDS=({words}); COMP_CWORD={count}; \
             _rocelab rocelab \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\"; echo \"${{COMPREPLY[@]}}\""
        );
        let output = Command::new("bash")
            .args(["--norc", "-c", &script])
            .current_dir(sandbox.path(""))
            .output()
            .unwrap();
        let reply = String::from_utf8(output.stdout).unwrap();
        assert!(reply.split_whitespace().any(|one| one == expected), "{words}: {reply}");
    };
    complete("rocelab head", "headroom");
    complete("rocelab run --che", "--checkpoint-every");
    complete("rocelab new pfc", "pfc-deadlock");
}
