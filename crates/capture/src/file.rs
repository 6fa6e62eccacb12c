//! Reads and verifies captures that users name.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::dissection::{LinkLayer, link_type_named};
use crate::verifier::{Survey, Verified, Verifier};
use crate::{CaptureReader, Format, IcrcCorrection, NumberedInterface, ReadError};

/// The name of standard input.
const STANDARD_INPUT: &str = "-";

/// A capture that is named by its path, or in standard input.
#[derive(Clone, Copy, Debug)]
pub struct CaptureFile<'a> {
    path: &'a Path,
    is_standard_input: bool,
}

/// Why a capture cannot be read, or not to its end: a line with the file, the place, the error, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CaptureError(String);

/// What was read of a capture.
#[derive(Debug)]
pub struct CaptureRead {
    /// What was found in the frames.
    pub verifier: Verifier,
    /// The interfaces of the capture: those of frames, and those that its last section describes.
    pub interfaces: Vec<NumberedInterface>,
    /// Why the rest could not be read; `None` if the capture was read to its end.
    pub error: Option<CaptureError>,
}

/// Why reading ended before the capture was read.
#[derive(Debug)]
pub enum ReadingEnded<E> {
    /// Nothing of the capture can be read.
    Unreadable(CaptureError),
    /// The receiver of frames ended it.
    BySink(E),
}

impl<'a> CaptureFile<'a> {
    /// The file at `path`.
    #[must_use]
    pub const fn at(path: &'a Path) -> Self {
        Self { path, is_standard_input: false }
    }

    /// The file at `path`, or standard input if that is `-`.
    #[must_use]
    pub fn named(path: &'a Path) -> Self {
        Self { path, is_standard_input: path == Path::new(STANDARD_INPUT) }
    }

