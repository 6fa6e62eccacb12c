//! Congestion controls for the simulator `rocelab`, in Rust.
//!
//! An algorithm is a structure whose fields are its state, an implementation of [`Algorithm`], and a line that exports it:
//!
//! ```
//! use rocelab_cc::{Algorithm, Answers, Event, Parameters, Path, algorithm};
//!
//! algorithm! {
//!     /// Halves the rate at each CNP, and adds 40 Mbit/s every 50 us.
//!     pub struct Halving {
//!         rate: f64,
//!     }
//!     metadata: r#"{"abi": 1, "name": "halving", "feedback": "cnp", "state": 8}"#
//! }
//!
//! impl Algorithm for Halving {
//!     fn open(path: &Path, _: &Parameters, answers: &mut Answers) -> Self {
//!         answers.rate = path.line_rate;
//!         answers.timers[0] = path.start + 50_000_000;
//!         Self { rate: path.line_rate as f64 }
//!     }
//!
//!     fn on(&mut self, now: u64, event: Event, path: &Path, _: &Parameters, answers: &mut Answers) {
//!         match event {
//!             Event::Cnp => self.rate /= 2.0,
//!             Event::Timer { .. } => {
//!                 self.rate += 40e6;
//!                 answers.timers[0] = now + 50_000_000;
//!             }
//!             _ => {}
//!         }
//!         answers.rate = (self.rate as u64).clamp(1, path.line_rate);
//!     }
//! }
//! ```
//!
//! Times are picoseconds since the start of the run, rates bit/s, and sizes bytes. Nothing may be kept but the fields: the
//! simulator refuses modules that have a memory of their own.

#![no_std]

/// No time, and no limit.
pub const NEVER: u64 = u64::MAX;

/// The values of the parameters, in the order of the metadata and in their units.
pub type Parameters = [i64; 16];

/// What never changes of a queue pair.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// The rate of the sender's port [bit/s].
    pub line_rate: u64,
    /// Round-trip time of a full packet in the idle network [ps].
    pub base_rtt: u64,
    /// Payload that fills the path at the line rate [bytes].
    pub bdp: u64,
    /// Where random numbers may start: another one for each queue pair.
    pub seed: u64,
    /// Payload of a full packet [bytes].
    pub mtu: u32,
    /// When the queue pair starts [ps]; in [`Algorithm::open`] alone.
    pub start: u64,
}

/// What an algorithm decides. It stays until it is changed.
#[derive(Clone, Copy, Debug)]
pub struct Answers {
    /// How fast data may leave, with preamble and gap of its frames: 1 to 2^63 bit/s. The line rate or more means no pacing.
    pub rate: u64,
    /// How much payload may be unacknowledged [bytes]; [`NEVER`] is no limit.
    pub window: u64,
    /// When timers expire [ps]; [`NEVER`] stops one.
    pub timers: [u64; 3],
    /// Whether the rate counts for the packet that waits already. False before each call.
    pub repaces: bool,
}

/// What the ends of the path tell of a packet and its acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint {
    /// From the arrival of the packet until memory has it, and the time of its acknowledgement in the sender's NIC [ps].
    pub delay: u64,
    /// The part of the round-trip time that passed in the two NICs after an arrival [ps].
    pub held: u64,
    /// Routers that the packet crossed.
    pub hops: u32,
}

/// What happened.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// Something was acknowledged.
    Ack {
        /// Payload that it newly acknowledges [bytes].
        acked: u64,
        /// Position before which all has arrived [bytes].
        acknowledged: u64,
        /// Position of the next packet to send [bytes].
        sent: u64,
        /// The round-trip time [ps]; none after a packet was sent twice.
        rtt: Option<u64>,
        /// Whether the receiver saw congestion.
        ecn_echo: bool,
        /// What the ends of the path tell, with feedback `endpoint`.
        endpoint: Option<Endpoint>,
    },
    /// A CNP arrived.
    Cnp,
    /// A congestion notification message of a switch arrived, with its quantized feedback.
    Cnm {
        /// 0 to 63.
        feedback: u32,
    },
    /// A data packet begins to leave.
    Sent {
        /// Its frame with FCS [bytes].
        bytes: u64,
    },
    /// Something is sent again.
    Loss {
        /// Whether a timeout told it.
        by_timeout: bool,
    },
    /// A timer expired. It is armed again or stopped in this call.
    Timer {
        /// Its number.
        number: usize,
    },
    /// An event that this version does not know.
    Other,
}

