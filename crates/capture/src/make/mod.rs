//! Captures from a description: frames for tests, lessons and questions.
//!
//! The description is TOML: defaults first, then a list of messages. Each message is cut into
//! packets by the path MTU, and PSNs continue from the message before; answers answer the last
//! request.
//!
//! ```
//! use rocelab_capture::{Format, Recipe};
//!
//! let text = r#"
//! path_mtu = 1024
//!
//! [[message]]
//! verb = "write"
//! bytes = 5000
//!
//! [[message]]
//! verb = "acknowledge"
//! "#;
//! let recipe = Recipe::parse("write.toml".as_ref(), text)?;
//! assert_eq!(recipe.frames().len(), 6);
//! let file = recipe.write(Format::Pcap, Vec::new())?;
//! # assert_eq!(file.len(), 24 + 6 * 16 + recipe.frames().iter().map(Vec::len).sum::<usize>());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod build;
mod carried;
mod checks;
mod defect;
mod document;
mod error;
mod ethernet;
mod infiniband;
mod link;
mod numbering;
mod opcodes;
mod reading;
mod values;

use std::io::{self, Write};
use std::path::Path;

use rocelab_units::{Bandwidth, SimTime};

use crate::{CaptureWriter, Direction, Format, Interface, LinkType};
use build::Builder;
use document::Document;
use error::Fault;
pub use error::RecipeError;

/// The frames of a description.
#[derive(Debug)]
pub struct Recipe {
    frames: Vec<Vec<u8>>,
    link_type: LinkType,
    fcs: bool,
    interval_ns: u64,
}

impl Recipe {
    /// Reads a description, and makes its frames. `file` is its name in errors.
    ///
    /// # Errors
    /// [`RecipeError`], with the place in the text.
    pub fn parse(file: &Path, text: &str) -> Result<Self, RecipeError> {
        let document = read(file, text)?;
        let located = |fault| RecipeError::new(file, text, fault);
        let mut builder = Builder::new(&document).map_err(located)?;
        for message in &document.message {
            builder.add(message).map_err(located)?;
        }
        if document.message.is_empty() {
            let fault = Fault::missing("message", "there is none", "add a table [[message]]");
            return Err(located(fault));
        }
        let link_type = builder.link_type();
        let frames = builder.finish();
        let interval_ns = checks::interval(&document, frames.len()).map_err(located)?;
        Ok(Self { frames, link_type, fcs: document.has_fcs(), interval_ns })
    }

    /// The frames, in the order of the file, with their FCS if the description asks for it; of native
    /// InfiniBand, packets with their VCRC and link packets.
    #[must_use]
    pub fn frames(&self) -> &[Vec<u8>] {
        &self.frames
    }

    /// Writes the frames to a capture; returns `output`. Those of native InfiniBand are in ERF records.
    ///
    /// # Errors The errors of `output`.
    pub fn write<W: Write>(&self, format: Format, output: W) -> io::Result<W> {
        let interface = Interface {
            name: "made".into(),
            description: String::new(),
            link_type: self.link_type,
            speed: Bandwidth::from_gbps(100),
            fcs: self.fcs,
            snap_length: 0,
        };
        let mut writer = CaptureWriter::new(format, output, &[interface])?;
        for (index, frame) in (0_u64..).zip(&self.frames) {
            let len = u32::try_from(frame.len()).map_err(io::Error::other)?;
            // `parse` has checked that the last of these times fits.
            let time = SimTime::from_ps(index * self.interval_ns * 1_000);
            writer.write_frame(0, time, Direction::Outbound, frame, len)?;
        }
        writer.finish()
    }
}

fn read(file: &Path, text: &str) -> Result<Document, RecipeError> {
    let nowhere = serde_path_to_error::Track::new().path();
    let reader = toml::Deserializer::parse(text)
        .map_err(|error| RecipeError::of_toml(file, text, &nowhere, &error))?;
    serde_path_to_error::deserialize(reader)
        .map_err(|error| RecipeError::of_toml(file, text, error.path(), error.inner()))
}
