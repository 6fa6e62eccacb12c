//! Made captures have the requested frames, and the verifier agrees.

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

/// Frames that do not exist in v1, or that belong to no queue pair.
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
        let link = if *opcode == Opcode::Cn { "version = \"infiniband\"\n" } else { "" };
        let text = format!("{link}[[message]]\nverb = \"{opcode}\"\nbytes = {bytes}\n");
        let (opcodes, faults) = verified(&recipe(&text), Format::PcapNg);
        assert_eq!(opcodes, [opcode.name()]);
        // The RETH that announces one packet of several is the only fault.
        assert!(faults.is_empty(), "{faults:?}");
    }
}

/// If a payload was damaged before the frame was sent, the FCS is right, and can then be made
/// wrong.
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

/// A missing packet is a fault once it is acknowledged.
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
        (
            "version = 3\n",
            "test.toml:1:11: version = 3: is no version of RoCE; write 1, 2 or \"infiniband\"",
        ),
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
}

fn refused(text: &str) -> String {
    Recipe::parse("test.toml".as_ref(), text).expect_err(text).to_string()
}

#[test]
fn unknown_names_are_answered_with_the_nearest() {
    let unknown = refused("[[message]]\nverb = \"wirte\"\n");
    let start = "test.toml:2:8: verb = \"wirte\": is nothing that RC does; did you mean write?";
    assert!(unknown.starts_with(start), "{unknown}");
    assert!(unknown.contains("read-response"), "{unknown}");
    // Only verbs of this service are suggested.
    let unknown = refused("[[message]]\nverb = \"write\"\ntransport = \"UD\"\n");
    let end = "is nothing that UD does; write one of send, cnp, pfc, pause, or an opcode such as \
               UD_SEND_ONLY";
    assert!(unknown.ends_with(end), "{unknown}");
    let key = refused("pathmtu = 1\n");
    assert!(
        key.starts_with("test.toml:1:1: there is no key `pathmtu`; did you mean path_mtu?"),
        "{key}"
    );
    let fault = refused("[[message]]\nverb = \"send\"\nfaults = [\"icrcs\"]\n");
    assert!(fault.contains("did you mean icrc?"), "{fault}");
}

#[test]
fn values_of_another_kind_are_told_in_words() {
    for (text, expected) in [
        (
            "[[message]]\nverb = \"send\"\nbytes = \"5KB\"\n",
            "test.toml:3:9: bytes = \"5KB\": is of another kind; write a whole number from 0 up",
        ),
        (
            "[[message]]\nverb = \"send\"\nomit = 3\n",
            "test.toml:3:8: omit = 3: is of another kind; write a list",
        ),
        ("[[message]]\nbytes = 3\n", "test.toml:1:1: the key `verb` is missing; add verb = ..."),
    ] {
        assert_eq!(refused(text), expected);
    }
    let broken = refused("version = \n");
    assert!(broken.starts_with("test.toml:1:11: "), "{broken}");
    assert!(broken.ends_with("; write the file as TOML"), "{broken}");
}

