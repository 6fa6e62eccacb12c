//! Attributes of a node that decide something.

use crate::TraceError;

use super::wire::Value;
use super::{File, ReadNode};

/// The attributes of one node.
#[derive(Clone, Copy)]
pub(super) struct Attributes<'a> {
    pub(super) file: &'a File,
    pub(super) read: &'a ReadNode,
}

impl Attributes<'_> {
    /// The error that `message` says of the node.
    pub(super) fn error(&self, message: impl Into<String>, help: impl Into<String>) -> TraceError {
        let error = TraceError::new(&self.file.path, message, help);
        error.at_byte(self.read.byte).of_node(self.read.label())
    }

    /// The value of that name. The last one counts if there are several.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        let attribute = self.read.node.attr.iter().rev().find(|one| one.name == name);
        attribute.and_then(|attribute| attribute.value.as_ref())
    }

    /// An integer of any kind from 0 to `most`; `None` if there is none of that name.
    pub(super) fn integer(&self, name: &str, most: u64) -> Result<Option<u64>, TraceError> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let Some(integer) = value.integer() else {
            let message = format!("{name} is a {}, and no integer", value.kind());
            return Err(self.error(message, "write it as an integer of any kind"));
        };
        let fits = u64::try_from(integer).ok().filter(|integer| *integer <= most);
        fits.map(Some).ok_or_else(|| {
            let message = format!("{name} = {integer} is not from 0 to {most}");
            self.error(message, format!("give {name} a value from 0 to {most}"))
        })
    }

    /// Such an integer, which must be there.
    pub(super) fn needed(&self, name: &str, most: u64) -> Result<u64, TraceError> {
        self.integer(name, most)?.ok_or_else(|| {
            let message = format!("it has no attribute {name}");
            self.error(message, format!("write {name} as an integer of any kind"))
        })
    }

    /// A rank or tag: an integer that is not [`ANY`](crate::ANY), and must be there.
    pub(super) fn number(&self, name: &str) -> Result<u32, TraceError> {
        let number = self.needed(name, (u32::MAX - 1).into())?;
        u32::try_from(number).map_err(|_| self.error(format!("{name} = {number}"), "give less"))
    }

    /// A truth value, also as an integer; false if there is none of that name.
    pub(super) fn flag(&self, name: &str) -> Result<bool, TraceError> {
        match self.value(name) {
            Some(Value::Bool(value)) => Ok(*value),
            _ => Ok(self.integer(name, 1)? == Some(1)),
        }
    }

    /// A text, also a number as its digits; empty if there is none of that name.
    pub(super) fn text(&self, name: &str) -> Result<String, TraceError> {
        match self.value(name) {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(value) => value.integer().map(|number| number.to_string()).ok_or_else(|| {
                let message = format!("{name} is a {}, and no text", value.kind());
                self.error(message, "write it as a string")
            }),
        }
    }
}
