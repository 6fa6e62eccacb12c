//! The commands in the comments at the top of the repository's scenarios.

use std::fs;

use crate::program::{Sandbox, repository, repository_argument};

/// The commands in the comments of a scenario, split into words; a backslash continues a line.
fn commands(scenario: &str) -> Vec<Vec<String>> {
    let comments = scenario.lines().filter_map(|line| line.strip_prefix('#')).map(str::trim);
    let mut all = Vec::new();
    let mut begun = String::new();
    for line in comments {
        if begun.is_empty() && !line.starts_with("rocelab ") {
            continue;
        }
        match line.strip_suffix('\\') {
            Some(part) => begun += part,
            None => all.push(words(&(std::mem::take(&mut begun) + line))),
        }
    }
    assert!(begun.is_empty(), "the last line of a command is missing: {begun}");
    all
}

/// Words as a shell splits them: separated by spaces, or in single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match (letter, words.last_mut()) {
            ('\'', _) => quoted = !quoted,
            (' ', _) if !quoted => words.push(String::new()),
            (letter, Some(word)) => word.push(letter),
            (_, None) => {}
        }
    }
    assert!(!quoted, "a quote has no end: {line}");
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn every_command_is_one_that_the_program_takes() {
    let sandbox = Sandbox::new();
    let mut tried = 0;
    for entry in fs::read_dir(repository("scenarios")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for command in commands(&fs::read_to_string(&path).unwrap()) {
            let shown = command.join(" ");
            let [program, verb, scenario, sets @ ..] = &command[..] else {
                panic!("{name}: {shown}: too short");
            };
            assert_eq!(program, "rocelab");
            if !["run", "check"].contains(&verb.as_str()) {
                // The command reads results that do not exist here; this must be its only error.
                let arguments: Vec<_> = command[1..].iter().map(String::as_str).collect();
                let ended = sandbox.rocelab(&arguments);
                assert!(ended.stderr.contains("there is no such file"), "{shown}: {ended:?}");
                continue;
            }
            assert_eq!(*scenario, format!("scenarios/{name}"), "{shown}");
            let scenario = repository_argument(scenario);
            let mut arguments = vec!["check", scenario.as_str()];
            arguments.extend(sets.iter().map(String::as_str));
            // A scenario runs even if something was proved wrong about it.
            let answer = sandbox.rocelab(&arguments);
            assert!(matches!(answer.code, Some(0 | 1)) && answer.stderr.is_empty(), "{answer:?}");
            let first = answer.stdout.lines().next().unwrap_or_default();
            assert!(first.ends_with(": ok") || first.contains(" fault"), "{shown}: {answer:?}");
            tried += 1;
        }
    }
    assert!(tried >= 20, "{tried} commands were found");
}

#[test]
fn a_command_ends_where_its_last_line_does() {
    let text = "# Words.\n#   rocelab run a.toml --set 'b[0].c=1 2' \\\n#     --set d=3\n# More.\n";
    let expected = ["rocelab", "run", "a.toml", "--set", "b[0].c=1 2", "--set", "d=3"];
    assert_eq!(commands(text), [expected]);
}
