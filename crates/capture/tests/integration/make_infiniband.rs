//! Made captures of native InfiniBand.

use rocelab_capture::{CaptureReader, Decoded, Format, Recipe, Verifier};
use rocelab_wire::{FlowControlPacket, InfiniBandPacket, Opcode};
use serde_json::Value;

fn recipe(text: &str) -> Recipe {
    let text = format!("version = \"infiniband\"\n{text}");
    Recipe::parse("test.toml".as_ref(), &text).unwrap_or_else(|error| panic!("{error}"))
}

/// The headers and the faults of a made capture, which is written and read again.
fn verified(recipe: &Recipe, format: Format) -> (Vec<Value>, Vec<String>) {
    let file = recipe.write(format, Vec::new()).unwrap();
    let mut reader = CaptureReader::new(&file[..]).unwrap();
    let mut verifier = Verifier::new();
    let (mut decoded, mut faults) = (Vec::new(), Vec::new());
    while let Some(frame) = reader.next_frame() {
        let frame = frame.unwrap();
        let verified = verifier.verify(&frame);
        decoded.push(serde_json::to_value(Decoded(&verified)).unwrap());
        faults.extend(verified.faults.iter().map(|fault| format!("{}: {fault}", frame.number)));
    }
    (decoded, faults)
}

/// Every verb of a connection, a congestion notification, and credits.
const CONVERSATION: &str = r#"
path_mtu = 256
sl = 2
vl = 1

[[message]]
verb = "flow-control"
op = 1
vl = 0

[[message]]
verb = "send"
bytes = 5
payload = "counting"

[[message]]
verb = "acknowledge"

[[message]]
verb = "write"
bytes = 700
immediate = 7
fecn = true

[[message]]
verb = "acknowledge"
becn = true

[[message]]
verb = "cn"

[[message]]
verb = "flow-control"
fctbs = 4095
fccl = 31

[[message]]
verb = "read"
bytes = 300

[[message]]
verb = "read-response"

[[message]]
verb = "fetch-add"

[[message]]
verb = "atomic-acknowledge"
"#;

#[test]
fn conversations_are_sound_with_and_without_grh() {
    let gids =
        "source = \"fe80::1\"\ndestination = \"fe80::2\"\ntraffic_class = 5\nflow_label = 6\n";
    for grh in ["", gids] {
        for format in [Format::Pcap, Format::PcapNg] {
            let (decoded, faults) = verified(&recipe(&format!("{grh}{CONVERSATION}")), format);
            assert_eq!(faults, [""; 0]);
            assert_eq!(decoded.len(), 14);
            for one in decoded.iter().filter(|one| one["proto"] == "infiniband") {
                assert_eq!(one["grh"].is_object(), !grh.is_empty(), "{one}");
                assert_eq!((&one["lrh"]["vl"], &one["lrh"]["sl"]), (&1.into(), &2.into()));
                assert_eq!((&one["icrc"], &one["vcrc"]), (&"ok".into(), &"ok".into()));
            }
            let (init, credits) = (&decoded[0]["flow_control"], &decoded[8]["flow_control"]);
            assert_eq!(*init, serde_json::json!({ "op": 1, "fctbs": 0, "vl": 0, "fccl": 2048 }));
            assert_eq!(
                *credits,
                serde_json::json!({ "op": 0, "fctbs": 4095, "vl": 1, "fccl": 31 })
            );
            // From the destination to the source.
            let answer = &decoded[2]["lrh"];
            assert_eq!((&answer["slid"], &answer["dlid"]), (&2.into(), &1.into()));
            let notification = &decoded[7];
            assert_eq!(notification["bth"]["opcode"], "CN");
            let len = if grh.is_empty() { 26 } else { 66 };
            assert_eq!(recipe(&format!("{grh}{CONVERSATION}")).frames()[7].len(), len);
        }
    }
}

/// Bytes that an independent program made: see `tests/data/README.md`.
#[test]
fn made_packets_are_those_of_another_program() {
    let text = r#"
source_lid = 1
destination_lid = 4

[[message]]
verb = "RC_SEND_ONLY"
dest_qp = 0x12
psn = 5
payload = "68656c6c6f206962"
ack_req = true

[[message]]
verb = "flow-control"
fctbs = 100
fccl = 228
"#;
    let recipe = recipe(text);
    let file =
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/infiniband_erf.pcap"));
    let file = file.unwrap();
    let mut reader = CaptureReader::new(&file[..]).unwrap();
    let mut packets = Vec::new();
    while let Some(frame) = reader.next_frame() {
        packets.push(frame.unwrap().bytes[16..].to_vec());
    }
    let [send, credits] = recipe.frames() else { panic!("two frames") };
    assert!(packets[3].starts_with(send), "{send:02x?}");
    assert!(packets[0].starts_with(credits), "{credits:02x?}");
}