/// A congestion control. [`algorithm!`] makes the structure that implements it.
pub trait Algorithm: Sized {
    /// A queue pair starts. A rate has to be set.
    fn open(path: &Path, parameters: &Parameters, answers: &mut Answers) -> Self;

    /// Something happened at `now` [ps].
    fn on(
        &mut self,
        now: u64,
        event: Event,
        path: &Path,
        parameters: &Parameters,
        answers: &mut Answers,
    );
}

/// A value that is part of the state: 8 bytes.
pub trait Word {
    /// The bytes as a number.
    fn to_word(self) -> u64;
    /// The value of such a number.
    fn from_word(word: u64) -> Self;
}

macro_rules! words {
    ($($type:ty: $to:expr, $from:expr;)*) => {
        $(impl Word for $type {
            #[inline]
            fn to_word(self) -> u64 {
                $to(self)
            }
            #[inline]
            fn from_word(word: u64) -> Self {
                $from(word)
            }
        })*
    };
}

words! {
    u64: |value| value, |word| word;
    i64: i64::cast_unsigned, u64::cast_signed;
    f64: f64::to_bits, f64::from_bits;
    u32: u64::from, |word| word as u32;
    bool: u64::from, |word| word != 0;
}

/// The block that the simulator writes and reads: ABI 1.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Block {
    now: u64,
    acked: u64,
    acknowledged: u64,
    sent: u64,
    rtt: u64,
    bytes: u64,
    flags: u32,
    value: u32,
    line_rate: u64,
    base_rtt: u64,
    bdp: u64,
    seed: u64,
    mtu: u32,
    hops: u32,
    rate: u64,
    window: u64,
    timers: [u64; 3],
    out_flags: u32,
    padding: u32,
    parameters: Parameters,
    records: [u64; 32],
    state: [u64; 32],
}

const _: () = assert!(size_of::<Block>() == 784, "the layout of ABI 1");

impl Block {
    /// One that the simulator has not written yet.
    pub const EMPTY: Self = Self {
        now: 0,
        acked: 0,
        acknowledged: 0,
        sent: 0,
        rtt: 0,
        bytes: 0,
        flags: 0,
        value: 0,
        line_rate: 0,
        base_rtt: 0,
        bdp: 0,
        seed: 0,
        mtu: 0,
        hops: 0,
        rate: 0,
        window: 0,
        timers: [0; 3],
        out_flags: 0,
        padding: 0,
        parameters: [0; 16],
        records: [0; 32],
        state: [0; 32],
    };

    /// Lets an algorithm answer to an event of a kind.
    #[inline]
    pub fn handle<A: Algorithm + State>(&mut self, kind: u32) {
        if kind == 0 {
            self.open::<A>();
            return;
        }
        let mut answers = self.answers();
        let mut algorithm = A::load(&self.state);
        algorithm.on(self.now, self.event(kind), &self.path(), &self.parameters, &mut answers);
        algorithm.store(&mut self.state);
        self.answer(answers);
    }

    // Not in line: then the compiler sees which fields an event does not change, and leaves them where they are.
    #[inline(never)]
    fn open<A: Algorithm + State>(&mut self) {
        let mut answers = self.answers();
        let algorithm = A::open(&self.path(), &self.parameters, &mut answers);
        algorithm.store(&mut self.state);
        self.answer(answers);
    }

    #[inline]
    fn path(&self) -> Path {
        let Self { line_rate, base_rtt, bdp, seed, mtu, now: start, .. } = *self;
        Path { line_rate, base_rtt, bdp, seed, mtu, start }
    }

    #[inline]
    fn answers(&self) -> Answers {
        let Self { rate, window, timers, .. } = *self;
        Answers { rate, window, timers, repaces: false }
    }

    #[inline]
    fn answer(&mut self, answers: Answers) {
        let Answers { rate, window, timers, repaces } = answers;
        (self.rate, self.window, self.timers, self.out_flags) =
            (rate, window, timers, repaces.into());
    }

