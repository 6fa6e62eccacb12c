//! GOAL, text and binary, and the LogGOPS model.

use std::path::Path;

use rocelab_trace::{Options, goal, loggops};

use crate::shared::{files, folder, name};

#[test]
fn text_and_binary_are_the_same() {
    let Some(folder) = folder("goal") else { return };
    let texts = files(&folder, ".goal");
    for path in &texts {
        let text = goal::read(path).unwrap();
        let expected = std::fs::read(path.with_extension("bin")).unwrap();
        assert!(text.to_binary().unwrap() == expected, "{}", path.display());
        let binary = goal::parse(&expected, path).unwrap();
        assert!(binary.to_binary().unwrap() == expected, "{}", path.display());
        // The text of either is read again as the same binary.
        for goal in [text, binary] {
            let again = goal::parse(goal.to_text().as_bytes(), path).unwrap();
            assert!(
                again.to_binary().unwrap() == expected,
                "{}\n{}",
                path.display(),
                goal.to_text()
            );
        }
    }
    assert_eq!(texts.len(), 8);
}

#[test]
fn a_trace_becomes_the_same_schedules() {
    let Some(folder) = folder("goal") else { return };
    for path in files(&folder, ".goal") {
        let first = goal::read(&path).unwrap();
        let trace = goal::to_trace(&first, &Options::default()).unwrap();
        let again = goal::from_trace(&trace, &path).unwrap();
        assert!(again.to_binary().unwrap() == first.to_binary().unwrap(), "{}", path.display());
    }
}

#[test]
fn times_are_those_of_loggopsim() {
    let Some(folder) = folder("goal") else { return };
    let mut rows = csv::Reader::from_path(folder.join("loggopsim-results.csv")).unwrap();
    let mut compared = 0;
    for row in rows.records().map(|row| row.unwrap()) {
        let number = |column: usize| row[column].parse::<u64>().unwrap();
        let parameters = loggops::Parameters {
            latency: number(1),
            overhead: number(2),
            gap: number(3),
            gap_per_byte: number(4),
            overhead_per_byte: number(5),
            eager: number(6),
        };
        let goal = goal::read(&folder.join(&row[0])).unwrap();
        let trace = goal::to_trace(&goal, &Options::default()).unwrap();
        let ends = loggops::run(&trace, &parameters).unwrap();
        let host = usize::try_from(number(7)).unwrap();
        assert_eq!(ends[host], number(8), "{row:?}");
        compared += 1;
    }
    assert_eq!(compared, 111);
    println!("{compared} finish times of {} compared", name(&folder));
}

/// The closed form of a ring: each of 2(n-1) steps takes 2o + L + (s-1)G.
#[test]
fn a_ring_takes_its_closed_form() {
    let parameters = loggops::Parameters::default();
    for (ranks, block) in [(2_u64, 8), (3, 1000), (5, 65_535)] {
        let mut text = format!("num_ranks {ranks}\n");
        for rank in 0..ranks {
            text += &format!("rank {rank} {{\n");
            for step in 0..2 * (ranks - 1) {
                let (next, last) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
                text += &format!("s{step}: send {block}b to {next} tag {step}\n");
                text += &format!("r{step}: recv {block}b from {last} tag {step}\n");
                if step > 0 {
                    text += &format!("s{step} requires r{}\n", step - 1);
                }
            }
            text += "}\n";
        }
        let goal = goal::parse(text.as_bytes(), Path::new("ring.goal")).unwrap();
        let trace = goal::to_trace(&goal, &Options::default()).unwrap();
        let ends = loggops::run(&trace, &parameters).unwrap();
        let step = 2 * 1500 + 2500 + (block - 1) * 6;
        assert!(ends.iter().all(|end| *end == 2 * (ranks - 1) * step), "{ranks} {block}: {ends:?}");
    }
}

