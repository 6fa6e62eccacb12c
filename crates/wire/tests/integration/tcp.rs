//! TCP segments in whole frames, as Wireshark's dissector sees them. Skipped, with a note, if
//! tshark is missing.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::process::Command;

use pcap_file::pcap::{PcapHeader, PcapWriter, RawPcapPacket};
use pcap_file::{DataLink, Endianness};
use rocelab_wire::{
    Ecn, EtherType, Ethernet, Ipv4, Ipv6, MacAddress, PROTOCOL_TCP, Tcp, TcpOptions,
};

/// The fields that are compared for each frame; the last two are empty if nothing is wrong.
const FIELDS: [&str; 9] = [
    "tcp.len",
    "tcp.seq_raw",
    "tcp.ack_raw",
    "tcp.checksum.status",
    "ip.checksum.status",
    "tcp.options.sack_le",
    "tcp.options.sack_re",
    "_ws.malformed",
    "_ws.expert.message",
];

/// A frame without FCS with a segment and `data` bytes of data, all zeros.
fn frame(tcp: &Tcp, data: usize, version: u8, from: u8, to: u8) -> Vec<u8> {
    let data = vec![0; data];
    let len = u16::try_from(tcp.header_len() + data.len()).unwrap();
    let (ether_type, header, [source, destination]) = if version == 4 {
        let [source, destination] = [from, to].map(|host| Ipv4Addr::new(10, 0, 0, host));
        let header = ipv4(source, destination, len);
        (EtherType::IPV4, header, [source, destination].map(IpAddr::V4))
    } else {
        let [source, destination] =
            [from, to].map(|host| Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, host.into()));
        let header = ipv6(source, destination, len);
        (EtherType::IPV6, header, [source, destination].map(IpAddr::V6))
    };
    let checksum = tcp.computed_checksum(source, destination, &data);
    let mut bytes = Ethernet {
        destination: MacAddress([2, 0, 0, 0, 0, to]),
        source: MacAddress([2, 0, 0, 0, 0, from]),
        ether_type,
    }
    .to_bytes()
    .to_vec();
    bytes.extend(header);
    let mut segment = [0; Tcp::MAX_LEN];
    let emitted = Tcp { checksum, ..*tcp }.emit(&mut segment).unwrap();
    bytes.extend(&segment[..emitted]);
    bytes.extend(data);
    bytes.resize(bytes.len().max(60), 0);
    bytes
}

fn ipv4(source: Ipv4Addr, destination: Ipv4Addr, len: u16) -> Vec<u8> {
    let mut header = Ipv4 {
        dscp: 0,
        ecn: Ecn::Ect0,
        total_len: 20 + len,
        identification: 0,
        reserved_flag: false,
        dont_fragment: true,
        more_fragments: false,
        fragment_offset: 0,
        time_to_live: 64,
        protocol: PROTOCOL_TCP,
        header_checksum: 0,
        source,
        destination,
    };
    header.header_checksum = header.computed_checksum();
    header.to_bytes().to_vec()
}

fn ipv6(source: Ipv6Addr, destination: Ipv6Addr, len: u16) -> Vec<u8> {
    let header = Ipv6 {
        dscp: 0,
        ecn: Ecn::Ect0,
        flow_label: 7,
        payload_len: len,
        next_header: PROTOCOL_TCP,
        hop_limit: 64,
        source,
        destination,
    };
    header.to_bytes().to_vec()
}

/// Data and acknowledgements; one acknowledgement has two blocks because of gaps.
fn conversation(version: u8) -> (Vec<Vec<u8>>, Vec<String>) {
    let data = |seq: u32, len: usize, flags: u8| {
        let tcp = Tcp {
            source_port: 40_000,
            destination_port: 5_001,
            sequence_number: seq,
            acknowledgement_number: 1,
            flags: Tcp::ACK | flags,
            window: 49_152,
            ..Tcp::default()
        };
        (frame(&tcp, len, version, 1, 2), format!("{len}\t{seq}\t1"), String::from("\t"))
    };
    let ack = |ack: u32, flags: u8, blocks: &[(u32, u32)]| {
        let tcp = Tcp {
            source_port: 5_001,
            destination_port: 40_000,
            sequence_number: 1,
            acknowledgement_number: ack,
            flags: Tcp::ACK | flags,
            window: 49_152,
            options: TcpOptions::sack(blocks),
            ..Tcp::default()
        };
        let edges = |edge: fn(&(u32, u32)) -> u32| {
            blocks.iter().map(|block| edge(block).to_string()).collect::<Vec<_>>().join(",")
        };
        let sack = format!("{}\t{}", edges(|block| block.0), edges(|block| block.1));
        (frame(&tcp, 0, version, 2, 1), format!("0\t1\t{ack}"), sack)
    };
    let script = [
        data(1_000, 1_440, 0),
        data(2_440, 1_440, Tcp::CWR),
        ack(3_880, Tcp::ECE, &[]),
        data(3_880, 1_001, Tcp::PSH),
        ack(4_881, 0, &[(6_321, 7_761), (9_201, 10_641)]),
    ];
    let ip = if version == 4 { "1" } else { "" };
    let (mut frames, mut expected) = (Vec::new(), Vec::new());
    for (bytes, numbers, sack) in script {
        frames.push(bytes);
        expected.push(format!("{numbers}\t1\t{ip}\t{sack}\t\t"));
    }
    (frames, expected)
}

#[test]
fn tshark_sees_the_same_and_nothing_wrong() {
    for version in [4, 6] {
        let (frames, expected) = conversation(version);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tcp-{version}.pcap"));
        write(&path, &frames);
        let mut command = Command::new("tshark");
        command.arg("-r").arg(&path).args(["-T", "fields"]);
        command.args(["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]);
        // Segments are missing in the capture on purpose, so sequence numbers are not analysed.
        command.args(["-o", "tcp.analyze_sequence_numbers:FALSE"]);
        for field in FIELDS {
            command.args(["-e", field]);
        }
        let Ok(output) = command.output() else {
            println!("skipped: there is no tshark");
            return;
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text.lines().collect::<Vec<_>>(), expected, "version {version}");
    }
}

fn write(path: &Path, frames: &[Vec<u8>]) {
    let header = PcapHeader {
        datalink: DataLink::ETHERNET,
        endianness: Endianness::Little,
        ..PcapHeader::default()
    };
    let mut writer = PcapWriter::with_header(fs::File::create(path).unwrap(), header).unwrap();
    for frame in frames {
        let len = u32::try_from(frame.len()).unwrap();
        let data = frame.into();
        let packet = RawPcapPacket { ts_sec: 0, ts_frac: 0, incl_len: len, orig_len: len, data };
        writer.write_raw_packet(&packet).unwrap();
    }
    writer.flush().unwrap();
}
