//! Chakra execution traces.

use std::io::Write as _;
use std::path::Path;

use rocelab_trace::{CollectiveKind, Operation, Options, Place, Trace, TraceError, chakra};

use crate::own::{Attr, Field, Message, et, node};
use crate::shared::{files, folder, json, name};

/// Reads and converts the files of all ranks with a prefix.
pub(crate) fn load(folder: &Path, prefix: &str) -> Result<Trace, TraceError> {
    let all = files(folder, ".et");
    let all = all
        .iter()
        .filter(|path| name(path).strip_prefix(prefix).is_some_and(|rest| rest.starts_with('.')));
    let all: Vec<_> = all.map(|path| chakra::read(path)).collect::<Result<_, _>>()?;
    let groups = folder.join(format!("{prefix}.comm_group.json"));
    let groups = match groups.is_file() {
        true => chakra::read_groups(&groups)?,
        false => chakra::Groups::default(),
    };
    chakra::convert(&all, &groups, &Options::default())
}

#[test]
fn files_are_decoded_as_by_others() {
    let Some(folder) = folder("chakra") else { return };
    let mut compared = 0;
    for path in files(&folder, ".et") {
        let expected = path.with_extension("json");
        // Of what cannot be decoded there is no JSON, and a duplicate id is refused.
        if !expected.is_file() || name(&path).starts_with("bad_duplicate") {
            continue;
        }
        let file = chakra::read(&path).unwrap();
        let (found, expected) = (file.to_json(), json(&expected));
        assert_eq!(found, expected, "{}", path.display());
        compared += 1;
    }
    println!("{compared} files compared");
    assert!(compared >= 20, "{compared}");
}

#[test]
fn bad_files_are_refused_with_file_and_place() {
    let Some(folder) = folder("chakra") else { return };
    let expected = [
        ("bad_cycle", "bad_cycle.0.et: node 0 `a`: nodes wait for each other"),
        (
            "bad_duplicate_id",
            "bad_duplicate_id.0.et: byte 32: node 0 `b`: its id is that of the node at byte 8 too",
        ),
        (
            "bad_missing_parent",
            "bad_missing_parent.0.et: byte 8: node 0 `a`: it waits for the data of node 99",
        ),
        ("bad_truncated", "bad_truncated.0.et: byte 8: a message of"),
        ("bad_varint", "bad_varint.0.et: byte 8: the length of a message has more than 5 bytes"),
    ];
    for (prefix, words) in expected {
        let error = load(&folder, prefix).expect_err(prefix).to_string();
        assert!(error.contains(words), "{error}");
        assert!(error.starts_with(folder.to_str().unwrap()), "{error}");
    }
    load(&folder, "bad_unmatched").unwrap();
}

#[test]
fn groups_are_those_of_the_file_and_all_gathers_have_their_total() {
    let Some(folder) = folder("chakra") else { return };
    let trace = load(&folder, "groups4").unwrap();
    assert_eq!(trace.groups.len(), 5);
    let of = |rank: usize, node: usize| trace.ranks()[rank].nodes()[node].operation;
    let Operation::Collective { kind, group, bytes } = of(2, 1) else { panic!("{:?}", of(2, 1)) };
    assert_eq!((kind, bytes), (CollectiveKind::AllGather, 2 * 2_097_152));
    assert_eq!(trace.groups[group as usize].ranks, [2, 3]);
    let Operation::Collective { kind, group, bytes } = of(1, 4) else { panic!("{:?}", of(1, 4)) };
    assert_eq!((kind, bytes), (CollectiveKind::AllReduce, 8_388_608));
    assert_eq!(trace.groups[group as usize].ranks, [1, 3]);
}

fn read(bytes: &[u8]) -> Result<chakra::File, TraceError> {
    chakra::read_from(bytes, Path::new("trace.3.et"), 3)
}

fn convert(bytes: &[u8]) -> Result<Trace, TraceError> {
    let file = chakra::read_from(bytes, Path::new("trace.0.et"), 0)?;
    chakra::convert(&[file], &chakra::Groups::default(), &Options::default())
}

#[test]
fn all_prefixes_of_a_file_are_read_or_refused() {
    let parents = [Field::Packed(5, vec![1])];
    let bytes = et(&[node(1, "one", 4, &[], &[]), node(2, "two", 4, &parents, &[])]);
    let whole = read(&bytes).unwrap();
    let mut read_well = 0;
    for len in 0..bytes.len() {
        if let Ok(file) = read(&bytes[..len]) {
            assert!(file.len() < whole.len());
            read_well += 1;
        }
    }
    // Only where a message ends: behind the metadata, and behind the first node.
    assert_eq!(read_well, 2);
}

