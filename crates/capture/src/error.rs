//! Errors of reading a capture.

use std::io;

use pcap_file::pcap::PcapReadError;
use pcap_file::pcapng::PcapNgReadError;

/// Why a capture cannot be read, or not to its end. The frames before the error are valid; nothing
/// after it can be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file starts with the magic number of neither format.
    #[error("not a capture: starts with {magic:#010x}, neither pcap nor pcapng")]
    NotACapture {
        /// First four bytes, as a big-endian number.
        magic: u32,
    },
    /// The file ends inside a header, frame or block. A frame that claims to be longer than the
    /// reader's buffer of 1 MiB gives this error too.
    #[error("the capture is cut off after frame {frames}")]
    Truncated {
        /// Whole frames read before.
        frames: u64,
    },
    /// A block or header violates the format, or uses a feature that is not supported here, such as
    /// a time resolution finer than a nanosecond.
    #[error("malformed capture after frame {frames}: {reason}")]
    Malformed {
        /// Frames read before.
        frames: u64,
        /// What is wrong.
        reason: String,
    },
    /// The operating system could not read.
    #[error("cannot read the capture after frame {frames}")]
    Io {
        /// Frames read before.
        frames: u64,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl ReadError {
    pub(crate) fn from_io(source: io::Error, frames: u64) -> Self {
        match source.kind() {
            io::ErrorKind::UnexpectedEof => Self::Truncated { frames },
            _ => Self::Io { frames, source },
        }
    }

    pub(crate) fn from_pcap(error: PcapReadError, frames: u64) -> Self {
        match error {
            PcapReadError::Io(source) => Self::from_io(source, frames),
            PcapReadError::Validation(error) => Self::malformed(&error, frames),
        }
    }

    pub(crate) fn from_pcapng(error: PcapNgReadError, frames: u64) -> Self {
        match error {
            PcapNgReadError::Io(source) => Self::from_io(source, frames),
            error => Self::malformed(&error, frames),
        }
    }

    /// Puts the whole chain of causes into one line, because the outer errors only name the layer.
    fn malformed(error: &dyn std::error::Error, frames: u64) -> Self {
        let mut reason = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            let text = error.to_string();
            if !reason.ends_with(&text) {
                reason = format!("{reason}: {text}");
            }
            cause = error.source();
        }
        Self::Malformed { frames, reason }
    }
}
