//! Every frame of the vector files: its fields, its bytes, its ICRC, its FCS.

use std::collections::BTreeMap;
use std::path::Path;

use rocelab_wire::{Frame, crc_to_wire, fcs, icrc_of_frame};
use serde_json::Value;

use crate::described::{describe, hex, normalise, unhex};
use crate::pcap::shared;

/// A field of `decoded` that is not compared: the digest of a long payload, because all bytes are
/// compared anyway.
const IGNORED: &str = "payload_sha256";

#[test]
fn own_vectors() {
    let mut counts = BTreeMap::new();
    for file in ["vectors.json", "built.json"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
        check_file(&folder.join(file), &mut counts);
    }
    println!("own vectors: {counts:?}");
    assert_eq!(counts.values().sum::<usize>(), 48 + 82);
}

#[test]
fn shared_vectors() {
    let Some(folder) = shared("vectors") else { return };
    let mut counts = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable folder").path();
        if path.extension().is_some_and(|extension| extension == "json") {
            check_file(&path, &mut counts);
        }
    }
    println!("shared vectors: {counts:?}, together {}", counts.values().sum::<usize>());
    assert!(!counts.is_empty());
}

/// The frames of our own vectors.
pub(crate) fn own_frames() -> Vec<Vec<u8>> {
    let text = include_str!("../data/vectors.json");
    let file: Value = serde_json::from_str(text).expect("a JSON file");
    let vectors = file["vectors"].as_array().into_iter().flatten();
    vectors.map(|vector| unhex(text_of(vector, "frame_hex"))).collect()
}

fn check_file(path: &Path, counts: &mut BTreeMap<String, usize>) {
    let text = std::fs::read_to_string(path).expect("a readable file");
    let file: Value = serde_json::from_str(&text).expect("a JSON file");
    for vector in file["vectors"].as_array().into_iter().flatten() {
        check(vector);
        *counts.entry(text_of(vector, "proto").into()).or_default() += 1;
    }
}

fn check(vector: &Value) {
    let name = text_of(vector, "name");
    let bytes = unhex(text_of(vector, "frame_hex"));
    let frame = Frame::parse(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(frame.proto(), text_of(vector, "proto"), "{name}");
    check_fields(name, vector, &frame);
    check_emission(name, &bytes, &frame);
    check_icrc(name, vector, &bytes, &frame);
    check_fcs(name, vector, &bytes);
}

fn check_fields(name: &str, vector: &Value, frame: &Frame<'_>) {
    let mut expected = vector["decoded"].as_object().expect("decoded fields").clone();
    expected.retain(|key, value| key != IGNORED && value != "");
    expected.values_mut().for_each(normalise);
    let found = describe(frame);
    let difference: Vec<_> = found
        .keys()
        .chain(expected.keys())
        .filter(|key| found.get(*key) != expected.get(*key))
        .map(|key| (key, found.get(key), expected.get(key)))
        .collect();
    assert!(difference.is_empty(), "{name} (field, found, expected): {difference:#?}");
}

fn check_emission(name: &str, bytes: &[u8], frame: &Frame<'_>) {
    let mut emitted = vec![0xee; bytes.len() + 1];
    assert_eq!(frame.emit(&mut emitted), Ok(bytes.len()), "{name}");
    assert_eq!(hex(&emitted[..bytes.len()]), hex(bytes), "{name}");
}

fn check_icrc(name: &str, vector: &Value, bytes: &[u8], frame: &Frame<'_>) {
    let expected = vector["icrc_expected_hex"].as_str();
    let computed = icrc_of_frame(bytes).expect("it was parsed before");
    assert_eq!(computed.map(|icrc| hex(&crc_to_wire(icrc))).as_deref(), expected, "{name}");
    assert_eq!(frame.icrc_ok(), vector["icrc_ok"].as_bool().unwrap_or(false), "{name}");
}

fn check_fcs(name: &str, vector: &Value, bytes: &[u8]) {
    let mut padded = bytes.to_vec();
    padded.resize(bytes.len().max(60), 0);
    let expected = text_of(vector, "fcs_wire_hex");
    assert_eq!(hex(&crc_to_wire(fcs(&padded))), expected, "{name}");
    let unchecked = Frame::parse(&padded).expect("padding changes nothing");
    let with_fcs = [padded.as_slice(), &unhex(expected)].concat();
    let parsed = Frame::parse_with_fcs(&with_fcs).expect("nor does the FCS");
    assert_eq!(parsed, unchecked.with_fcs(), "{name}");
    assert_eq!(parsed.fcs_ok(), Some(true), "{name}");
    check_emission(name, &with_fcs, &parsed);
}

fn text_of<'a>(vector: &'a Value, key: &str) -> &'a str {
    vector[key].as_str().unwrap_or_else(|| panic!("{key} is missing in {vector}"))
}
