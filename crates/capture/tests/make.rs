//! Made captures: what was asked for is in them, and the verifier agrees.

use rocelab_capture::{CaptureReader, Format, Recipe, Verifier};
use rocelab_wire::Opcode;

/// Every verb, with the answers that belong to it.
const CONVERSATION: &str = r#"
[[message]]
verb = "send"
bytes = 5
payload = "counting"

[[message]]
verb = "acknowledge"

[[message]]
verb = "write"
bytes = 5000
immediate = 7

[[message]]
verb = "acknowledge"

[[message]]
verb = "send"
bytes = 2048
invalidate = 9

[[message]]
verb = "read"
bytes = 2500

[[message]]
verb = "read-response"
payload = "counting"

[[message]]
verb = "fetch-add"
swap_or_add = 3

[[message]]
verb = "atomic-acknowledge"
original = 39

[[message]]
verb = "compare-swap"

[[message]]
verb = "atomic-acknowledge"
"#;

/// Frames that v1 has not, or that are of no queue pair.
const CONTROL: &str = r#"
[[message]]
verb = "pfc"
priorities = [3, 4]
quanta = 100

[[message]]
verb = "pause"
"#;

fn recipe(text: &str) -> Recipe {
    Recipe::parse("test.toml".as_ref(), text).unwrap_or_else(|error| panic!("{error}"))
}

/// The opcodes and the faults of a made capture.
fn verified(recipe: &Recipe, format: Format) -> (Vec<String>, Vec<String>) {
    let file = recipe.write(format, Vec::new()).unwrap();
    let mut reader = CaptureReader::new(&file[..]).unwrap();
    let mut verifier = Verifier::new();
    let (mut opcodes, mut faults) = (Vec::new(), Vec::new());
    while let Some(frame) = reader.next_frame() {
        let frame = frame.unwrap();
        let verified = verifier.verify(&frame);
        let packet = verified.dissection.packet();
        opcodes.extend(packet.map(|packet| packet.opcode_name().to_string()));
        faults.extend(verified.faults.iter().map(|fault| format!("{}: {fault}", frame.number)));
    }
    (opcodes, faults)
}

#[test]
fn conversations_are_sound_over_every_encapsulation() {
    let encapsulations = [
        "version = 1",
        "",
        "source = \"fd00::1\"\ndestination = \"fd00::2\"",
        "vlan = { pcp = 3 }",
    ];
    for encapsulation in encapsulations {
        for transport in ["RC", "XRC"] {
            let verbs = match transport {
                "RC" => CONVERSATION.to_owned(),
                _ => CONVERSATION.replace("verb =", "transport = \"XRC\"\nverb ="),
            };
            for fcs in [false, true] {
                let text = format!("{encapsulation}\nfcs = {fcs}\n{verbs}{CONTROL}");
                let recipe = recipe(&text);
                for format in [Format::Pcap, Format::PcapNg] {
                    let (opcodes, faults) = verified(&recipe, format);
                    assert!(faults.is_empty(), "{text}: {faults:?}");
                    assert_eq!(opcodes.len(), 18, "{opcodes:?}");
                    assert_eq!(opcodes[2], format!("{transport}_RDMA_WRITE_FIRST"));
                    let last = format!("{transport}_RDMA_WRITE_LAST_WITH_IMMEDIATE");
                    assert_eq!(opcodes[6], last);
                }
            }
        }
    }
}

#[test]
fn every_opcode_can_be_made() {
    for opcode in Opcode::ALL {
        let bytes = match *opcode {
            opcode if opcode.is_first() || opcode.is_middle() => 1024,
            opcode if opcode.has_payload() => 7,
            _ => 0,
        };
        let text = format!("[[message]]\nverb = \"{opcode}\"\nbytes = {bytes}\n");
        let (opcodes, faults) = verified(&recipe(&text), Format::PcapNg);
        assert_eq!(opcodes, [opcode.name()]);
        // A RETH that announces one packet of several is wrong, and nothing else.
        assert!(faults.is_empty(), "{faults:?}");
    }
}

