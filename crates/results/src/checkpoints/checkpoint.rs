//! One checkpoint, and the bytes of its file.

use std::path::Path;
use std::{fs, io};

use borsh::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Duration, SimTime};

use super::file_lengths::FileLengths;
use crate::ResultsError;
use crate::place::Overwrite;

/// The first bytes of a checkpoint's file.
pub(super) const MAGIC: [u8; 8] = *b"rocelab\x08";
/// The program's version: the saved state has a meaning for this version only.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The state of a run at one time.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Checkpoint {
    /// The simulated time.
    pub time: SimTime,
    /// How the run makes checkpoints.
    pub settings: CheckpointSettings,
    /// The lengths of the results' files at that time.
    pub files: FileLengths,
    /// The state of the simulation, and of the data that is written at its end.
    pub state: Vec<u8>,
}

/// How a run makes checkpoints, and other settings of the run that are not in its scenario.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct CheckpointSettings {
    /// The name of its scenario.
    pub scenario: String,
    /// Simulated time between checkpoints; above 0.
    pub every: Duration,
    /// Whether all are kept, for what-if runs; if not, only the last one, and none after the run
    /// has ended.
    pub keep: bool,
    /// Whether the results may replace earlier ones.
    pub replaces: bool,
    /// The scenario and the files that it names, as they were when the run began.
    pub inputs: Vec<InputFile>,
}

/// A file that a run read, identified by its content at that time.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct InputFile {
    /// Its path, as written in the scenario of the results.
    pub file: String,
    /// CRC-32 of its content.
    pub checksum: u32,
}

impl Checkpoint {
    /// The bytes of the checkpoint's file.
    ///
    /// # Errors If a part is too long for its length field.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let mut bytes = MAGIC.to_vec();
        borsh::to_writer(&mut bytes, VERSION)?;
        let place = bytes.len()..bytes.len() + size_of::<u32>();
        bytes.extend([0; size_of::<u32>()]);
        borsh::to_writer(&mut bytes, self)?;
        let checksum = Self::checksum(&bytes[place.end..]);
        bytes[place].copy_from_slice(&checksum.to_le_bytes());
        Ok(bytes)
    }

    /// Reads a checkpoint from the bytes of its file.
    ///
    /// # Errors The reason in words, if this is not a checkpoint, is damaged, or is of another
    /// version of the program.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let mut rest = bytes.strip_prefix(&MAGIC[..]).ok_or("it is no checkpoint of rocelab")?;
        let damaged = |error: io::Error| format!("it is damaged: {error}");
        let version = String::deserialize(&mut rest).map_err(damaged)?;
        if version != VERSION {
            return Err(format!(
                "it was written by rocelab {version} and this is {VERSION}: go on with that version"
            ));
        }
        let checksum = u32::deserialize(&mut rest).map_err(damaged)?;
        if Self::checksum(rest) != checksum {
            return Err("it is damaged: its checksum is wrong".to_owned());
        }
        borsh::from_slice(rest).map_err(damaged)
    }

    /// The checksum of a checkpoint's content: CRC-32.
    pub fn checksum(content: &[u8]) -> u32 {
        crc32fast::hash(content)
    }
}

impl InputFile {
    /// A file below `folder`, or at an absolute path, with its present content.
    ///
    /// # Errors [`ResultsError::Read`].
    pub fn read(folder: &Path, file: &Path) -> Result<Self, ResultsError> {
        let path = folder.join(file);
        let bytes = fs::read(&path).map_err(ResultsError::read(&path))?;
        Ok(Self { file: file.to_string_lossy().into_owned(), checksum: crc32fast::hash(&bytes) })
    }
}

impl CheckpointSettings {
    /// What to do with existing results.
    pub fn overwrite(&self) -> Overwrite {
        if self.replaces { Overwrite::Replace } else { Overwrite::Refuse }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_known_again() {
        let folder = tempfile::tempdir().unwrap();
        let read = || InputFile::read(folder.path(), Path::new("flows.txt"));
        assert!(matches!(read(), Err(ResultsError::Read { .. })));
        fs::write(folder.path().join("flows.txt"), "0 1 3 100 1000 2.0").unwrap();
        let before = read().unwrap();
        assert_eq!((before.file.as_str(), &read().unwrap()), ("flows.txt", &before));
        fs::write(folder.path().join("flows.txt"), "0 1 3 100 1001 2.0").unwrap();
        assert_ne!(read().unwrap(), before);
    }
}