    /// Passes every frame to `sink`, each verified with those before it.
    ///
    /// # Errors [`ReadingEnded`]. An error after valid frames is in [`CaptureRead::error`].
    pub fn read<E>(
        &self,
        sink: impl FnMut(&Verified<'_>) -> Result<(), E>,
    ) -> Result<CaptureRead, ReadingEnded<E>> {
        self.read_by(Verifier::new(), sink)
    }

    /// As [`read`](Self::read), with faults that do not depend on the order of frames. For this, a file is read
    /// twice; a pipe can be read only once.
    ///
    /// # Errors As [`read`](Self::read).
    pub fn verify<E>(
        &self,
        sink: impl FnMut(&Verified<'_>) -> Result<(), E>,
    ) -> Result<CaptureRead, ReadingEnded<E>> {
        self.read_by(Verifier::with(self.survey()), sink)
    }

    /// What has to change so that all ICRCs are right.
    ///
    /// # Errors If the capture cannot be read to its end, or all its frames are of link types that are not read here.
    pub fn icrc_correction(&self) -> Result<IcrcCorrection, CaptureError> {
        let correction = IcrcCorrection::of(self.open()?).map_err(|error| self.explain(&error))?;
        let first = correction.link_types().next();
        match first.filter(|_| correction.frames == correction.of_unread_links()) {
            Some((link_type, _)) => Err(self.unknown_links(&correction, link_type)),
            None => Ok(correction),
        }
    }

    /// Opens the capture.
    ///
    /// # Errors If it cannot be read, or is none.
    pub fn open(&self) -> Result<CaptureReader<Box<dyn Read>>, CaptureError> {
        self.reader().map_err(|error| self.explain(&error))
    }

    /// The common addresses of each interface, as far as the file can be read.
    fn survey(&self) -> Survey {
        let mut survey = Survey::default();
        if !self.is_standard_input
            && self.path.is_file()
            && let Ok(mut reader) = CaptureReader::open(self.path)
        {
            while let Some(Ok(frame)) = reader.next_frame() {
                survey.note(&frame);
            }
        }
        survey
    }

    fn read_by<E>(
        &self,
        mut verifier: Verifier,
        mut sink: impl FnMut(&Verified<'_>) -> Result<(), E>,
    ) -> Result<CaptureRead, ReadingEnded<E>> {
        let mut reader = self.open().map_err(ReadingEnded::Unreadable)?;
        let is_classic = reader.format() == Format::Pcap;
        let mut unread = None;
        let mut is_read = false;
        let error = loop {
            let frame = match reader.next_frame() {
                Some(Ok(frame)) => frame,
                Some(Err(error)) => break Some(self.explain(&error)),
                None => break unread.filter(|_| !is_read),
            };
            if LinkLayer::of_type(frame.link_type).is_some() {
                is_read = true;
            } else if unread.is_none() {
                unread = Some(self.unknown_link(frame.number, frame.link_type));
                // All frames of a classic file have the same link type.
                if is_classic {
                    break unread;
                }
            }
            sink(&verifier.verify(&frame)).map_err(ReadingEnded::BySink)?;
        };
        let interfaces = interfaces(&verifier, &reader);
        Ok(CaptureRead { verifier, interfaces, error })
    }

    fn reader(&self) -> Result<CaptureReader<Box<dyn Read>>, ReadError> {
        let input: Box<dyn Read> = if self.is_standard_input {
            Box::new(io::stdin().lock())
        } else {
            let opened = File::open(self.path);
            Box::new(opened.map_err(|source| ReadError::Io { source, frames: 0 })?)
        };
        CaptureReader::new(input)
    }

    fn unknown_link(&self, frame: u64, link_type: u16) -> CaptureError {
        CaptureError(format!(
            "{}: frame {frame} is of {}, which is not read here; capture on an interface of {}",
            self.path.display(),
            link_type_named(link_type),
            LinkLayer::READ
        ))
    }

    /// The error of a capture of which no frame can be looked into.
    fn unknown_links(&self, correction: &IcrcCorrection, link_type: u16) -> CaptureError {
        CaptureError(format!(
            "{}: none of its frames ({}) can be looked into, because {} is not read here; capture on an interface of {}",
            self.path.display(),
            correction.frames,
            link_type_named(link_type),
            LinkLayer::READ
        ))
    }

    /// The error with what to do about it.
    fn explain(&self, error: &ReadError) -> CaptureError {
        let shown = self.path.display();
        let is_folder = !self.is_standard_input && self.path.is_dir();
        CaptureError(match error {
            _ if is_folder => format!("{shown}: is a folder; name a file in it"),
            ReadError::Truncated { frames: 0 } if self.is_empty() => {
                format!("{shown}: is empty; name a pcap or pcapng file")
            }
            ReadError::Io { source, .. } => {
                let what = match source.kind() {
                    io::ErrorKind::NotFound => "there is no such file".to_owned(),
                    _ => source.to_string(),
                };
                format!("{shown}: {error}: {what}; name a file that you may read")
            }
            _ => format!("{shown}: {error}; {}", what_to_do(error)),
        })
    }

    fn is_empty(&self) -> bool {
        !self.is_standard_input
            && self.path.metadata().is_ok_and(|file| file.is_file() && file.len() == 0)
    }
}

/// The interfaces of frames, and those that the reader knows, by number.
fn interfaces<R: Read>(verifier: &Verifier, reader: &CaptureReader<R>) -> Vec<NumberedInterface> {
    let mut all: Vec<_> = reader.numbered_interfaces().chain(verifier.interfaces()).collect();
    all.sort_by_key(|interface| interface.number);
    all.dedup_by_key(|interface| interface.number);
    all
}

/// What to do about an error of the capture's bytes.
const fn what_to_do(error: &ReadError) -> &'static str {
    match error {
        ReadError::NotACapture { magic } if *magic >> 16 == 0x1f8b => "unpack it with gunzip first",
        ReadError::NotACapture { .. } => "name a pcap or pcapng file",
        ReadError::Truncated { .. } => "capture again, or go on with what is there",
        _ => "save it anew with Wireshark or editcap",
    }
}
