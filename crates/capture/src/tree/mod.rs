//! A frame as a tree: each layer with its place and its fields.

mod layers;
mod ordered;

use std::fmt;

use self::layers::{Layer, counted, layers_of};
use self::ordered::Ordered;
use crate::verifier::Verified;

/// A frame as text of several lines: a line for each layer with the bytes that it takes, from 0, and below it a line
/// for each field, in the names of `--json`. Checksums that are wrong say which value is right.
///
/// Bytes count from the beginning of what was captured. Of a layer that was not captured whole, it says what is there.
#[derive(Clone, Copy, Debug)]
pub struct Tree<'a>(pub &'a Verified<'a>);

impl fmt::Display for Tree<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verified { number, time, interface, dissection, .. } = self.0;
        write!(f, "Frame {number}: {}", dissection.protocol)?;
        if dissection.extent.cut {
            f.write_str(", cut")?;
        }
        let (seconds, fraction) = (time.as_secs(), time.subsec_nanos());
        write!(f, "\n    time: {seconds}.{fraction:09} s")?;
        if let Some(interface) = interface {
            write!(f, "\n    interface: {interface}")?;
        }
        let (captured, original) = (dissection.extent.captured_len, dissection.extent.original_len);
        write!(f, "\n    captured_len: {captured}\n    original_len: {original}")?;
        for layer in layers_of(dissection) {
            show_layer(f, &layer, captured)?;
        }
        if original > captured {
            let count = counted(original - captured);
            write!(f, "\nNot captured, bytes {captured} to {}: {count}", original - 1)?;
        }
        if let Some(reason) = dissection.not_looked_into {
            write!(f, "\nNot looked into: {reason}")?;
        }
        if let Some(reason) = dissection.stopped {
            write!(f, "\nNot read further: {reason}")?;
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

fn show_layer(f: &mut fmt::Formatter<'_>, layer: &Layer, captured: usize) -> fmt::Result {
    write!(f, "\n{}", layer.name)?;
    if let Some(bytes) = layer.bytes.clone().filter(|bytes| !bytes.is_empty()) {
        let (whole, there) = (bytes.len(), bytes.start..bytes.end.min(captured));
        match there.len() {
            0 => return write!(f, ": not captured, {}", counted(whole)),
            1 => write!(f, ", byte {}", there.start)?,
            _ => write!(f, ", bytes {} to {}", there.start, there.end - 1)?,
        }
        if there.len() < whole {
            return write!(f, ": {} of {} captured", there.len(), counted(whole));
        }
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