/// A payload damaged before the frame was sent leaves a right FCS, which is then made wrong.
#[test]
fn a_payload_and_an_fcs_can_both_be_wrong() {
    let text = "fcs = true\n[[message]]\nverb = \"write\"\nbytes = 64\npayload = \"counting\"\n";
    let built = |faults: &str| {
        let mut file = Vec::new();
        let recipe = recipe(&format!("{text}faults = [{faults}]\n"));
        recipe.write(Format::Pcap, &mut file).unwrap();
        let mut reader = CaptureReader::new(&file[..]).unwrap();
        reader.next_frame().unwrap().unwrap().bytes.to_vec()
    };
    let payload = built("\"payload\"");
    for both in [built("\"payload\", \"fcs\""), built("\"fcs\", \"payload\"")] {
        let differing: Vec<_> = (0..both.len()).filter(|n| both[*n] != payload[*n]).collect();
        assert_eq!((both.len(), differing), (payload.len(), vec![payload.len() - 1]));
    }
}

#[test]
fn faults_are_made_where_asked_and_found_there() {
    let expected = [
        ("icrc", "3: icrc: "),
        ("fcs", "3: fcs: "),
        ("payload", "3: icrc: "),
        ("pad", "3: pad_not_zero"),
        ("pad-count", "3: dma_length: 2050 bytes in a message of 2049"),
        ("reserved", "3: reserved: BTH resv7"),
        ("transport-version", "3: reserved: BTH transport version"),
        ("ipv4-checksum", "3: ipv4_checksum: "),
    ];
    for (fault, found) in expected {
        let text = format!(
            "fcs = true\n[[message]]\nverb = \"write\"\nbytes = 2049\nfaults = [\"{fault}\"]\n\
             faulty = [2]\n"
        );
        let (_, faults) = verified(&recipe(&text), Format::Pcap);
        assert_eq!(faults.len(), 1, "{fault}: {faults:?}");
        assert!(faults[0].starts_with(found), "{fault}: {faults:?}");
    }
}

/// A packet that is missing is a fault once it is acknowledged.
#[test]
fn a_lost_packet_that_is_acknowledged_is_found() {
    let text = "[[message]]\nverb = \"write\"\nbytes = 5000\nomit = [2]\n\
                [[message]]\nverb = \"acknowledge\"\n";
    let (_, faults) = verified(&recipe(text), Format::Pcap);
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(faults[0].starts_with("5: psn_gap: acknowledges 1 packets from psn 2"), "{faults:?}");
    let nak = text.replace("\"acknowledge\"", "\"acknowledge\"\nsyndrome = 0x60\npsn = 2");
    assert!(verified(&recipe(&nak), Format::Pcap).1.is_empty());
}

#[test]
fn opcodes_out_of_order_are_found() {
    let text = "[[message]]\nverb = \"RC_SEND_FIRST\"\nbytes = 1024\n\
                [[message]]\nverb = \"RC_RDMA_WRITE_LAST\"\nbytes = 1\n\
                [[message]]\nverb = \"RC_SEND_MIDDLE\"\nbytes = 1024\n\
                [[message]]\nverb = \"RC_SEND_ONLY\"\nbytes = 1\n";
    let (_, faults) = verified(&recipe(text), Format::Pcap);
    let names: Vec<_> = faults.iter().map(|fault| &fault[..18]).collect();
    assert_eq!(names, ["2: opcode_sequence", "3: opcode_sequence", "4: opcode_sequence"]);
}

#[test]
fn errors_name_the_place_the_value_and_what_to_write() {
    let cases = [
        ("version = 3\n", "test.toml:1:11: version = 3: is no version of RoCE; write 1 or 2"),
        (
            "path_mtu = 1000\n",
            "test.toml:1:12: path_mtu = 1000: is no path MTU; write 256, 512, 1024, 2048 or 4096",
        ),
        (
            "[[message]]\nverb = \"send\"\ndest_qp = 16777216\n",
            "test.toml:3:11: dest_qp = 16777216: does not fit its field; write a number up to 16777215",
        ),
        (
            "[[message]]\nverb = \"cnp\"\nfaults = [\"pad\"]\n",
            "test.toml:3:11: faults = \"pad\": needs a frame that has such a thing; choose another fault, or other bytes",
        ),
    ];
    for (text, expected) in cases {
        let error = Recipe::parse("test.toml".as_ref(), text).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let unknown = Recipe::parse("test.toml".as_ref(), "[[message]]\nverb = \"walk\"\n");
    let unknown = unknown.unwrap_err().to_string();
    assert!(unknown.starts_with("test.toml:2:8: verb = \"walk\": is nothing"), "{unknown}");
    assert!(unknown.contains("read-response"), "{unknown}");
    let key = Recipe::parse("test.toml".as_ref(), "mtu = 1\n").unwrap_err();
    assert!(key.to_string().starts_with("test.toml:1:1: unknown field `mtu`"), "{key}");
}