#[test]
fn subnet_management_and_multicast_are_made() {
    let management = "source_lid = 65535\ndestination_lid = 65535\nvl = 15\n[[message]]\nverb = \"send\"\n\
                      transport = \"UD\"\nbytes = 256\ndest_qp = 0\nsrc_qp = 0\nq_key = 0\n";
    assert_eq!(recipe(management).frames()[0].len(), 290);
    assert_eq!(verified(&recipe(management), Format::Pcap).1, [""; 0]);
    let multicast = "source = \"fe80::1\"\ndestination = \"ff12::1\"\ndestination_lid = 49152\n\
                     [[message]]\nverb = \"send\"\ntransport = \"UD\"\nbytes = 256\ndest_qp = 0xffffff\n";
    assert_eq!(verified(&recipe(multicast), Format::Pcap).1, [""; 0]);
}

/// Nothing but datagrams goes to a group, and nothing comes back from it.
#[test]
fn only_datagrams_go_to_a_multicast_group() {
    let head = "version = \"infiniband\"\nsource = \"fe80::1\"\ndestination = \"ff12::1\"\ndestination_lid = 49152\n[[message]]\n";
    for (message, expected) in [
        ("verb = \"write\"\nbytes = 8\n", "is no datagram, and its destination_lid is that of a"),
        (
            "verb = \"send\"\ntransport = \"UD\"\nbytes = 8\nreverse = true\n",
            "comes back, and its destination_lid is that of a multicast group",
        ),
    ] {
        let error = Recipe::parse("r.toml".as_ref(), &format!("{head}{message}"));
        let error = error.expect_err("an error").to_string();
        assert!(error.contains("6:8: verb = ") && error.contains(expected), "{error}");
    }
}

#[test]
fn faults_are_made_where_asked_and_found_there() {
    let expected = [
        ("icrc", "3: icrc: "),
        ("vcrc", "3: vcrc: "),
        ("payload", "3: icrc: "),
        ("pad", "3: pad_not_zero"),
        ("pad-count", "3: dma_length: 2050 bytes in a message of 2049"),
        ("reserved", "3: reserved: BTH resv7"),
        ("transport-version", "3: reserved: BTH transport version"),
    ];
    for (fault, found) in expected {
        let text = format!(
            "[[message]]\nverb = \"write\"\nbytes = 2049\nfaults = [\"{fault}\"]\nfaulty = [2]\n"
        );
        for grh in ["", "source = \"fe80::1\"\ndestination = \"fe80::2\"\n"] {
            let (_, faults) = verified(&recipe(&format!("{grh}{text}")), Format::Pcap);
            assert_eq!(faults.len(), 1, "{fault}: {faults:?}");
            assert!(faults[0].starts_with(found), "{fault}: {faults:?}");
        }
    }
    let credits = "[[message]]\nverb = \"flow-control\"\nfaults = [\"lpcrc\"]\n";
    let (_, faults) = verified(&recipe(credits), Format::PcapNg);
    assert!(faults.len() == 1 && faults[0].starts_with("1: lpcrc: found 0x"), "{faults:?}");
    let both = "[[message]]\nverb = \"send\"\nbytes = 8\nfaults = [\"icrc\", \"vcrc\"]\n";
    let (_, faults) = verified(&recipe(both), Format::PcapNg);
    assert_eq!(faults.len(), 2, "{faults:?}");
}

#[test]
fn frames_are_packets_and_link_packets() {
    let recipe = recipe(CONVERSATION);
    for (number, frame) in recipe.frames().iter().enumerate() {
        if [0, 8].contains(&number) {
            assert!(FlowControlPacket::parse(frame).unwrap().lpcrc_ok());
            continue;
        }
        let packet = InfiniBandPacket::parse(frame).unwrap();
        assert_eq!((packet.vcrc_ok(), packet.padding), (Some(true), &[][..]));
        let bth = packet.transport().unwrap().bth;
        assert_eq!(bth.fecn, (3..6).contains(&number), "{number}");
        assert_eq!(bth.becn, bth.opcode() == Some(Opcode::Cn) || number == 6, "{number}");
    }
}

fn refused(text: &str) -> String {
    Recipe::parse("test.toml".as_ref(), text).expect_err(text).to_string()
}

