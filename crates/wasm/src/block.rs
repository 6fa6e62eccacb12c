//! The exchange block of ABI 1: what the host tells a guest and hears of it, in 784 bytes of the guest's memory.
//!
//! All numbers are little endian; times are picoseconds since the start of the run, rates bit/s, sizes bytes. `u64::MAX` is no
//! time, no limit.

use rocelab_transport::congestion_control::{EndpointReport, Path, Timers};

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
/// The ends of the path tell of themselves.
pub const FLAG_ENDPOINT: u32 = 8;

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
    /// Length of the frame that was sent. Of an acknowledgement with [`FLAG_ENDPOINT`]: endpoint delay << 32 | time in
    /// NICs, in ns.
    pub bytes: u64,
    /// See the constants.
    pub flags: u32,
    /// Number of the timer, or quantized feedback. Of an acknowledgement with [`FLAG_ENDPOINT`]: hops.
    pub value: u32,
}

impl Input {
    /// The same acknowledgement with what the ends of the path tell.
    #[must_use]
    pub fn with_endpoint(self, report: EndpointReport) -> Self {
        let EndpointReport { hops, delay_ns, held_ns } = report;
        let bytes = u64::from(delay_ns) << 32 | u64::from(held_ns);
        Self { bytes, value: hops.into(), flags: self.flags | FLAG_ENDPOINT, ..self }
    }

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

/// What never changes of a queue pair, as the block has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constants {
    path: [u8; ANSWERS - PATH],
    parameters: [u8; UNUSED - PARAMETERS],
}

impl Constants {
    /// Of a queue pair on a path, with these values of parameters.
    pub fn new(path: &Path, parameters: &[i64]) -> Self {
        let mut constants =
            Self { path: [0; ANSWERS - PATH], parameters: [0; UNUSED - PARAMETERS] };
        let Path { line_rate, base_rtt, bdp, path_mtu, others: _, seed, start: _ } = *path;
        let numbers = [line_rate.bits_per_second(), base_rtt.ps(), bdp, seed, path_mtu.into()];
        for (place, number) in numbers.into_iter().enumerate() {
            put(&mut constants.path, place * 8, number);
        }
        for (place, &value) in parameters.iter().take(MOST_PARAMETERS).enumerate() {
            put(&mut constants.parameters, place * 8, value.cast_unsigned());
        }
        constants
    }

    /// Changes the seed of the queue pair.
    pub fn set_seed(&mut self, seed: u64) {
        put(&mut self.path, 24, seed);
    }
}

/// The block in a guest's memory.
///
/// Numbers are written and read one by one, as guests do: a processor waits where it has to read in one piece what was just
/// written in several.
#[derive(Debug)]
pub struct Block<'a>(pub &'a mut [u8; BLOCK_LEN]);

impl Block<'_> {
    /// Writes what a call is about.
    pub fn set_input(&mut self, input: &Input) {
        let Input { now, acked, acknowledged, sent, rtt, bytes, flags, value } = *input;
        let rest = u64::from(value) << 32 | u64::from(flags);
        for (place, number) in
            [now, acked, acknowledged, sent, rtt, bytes, rest].into_iter().enumerate()
        {
            put(self.0, place * 8, number);
        }
    }

    /// Writes what never changes of a queue pair.
    pub fn set_constants(&mut self, constants: &Constants) {
        self.0[PATH..ANSWERS].copy_from_slice(&constants.path);
        self.0[PARAMETERS..UNUSED].copy_from_slice(&constants.parameters);
    }

    /// Writes the answers as they stand; flags are those of one call.
    pub fn set_answers(&mut self, answers: &Answers) {
        let Answers { rate, window, timers: [first, second, third], flags: _ } = *answers;
        for (place, number) in [rate, window, first, second, third, 0].into_iter().enumerate() {
            put(self.0, ANSWERS + place * 8, number);
        }
    }

    /// The answers.
    pub fn answers(&self) -> Answers {
        let at = |place: usize| get(self.0, ANSWERS + place * 8);
        let [a, b, c, d, ..] = at(5).to_le_bytes();
        Answers {
            rate: at(0),
            window: at(1),
            timers: [at(2), at(3), at(4)],
            flags: u32::from_le_bytes([a, b, c, d]),
        }
    }

    /// Writes the state of the queue pair.
    pub fn set_state(&mut self, state: &[u8]) {
        let len = state.len().min(MOST_STATE);
        self.0[STATE..STATE + len].copy_from_slice(&state[..len]);
    }

    /// Reads the state of the queue pair, at most as much as there is.
    pub fn take_state(&self, state: &mut [u8]) {
        let len = state.len().min(MOST_STATE);
        state[..len].copy_from_slice(&self.0[STATE..STATE + len]);
    }
}

#[inline]
fn put(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

#[inline]
fn get(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].try_into().map_or(0, u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use rocelab_units::{Bandwidth, Duration, SimTime};

    use super::*;

    /// The offsets that the header for guests in C has.
    #[test]
    fn every_field_is_in_its_place() {
        let mut memory = [0xff; BLOCK_LEN];
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
        block.set_constants(&Constants::new(&path, &[-1, 31]));
        block.set_answers(&Answers { rate: 14, window: 15, timers: [16, 17, 18], flags: 1 });
        block.set_state(&[0x41, 0x42]);
        let mut state = [0; 2];
        block.take_state(&mut state);
        let at = |offset: usize| get(block.0, offset);
        assert_eq!([0, 8, 16, 24, 32, 40].map(at), [1, 2, 3, 4, 5, 6]);
        assert_eq!(at(48), 8 << 32 | 7);
        assert_eq!([56, 64, 72, 80].map(at), [9, 10, 11, 12]);
        assert_eq!(at(88), 13);
        assert_eq!([96, 104, 112, 120, 128].map(at), [14, 15, 16, 17, 18]);
        assert_eq!(at(136), 0, "flags are those of one call");
        assert_eq!([144, 152].map(at), [u64::MAX, 31]);
        assert_eq!(at(160), 0, "parameters that the module does not have");
        assert_eq!(at(272), u64::MAX, "it is not touched");
        assert_eq!(at(528) & 0xffff, 0x4241);
        assert_eq!(state, [0x41, 0x42]);
    }
}