    #[inline]
    fn event(&self, kind: u32) -> Event {
        match kind {
            1 => Event::Ack {
                acked: self.acked,
                acknowledged: self.acknowledged,
                sent: self.sent,
                rtt: (self.flags & 4 != 0).then_some(self.rtt),
                ecn_echo: self.flags & 1 != 0,
                endpoint: (self.flags & 8 != 0).then_some(Endpoint {
                    delay: (self.bytes >> 32) * 1000,
                    held: (self.bytes & 0xffff_ffff) * 1000,
                    hops: self.value,
                }),
            },
            2 => Event::Cnp,
            3 => Event::Cnm { feedback: self.value },
            4 => Event::Sent { bytes: self.bytes },
            5 => Event::Loss { by_timeout: self.flags & 2 != 0 },
            6 => Event::Timer { number: self.value as usize },
            _ => Event::Other,
        }
    }
}

/// A structure as words. [`algorithm!`] implements it.
pub trait State {
    /// The structure that was stored.
    fn load(words: &[u64; 32]) -> Self;
    /// Stores it.
    fn store(self, words: &mut [u64; 32]);
}

/// The number that metadata have for `state`; 0 if they have none. [`algorithm!`] compares it with the fields.
#[must_use]
pub const fn state_of(metadata: &str) -> usize {
    let (text, key) = (metadata.as_bytes(), b"\"state\"");
    let mut start = 0;
    while start + key.len() <= text.len() {
        let mut same = 0;
        while same < key.len() && text[start + same] == key[same] {
            same += 1;
        }
        if same == key.len() {
            return number(text, start + same);
        }
        start += 1;
    }
    0
}

/// The number after a colon at `place`.
const fn number(text: &[u8], mut place: usize) -> usize {
    while place < text.len() && (text[place] == b':' || text[place].is_ascii_whitespace()) {
        place += 1;
    }
    let mut value = 0;
    while place < text.len() && text[place].is_ascii_digit() {
        value = value * 10 + (text[place] - b'0') as usize;
        place += 1;
    }
    value
}

/// Makes the structure of an algorithm and its metadata, and exports it from the module. The metadata's `state` is 8 bytes for
/// each field; another number does not compile, because the simulator keeps as many bytes as it says:
///
/// ```compile_fail
/// # use rocelab_cc::{Algorithm, Answers, Event, Parameters, Path, algorithm};
/// algorithm! {
///     struct Two {
///         first: u64,
///         second: u64,
///     }
///     metadata: r#"{"abi": 1, "name": "two", "feedback": "cnp", "state": 8}"#
/// }
/// # impl Algorithm for Two {
/// #     fn open(_: &Path, _: &Parameters, _: &mut Answers) -> Self {
/// #         Self { first: 0, second: 0 }
/// #     }
/// #     fn on(&mut self, _: u64, _: Event, _: &Path, _: &Parameters, _: &mut Answers) {}
/// # }
/// ```
#[macro_export]
macro_rules! algorithm {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident { $($(#[$of_field:meta])* $field:ident: $type:ty),* $(,)? }
        metadata: $metadata:expr
    ) => {
        $(#[$attribute])*
        $visibility struct $name { $($(#[$of_field])* $field: $type),* }

        impl $crate::State for $name {
            #[inline]
            fn load(words: &[u64; 32]) -> Self {
                let mut words = words.iter().copied();
                let mut next = || words.next().unwrap_or(0);
                Self { $($field: $crate::Word::from_word(next())),* }
            }
            #[inline]
            fn store(self, words: &mut [u64; 32]) {
                let mut words = words.iter_mut();
                $(if let Some(word) = words.next() {
                    *word = $crate::Word::to_word(self.$field);
                })*
            }
        }

        const _: () = {
            static METADATA: &str = $metadata;
            const FIELDS: &[&str] = &[$(stringify!($field)),*];
            assert!(
                $crate::state_of($metadata) == 8 * FIELDS.len(),
                "the metadata's `state` has to be 8 bytes for each field of the structure"
            );
            static mut BLOCK: $crate::Block = $crate::Block::EMPTY;

            #[unsafe(no_mangle)]
            extern "C" fn rl_abi() -> u32 {
                1
            }
            #[unsafe(no_mangle)]
            extern "C" fn rl_meta() -> u64 {
                (METADATA.as_ptr() as u64) << 32 | METADATA.len() as u64
            }
            #[unsafe(no_mangle)]
            extern "C" fn rl_block() -> u32 {
                (&raw mut BLOCK).addr() as u32
            }
            #[unsafe(no_mangle)]
            extern "C" fn rl_event(kind: u32) {
                // SAFETY: a module has one thread, and nothing else borrows the block.
                let block = unsafe { &mut *(&raw mut BLOCK) };
                block.handle::<$name>(kind);
            }
        };
    };
}
