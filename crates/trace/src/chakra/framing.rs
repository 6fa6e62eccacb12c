//! Messages of a file, each behind its length.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use crate::TraceError;

/// The longest message (bytes). A longer one is refused before anything is read of it.
const LONGEST: u64 = 64 << 20;

/// The most that is in a compressed file (bytes): a small one can have very much in it.
const MOST_UNPACKED: u64 = 2 << 30;

/// How a file compressed by gzip begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The messages of a file.
pub(super) struct Frames<'a> {
    source: Box<dyn BufRead + 'a>,
    is_packed: bool,
    path: PathBuf,
    /// Bytes read so far.
    at: u64,
    message: Vec<u8>,
}

impl<'a> Frames<'a> {
    /// Of a file that may be compressed.
    pub(super) fn new(source: impl Read + 'a, path: &Path) -> Result<Self, TraceError> {
        let mut source = BufReader::new(source);
        let unreadable = |error: io::Error| {
            TraceError::new(path, error.to_string(), "give a file that you may read")
        };
        let is_packed = source.fill_buf().map_err(unreadable)?.starts_with(&GZIP);
        let source: Box<dyn BufRead> = match is_packed {
            true => Box::new(BufReader::new(MultiGzDecoder::new(source))),
            false => Box::new(source),
        };
        Ok(Self { source, is_packed, path: path.to_owned(), at: 0, message: Vec::new() })
    }

    /// Where the next message's length begins, and its bytes; `None` where the file ends.
    pub(super) fn next(&mut self) -> Result<Option<(u64, &[u8])>, TraceError> {
        let begin = self.at;
        let Some(len) = self.length()? else { return Ok(None) };
        if len > LONGEST {
            let message = format!("a message of {len} bytes is longer than {LONGEST} bytes");
            return Err(self.error(begin, message, "write the trace again"));
        }
        if self.is_packed && self.at + len > MOST_UNPACKED {
            let message = format!("more than {MOST_UNPACKED} bytes are in the compressed file");
            return Err(self.error(begin, message, "unpack it with gzip first"));
        }
        self.message.clear();
        // What is not there takes no memory, whatever the length says.
        let read = (&mut self.source).take(len).read_to_end(&mut self.message);
        let read = read.map_err(|error| self.unreadable(&error))? as u64;
        self.at += read;
        if read < len {
            let message = format!("a message of {len} bytes ends with the file after {read} bytes");
            return Err(self.error(begin, message, "the file is cut off; copy or write it again"));
        }
        Ok(Some((begin, &self.message)))
    }

    /// The length of the next message, a varint of at most 5 bytes.
    fn length(&mut self) -> Result<Option<u64>, TraceError> {
        let begin = self.at;
        let mut len = 0_u64;
        for shift in [0, 7, 14, 21, 28] {
            let Some(byte) = self.byte()? else {
                if shift == 0 {
                    return Ok(None);
                }
                let help = "the file is cut off; copy or write it again";
                return Err(self.error(begin, "the file ends in the length of a message", help));
            };
            len |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(Some(len));
            }
        }
        let message = "the length of a message has more than 5 bytes";
        Err(self.error(begin, message, "give a Chakra execution trace"))
    }

    fn byte(&mut self) -> Result<Option<u8>, TraceError> {
        let mut byte = [0];
        loop {
            match self.source.read(&mut byte) {
                Ok(0) => return Ok(None),
                Ok(_) => {
                    self.at += 1;
                    return Ok(Some(byte[0]));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.unreadable(&error)),
            }
        }
    }

    fn unreadable(&self, error: &io::Error) -> TraceError {
        self.error(self.at, error.to_string(), "copy or write the file again")
    }

    fn error(&self, byte: u64, message: impl Into<String>, help: &str) -> TraceError {
        TraceError::new(&self.path, message, help).at_byte(byte)
    }
}
