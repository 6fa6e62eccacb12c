//! The exchange block of ABI 1: what the host tells a guest and hears of it, in 784 bytes of the guest's memory.
//!
//! All numbers are little endian; times are picoseconds since the start of the run, rates bit/s, sizes bytes. `u64::MAX` is no
//! time, no limit.

use rocelab_transport::congestion_control::{Path, Timers};

/// Length of the block.
pub const BLOCK_LEN: usize = 784;
/// The most bytes of state that a module may keep for each queue pair.
pub const MOST_STATE: usize = 256;
/// The most parameters of a module.
pub const MOST_PARAMETERS: usize = 16;
/// No time, and no limit.
pub const NEVER: u64 = u64::MAX;

/// Where the parts of the block begin.
const PATH: usize = 56;
const ANSWERS: usize = 96;
const PARAMETERS: usize = 144;
/// Not used by ABI 1.
const UNUSED: usize = 272;
const STATE: usize = 528;

/// Bits of [`Input::flags`].
pub const FLAG_ECN: u32 = 1;
/// The loss was noticed by a timeout.
pub const FLAG_TIMEOUT: u32 = 2;
/// There is a round-trip time.
pub const FLAG_RTT: u32 = 4;

/// Bit of [`Answers::flags`]: the rate counts for the packet that waits already.
pub const FLAG_REPACE: u32 = 1;

/// What a call is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// When it happens.
    pub now: u64,
    /// Payload that is newly acknowledged.
    pub acked: u64,
    /// Position before which all has arrived.
    pub acknowledged: u64,
    /// Position of the next packet to send.
    pub sent: u64,
    /// Round-trip time, if there is one.
    pub rtt: u64,
    /// Length of the frame that was sent.
    pub bytes: u64,
    /// See the constants.
    pub flags: u32,
    /// Number of the timer, or quantized feedback.
    pub value: u32,
}

impl Input {
    /// An event at a time, about nothing more.
    pub const fn at(now: u64) -> Self {
        Self { now, acked: 0, acknowledged: 0, sent: 0, rtt: NEVER, bytes: 0, flags: 0, value: 0 }
    }
}

/// What a guest answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct Answers {
    /// How fast data may leave.
    pub rate: u64,
    /// How much payload may be unacknowledged.
    pub window: u64,
    /// When each timer expires.
    pub timers: [u64; Timers::MAX],
    /// See [`FLAG_REPACE`].
    pub flags: u32,
}

/// The block as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block(pub [u8; BLOCK_LEN]);

impl Default for Block {
    fn default() -> Self {
        Self([0; BLOCK_LEN])
    }
}

impl Block {
    fn put(&mut self, at: usize, value: u64) {
        self.0[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }

    fn put_small(&mut self, at: usize, value: u32) {
        self.0[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    fn get(&self, at: usize) -> u64 {
        self.0[at..at + 8].try_into().map_or(0, u64::from_le_bytes)
    }

    /// Writes what a call is about.
    pub fn set_input(&mut self, input: &Input) {
        let Input { now, acked, acknowledged, sent, rtt, bytes, flags, value } = *input;
        for (place, number) in [now, acked, acknowledged, sent, rtt, bytes].into_iter().enumerate()
        {
            self.put(place * 8, number);
        }
        self.put_small(48, flags);
        self.put_small(52, value);
    }

    /// Writes what never changes of a queue pair.
    pub fn set_path(&mut self, path: &Path, parameters: &[i64]) {
        self.put(PATH, path.line_rate.bits_per_second());
        self.put(PATH + 8, path.base_rtt.ps());
        self.put(PATH + 16, path.bdp);
        self.put(PATH + 24, path.seed);
        self.put_small(PATH + 32, path.path_mtu);
        for (place, &value) in parameters.iter().take(MOST_PARAMETERS).enumerate() {
            self.put(PARAMETERS + place * 8, value.cast_unsigned());
        }
    }

    /// Writes the seed of the queue pair.
    pub fn set_seed(&mut self, seed: u64) {
        self.put(PATH + 24, seed);
    }

    /// Clears the flags of the answers, which are those of one call.
    pub fn clear_flags(&mut self) {
        self.put(ANSWERS + 40, 0);
    }

    /// Writes the answers as they stand; flags are those of one call.
    pub fn set_answers(&mut self, answers: &Answers) {
        self.put(ANSWERS, answers.rate);
        self.put(ANSWERS + 8, answers.window);
        for (place, &timer) in answers.timers.iter().enumerate() {
            self.put(ANSWERS + 16 + place * 8, timer);
        }
        self.put(ANSWERS + 40, 0);
    }

    /// The answers.
    pub fn answers(&self) -> Answers {
        let timer = |place: usize| self.get(ANSWERS + 16 + place * 8);
        let [a, b, c, d, ..] = self.get(ANSWERS + 40).to_le_bytes();
        Answers {
            rate: self.get(ANSWERS),
            window: self.get(ANSWERS + 8),
            timers: std::array::from_fn(timer),
            flags: u32::from_le_bytes([a, b, c, d]),
        }
    }

    /// Writes what the guest reads into its memory: all but the bytes that are not used.
    pub fn copy_to(&self, memory: &mut [u8], state_len: usize) {
        let (head, state) = (0..UNUSED, STATE..STATE + state_len.min(MOST_STATE));
        memory[head.clone()].copy_from_slice(&self.0[head]);
        memory[state.clone()].copy_from_slice(&self.0[state]);
    }

    /// Takes answers and state out of a guest's memory; all else in there counts for nothing.
    pub fn take_answers(&mut self, memory: &[u8], state_len: usize) {
        let state = STATE..STATE + state_len.min(MOST_STATE);
        self.0[ANSWERS..PARAMETERS].copy_from_slice(&memory[ANSWERS..PARAMETERS]);
        self.0[state.clone()].copy_from_slice(&memory[state]);
    }

    /// The state of the queue pair.
    pub fn state(&self, len: usize) -> &[u8] {
        &self.0[STATE..STATE + len.min(MOST_STATE)]
    }

    /// Writes the state of the queue pair; what follows it is zero.
    pub fn set_state(&mut self, state: &[u8]) {
        let len = state.len().min(MOST_STATE);
        self.0[STATE..].fill(0);
        self.0[STATE..STATE + len].copy_from_slice(&state[..len]);
    }
}

#[cfg(test)]
mod tests {
    use rocelab_units::{Bandwidth, Duration, SimTime};

    use super::*;

    /// The offsets that the header for guests in C has.
    #[test]
    fn every_field_is_in_its_place() {
        let mut block = Block::default();
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
        block.set_path(&path, &[-1, 31]);
        block.set_answers(&Answers { rate: 14, window: 15, timers: [16, 17, 18], flags: 1 });
        block.set_state(&[0x41, 0x42]);
        let at = |offset: usize| block.get(offset);
        assert_eq!([0, 8, 16, 24, 32, 40].map(at), [1, 2, 3, 4, 5, 6]);
        assert_eq!(at(48), 8 << 32 | 7);
        assert_eq!([56, 64, 72, 80].map(at), [9, 10, 11, 12]);
        assert_eq!(at(88), 13);
        assert_eq!([96, 104, 112, 120, 128].map(at), [14, 15, 16, 17, 18]);
        assert_eq!(at(136), 0, "flags are those of one call");
        assert_eq!([144, 152].map(at), [u64::MAX, 31]);
        assert_eq!(at(272), 0);
        assert_eq!(at(528), 0x4241);
        assert_eq!(block.state(2), [0x41, 0x42]);
    }
}
