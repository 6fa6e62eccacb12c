//! Sets of opcodes, by name and by class.

use rocelab_transport::Packet;
use rocelab_wire::{Opcode, Syndrome};

use crate::scenario::{Fault, OpcodeNames, ensure, known_names};

/// What a rule calls pause frames, and negative acknowledgements.
const PFC: &str = "PFC";
const NAK: &str = "nak";

/// Which packets a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpcodeSet {
    /// Bit k: opcode k.
    opcodes: [u64; 4],
    /// Negative acknowledgements, also where acknowledgements are not meant.
    nak: bool,
    pfc: bool,
}

impl OpcodeSet {
    /// Every RDMA packet, and no pause frame.
    pub const RDMA: Self = Self { opcodes: [u64::MAX; 4], nak: true, pfc: false };

    const EMPTY: Self = Self { opcodes: [0; 4], nak: false, pfc: false };

    /// Whether the packet is one of them.
    pub fn contains(&self, packet: &Packet) -> bool {
        self.holds(packet.opcode()) || self.nak && is_negative(packet)
    }

    /// Whether pause frames are among them.
    pub const fn has_pfc(&self) -> bool {
        self.pfc
    }

    /// Whether packets with payload are among them.
    pub(super) fn has_payload(&self) -> bool {
        Opcode::ALL.iter().any(|&opcode| opcode.has_payload() && self.holds(opcode))
    }

    const fn holds(&self, opcode: Opcode) -> bool {
        let number = opcode as u8;
        self.opcodes[(number / 64) as usize] >> (number % 64) & 1 == 1
    }

    fn insert(&mut self, opcode: Opcode) {
        let number = opcode as u8;
        self.opcodes[usize::from(number / 64)] |= 1 << (number % 64);
    }

    /// Adds what `name` stands for; false if it stands for nothing.
    fn add(&mut self, name: &str) -> bool {
        let is_name = |known: &str| known.eq_ignore_ascii_case(name);
        if let Some((_, is_in_class)) = CLASSES.iter().find(|(class, _)| is_name(class)) {
            let class = Opcode::ALL.iter().filter(|opcode| is_in_class(**opcode));
            class.for_each(|opcode| self.insert(*opcode));
        } else if is_name(NAK) {
            self.nak = true;
        } else if is_name(PFC) {
            self.pfc = true;
        } else {
            let named = Opcode::ALL.iter().find(|opcode| is_name(opcode.name()));
            named.inspect(|opcode| self.insert(**opcode));
            return named.is_some();
        }
        true
    }
}

/// A name, and which opcodes it stands for.
type Class = (&'static str, fn(Opcode) -> bool);

/// Names that stand for several opcodes.
const CLASSES: [Class; 4] = [
    ("data", Opcode::has_payload),
    ("request", Opcode::is_request),
    ("response", Opcode::is_response),
    ("ack", |opcode| opcode.is_response() && !opcode.has_payload() && !opcode.has_atomic_ack_eth()),
];

/// Every name that a rule may use.
fn known() -> impl Iterator<Item = &'static str> {
    let classes = CLASSES.iter().map(|(class, _)| *class).chain([NAK, PFC]);
    classes.chain(Opcode::ALL.iter().map(|opcode| opcode.name()))
}

fn is_negative(packet: &Packet) -> bool {
    packet
        .aeth()
        .is_some_and(|aeth| matches!(aeth.syndrome, Syndrome::Nak(_) | Syndrome::RnrNak { .. }))
}

/// The set that `names` stand for; all RDMA packets without any.
pub(super) fn named(names: Option<&OpcodeNames>) -> Result<OpcodeSet, Fault> {
    let Some(OpcodeNames(names)) = names else { return Ok(OpcodeSet::RDMA) };
    ensure(!names.is_empty(), || {
        Fault::at("opcode", "no opcode is named")
            .help("name some, such as \"data\" or \"RC_ACKNOWLEDGE\", or leave the key out")
    })?;
    let mut set = OpcodeSet::EMPTY;
    for name in names {
        ensure(set.add(name.trim()), || {
            let all: Vec<_> = known().collect();
            let help = match known_names(name.trim(), &all) {
                help if help.starts_with("did you mean") => help,
                _ => "use a standard name such as `RC_SEND_FIRST`, a class (data, request, \
                      response, ack, nak), or `PFC`"
                    .into(),
            };
            Fault::at("opcode", format!("there is no opcode `{name}`")).help(help)
        })?;
    }
    Ok(set)
}

#[cfg(test)]
mod tests {
    use rocelab_wire::NakCode;

    use super::*;

    fn set(names: &[&str]) -> OpcodeSet {
        named(Some(&OpcodeNames(names.iter().map(|&name| name.into()).collect()))).unwrap()
    }

    #[test]
    fn classes_hold_what_their_name_says() {
        let packet = |opcode| Packet::new(opcode, 0x11, 0);
        let data = set(&["data"]);
        for opcode in
            [Opcode::RcSendMiddle, Opcode::RcRdmaWriteLast, Opcode::RcRdmaReadResponseMiddle]
        {
            assert!(data.contains(&packet(opcode)), "{opcode}");
        }
        for opcode in [Opcode::RcAcknowledge, Opcode::RcRdmaReadRequest, Opcode::Cnp] {
            assert!(!data.contains(&packet(opcode)), "{opcode}");
        }
        assert!(set(&["request"]).contains(&packet(Opcode::RcRdmaReadRequest)));
        assert!(!set(&["request"]).contains(&packet(Opcode::RcRdmaReadResponseOnly)));
        assert!(set(&["response"]).contains(&packet(Opcode::RcRdmaReadResponseOnly)));
        assert!(set(&["rc_send_only"]).contains(&packet(Opcode::RcSendOnly)));
        assert!(!set(&["data"]).has_pfc() && set(&["PFC"]).has_pfc());
        assert!(set(&["CNP"]).contains(&packet(Opcode::Cnp)));
    }

    #[test]
    fn a_nak_is_an_acknowledgement_but_not_the_other_way_round() {
        let ack = Packet::new(Opcode::RcAcknowledge, 0x11, 0).with_aeth(Syndrome::ACK, 0);
        let nak = ack.with_aeth(Syndrome::Nak(NakCode::PsnSequenceError), 0);
        assert!(set(&["ack"]).contains(&ack) && set(&["ack"]).contains(&nak));
        assert!(!set(&["nak"]).contains(&ack) && set(&["nak"]).contains(&nak));
    }
}