#[test]
fn a_length_of_2_gib_takes_no_memory() {
    // A length of 2^31, and of 64 MiB, with nothing behind them.
    for (length, words) in [
        (vec![0x80, 0x80, 0x80, 0x80, 0x08], "is longer than 67108864 bytes"),
        (vec![0x80, 0x80, 0x80, 0x20], "ends with the file after 0 bytes"),
    ] {
        let mut bytes = et(&[]);
        bytes.extend(length);
        let error = read(&bytes).unwrap_err();
        assert!(error.message().contains(words), "{error}");
        assert_eq!(error.place(), Place::Byte(1));
    }
    // A length of 2^31 of a string inside a node, and of a packed list.
    for key in [0x12, 0x2a] {
        let mut bytes = et(&[]);
        bytes.extend([6, key, 0x80, 0x80, 0x80, 0x80, 0x08]);
        let error = read(&bytes).unwrap_err();
        assert!(error.message().contains("message 1 is no protobuf message"), "{error}");
    }
}

#[test]
fn attributes_of_any_integer_kind_and_unknown_fields_are_read() {
    for number in [7, 9, 11, 13, 15, 17, 19, 21, 23, 25] {
        let attrs =
            [("comm_type", Attr::Integer(number, 0)), ("comm_size", Attr::Integer(number, 1024))];
        // An unknown field of each wire type, and a group with a field in it.
        let unknown = [
            Field::Varint(99, 7),
            Field::Raw(vec![0xa1, 0x06, 1, 2, 3, 4, 5, 6, 7, 8]),
            Field::Raw(vec![0xaa, 0x06, 2, 9, 9]),
            Field::Raw(vec![0xad, 0x06, 1, 2, 3, 4]),
            Field::Raw(vec![0xb3, 0x06, 0x08, 0x01, 0xb4, 0x06]),
        ];
        let trace = convert(&et(&[node(5, "sum", 7, &unknown, &attrs)])).unwrap();
        let operation = trace.ranks()[0].nodes()[0].operation;
        let expected =
            Operation::Collective { kind: CollectiveKind::AllReduce, group: 0, bytes: 1024 };
        assert_eq!(operation, expected, "field {number}");
    }
}

#[test]
fn dependencies_are_read_packed_and_unpacked_and_dangling_control_dependencies_are_counted() {
    let packed = [Field::Packed(5, vec![1, 2]), Field::Packed(4, vec![77, 1])];
    let unpacked =
        [Field::Varint(5, 1), Field::Varint(5, 2), Field::Varint(4, 77), Field::Varint(4, 1)];
    let bytes = |fields: &[Field]| {
        let nodes =
            [node(1, "a", 4, &[], &[]), node(2, "b", 4, &[], &[]), node(3, "c", 4, fields, &[])];
        et(&nodes)
    };
    let [one, other] = [&packed[..], &unpacked[..]].map(|fields| convert(&bytes(fields)).unwrap());
    assert_eq!(one, other);
    let graph = &one.ranks()[0];
    assert_eq!((graph.parents(), graph.dangling()), (&[0, 0, 2][..], 1));
}

#[test]
fn the_last_value_of_an_attribute_counts() {
    // Two values in one attribute: an int64 and, behind it, a bool.
    let attr = Message::new().text(1, "is_cpu_op").varint(9, 0).varint(27, 1).bytes();
    let bytes = et(&[node(1, "a", 4, &[Field::Bytes(10, attr)], &[])]);
    let trace = convert(&bytes).unwrap();
    assert_eq!(trace.ranks()[0].nodes()[0].engine, rocelab_trace::Engine::Cpu(0));
}

#[test]
fn a_compressed_file_is_the_same() {
    let bytes = et(&[node(1, "one", 4, &[], &[])]);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(&bytes).unwrap();
    let packed = packed.finish().unwrap();
    assert_eq!(read(&packed).unwrap(), read(&bytes).unwrap());
    let error = read(&packed[..packed.len() - 9]).unwrap_err();
    assert!(error.help().contains("again"), "{error}");
}

#[test]
fn what_is_not_understood_is_an_error_with_the_node() {
    let size = ("comm_size", Attr::Integer(9, 8));
    let cases = [
        (node(17, "x", 0, &[], &[]), "byte 1: node 17 `x`: its type 0 is unknown"),
        (node(17, "x", 9, &[], &[]), "node 17 `x`: its type 9 is unknown"),
        (node(17, "x", 2, &[], &[]), "no duration says how long it takes"),
        (
            node(17, "x", 7, &[], &[("comm_type", Attr::Integer(9, 3)), size]),
            "comm_type = 3 (GATHER)",
        ),
        (
            node(17, "x", 7, &[], &[("comm_type", Attr::Integer(9, 0))]),
            "it has no attribute comm_size",
        ),
        (
            node(17, "x", 5, &[], &[size, ("comm_dst", Attr::Integer(7, 4))]),
            "comm_dst = 4 is not among the 1 ranks",
        ),
        (
            node(17, "x", 5, &[], &[size, ("comm_dst", Attr::Integer(7, u64::MAX))]),
            "comm_dst = -1 is not from 0",
        ),
        (
            node(17, "x", 7, &[], &[("comm_type", Attr::Text("all")), size]),
            "comm_type is a string_val, and no integer",
        ),
        (
            node(
                17,
                "x",
                7,
                &[],
                &[("comm_type", Attr::Integer(9, 0)), size, ("pg_name", Attr::Text("5"))],
            ),
            "pg_name = \"5\" is no group that is described",
        ),
        (
            node(17, "x", 4, &[Field::Varint(7, u64::MAX)], &[]),
            "duration_micros = 18446744073709551615",
        ),
    ];
    for (node, words) in cases {
        let error = convert(&et(&[node])).expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
        assert!(error.starts_with("trace.0.et: byte 1: node 17 `x`: "), "{error}");
    }
}

