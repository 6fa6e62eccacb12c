//! Processes that carry out a run together, each with some parts of the network: *ranks*, as MPI calls
//! them.
//!
//! All that they tell each other goes by one operation, in which every rank hands each rank a message:
//! [`Communicator::exchange`]. So a run over ranks needs no more of whatever carries messages, and is
//! tested here with threads and channels. The program `rocelab-mpi` does it by MPI.
//!
//! A message begins with a byte that says whether its rank goes on; else the rest says whose fault it is, and
//! why. So a rank that fails ends the others too, at their next exchange.

use std::fmt;

use rocelab_results::ErrorKind;
use rocelab_state::{BorshDeserialize, BorshSerialize, save_value};
use thiserror::Error;

/// What carries messages between ranks. All ranks call [`exchange`](Self::exchange) equally often.
pub trait Communicator: fmt::Debug {
    /// Its number, from 0 on.
    fn rank(&self) -> u32;

    /// How many ranks there are.
    fn size(&self) -> u32;

    /// Hands `outgoing[r]` to each rank `r`, and gives what each has handed to this one, in the order of
    /// ranks. What it hands to itself comes back.
    ///
    /// # Errors
    /// If another rank cannot be reached.
    fn exchange(&mut self, outgoing: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, CommunicationError>;
}

/// What ends a run over ranks.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CommunicationError {
    /// Messages cannot be exchanged.
    #[error("the ranks cannot exchange messages: {0}")]
    Unreachable(String),
    /// Another rank failed.
    #[error("rank {rank}: {message}")]
    Failed {
        /// Which.
        rank: u32,
        /// Whose fault it is.
        blame: Blame,
        /// What it said.
        message: String,
    },
    /// Another rank sent what means nothing here.
    #[error(
        "rank {rank} sent what is no part of this run: start the same program on all machines \
         ({error})"
    )]
    Malformed {
        /// Which.
        rank: u32,
        /// What is wrong.
        error: std::io::Error,
    },
    /// Another rank has another scenario, other options, or is another version of the program.
    #[error(
        "rank {rank} has another scenario, other options or another version of the program than rank \
         0: start the same program on all machines, with the same arguments and files"
    )]
    Differs {
        /// Which.
        rank: u32,
    },
}

/// Whose fault it is that a rank failed. Exit codes follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// What was asked for cannot be had.
    Input,
    /// The program has a defect.
    Program,
    /// The machine failed, or what connects machines.
    Machine,
}

impl Blame {
    /// As messages have it.
    const fn byte(self) -> u8 {
        match self {
            Self::Input => 0,
            Self::Program => 1,
            Self::Machine => 2,
        }
    }

    const fn of_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::Input),
            1 => Some(Self::Program),
            2 => Some(Self::Machine),
            _ => None,
        }
    }
}

impl From<ErrorKind> for Blame {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::BadInput => Self::Input,
            ErrorKind::Machine => Self::Machine,
        }
    }
}

impl CommunicationError {
    /// Whose fault it is.
    pub fn blame(&self) -> Blame {
        match self {
            Self::Failed { blame, .. } => *blame,
            Self::Unreachable(_) | Self::Malformed { .. } => Blame::Machine,
            Self::Differs { .. } => Blame::Input,
        }
    }
}

/// What a message begins with: its rank goes on.
const GOES_ON: u8 = 0;
/// What a message begins with: its rank has failed. A byte follows that says whose fault it is, and the rest
/// says why.
const FAILED: u8 = 1;

/// The ranks of a run, as one of them sees them.
#[derive(Debug)]
pub struct Ranks<'a> {
    communicator: &'a mut dyn Communicator,
    /// Whether one of them has failed: nobody exchanges anything any more.
    is_broken: bool,
}

impl<'a> Ranks<'a> {
    /// Those that a communicator reaches.
    pub fn new(communicator: &'a mut dyn Communicator) -> Self {
        Self { communicator, is_broken: false }
    }

    /// The number of this one.
    pub fn rank(&self) -> u32 {
        self.communicator.rank()
    }

    /// How many there are.
    pub fn size(&self) -> u32 {
        self.communicator.size()
    }

    /// Whether this is the first one, which alone writes anything.
    pub fn is_first(&self) -> bool {
        self.rank() == 0
    }

    /// Ends the other ranks: this one has failed. Does nothing if one has before.
    pub fn fail(&mut self, blame: Blame, why: &str) {
        if std::mem::replace(&mut self.is_broken, true) {
            return;
        }
        let mut message = vec![FAILED, blame.byte()];
        message.extend_from_slice(why.as_bytes());
        // Nobody is left to tell if that goes wrong too.
        drop(self.communicator.exchange(vec![message; self.size() as usize]));
    }

    /// Makes sure that all ranks have the same of something: a scenario with its files, say.
    ///
    /// # Errors
    /// If they do not, or one has failed.
    pub fn have_same(&mut self, what: &[u8]) -> Result<(), CommunicationError> {
        let all = self.of_each(&what.to_vec())?;
        let first = all.first().map_or(what, Vec::as_slice);
        let other = (0u32..).zip(&all).find(|(_, of)| of.as_slice() != first);
        other.map_or(Ok(()), |(rank, _)| Err(self.broken(CommunicationError::Differs { rank })))
    }

