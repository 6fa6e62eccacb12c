//! Every defined opcode, compared with a second, independent table of the standard's opcodes.

use rocelab_wire::{Extensions, Opcode, Transport};

/// The position of a packet in its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    First,
    Middle,
    Last,
    Only,
}

use Position::{First, Last, Middle, Only};

/// Low five bits, name, position, extension headers (of RC and UC), whether payload is allowed, and
/// the transport services that have it.
type Row = (u8, &'static str, Position, &'static [&'static str], bool, &'static [Transport]);

const ALL: &[Transport] = &[Transport::Rc, Transport::Uc, Transport::Xrc];
const UNRELIABLE: &[Transport] = &[Transport::Rc, Transport::Uc, Transport::Ud, Transport::Xrc];
const RELIABLE: &[Transport] = &[Transport::Rc, Transport::Xrc];
const RC: &[Transport] = &[Transport::Rc];

const TABLE: [Row; 25] = [
    (0x00, "SEND_FIRST", First, &[], true, ALL),
    (0x01, "SEND_MIDDLE", Middle, &[], true, ALL),
    (0x02, "SEND_LAST", Last, &[], true, ALL),
    (0x03, "SEND_LAST_WITH_IMMEDIATE", Last, &["ImmDt"], true, ALL),
    (0x04, "SEND_ONLY", Only, &[], true, UNRELIABLE),
    (0x05, "SEND_ONLY_WITH_IMMEDIATE", Only, &["ImmDt"], true, UNRELIABLE),
    (0x06, "RDMA_WRITE_FIRST", First, &["RETH"], true, ALL),
    (0x07, "RDMA_WRITE_MIDDLE", Middle, &[], true, ALL),
    (0x08, "RDMA_WRITE_LAST", Last, &[], true, ALL),
    (0x09, "RDMA_WRITE_LAST_WITH_IMMEDIATE", Last, &["ImmDt"], true, ALL),
    (0x0a, "RDMA_WRITE_ONLY", Only, &["RETH"], true, ALL),
    (0x0b, "RDMA_WRITE_ONLY_WITH_IMMEDIATE", Only, &["RETH", "ImmDt"], true, ALL),
    (0x0c, "RDMA_READ_REQUEST", Only, &["RETH"], false, RELIABLE),
    (0x0d, "RDMA_READ_RESPONSE_FIRST", First, &["AETH"], true, RELIABLE),
    (0x0e, "RDMA_READ_RESPONSE_MIDDLE", Middle, &[], true, RELIABLE),
    (0x0f, "RDMA_READ_RESPONSE_LAST", Last, &["AETH"], true, RELIABLE),
    (0x10, "RDMA_READ_RESPONSE_ONLY", Only, &["AETH"], true, RELIABLE),
    (0x11, "ACKNOWLEDGE", Only, &["AETH"], false, RELIABLE),
    (0x12, "ATOMIC_ACKNOWLEDGE", Only, &["AETH", "AtomicAckETH"], false, RELIABLE),
    (0x13, "COMPARE_SWAP", Only, &["AtomicETH"], false, RELIABLE),
    (0x14, "FETCH_ADD", Only, &["AtomicETH"], false, RELIABLE),
    (0x16, "SEND_LAST_WITH_INVALIDATE", Last, &["IETH"], true, RELIABLE),
    (0x17, "SEND_ONLY_WITH_INVALIDATE", Only, &["IETH"], true, RELIABLE),
    (0x1c, "FLUSH", Only, &["FETH", "RETH"], false, RC),
    (0x1d, "ATOMIC_WRITE", Only, &["RETH"], true, RC),
];

/// The opcodes of responses, by their low five bits: these carry no XRCETH.
const RESPONSES: std::ops::RangeInclusive<u8> = 0x0d..=0x12;

const fn base(transport: Transport) -> u8 {
    match transport {
        Transport::Rc => 0x00,
        Transport::Uc => 0x20,
        Transport::Ud => 0x60,
        Transport::Cnp => 0x80,
        Transport::Xrc => 0xa0,
    }
}

#[test]
fn every_row_of_the_table_is_an_opcode() {
    for (low, name, position, headers, payload, transports) in TABLE {
        for &transport in transports {
            let opcode = Opcode::from_u8(base(transport) | low).expect(name);
            assert_eq!(opcode.name(), format!("{transport}_{name}"));
            assert_eq!(opcode.transport(), transport, "{opcode}");
            assert_eq!(position_of(opcode), position, "{opcode}");
            let response = RESPONSES.contains(&low);
            assert_eq!((opcode.is_response(), opcode.is_request()), (response, !response));
            let first = match transport {
                Transport::Ud => Some("DETH"),
                Transport::Xrc if !response => Some("XRCETH"),
                _ => None,
            };
            let expected: Vec<&str> = first.into_iter().chain(headers.iter().copied()).collect();
            assert_eq!(headers_of(opcode), expected, "{opcode}");
            assert_eq!(opcode.has_payload(), payload, "{opcode}");
        }
    }
}

#[test]
fn every_opcode_is_in_the_table() {
    let cells: usize = TABLE.iter().map(|(.., transports)| transports.len()).sum();
    // Three more: the congestion notifications of InfiniBand and of RoCE, and our selective
    // acknowledge.
    assert_eq!(Opcode::ALL.len(), cells + 3);
    assert_eq!((u8::from(Opcode::Cn), headers_of(Opcode::Cn)), (0x80, vec![]));
    assert_eq!((u8::from(Opcode::Cnp), headers_of(Opcode::Cnp)), (0x81, vec!["CNP"]));
    let sack = Opcode::RcSelectiveAcknowledge;
    assert_eq!((u8::from(sack), headers_of(sack)), (0xd5, vec!["AETH", "SACK"]));
}

fn position_of(opcode: Opcode) -> Position {
    let positions = [
        (opcode.is_first(), First),
        (opcode.is_middle(), Middle),
        (opcode.is_last(), Last),
        (opcode.is_only(), Only),
    ];
    let mut found = positions.into_iter().filter(|(is, _)| *is).map(|(_, position)| position);
    let position = found.next().expect("one of them");
    assert_eq!(found.next(), None, "{opcode}");
    position
}

/// The names of the extension headers in the parser's order.
fn headers_of(opcode: Opcode) -> Vec<&'static str> {
    let extensions = Extensions::parse(opcode, &[0; 64]).expect("room for all");
    let text = extensions.to_string();
    let names = [
        "DETH",
        "XRCETH",
        "FETH",
        "RETH",
        "AtomicETH",
        "AETH",
        "SACK",
        "AtomicAckETH",
        "ImmDt",
        "IETH",
        "CNP",
    ];
    let shown = text.split(", ").filter_map(|part| part.split(' ').next());
    shown.filter_map(|word| names.into_iter().find(|name| *name == word)).collect()
}
