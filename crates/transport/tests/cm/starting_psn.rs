//! What the starting PSN means: the captured data shows it.

use std::collections::BTreeMap;
use std::path::Path;

use rocelab_wire::cm::{CmMessage, Mad};
use rocelab_wire::{Frame, Transport};

use crate::{OWN, capture, captures};

/// The first request to a queue pair has the PSN that this queue pair's host announced.
#[test]
fn the_receiver_announces_it() {
    let (mut seen, mut hosts) = (0, [false; 2]);
    for path in captures(Path::new(OWN)) {
        let announced = announced(&path);
        let mut first: BTreeMap<(u8, u32), u32> = BTreeMap::new();
        for bytes in capture::frames(&path) {
            let frame = Frame::parse(&bytes).expect("a whole frame");
            let Some(packet) = frame.roce() else { continue };
            let is_request = packet
                .bth
                .opcode()
                .is_some_and(|opcode| opcode.transport() == Transport::Rc && opcode.is_request());
            if let (true, Some(destination)) = (is_request, capture::destination(packet)) {
                let psn = packet.bth.psn;
                first.entry((destination, packet.bth.dest_qp)).or_insert(psn);
            }
        }
        for (queue_pair, psn) in first {
            assert_eq!(announced[&queue_pair], psn, "{}: {queue_pair:?}", path.display());
            hosts[usize::from(queue_pair.0) - 1] = true;
            seen += 1;
        }
    }
    println!("the first PSN of {seen} queue pairs was announced by their own hosts");
    assert!(seen >= 10 && hosts == [true; 2]);
}

/// The starting PSNs of a capture by the host and the queue pair that announce them.
fn announced(path: &Path) -> BTreeMap<(u8, u32), u32> {
    let messages = capture::messages(path);
    let announcement = |message: &capture::Captured| {
        let (qpn, psn) = match Mad::parse(&message.mad).expect("a whole MAD").message {
            CmMessage::Req(req) => (req.local_qpn, req.starting_psn),
            CmMessage::Rep(rep) => (rep.local_qpn, rep.starting_psn),
            _ => return None,
        };
        Some(((message.source, qpn), psn))
    };
    messages.iter().filter_map(announcement).collect()
}
