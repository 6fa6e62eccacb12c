//! A frame as a tree: each layer with its place and its fields.

mod layers;
mod ordered;

use std::fmt;

use self::layers::{Layer, layers_of};
use self::ordered::Ordered;
use crate::verifier::Verified;

/// A frame as text of several lines: a line for each layer with the bytes that it takes, from 0, and below it a line
/// for each field, in the names of `--json`. Checksums that are wrong say which value is right.
///
/// Bytes count from the beginning of what was captured.
#[derive(Clone, Copy, Debug)]
pub struct Tree<'a>(pub &'a Verified<'a>);

impl fmt::Display for Tree<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verified { number, time, interface, dissection, .. } = self.0;
        write!(f, "Frame {number}: {}", dissection.protocol)?;
        if dissection.cut {
            f.write_str(", cut")?;
        }
        let (seconds, fraction) = (time.as_secs(), time.subsec_nanos());
        write!(f, "\n    time: {seconds}.{fraction:09} s")?;
        if let Some(interface) = interface {
            write!(f, "\n    interface: {interface}")?;
        }
        write!(f, "\n    captured_len: {}", dissection.captured_len)?;
        for layer in layers_of(dissection) {
            show_layer(f, &layer)?;
        }
        if let Some(error) = dissection.error {
            write!(f, "\nMalformed: {error}")?;
        }
        for fault in self.0.faults {
            write!(f, "\nFault: {fault}")?;
        }
        Ok(())
    }
}

fn show_layer(f: &mut fmt::Formatter<'_>, layer: &Layer) -> fmt::Result {
    write!(f, "\n{}", layer.name)?;
    match layer.bytes.clone() {
        Some(bytes) if bytes.len() == 1 => write!(f, ", byte {}", bytes.start)?,
        Some(bytes) if !bytes.is_empty() => {
            write!(f, ", bytes {} to {}", bytes.start, bytes.end - 1)?;
        }
        _ => {}
    }
    match &layer.fields {
        Ordered::Scalar(value) => write!(f, ": {value}"),
        fields => show(f, fields, 1),
    }
}

fn show(f: &mut fmt::Formatter<'_>, value: &Ordered, depth: usize) -> fmt::Result {
    let indent = 4 * depth;
    match value {
        Ordered::Scalar(value) => write!(f, "\n{:indent$}{value}", ""),
        Ordered::List(items) => items.iter().try_for_each(|item| show(f, item, depth)),
        Ordered::Object(fields) => fields.iter().try_for_each(|(name, value)| {
            write!(f, "\n{:indent$}{name}:", "")?;
            match value {
                Ordered::Scalar(value) => write!(f, " {value}"),
                nested => show(f, nested, depth + 1),
            }
        }),
    }
}