    /// What each rank has of something, in the order of ranks.
    ///
    /// # Errors
    /// If one has failed, or sends what is none.
    pub fn of_each<T: BorshSerialize + BorshDeserialize>(
        &mut self,
        own: &T,
    ) -> Result<Vec<T>, CommunicationError> {
        let mut message = Message::default();
        message.add(own);
        let outgoing = (0..self.size()).map(|_| message.clone()).collect();
        self.exchange(outgoing)?.into_iter().map(|received| self.read(&received)).collect()
    }

    /// At the first rank: what each rank has of something. Elsewhere nothing.
    ///
    /// # Errors
    /// If one has failed, or sends what is none.
    pub fn gather<T: BorshSerialize + BorshDeserialize>(
        &mut self,
        own: &T,
    ) -> Result<Vec<T>, CommunicationError> {
        let mut outgoing = vec![Message::default(); self.size() as usize];
        if let Some(to_first) = outgoing.first_mut() {
            to_first.add(own);
        }
        let received = self.exchange(outgoing)?;
        if !self.is_first() {
            return Ok(Vec::new());
        }
        received.into_iter().map(|received| self.read(&received)).collect()
    }

    /// Exchanges messages, one for each rank.
    pub(crate) fn exchange(
        &mut self,
        outgoing: Vec<Message>,
    ) -> Result<Vec<Received>, CommunicationError> {
        if self.is_broken {
            let message = "it goes on after a failure".to_owned();
            let (rank, blame) = (self.rank(), Blame::Program);
            return Err(CommunicationError::Failed { rank, blame, message });
        }
        let outgoing = outgoing.into_iter().map(|message| message.bytes).collect();
        let received = self.communicator.exchange(outgoing);
        let received = received.map_err(|error| self.broken(error))?;
        // Who has failed takes part in no more exchange: that is known before anybody tells another fault.
        let has_failed = |bytes: &Vec<u8>| bytes.first() == Some(&FAILED);
        if let Some((rank, bytes)) = (0u32..).zip(&received).find(|(_, bytes)| has_failed(bytes)) {
            return Err(self.broken(failed(rank, &bytes[1..])));
        }
        let received = (0u32..).zip(received);
        let received = received.map(|(rank, bytes)| self.receive(rank, bytes));
        received.collect()
    }

    fn receive(&mut self, rank: u32, bytes: Vec<u8>) -> Result<Received, CommunicationError> {
        match bytes.split_first() {
            Some((&GOES_ON, _)) => Ok(Received { rank, bytes }),
            _ => Err(self.malformed(rank, rocelab_state::unfit("the beginning of a message"))),
        }
    }

    /// What a message has, and nothing else.
    fn read<T: BorshDeserialize>(&mut self, received: &Received) -> Result<T, CommunicationError> {
        let read = T::try_from_slice(received.content());
        read.map_err(|error| self.malformed(received.rank, error))
    }

    /// A rank sent what means nothing here: this one tells the others.
    pub(crate) fn malformed(&mut self, rank: u32, error: std::io::Error) -> CommunicationError {
        let error = CommunicationError::Malformed { rank, error };
        self.fail(error.blame(), &error.to_string());
        error
    }

    /// Notes that all ranks know of an error.
    fn broken(&mut self, error: CommunicationError) -> CommunicationError {
        self.is_broken = true;
        error
    }
}

/// What a rank says that has failed.
fn failed(rank: u32, said: &[u8]) -> CommunicationError {
    let known = said.split_first().and_then(|(&byte, why)| Some((Blame::of_byte(byte)?, why)));
    let (blame, why) = known.unwrap_or((Blame::Machine, said));
    CommunicationError::Failed { rank, blame, message: String::from_utf8_lossy(why).into_owned() }
}

/// What a rank sends to another one.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    bytes: Vec<u8>,
}

impl Default for Message {
    fn default() -> Self {
        Self { bytes: vec![GOES_ON] }
    }
}

impl Message {
    /// Adds a value.
    pub(crate) fn add<T: BorshSerialize + ?Sized>(&mut self, value: &T) {
        let added = save_value(value, self.bytes());
        debug_assert!(added.is_ok(), "memory takes all, and no number is none");
    }

    /// Where more is added.
    pub(crate) fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }
}

/// What a rank has got from another one.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) rank: u32,
    bytes: Vec<u8>,
}

