//! The opcodes of verbs.

use rocelab_wire::Opcode;

use super::document::Message;
use super::error::Fault;
use crate::suggestion;

/// The transport services that a message may name.
const SERVICES: [&str; 4] = ["RC", "UC", "UD", "XRC"];

/// A verb: the operations of its packets.
struct Verb {
    name: &'static str,
    first: &'static str,
    middle: &'static str,
    last: &'static str,
    only: &'static str,
}

/// Verbs that are cut into packets; the others are single packets.
const VERBS: [Verb; 3] = [
    Verb {
        name: "send",
        first: "SEND_FIRST",
        middle: "SEND_MIDDLE",
        last: "SEND_LAST",
        only: "SEND_ONLY",
    },
    Verb {
        name: "write",
        first: "RDMA_WRITE_FIRST",
        middle: "RDMA_WRITE_MIDDLE",
        last: "RDMA_WRITE_LAST",
        only: "RDMA_WRITE_ONLY",
    },
    Verb {
        name: "read-response",
        first: "RDMA_READ_RESPONSE_FIRST",
        middle: "RDMA_READ_RESPONSE_MIDDLE",
        last: "RDMA_READ_RESPONSE_LAST",
        only: "RDMA_READ_RESPONSE_ONLY",
    },
];

const SINGLE: [(&str, &str); 7] = [
    ("read", "RDMA_READ_REQUEST"),
    ("compare-swap", "COMPARE_SWAP"),
    ("fetch-add", "FETCH_ADD"),
    ("atomic-write", "ATOMIC_WRITE"),
    ("flush", "FLUSH"),
    ("acknowledge", "ACKNOWLEDGE"),
    ("atomic-acknowledge", "ATOMIC_ACKNOWLEDGE"),
];

/// The opcodes of a message's packets.
pub(super) struct Opcodes {
    pub(super) first: Option<Opcode>,
    pub(super) middle: Option<Opcode>,
    pub(super) last: Option<Opcode>,
    pub(super) only: Opcode,
}

impl Opcodes {
    /// The opcodes of a message on a link whose own verbs are these.
    pub(super) fn of(message: &Message, own_verbs: &[&'static str]) -> Result<Self, Fault> {
        let verb = message.verb.as_ref().as_str();
        if let Some(only) = named(verb) {
            return Ok(Self { first: None, middle: None, last: None, only });
        }
        let service = service(message)?;
        Self::of_verb(verb, service, suffix(message)?)
            .ok_or_else(|| unknown(message, service, own_verbs))
    }

    /// The opcodes of `verb` on a service, if the service has them.
    fn of_verb(verb: &str, service: &str, suffix: &str) -> Option<Self> {
        let with = |operation: &str, suffix: &str| named(&format!("{service}_{operation}{suffix}"));
        if let Some(verb) = VERBS.iter().find(|known| known.name == verb) {
            return with(verb.only, suffix).map(|only| Self {
                first: with(verb.first, ""),
                middle: with(verb.middle, ""),
                last: with(verb.last, suffix),
                only,
            });
        }
        let (_, operation) = SINGLE.iter().find(|(known, _)| *known == verb)?;
        let only = with(operation, "")?;
        Some(Self { first: None, middle: None, last: None, only })
    }

    /// All opcodes.
    pub(super) fn all(&self) -> impl Iterator<Item = Opcode> {
        [self.first, self.middle, self.last, Some(self.only)].into_iter().flatten()
    }

    pub(super) fn at(&self, index: usize, last: usize) -> Opcode {
        let found = match index {
            _ if last == 0 => None,
            0 => self.first,
            index if index == last => self.last,
            _ => self.middle,
        };
        found.unwrap_or(self.only)
    }
}

/// The transport service that a message names.
fn service(message: &Message) -> Result<&str, Fault> {
    let Some(name) = &message.transport else { return Ok("RC") };
    if SERVICES.contains(&name.as_ref().as_str()) {
        return Ok(name.as_ref());
    }
    let fix = suggestion::write_one_of(name.as_ref(), &SERVICES);
    Err(Fault::new("transport", name, "is no transport service", fix))
}

/// The end of the opcode's name, which depends on immediate data or an invalidated key in the
/// message.
fn suffix(message: &Message) -> Result<&'static str, Fault> {
    match (&message.immediate, &message.invalidate) {
        (Some(_), Some(invalidate)) => {
            let fix = "keep one of them";
            Err(Fault::new("invalidate", invalidate, "no opcode has an immediate too", fix))
        }
        (Some(_), None) => Ok("_WITH_IMMEDIATE"),
        (None, Some(_)) => Ok("_WITH_INVALIDATE"),
        (None, None) => Ok(""),
    }
}

/// The error for a verb that does not exist, or not on this service, or not with these keys.
fn unknown(message: &Message, service: &str, own_verbs: &[&'static str]) -> Fault {
    let verb = message.verb.as_ref();
    if Opcodes::of_verb(verb, service, "").is_some() {
        let what = format!("`{verb}` of {service} takes none along");
        let fix = "leave it out, or choose another verb";
        return match (&message.immediate, &message.invalidate) {
            (Some(immediate), _) => Fault::new("immediate", immediate, what, fix),
            (_, Some(invalidate)) => Fault::new("invalidate", invalidate, what, fix),
            _ => Fault::new("verb", &message.verb, what, fix),
        };
    }
    let verbs = VERBS.iter().map(|verb| verb.name);
    let known: Vec<_> = verbs
        .chain(SINGLE.iter().map(|(name, _)| *name))
        .filter(|verb| Opcodes::of_verb(verb, service, "").is_some())
        .chain(own_verbs.iter().copied())
        .collect();
    let fix = suggestion::write_one_of(verb, &known);
    let fix = format!("{fix}, or an opcode such as {service}_SEND_ONLY");
    Fault::new("verb", &message.verb, format!("is nothing that {service} does"), fix)
}

fn named(name: &str) -> Option<Opcode> {
    let name = match name {
        "cn" => "CN",
        "cnp" => "CNP",
        name => name,
    };
    Opcode::ALL.iter().copied().find(|opcode| opcode.name() == name)
}
