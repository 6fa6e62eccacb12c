//! How an algorithm is carried out.

use crate::collective::Collective;
use crate::error::Error;
use crate::protocol::Cut;

/// How an algorithm is carried out: channels, chunks, slices, and where ranks are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Channels: parts of the data that go at the same time, at least 1.
    pub channels: u32,
    /// The most bytes of a block that one pass of a channel carries; whole elements, at least one. `None`: a block goes as a whole.
    pub chunk: Option<u64>,
    /// Messages that each chunk is cut into, at least 1.
    pub slices: u32,
    /// Ranks of a server: ranks 0 to g-1 are in the first one, and so on. 1 where servers do not matter.
    pub ranks_per_server: u32,
    /// The order of the ranks in each channel's ring; channel c has order number c mod their count. Empty: the order of numbers in one server, and
    /// [`rail_rings`](crate::rail_rings) over several.
    pub rings: Vec<Vec<u32>>,
}

impl Default for Options {
    fn default() -> Self {
        Self { channels: 1, chunk: None, slices: 1, ranks_per_server: 1, rings: Vec::new() }
    }
}

impl Options {
    /// The same with the chunks and slices of a protocol.
    pub fn with_cut(self, cut: Cut) -> Self {
        Self { chunk: Some(cut.chunk), slices: cut.slices, ..self }
    }

    /// Whether they fit a collective.
    ///
    /// # Errors
    /// The first that does not.
    pub(crate) fn check(&self, collective: &Collective) -> Result<(), Error> {
        let range = |key, value: u32, most: u32| {
            if (1..=most).contains(&value) {
                return Ok(());
            }
            let fix = format!("write 1 to {most}");
            Err(Error::new(key, value, "it is out of range", fix))
        };
        range("channels", self.channels, MOST_CHANNELS)?;
        range("slices", self.slices, MOST_SLICES)?;
        range("ranks_per_server", self.ranks_per_server, collective.ranks())?;
        if !collective.ranks().is_multiple_of(self.ranks_per_server) {
            let reason = format!("{} ranks are no whole servers then", collective.ranks());
            let fix = "write a divisor of the ranks";
            return Err(Error::new("ranks_per_server", self.ranks_per_server, reason, fix));
        }
        let element = u64::from(collective.element());
        match self.chunk {
            Some(chunk) if chunk == 0 || !chunk.is_multiple_of(element) => {
                let reason = format!("an element has {element} bytes");
                Err(Error::new("chunk", chunk, reason, "write a multiple of it, and not 0"))
            }
            _ => Ok(()),
        }
    }
}

/// The most channels.
const MOST_CHANNELS: u32 = 1024;

/// The most slices of a chunk.
const MOST_SLICES: u32 = 64;