#[test]
fn mistakes_have_line_and_column() {
    let cases = [
        ("", "t.goal: the file ends where num_ranks should be"),
        ("ranks 2", "t.goal:1:1: ranks: is not num_ranks"),
        ("num_ranks x", "t.goal:1:11: x: is not the number of ranks"),
        ("num_ranks 1\nrank 1 {\n}", "t.goal:2:6: 1: comes where rank 0 should"),
        ("num_ranks 2\nrank 0 {\n}", "t.goal: has 1 of the 2 ranks"),
        (
            "num_ranks 1\nrank 0 {\na: calc 1\na: calc 2\n}",
            "t.goal:4:1: a:: labels no statement, or a second one",
        ),
        ("num_ranks 1\nrank 0 {\na: send 8 to 0\n}", "t.goal:3:9: 8: has no b behind it"),
        (
            "num_ranks 1\nrank 0 {\na: send 8b to 1\n}",
            "t.goal:3:4: send: rank 1 is not among the 1 ranks",
        ),
        ("num_ranks 1\nrank 0 {\na: send 8b to -1\n}", "t.goal:3:15: -1: is not a rank"),
        (
            "num_ranks 1\nrank 0 {\na: calc 1 cpu 256\n}",
            "t.goal:3:15: 256: is not the number of a processor",
        ),
        ("num_ranks 1\nrank 0 {\na: calc 1\nb requires a\n}", "t.goal:4:1: b: labels no statement"),
        (
            "num_ranks 1\nrank 0 {\na: calc 1\na needs a\n}",
            "t.goal:4:3: needs: is no part of a statement",
        ),
        ("num_ranks 1\nrank 0 {\na: calc 1 /* }\n", "t.goal: the file ends where } should be"),
        ("num_ranks 4294967295\n", "is too many ranks"),
    ];
    for (text, words) in cases {
        let error = goal::parse(text.as_bytes(), Path::new("t.goal")).expect_err(text).to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_cycle_names_its_nodes() {
    let text = "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\nc: calc 1\na requires c\nb irequires a\nc requires b\n}";
    let goal = goal::parse(text.as_bytes(), Path::new("t.goal")).unwrap();
    let error = goal::to_trace(&goal, &Options::default()).unwrap_err().to_string();
    let words = "node 0 `a` waits for node 2 `c` waits for node 1 `b` waits for node 0 `a`";
    assert!(error.contains(words), "{error}");
}

#[test]
fn a_binary_file_that_is_cut_or_changed_is_refused() {
    let text = "num_ranks 2\nrank 0 {\na: calc 5\nb: send 8b to 1 tag 3\nb requires a\n}\nrank 1 {\na: recv 8b from -1 tag -1\n}";
    let goal = goal::parse(text.as_bytes(), Path::new("t.goal")).unwrap();
    let binary = goal.to_binary().unwrap();
    let path = Path::new("t.bin");
    assert_eq!(goal::parse(&binary, path).unwrap().to_binary().unwrap(), binary);
    for len in 8..binary.len() {
        assert!(goal::parse(&binary[..len], path).is_err(), "{len}");
    }
    // Whatever byte is changed, the result is refused or can be written again.
    for place in 0..binary.len() {
        for value in [0, 1, 2, 0x7f, 0xff] {
            let mut changed = binary.clone();
            changed[place] = value;
            if let Ok(goal) = goal::parse(&changed, path) {
                goal.to_binary().unwrap();
            }
        }
    }
    let unfinished = [&2342_u64.to_le_bytes()[..], &binary[8..]].concat();
    let error = goal::parse(&unfinished, path).unwrap_err().to_string();
    assert!(error.contains("did not finish"), "{error}");
}

#[test]
fn what_never_ends_is_told() {
    let text =
        "num_ranks 2\nrank 0 {\na: send 8b to 1 tag 3\n}\nrank 1 {\na: recv 8b from 0 tag 4\n}";
    let goal = goal::parse(text.as_bytes(), Path::new("t.goal")).unwrap();
    let trace = goal::to_trace(&goal, &Options::default()).unwrap();
    let error = loggops::run(&trace, &loggops::Parameters::default()).unwrap_err().to_string();
    assert!(error.contains("rank 1: node 0 `a` waits for a message from 0 with tag 4"), "{error}");
    assert!(
        error.contains("rank 0: node 0 `a` was received by nobody on rank 1 (tag 3)"),
        "{error}"
    );
}

#[test]
fn a_small_binary_file_has_no_large_schedules() {
    // Two ranks in one section, and a node whose list is the array of another one.
    let text =
        "num_ranks 2\nrank 0 {\na: calc 5\nb: calc 5\nb requires a\n}\nrank 1 {\nc: calc 1\n}";
    let goal = goal::parse(text.as_bytes(), Path::new("t.goal")).unwrap();
    let binary = goal.to_binary().unwrap();
    let mut shared = binary.clone();
    shared.copy_within(14..30, 30);
    let error = goal::parse(&shared, Path::new("t.bin")).unwrap_err().to_string();
    assert!(error.contains("rank 1 is at 38 to"), "{error}");
    // The second node of rank 0: its list has one entry, that of the first one.
    let mut twice = binary;
    let node = 14 + 32 + 12 + 39;
    twice[node + 23] = 1;
    twice[node + 27] = 0;
    let error = goal::parse(&twice, Path::new("t.bin")).unwrap_err().to_string();
    assert!(error.contains("the nodes that wait for this one are not in the section"), "{error}");
}

#[test]
fn what_a_calculation_of_a_binary_file_says_of_peer_and_tag_means_nothing() {
    let path = Path::new("t.goal");
    let goal = goal::parse(b"num_ranks 1\nrank 0 {\nl1: calc 5\n}", path).unwrap();
    let mut binary = goal.to_binary().unwrap();
    // The node is behind the header, one rank's offsets, two counts and one root.
    let node = 14 + 16 + 8 + 4;
    (binary[node + 5], binary[node + 17]) = (7, 9);
    assert_eq!(goal::parse(&binary, path).unwrap(), goal);
}
