//! The exchange block of ABI 1: what the host tells a guest and hears of it, in 784 bytes of the guest's memory.
//!
//! All numbers are little endian; times are picoseconds since the start of the run, rates bit/s, sizes bytes. `u64::MAX` is no
//! time, no limit.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};

use rocelab_transport::congestion_control::Path;

use crate::answers::Answers;
use crate::input::Input;

/// Length of the block (bytes).
pub const BLOCK_LEN: usize = size_of::<Memory>();
/// The most bytes of state that a module may keep for each queue pair.
pub const MOST_STATE: usize = 256;
/// The most parameters of a module.
pub const MOST_PARAMETERS: usize = 16;

/// Where the parts of the block begin, in words: before the flags of the answers,
const INPUT: usize = 0;
const PATH: usize = 7;
const ANSWERS: usize = 12;
/// and behind them.
const PARAMETERS: usize = 0;
const STATE: usize = 48;
/// Words of a [`StateLine`].
const LINE_WORDS: usize = 8;
/// Words of a path.
const PATH_WORDS: usize = ANSWERS - PATH;

/// A part of a state that is written at once, by few instructions.
pub type StateLine = [u64; LINE_WORDS];

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

/// The memory of a block, as numbers in the byte order of WebAssembly.
///
/// A processor waits where it reads in one piece what was just written in several, as guests do. Compilers do not join atomic
/// accesses to longer ones, and they cost no more than others. So each number that a guest writes is read as it is written.
#[derive(Debug)]
#[repr(C)]
pub struct Memory {
    /// What the guest is told, and its answers but for the flags.
    first: [AtomicU64; 17],
    flags: AtomicU32,
    padding: AtomicU32,
    /// Parameters and state.
    rest: [AtomicU64; 80],
}

/// The block in a guest's memory.
#[derive(Debug)]
pub struct Block<'a>(pub &'a mut Memory);

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
        put(&mut self.0.first[PATH..], &path.0);
    }

    /// Writes the values of parameters.
    #[inline]
    pub fn set_parameters(&mut self, parameters: &ParameterWords) {
        put(&mut self.0.rest[PARAMETERS..PARAMETERS + MOST_PARAMETERS], &parameters.0);
    }

    /// Writes the answers as they stand; flags are those of one call.
    #[inline]
    pub fn set_answers(&mut self, answers: &Answers) {
        let Answers { rate, window, timers: [first, second, third], flags: _ } = *answers;
        self.put_each(ANSWERS, [rate, window, first, second, third]);
        self.0.flags.store(0, Relaxed);
        self.0.padding.store(0, Relaxed);
    }

    /// The answers.
    #[inline]
    pub fn answers(&self) -> Answers {
        let at = |place: usize| u64::from_le(self.0.first[ANSWERS + place].load(Relaxed));
        let flags = u32::from_le(self.0.flags.load(Relaxed));
        Answers { rate: at(0), window: at(1), timers: [at(2), at(3), at(4)], flags }
    }

    /// Writes the state of the queue pair, of at most [`MOST_STATE`] bytes.
    #[inline]
    pub fn set_state(&mut self, state: &[StateLine]) {
        // By their number: a copy of any length calls a function, which takes as long as many a guest.
        match state.len() {
            0 => {}
            1 => self.put_lines::<1>(state),
            2 => self.put_lines::<2>(state),
            3 => self.put_lines::<3>(state),
            _ => self.put_lines::<4>(state),
        }
    }

    #[inline(always)]
    fn put_lines<const COUNT: usize>(&mut self, lines: &[StateLine]) {
        if let Some(lines) = lines.first_chunk::<COUNT>() {
            put(&mut self.0.rest[STATE..STATE + COUNT * LINE_WORDS], lines.as_flattened());
        }
    }

    /// Reads the state of the queue pair, at most as much as there is.
    #[inline]
    pub fn take_state(&self, state: &mut [u64]) {
        for (word, memory) in state.iter_mut().zip(&self.0.rest[STATE..]) {
            *word = u64::from_le(memory.load(Relaxed));
        }
    }

    /// Words that were made just now, one by one.
    #[inline]
    fn put_each<const COUNT: usize>(&mut self, place: usize, words: [u64; COUNT]) {
        for (memory, word) in self.0.first[place..place + COUNT].iter().zip(words) {
            memory.store(word.to_le(), Relaxed);
        }
    }
}

#[inline]
fn put(memory: &mut [AtomicU64], words: &[u64]) {
    for (memory, word) in memory.iter_mut().zip(words) {
        *memory.get_mut() = word.to_le();
    }
}

#[cfg(test)]
mod tests {
    use rocelab_units::{Bandwidth, Duration, SimTime};

    use super::*;

    /// The offsets that the header for guests in C has.
    #[test]
    fn every_field_is_in_its_place() {
        let full = || AtomicU64::new(u64::MAX);
        let mut memory = Memory {
            first: core::array::from_fn(|_| full()),
            flags: AtomicU32::new(u32::MAX),
            padding: AtomicU32::new(u32::MAX),
            rest: core::array::from_fn(|_| full()),
        };
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
        block.set_state(&[[0x41, 0x42, 0, 0, 0, 0, 0, 0]]);
        let mut state = [0; 2];
        block.take_state(&mut state);
        assert_eq!(state, [0x41, 0x42]);
        let mut bytes = Vec::new();
        let words = |words: &[AtomicU64]| -> Vec<u8> {
            words.iter().flat_map(|word| word.load(Relaxed).to_ne_bytes()).collect()
        };
        bytes.extend(words(&memory.first));
        bytes.extend(memory.flags.load(Relaxed).to_ne_bytes());
        bytes.extend(memory.padding.load(Relaxed).to_ne_bytes());
        bytes.extend(words(&memory.rest));
        assert_eq!(bytes.len(), BLOCK_LEN);
        assert_eq!(core::mem::offset_of!(Memory, flags), 136);
        assert_eq!(core::mem::offset_of!(Memory, rest), 144);
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
        assert_eq!([528, 536].map(at), [0x41, 0x42]);
        assert_eq!([544, 584].map(at), [0; 2], "what a line has beyond the state");
        assert_eq!(at(592), u64::MAX, "it is not touched");
    }
}