#[test]
fn what_cannot_be_or_has_no_effect_is_refused() {
    let message = |keys: &str| format!("[[message]]\n{keys}\n");
    for (text, expected) in [
        (String::new(), "1:1: message: there is none; add a table [[message]]"),
        (
            "source = \"fd00::1\"\n".to_owned(),
            "1:10: source = \"fd00::1\": is of another IP version than the other address; \
             give source and destination in one family",
        ),
        (
            "source = \"10.0.0.1\"\ndestination = \"fd00::2\"\n".to_owned(),
            "2:15: destination = \"fd00::2\": is of another IP version than the other address; \
             give source and destination in one family",
        ),
        (
            "flow_label = 5\n".to_owned(),
            "1:14: flow_label = 5: IPv4 has no flow label; leave it out, or give IPv6 addresses",
        ),
        (
            "version = 1\nudp_source_port = 5\n".to_owned(),
            "2:19: udp_source_port = 5: RoCE v1 has no UDP; leave it out, or write version = 2",
        ),
        (
            format!(
                "interval_ns = 9223372036854776\n{}",
                message("verb = \"write\"\nbytes = 2000")
            ),
            "1:15: interval_ns = 9223372036854776: the last frame would leave after 2^64 ps, the end of \
             simulated time; write at most 9223372036854775",
        ),
        (
            message("verb = \"write\"\nbytes = 5000\nomit = [1, 5]"),
            "4:8: omit = [1, 5]: there is no packet 5: the message has 5; write numbers from 0 to 4",
        ),
        (
            message("verb = \"send\"\nfaults = [\"icrc\"]\nfaulty = [1]"),
            "4:10: faulty = [1]: there is no packet 1: the message has 1; write 0",
        ),
        (
            message("verb = \"send\"\nfaulty = [0]"),
            "3:10: faulty = [0]: nothing says what is wrong with them; \
             add faults = [...], or leave it out",
        ),
        (
            message("verb = \"send\"\nomit = [0]\nfaults = [\"icrc\"]\nfaulty = [0]"),
            "5:10: faulty = [0]: packet 0 is omitted; name packets that are written",
        ),
        (
            message("verb = \"send\"\nimmediate = 1\ninvalidate = 2"),
            "4:14: invalidate = 2: no opcode has an immediate too; keep one of them",
        ),
        (
            message("verb = \"write\"\ninvalidate = 2"),
            "3:14: invalidate = 2: `write` of RC takes none along; \
             leave it out, or choose another verb",
        ),
        (
            message("verb = \"send\"\nr_key = 7"),
            "3:9: r_key = 7: means nothing to `send`; leave it out, or choose another verb",
        ),
        (
            message("verb = \"send\"\nq_key = 7"),
            "3:9: q_key = 7: means nothing to `send`; leave it out, or choose another verb",
        ),
        (
            message("verb = \"acknowledge\"\nbytes = 7"),
            "3:9: bytes = 7: means nothing to `acknowledge`; leave it out, or choose another verb",
        ),
        (
            message("verb = \"RC_SEND_ONLY\"\ntransport = \"UC\""),
            "3:13: transport = \"UC\": means nothing to `RC_SEND_ONLY`; \
             leave it out, or choose another verb",
        ),
        (
            message("verb = \"pause\"\npriorities = [3]"),
            "3:14: priorities = [3]: means nothing to `pause`; \
             leave it out, or choose another verb",
        ),
        (
            message("verb = \"pfc\"\nvlan = { pcp = 3 }"),
            "3:8: vlan = { pcp = 3 }: means nothing to `pfc`; leave it out, or choose another verb",
        ),
    ] {
        assert_eq!(refused(&text), format!("test.toml:{expected}"));
    }
}

/// The same number on two services means two queue pairs, each with its own PSNs.
#[test]
fn every_service_and_queue_pair_counts_by_itself() {
    let message = |keys: &str| format!("[[message]]\nverb = \"send\"\nbytes = 3000\n{keys}\n");
    let datagram = "[[message]]\nverb = \"send\"\ntransport = \"UD\"\nbytes = 9\n";
    let acknowledge = "[[message]]\nverb = \"acknowledge\"\n";
    let text = [
        "psn = 100\n",
        &message(""),
        &message("transport = \"UC\""),
        datagram,
        &message("dest_qp = 99"),
        &message(""),
        datagram,
        acknowledge,
    ]
    .concat();
    let recipe = recipe(&text);
    assert_eq!(verified(&recipe, Format::Pcap).1, Vec::<String>::new());
    let psns: Vec<u32> = recipe
        .frames()
        .iter()
        // The PSN follows Ethernet, IPv4, UDP and nine bytes of the BTH.
        .map(|frame| u32::from_be_bytes([0, frame[51], frame[52], frame[53]]))
        .collect();
    let expected = [100, 101, 102, 100, 101, 102, 100, 100, 101, 102, 103, 104, 105, 101, 105];
    assert_eq!(psns, expected);
}
