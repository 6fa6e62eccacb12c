//! What the frames of a description travel on.

use rocelab_wire::Opcode;

use super::carried::Carried;
use super::defect::Defect;
use super::document::{Document, Message};
use super::error::Fault;
use super::ethernet::EthernetLink;
use super::infiniband::InfiniBandLink;
use crate::LinkType;

/// The link, with the values that all of its frames share.
pub(super) enum Link<'a> {
    Ethernet(EthernetLink<'a>),
    InfiniBand(InfiniBandLink),
}

impl<'a> Link<'a> {
    /// The link that the description's version names.
    pub(super) fn new(document: &'a Document) -> Result<Self, Fault> {
        let version = document.version.get_ref();
        match (version.as_integer(), version.as_str()) {
            (Some(number @ (1 | 2)), _) => {
                EthernetLink::new(document, number == 1).map(Self::Ethernet)
            }
            (_, Some("infiniband")) => InfiniBandLink::new(document).map(Self::InfiniBand),
            _ => {
                let fix = "write 1, 2 or \"infiniband\"";
                Err(Fault::new("version", &document.version, "is no version of RoCE", fix))
            }
        }
    }

    pub(super) const fn link_type(&self) -> LinkType {
        match self {
            Self::Ethernet(_) => LinkType::Ethernet,
            Self::InfiniBand(_) => LinkType::InfiniBand,
        }
    }

    /// The verbs that only this kind of link has, in the order of error messages.
    pub(super) const fn own_verbs(&self) -> &'static [&'static str] {
        match self {
            Self::Ethernet(_) => &["cnp", "pfc", "pause"],
            Self::InfiniBand(_) => &["cn", "flow-control"],
        }
    }

    /// Refuses a verb that only the other kind of link has.
    pub(super) fn check_verb(
        &self,
        message: &Message,
        opcode: Option<Opcode>,
    ) -> Result<(), Fault> {
        let verb = message.verb.as_ref().as_str();
        let (what, fix) = match (self, verb, opcode) {
            (Self::Ethernet(_), "flow-control", _) => {
                ("Ethernet has no credits", "write pfc or pause, or version = \"infiniband\"")
            }
            (Self::Ethernet(_), _, Some(Opcode::Cn)) => {
                ("is the notification of InfiniBand", "write cnp, or version = \"infiniband\"")
            }
            (Self::InfiniBand(_), "pfc" | "pause", _) => {
                ("InfiniBand has credits instead", "write flow-control, or version = 2")
            }
            (Self::InfiniBand(_), _, Some(Opcode::Cnp)) => {
                ("is the notification of RoCE", "write cn, or version = 2")
            }
            _ => return Ok(()),
        };
        Err(Fault::new("verb", &message.verb, what, fix))
    }

    /// The frame of a message that is no packet of the transport, with its defects; `None` if the message
    /// is one.
    pub(super) fn control(
        &self,
        message: &Message,
        defects: &[Defect],
    ) -> Result<Option<Vec<u8>>, Fault> {
        self.check_verb(message, None)?;
        match self {
            Self::Ethernet(link) => link.control(message, defects),
            Self::InfiniBand(link) => link.control(message, defects),
        }
    }

    /// The frame that carries the packet, with its defects.
    pub(super) fn packet(
        &mut self,
        message: &Message,
        carried: Carried<'_>,
        defects: &[Defect],
    ) -> Result<Vec<u8>, Fault> {
        match self {
            Self::Ethernet(link) => link.packet(message, carried, defects),
            Self::InfiniBand(link) => link.packet(message, &carried, defects),
        }
    }
}
