//! The opcodes of a rule, by name and by class.

use rocelab_fabric::LinkFlowControl;

use crate::plan::OpcodeSet;
use crate::scenario::{Fault, OpcodeNames, ensure, known_names};

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
            let all: Vec<_> = OpcodeSet::names().collect();
            let help = match known_names(name.trim(), &all) {
                help if help.starts_with("did you mean") => help,
                _ => format!(
                    "use a standard name such as `RC_SEND_FIRST`, a class (data, request, \
                      response, ack, nak), or {}",
                    frames_of_controls()
                ),
            };
            Fault::at("opcode", format!("there is no opcode `{name}`")).help(help)
        })?;
    }
    Ok(set)
}

/// The names of the frames of all flow controls of links.
fn frames_of_controls() -> String {
    let names = LinkFlowControl::ALL.iter().map(|control| format!("`{}`", control.frame_name()));
    names.collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use rocelab_transport::Packet;
    use rocelab_wire::{NakCode, Opcode, Syndrome};

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
        assert!(set(&["data"]).controls().count() == 0 && set(&["PFC"]).controls().count() == 1);
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