#[test]
fn a_collective_without_a_type_is_a_launch_of_the_processor() {
    let trace =
        convert(&et(&[node(1, "nccl:all_reduce", 7, &[Field::Varint(7, 3)], &[])])).unwrap();
    let node = trace.ranks()[0].nodes()[0];
    assert_eq!(node.operation, Operation::Compute { duration_ps: 3_000_000 });
    assert_eq!(node.engine, rocelab_trace::Engine::Cpu(0));
}

#[test]
fn groups_come_from_metadata_nodes_too() {
    let values = r#"['[{"pg_name": "0", "ranks": []}, {"pg_name": "7", "ranks": [1, 0]}]']"#;
    let inputs = Message::new().text(1, values).bytes();
    let init = || node(1, "## process_group:init ##", 1, &[Field::Bytes(8, inputs.clone())], &[]);
    let named = |name| {
        let mut node = init();
        // The name that converters write ends so.
        node = Message::of(node).text(2, name).bytes();
        node
    };
    let attrs = [
        ("comm_type", Attr::Integer(9, 2)),
        ("comm_size", Attr::Integer(9, 5)),
        ("pg_name", Attr::Text("7")),
    ];
    let files = [0, 1].map(|rank| {
        let nodes = [named("nccl process_group:init"), node(2, "gather", 7, &[], &attrs)];
        chakra::read_from(&et(&nodes)[..], Path::new("t.et"), rank).unwrap()
    });
    let trace = chakra::convert(&files, &chakra::Groups::default(), &Options::default()).unwrap();
    assert_eq!(trace.groups[1].ranks, [1, 0]);
    let operation = trace.ranks()[0].nodes()[1].operation;
    let expected = Operation::Collective { kind: CollectiveKind::AllGather, group: 1, bytes: 10 };
    assert_eq!(operation, expected);
}

#[test]
fn streams_are_put_in_order_if_asked() {
    let on = |id, name, start, stream| {
        node(id, name, 4, &[Field::Varint(6, start)], &[("stream", Attr::Integer(9, stream))])
    };
    let bytes = et(&[on(1, "late", 9, 7), on(2, "early", 3, 7), on(3, "other", 1, 20)]);
    let file = chakra::read_from(&bytes[..], Path::new("t.0.et"), 0).unwrap();
    let groups = chakra::Groups::default();
    let options = Options { serialise_streams: true, ..Options::default() };
    let plain = chakra::convert(std::slice::from_ref(&file), &groups, &Options::default()).unwrap();
    let ordered = chakra::convert(&[file], &groups, &options).unwrap();
    assert_eq!(plain.ranks()[0].parents(), [0, 0, 0]);
    assert_eq!(ordered.ranks()[0].parents(), [1, 0, 0]);
    assert_eq!(ordered.ranks()[0].on_done(1), [0]);
}

#[test]
fn computation_is_scaled_if_asked() {
    let bytes = et(&[node(1, "a", 4, &[Field::Varint(7, 10)], &[])]);
    let file = chakra::read_from(&bytes[..], Path::new("t.0.et"), 0).unwrap();
    let options = Options { compute_scale: 0.25, ..Options::default() };
    let trace = chakra::convert(&[file], &chakra::Groups::default(), &options).unwrap();
    let operation = trace.ranks()[0].nodes()[0].operation;
    assert_eq!(operation, Operation::Compute { duration_ps: 2_500_000 });
}

#[test]
fn ranks_must_be_complete() {
    let file = |rank| {
        let bytes = et(&[]);
        chakra::read_from(&bytes[..], Path::new("t.et"), rank).unwrap()
    };
    let groups = chakra::Groups::default();
    for (ranks, words) in
        [(vec![0, 2], "rank 1 is not"), (vec![0, 0], "two files"), (vec![1], "rank 0 is not")]
    {
        let files: Vec<_> = ranks.into_iter().map(file).collect();
        let error = chakra::convert(&files, &groups, &Options::default()).unwrap_err();
        assert!(error.message().contains(words), "{error}");
    }
    for (name, rank) in
        [("a.3.et", Some(3)), ("a.b.12.et", Some(12)), ("a.et", None), ("a.+3.et", None)]
    {
        assert_eq!(chakra::rank_of(Path::new(name)), rank, "{name}");
    }
}
