//! Messages between ranks, by MPI.

use mpi::Rank;
use mpi::request::multiple_scope;
use mpi::topology::{Communicator as _, SimpleCommunicator};
use mpi::traits::{Destination as _, Source as _};
use rocelab_sim::ranks::{CommunicationError, Communicator};

/// Largest message of MPI in bytes: its counts are 32-bit integers.
const MOST: usize = 1 << 30;

/// The ranks of an MPI communicator.
///
/// Messages of each pair of ranks are in order, so a rank may be one exchange ahead of others
/// without confusion. Errors of MPI itself end all ranks, which is its default.
pub(crate) struct MpiCommunicator {
    world: SimpleCommunicator,
}

impl std::fmt::Debug for MpiCommunicator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MpiCommunicator").field("rank", &self.world.rank()).finish_non_exhaustive()
    }
}

impl MpiCommunicator {
    /// All ranks of a communicator.
    pub(crate) fn new(world: SimpleCommunicator) -> Self {
        Self { world }
    }

    /// All bytes that a rank sends in this exchange.
    fn receive(&self, from: Rank) -> Vec<u8> {
        let from = self.world.process_at_rank(from);
        let mut received = Vec::new();
        loop {
            let (piece, _) = from.receive_vec::<u8>();
            let is_last = piece.len() < MOST;
            if received.is_empty() {
                received = piece;
            } else {
                received.extend(piece);
            }
            if is_last {
                return received;
            }
        }
    }
}

impl Communicator for MpiCommunicator {
    fn rank(&self) -> u32 {
        self.world.rank().unsigned_abs()
    }

    fn size(&self) -> u32 {
        self.world.size().unsigned_abs()
    }

    fn exchange(&mut self, mut outgoing: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, CommunicationError> {
        let own = self.rank() as usize;
        let mut to_itself = outgoing.get_mut(own).map(std::mem::take);
        let count = outgoing.iter().map(|message| pieces(message, MOST).count()).sum();
        let received = multiple_scope(count, |scope, sending| {
            for (to, message) in (0..).zip(&outgoing).filter(|&(to, _)| to != self.world.rank()) {
                for piece in pieces(message, MOST) {
                    sending.add(self.world.process_at_rank(to).immediate_send(scope, piece));
                }
            }
            let mut receive = |from: Rank| {
                if from == self.world.rank() {
                    return to_itself.take().unwrap_or_default();
                }
                self.receive(from)
            };
            let received = (0..self.world.size()).map(&mut receive).collect();
            sending.wait_all(&mut Vec::new());
            received
        });
        Ok(received)
    }
}

/// The pieces of a message: pieces of `most` bytes, and at the end a shorter one, which shows the
/// receiver that it is the last.
fn pieces(message: &[u8], most: usize) -> impl Iterator<Item = &[u8]> {
    let count = message.len() / most + 1;
    (0..count).map(move |piece| &message[piece * most..message.len().min((piece + 1) * most)])
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn the_last_piece_is_the_first_that_is_shorter() {
        let pieces = |len: usize| pieces(&[7; 9][..len], 3).map(<[u8]>::len).collect::<Vec<_>>();
        assert_eq!(pieces(0), [0]);
        assert_eq!(pieces(2), [2]);
        assert_eq!(pieces(3), [3, 0]);
        assert_eq!(pieces(7), [3, 3, 1]);
    }
}