#[test]
fn what_the_link_does_not_have_is_refused() {
    let infiniband = |text: &str| format!("version = \"infiniband\"\n{text}\n");
    let message = |keys: &str| format!("[[message]]\n{keys}\n");
    let cases = [
        (
            "version = \"infinband\"\n".to_owned(),
            "1:11: version = \"infinband\": is no version of RoCE; write 1, 2 or \"infiniband\"",
        ),
        (
            infiniband("source_mac = \"02:00:00:00:00:01\""),
            "2:14: source_mac = \"02:00:00:00:00:01\": InfiniBand has no Ethernet header; leave it out, or \
             write version = 1 or 2",
        ),
        (
            infiniband("fcs = true"),
            "2:7: fcs = true: InfiniBand has no Ethernet header; leave it out, or write version = 1 or 2",
        ),
        (
            infiniband("hop_limit = 3"),
            "2:13: hop_limit = 3: the packets have no GRH; leave it out, or give source and destination",
        ),
        (
            infiniband("ecn = \"ce\""),
            "2:7: ecn = \"ce\": a GRH of InfiniBand has a traffic class as a whole; write traffic_class",
        ),
        (
            infiniband("source = \"fe80::1\""),
            "1:1: destination: a GRH has two GIDs, and the other is given; give both, or none for packets \
             without GRH",
        ),
        (
            infiniband("source_lid = 0"),
            "2:14: source_lid = 0: is reserved; write a number from 1 to 65535",
        ),
        (
            infiniband("source_lid = 49152"),
            "2:14: source_lid = 49152: is that of a multicast group; write a number up to 49151",
        ),
        (
            infiniband("destination_lid = 49152"),
            "2:19: destination_lid = 49152: is that of a multicast group, which needs a GRH; give source and \
             destination, or write a number up to 49151",
        ),
        (infiniband("sl = 16"), "2:6: sl = 16: does not fit its field; write a number up to 15"),
        (
            infiniband(&message("verb = \"flow-control\"\nfccl = 4096")),
            "4:8: fccl = 4096: does not fit its field; write a number up to 4095",
        ),
        (
            infiniband(&message("verb = \"flow-control\"\nsl = 1")),
            "4:6: sl = 1: means nothing to `flow-control`; leave it out, or choose another verb",
        ),
        (
            infiniband(&message("verb = \"flow-control\"\nreverse = true")),
            "4:11: reverse = true: means nothing to `flow-control`; leave it out, or choose another verb",
        ),
        (
            infiniband(&message("verb = \"flow-control\"\nfaults = [\"vcrc\"]")),
            "4:11: faults = \"vcrc\": needs a frame that has such a thing; choose another fault, or other bytes",
        ),
        (
            infiniband(&message("verb = \"send\"\nfaults = [\"fcs\"]")),
            "4:11: faults = \"fcs\": needs a frame that has such a thing; choose another fault, or other bytes",
        ),
        (
            infiniband(&message("verb = \"send\"\nfccl = 3")),
            "4:8: fccl = 3: means nothing to `send`; leave it out, or choose another verb",
        ),
        (
            infiniband(&message("verb = \"send\"\nvlan = { pcp = 3 }")),
            "4:8: vlan = { pcp = 3 }: InfiniBand has no Ethernet header; leave it out, or write version = 1 \
             or 2",
        ),
        (
            infiniband(&message("verb = \"pfc\"")),
            "3:8: verb = \"pfc\": InfiniBand has credits instead; write flow-control, or version = 2",
        ),
        (
            infiniband(&message("verb = \"cnp\"")),
            "3:8: verb = \"cnp\": is the notification of RoCE; write cn, or version = 2",
        ),
        (
            message("verb = \"cn\""),
            "2:8: verb = \"cn\": is the notification of InfiniBand; write cnp, or version = \"infiniband\"",
        ),
        (
            message("verb = \"flow-control\""),
            "2:8: verb = \"flow-control\": Ethernet has no credits; write pfc or pause, or version = \
             \"infiniband\"",
        ),
        (
            format!("vl = 1\n{}", message("verb = \"send\"")),
            "1:6: vl = 1: RoCE has no LRH; leave it out, or write version = \"infiniband\"",
        ),
        (
            message("verb = \"send\"\nsl = 1"),
            "3:6: sl = 1: RoCE has no LRH; leave it out, or write version = \"infiniband\"",
        ),
        (
            message("verb = \"send\"\nfaults = [\"vcrc\"]"),
            "3:11: faults = \"vcrc\": needs a frame that has such a thing; choose another fault, or other bytes",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(refused(&text), format!("test.toml:{expected}"));
    }
    let unknown = refused(&infiniband(&message("verb = \"flow-controll\"")));
    assert!(unknown.contains("did you mean flow-control? write one of "), "{unknown}");
    assert!(!unknown.contains("pfc"), "{unknown}");
}
