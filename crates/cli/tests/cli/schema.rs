//! `rocelab schema`.

use crate::program::Sandbox;

#[test]
fn the_schema_is_json_and_knows_every_section() {
    let answer = Sandbox::new().succeeds(&["schema"]);
    let schema: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
    assert!(schema["$schema"].as_str().is_some_and(|url| url.contains("json-schema.org")));
    let keys = schema["properties"].as_object().expect("properties");
    for key in [
        "seed",
        "stop",
        "roce",
        "topology",
        "switch",
        "congestion_control",
        "workload",
        "capture",
        "sample",
        "layer2",
    ] {
        assert!(keys.contains_key(key), "no `{key}` among {:?}", keys.keys());
    }
    for name in ["leaf-spine", "dcqcn", "timely", "incast", "poisson"] {
        assert!(answer.contains(&format!("\"{name}\"")), "no {name}");
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_closes_the_pipe_early_is_no_error() {
    use std::process::Stdio;

    let sandbox = Sandbox::with_small();
    for arguments in [&["schema"][..], &["topo", "show", "small.toml"], &["check", "small.toml"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = sandbox.program(arguments);
        let output = command.stdout(Stdio::from(writer)).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), stderr.as_ref()), (Some(0), ""), "{arguments:?}");
    }
}
