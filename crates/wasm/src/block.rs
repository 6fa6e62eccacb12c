//! The exchange block of ABI 1: what the host tells a guest and hears of it, in 784 bytes of the guest's memory.
//!
//! All numbers are little endian; times are picoseconds since the start of the run, rates bit/s, sizes bytes. `u64::MAX` is no
//! time, no limit.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

use rocelab_transport::congestion_control::Path;

use crate::answers::Answers;
use crate::input::Input;

/// Length of the block (bytes).
pub const BLOCK_LEN: usize = BLOCK_WORDS * 8;
/// Length of the block in words of 8 bytes.
pub const BLOCK_WORDS: usize = 98;
/// The most bytes of state that a module may keep for each queue pair.
pub const MOST_STATE: usize = 256;
/// The most parameters of a module.
pub const MOST_PARAMETERS: usize = 16;

/// Where the parts of the block begin, in words.
const INPUT: usize = 0;
const PATH: usize = 7;
const ANSWERS: usize = 12;
const PARAMETERS: usize = 18;
const STATE: usize = 66;
/// Words of a path.
const PATH_WORDS: usize = ANSWERS - PATH;

/// What never changes of a queue pair, as the block has it: line rate, base round-trip time, bandwidth-delay product, seed, MTU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathWords([u64; PATH_WORDS]);

/// Values of parameters, as the block has them: those that a module does not have are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterWords([u64; MOST_PARAMETERS]);

impl PathWords {
    /// Those of a path.
    pub const fn new(path: &Path) -> Self {
        let Path { line_rate, base_rtt, bdp, path_mtu, others: _, seed, start: _ } = *path;
        Self([line_rate.bits_per_second(), base_rtt.ps(), bdp, seed, path_mtu as u64])
    }

    /// Changes the seed of the queue pair.
    pub const fn set_seed(&mut self, seed: u64) {
        self.0[3] = seed;
    }
}

impl ParameterWords {
    /// Values in the order of a module's metadata, at most [`MOST_PARAMETERS`].
    pub fn new(values: &[i64]) -> Self {
        let mut words = [0; MOST_PARAMETERS];
        for (word, value) in words.iter_mut().zip(values) {
            *word = value.cast_unsigned();
        }
        Self(words)
    }
}

/// The memory of a block, as words in the byte order of WebAssembly.
///
/// A processor waits where it reads in one piece what was just written in several, as guests do. Compilers do not join atomic
/// accesses to longer ones, and they cost no more than others.
pub type Words = [AtomicU64; BLOCK_WORDS];

/// The block in a guest's memory.
#[derive(Debug)]
pub struct Block<'a>(pub &'a mut Words);

impl Block<'_> {
    /// Writes what a call is about.
    #[inline]
    pub fn set_input(&mut self, input: &Input) {
        let Input { now, acked, acknowledged, sent, rtt, bytes, flags, value } = *input;
        let rest = u64::from(value) << 32 | u64::from(flags);
        self.put_each(INPUT, [now, acked, acknowledged, sent, rtt, bytes, rest]);
    }

    /// Writes what never changes of a queue pair.
    #[inline]
    pub fn set_path(&mut self, path: &PathWords) {
        self.put(PATH, &path.0);
    }

    /// Writes the values of parameters.
    #[inline]
    pub fn set_parameters(&mut self, parameters: &ParameterWords) {
        self.put(PARAMETERS, &parameters.0);
    }

    /// Writes the answers as they stand; flags are those of one call.
    #[inline]
    pub fn set_answers(&mut self, answers: &Answers) {
        let Answers { rate, window, timers: [first, second, third], flags: _ } = *answers;
        self.put_each(ANSWERS, [rate, window, first, second, third, 0]);
    }

    /// The answers.
    #[inline]
    pub fn answers(&self) -> Answers {
        let at = |place| self.get(ANSWERS + place);
        #[expect(clippy::cast_possible_truncation, reason = "the other half is not used")]
        let flags = at(5) as u32;
        Answers { rate: at(0), window: at(1), timers: [at(2), at(3), at(4)], flags }
    }

    /// Writes the state of the queue pair, of at most [`MOST_STATE`] bytes.
    #[inline]
    pub fn set_state(&mut self, state: &[u64]) {
        self.put(STATE, state);
    }

    /// Reads the state of the queue pair, at most as much as there is.
    #[inline]
    pub fn take_state(&self, state: &mut [u64]) {
        for (word, memory) in state.iter_mut().zip(&self.0[STATE..]) {
            *word = u64::from_le(memory.load(Relaxed));
        }
    }

    #[inline]
    fn put(&mut self, place: usize, words: &[u64]) {
        for (memory, word) in self.0[place..].iter_mut().zip(words) {
            *memory.get_mut() = word.to_le();
        }
    }

    /// Words that were made just now, one by one.
    #[inline]
    fn put_each<const COUNT: usize>(&mut self, place: usize, words: [u64; COUNT]) {
        for (memory, word) in self.0[place..place + COUNT].iter().zip(words) {
            memory.store(word.to_le(), Relaxed);
        }
    }

    #[inline]
    fn get(&self, place: usize) -> u64 {
        u64::from_le(self.0[place].load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use rocelab_units::{Bandwidth, Duration, SimTime};

    use super::*;

    /// The offsets that the header for guests in C has.
    #[test]
    fn every_field_is_in_its_place() {
        let mut memory: Words = [const { AtomicU64::new(u64::MAX) }; BLOCK_WORDS];
        let mut block = Block(&mut memory);
        let input = Input {
            now: 1,
            acked: 2,
            acknowledged: 3,
            sent: 4,
            rtt: 5,
            bytes: 6,
            flags: 7,
            value: 8,
        };
        block.set_input(&input);
        let path = Path {
            line_rate: Bandwidth::from_bps(9),
            base_rtt: Duration::from_ps(10),
            bdp: 11,
            path_mtu: 13,
            others: 99,
            seed: 12,
            start: SimTime::ZERO,
        };
        block.set_path(&PathWords::new(&path));
        block.set_parameters(&ParameterWords::new(&[-1, 31]));
        block.set_answers(&Answers { rate: 14, window: 15, timers: [16, 17, 18], flags: 1 });
        block.set_state(&[0x41, 0x42]);
        let mut state = [0; 2];
        block.take_state(&mut state);
        assert_eq!(state, [0x41, 0x42]);
        let bytes: Vec<u8> =
            memory.iter_mut().flat_map(|word| word.get_mut().to_ne_bytes()).collect();
        assert_eq!(bytes.len(), BLOCK_LEN);
        let at = |offset: usize| u64::from_le_bytes(bytes[offset..offset + 8].try_into().unwrap());
        assert_eq!([0, 8, 16, 24, 32, 40].map(at), [1, 2, 3, 4, 5, 6]);
        assert_eq!(at(48), 8 << 32 | 7);
        assert_eq!([56, 64, 72, 80].map(at), [9, 10, 11, 12]);
        assert_eq!(at(88), 13);
        assert_eq!([96, 104, 112, 120, 128].map(at), [14, 15, 16, 17, 18]);
        assert_eq!(at(136), 0, "flags are those of one call");
        assert_eq!([144, 152].map(at), [u64::MAX, 31]);
        assert_eq!(at(160), 0, "parameters that the module does not have");
        assert_eq!([272, 520].map(at), [u64::MAX; 2], "it is not touched");
        assert_eq!([528, 536, 544].map(at), [0x41, 0x42, u64::MAX]);
    }
}