impl Received {
    /// What was added to the message.
    pub(crate) fn content(&self) -> &[u8] {
        &self.bytes[1..]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// The second of three ranks, whose others say what is written here.
    #[derive(Debug, Default)]
    struct Scripted {
        received: VecDeque<[Vec<u8>; 2]>,
        sent: Vec<Vec<Vec<u8>>>,
    }

    impl Scripted {
        fn hears(received: &[[&[u8]; 2]]) -> Self {
            let received = received.iter().map(|both| both.map(<[u8]>::to_vec)).collect();
            Self { received, sent: Vec::new() }
        }
    }

    impl Communicator for Scripted {
        fn rank(&self) -> u32 {
            1
        }

        fn size(&self) -> u32 {
            3
        }

        fn exchange(&mut self, outgoing: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, CommunicationError> {
            let own = outgoing[1].clone();
            self.sent.push(outgoing);
            let both = self.received.pop_front();
            let [first, third] =
                both.ok_or_else(|| CommunicationError::Unreachable("nobody is there".to_owned()))?;
            Ok(vec![first, own, third])
        }
    }

    fn message(value: u16) -> Vec<u8> {
        let mut message = Message::default();
        message.add(&value);
        message.bytes
    }

    #[test]
    fn each_rank_learns_what_all_have() {
        let mut script = Scripted::hears(&[[&message(7), &message(9)]]);
        assert_eq!(Ranks::new(&mut script).of_each(&8_u16).unwrap(), [7, 8, 9]);
        assert_eq!(script.sent, [vec![message(8); 3]]);
    }

    #[test]
    fn only_the_first_rank_gathers() {
        let empty = Message::default().bytes;
        let mut script = Scripted::hears(&[[&empty, &empty]]);
        assert!(Ranks::new(&mut script).gather(&8_u16).unwrap().is_empty());
        assert_eq!(script.sent, [vec![message(8), empty.clone(), empty]]);
    }

    #[test]
    fn a_rank_that_fails_ends_the_others() {
        let mut script = Scripted::hears(&[[&message(7), &[FAILED, 0, b'n', b'o']]]);
        let mut ranks = Ranks::new(&mut script);
        let error = ranks.of_each(&8_u16).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.blame()), ("rank 2: no", Blame::Input));
        ranks.fail(Blame::Machine, "that is told already");
        assert!(ranks.of_each(&8_u16).is_err(), "nobody listens any more");
        assert_eq!(script.sent.len(), 1);
    }

    #[test]
    fn whose_fault_a_failure_is_comes_over() {
        for blame in [Blame::Input, Blame::Program, Blame::Machine] {
            let error = failed(2, &[blame.byte(), b'n', b'o']);
            assert_eq!((error.blame(), error.to_string().as_str()), (blame, "rank 2: no"));
        }
        for (said, told) in [(&b""[..], "rank 2: "), (b"\x09no", "rank 2: \x09no")] {
            let error = failed(2, said);
            assert_eq!((error.blame(), error.to_string().as_str()), (Blame::Machine, told));
        }
    }

    #[test]
    fn a_failure_is_told_to_all_and_once() {
        let mut script = Scripted::hears(&[]);
        let mut ranks = Ranks::new(&mut script);
        ranks.fail(Blame::Machine, "disk full");
        ranks.fail(Blame::Machine, "disk full");
        assert_eq!(script.sent, [vec![b"\x01\x02disk full".to_vec(); 3]]);
    }

    /// Who has failed hears nothing more: another rank's nonsense is not told.
    #[test]
    fn a_failure_comes_before_what_means_nothing() {
        let mut script = Scripted::hears(&[[&[2, 0], &[FAILED, 0, b'n', b'o']]]);
        let error = Ranks::new(&mut script).of_each(&8_u16).unwrap_err();
        assert_eq!(error.to_string(), "rank 2: no");
        assert_eq!(script.sent.len(), 1);
    }

    /// What is no message is told to the others, who have got a good one and go on waiting.
    #[test]
    fn what_means_nothing_ends_all_ranks() {
        let (good, long) = (message(7), [&message(7)[..], &[0]].concat());
        for bad in [&[][..], &[2, 0, 0], &[GOES_ON], &[GOES_ON, 7], &long] {
            let mut script = Scripted::hears(&[[bad, &good]]);
            let error = Ranks::new(&mut script).of_each(&8_u16).unwrap_err();
            assert!(matches!(error, CommunicationError::Malformed { rank: 0, .. }), "{error}");
            assert_eq!(script.sent.len(), 2, "{bad:?}");
            assert!(script.sent[1].iter().all(|told| told[0] == FAILED), "{bad:?}");
        }
    }

    #[test]
    fn ranks_that_differ_from_the_first_are_named() {
        let same = |own: &[u8], first: &[u8], third: &[u8]| {
            let message = |what: &[u8]| {
                let mut message = Message::default();
                message.add(&what.to_vec());
                message.bytes
            };
            let mut script = Scripted::hears(&[[&message(first), &message(third)]]);
            let same = Ranks::new(&mut script).have_same(own);
            same.map_err(|error| error.to_string().chars().take(6).collect::<String>())
        };
        assert_eq!(same(b"a", b"a", b"a"), Ok(()));
        assert_eq!(same(b"a", b"a", b"b"), Err("rank 2".to_owned()));
        assert_eq!(same(b"b", b"a", b"b"), Err("rank 1".to_owned()));
    }
}
