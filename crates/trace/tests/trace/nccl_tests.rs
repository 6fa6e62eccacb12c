//! Tables of nccl-tests.

use std::path::Path;

use rocelab_trace::CollectiveKind;
use rocelab_trace::nccl_tests::{Measured, Row, Table, parse, to_json};

use crate::shared::{folder, json};

#[test]
fn tables_are_those_of_nccl_tests() {
    let Some(folder) = folder("nccl-tests") else { return };
    let cases = [
        ("all_reduce_8", CollectiveKind::AllReduce, "sum"),
        ("all_gather_8", CollectiveKind::AllGather, "none"),
        ("alltoall_8", CollectiveKind::AllToAll, "none"),
    ];
    for (name, kind, reduction) in cases {
        let text = std::fs::read_to_string(folder.join(format!("{name}.txt"))).unwrap();
        let recorded = json(&folder.join(format!("{name}.expected.json")));
        let title = text.lines().next().unwrap().trim_start_matches("# ");
        let rows = recorded["rows"].as_array().unwrap().iter().map(|row| {
            let bytes = row["bytes"].as_u64().unwrap();
            let measured = Measured::new(kind, 8, bytes, row["time_us"].as_f64().unwrap());
            let busbw = row["busbw_GBps"].as_f64().unwrap();
            assert!((measured.busbw - busbw).abs() < 1e-6, "{} {busbw}", measured.busbw);
            let measured = Measured { wrong: Some(0), ..measured };
            Row {
                bytes,
                count: bytes / 4,
                element: "float".to_owned(),
                reduction: reduction.to_owned(),
                root: -1,
                out_of_place: measured,
                in_place: measured,
            }
        });
        let table = Table::new(title, rows.collect());
        assert_eq!(table.to_string(), text, "{name}");
        // What is read is printed again as it was.
        let read = parse(&text, Path::new(name)).unwrap();
        assert_eq!(read.to_string(), text, "{name}");
        assert_eq!(to_json(&read)["results"].as_array().unwrap().len(), 6);
    }
}

#[test]
fn unchecked_rows_say_so_and_mistakes_have_a_place() {
    let measured = Measured::new(CollectiveKind::AllReduce, 4, 1_000, 2.0);
    assert!((measured.algbw - 0.5).abs() < 1e-12 && (measured.busbw - 0.75).abs() < 1e-12);
    let row = Row {
        bytes: 1_000,
        count: 250,
        element: "float".to_owned(),
        reduction: "sum".to_owned(),
        root: -1,
        out_of_place: measured,
        in_place: measured,
    };
    let text = Table::new("own", vec![row]).to_string();
    let expected = "        1000           250     float     sum      -1     2.00    0.50    0.75     N/A     2.00    0.50    0.75     N/A";
    assert!(text.lines().any(|line| line == expected), "{text}");
    assert_eq!(parse(&text, Path::new("t")).unwrap().to_string(), text);
    // As many wrong elements as can be written are no overflow.
    let most = u64::MAX;
    let row = format!("8 2 float sum -1 1 1 1 {most} 1 1 1 {most}");
    let printed = parse(&row, Path::new("t")).unwrap().to_string();
    assert!(printed.contains(&format!("values : {most} FAILED")), "{printed}");
    for (text, words) in [
        ("8 2 float", "t:1:1: the row has 3 columns, and not 13"),
        ("8 2 float sum -1 1 1 1 x 1 1 1 0", "t:1:24: x: is not a number of wrong elements"),
    ] {
        let error = parse(text, Path::new("t")).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}
